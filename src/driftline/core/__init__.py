"""Code that all classifiers share: base estimators, feature maps, column preparation, bounds, model files."""
