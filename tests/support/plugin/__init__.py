"""A plug-in distribution for tests: put this folder on a worker's PYTHONPATH."""
