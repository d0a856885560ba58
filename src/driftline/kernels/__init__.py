"""Compiled functions on plain arrays: no validation, no classes, each with a NumPy twin in the tests."""
