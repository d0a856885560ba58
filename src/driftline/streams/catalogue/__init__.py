"""Published streams by name: their columns and classes, where they come from, and their caveats.

`driftline.streams.load` reads them; ``driftline data`` shows their descriptions in a terminal.
"""

from driftline.streams.catalogue.datasets import (
    Dataset,
    DatasetColumn,
    DatasetStatistics,
    OriginalFile,
    describe,
    names,
)
from driftline.streams.catalogue.loading import load

__all__ = ["Dataset", "DatasetColumn", "DatasetStatistics", "OriginalFile", "describe", "load", "names"]
