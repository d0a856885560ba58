"""What the paper's method, the default and the baselines share: estimators, features, columns, bounds, model files."""
