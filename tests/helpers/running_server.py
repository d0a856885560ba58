"""A server that listens on loopback, in a thread of the tests."""

import threading
import time
from contextlib import contextmanager

import uvicorn


@contextmanager
def running_server(app):
    """Serve an application, and return its address; it is stopped at the end of the block."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, access_log=False))
    app.state.requests.are_ending = lambda: server.should_exit
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
