"""Tests, each named as a sentence of fact."""
