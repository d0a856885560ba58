"""Fleets on Spark: a streaming DataFrame becomes one with predictions, with a model for each key in Spark's state.

Everything can be imported without Spark; calling it needs ``pip install 'driftline[spark]'`` and Java.
"""

from driftline.adapters.spark.query import predict_then_learn

__all__ = ["predict_then_learn"]
