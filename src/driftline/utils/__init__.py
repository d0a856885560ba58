"""General helpers: argument checks, atomic writes, interrupts, progress bars, suggestions for mistyped names."""
