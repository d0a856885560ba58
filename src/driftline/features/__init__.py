"""Feature maps ψ(x), and the preparation of raw columns that comes before them."""

from driftline.features.base import FeatureMap, check_same_width, checked_features, is_feature_map
from driftline.features.columns import Columns
from driftline.features.fourier import FourierMap
from driftline.features.linear import LinearMap
from driftline.features.running import RunningColumns

__all__ = [
    "Columns",
    "FeatureMap",
    "FourierMap",
    "LinearMap",
    "RunningColumns",
    "check_same_width",
    "checked_features",
    "is_feature_map",
]
