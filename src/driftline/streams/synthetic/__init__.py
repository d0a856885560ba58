"""Synthetic streams whose distribution is known at every step."""
