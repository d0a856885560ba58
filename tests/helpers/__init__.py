"""Helpers that several tests use: models, streams, reference implementations and faulty classifiers."""
