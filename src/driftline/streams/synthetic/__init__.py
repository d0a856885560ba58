"""Synthetic streams from distributions that are known at every time step."""
