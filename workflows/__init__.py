"""What Temporal replays; deterministic, sees the domain only."""
