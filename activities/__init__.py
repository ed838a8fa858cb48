"""What touches the world on behalf of a workflow, one activity a file."""
