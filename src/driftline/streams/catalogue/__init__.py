"""Published streams by name: what each is, where it comes from, and what to beware of.

`driftline.streams.load` reads them; ``driftline data`` shows all this in a terminal.
"""

from driftline.streams.catalogue.datasets import Column, Dataset, Original, Statistics, describe, names
from driftline.streams.catalogue.loading import load

__all__ = ["Column", "Dataset", "Original", "Statistics", "describe", "load", "names"]
