"""Rows made of the feed: written in batches, made anew, compared, and listed."""
