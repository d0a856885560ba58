"""A server for live streams: predictions now, labels later, and nothing lost when the process is killed.

`StreamState` is what a stream knows; it depends only on the operations that were applied, in their order. A `Worker`
applies them in a thread for each stream, and the `Writer` stores all that they changed before they are answered, so
that a state is rebuilt after a crash from its last checkpoint and the operations since then.
"""
