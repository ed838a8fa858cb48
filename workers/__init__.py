"""The composition root: puts workflows and activities into processes."""
