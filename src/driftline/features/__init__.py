"""Feature maps ψ(x), and the preparation of raw columns that comes before them."""

from driftline.features.base import FeatureMap
from driftline.features.columns import Columns
from driftline.features.fourier import FourierMap
from driftline.features.linear import LinearMap

__all__ = ["Columns", "FeatureMap", "FourierMap", "LinearMap"]
