"""Compiled functions on plain arrays: no validation, no classes, each with a plain NumPy reference in the tests."""
