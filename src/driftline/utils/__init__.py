"""Helpers that know nothing of classifiers: argument checks, atomic writes, interrupts, progress."""
