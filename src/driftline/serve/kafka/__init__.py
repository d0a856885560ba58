"""Rows and labels from Kafka, and predictions to it.

A `Session` reads the topics of a stream, passes messages on to its worker, and publishes predictions. How far it has
read is stored in the transaction that stores what the messages led to.
"""
