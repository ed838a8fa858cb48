"""What a run is: state, transitions, sequence, inputs, budget and conversation."""
