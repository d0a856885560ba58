"""What several tests share: models, streams, reference implementations and faulty classifiers."""
