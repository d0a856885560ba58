"""General helpers: checks of arguments, atomic writes, interrupts, progress bars, text for terminals, suggestions."""
