"""The command ``driftline serve``: serve live streams over HTTP."""

import ipaddress
import json
import logging
import socket
from pathlib import Path

from driftline.cli.output import print_line
from driftline.errors import ConfigError, MissingExtraError

SECONDS_A_DAY = 86_400.0


def serve(data: Path, host: str, port: int, expire_after: float, database: str | None, kafka: Path | None) -> None:
    """Serve until Ctrl-C or SIGTERM."""
    try:
        import uvicorn  # noqa: PLC0415  # an extra may be missing

        from driftline.serve.app import create_app  # noqa: PLC0415
        from driftline.serve.kafka.settings import read_kafka_settings  # noqa: PLC0415
        from driftline.serve.settings import ServerSettings  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("driftline"):
            raise
        raise MissingExtraError(f"serving needs {error.name}; pip install 'driftline[serve]'") from error
    _log_as_json()
    settings = ServerSettings(
        data,
        database=database,
        expire_after=expire_after * SECONDS_A_DAY,
        requires_keys=not _is_loopback(host),
        kafka=None if kafka is None else read_kafka_settings(kafka),
    )
    app = create_app(settings)
    if settings.requires_keys and not app.state.service.keys:
        raise ConfigError(
            f"other machines can reach {host}, and there are no keys; create one: driftline keys create root "
            f"--data {data}{'' if database is None else ' --database URL'}"
        )
    with _listening(host, port) as listener:
        address, number = listener.getsockname()[:2]
        print_line("starting; the first start compiles the classifiers, which takes up to a minute")
        config = uvicorn.Config(app, access_log=False, log_config=None, timeout_graceful_shutdown=10)
        server = uvicorn.Server(config)
        app.state.requests.are_ending = lambda: server.should_exit
        print_line(f"http://{address}:{number} (documentation: /docs), data in {data}")
        server.run([listener])


def _listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens; raise ConfigError if that is not possible."""
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise ConfigError(f"cannot listen on {host}, port {port}: {error.strerror}; choose another --port") from error


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class _JsonFormatter(logging.Formatter):
    """Writes each record as a line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line)


def _log_as_json() -> None:
    """Write log records to the standard error, one line of JSON for each."""
    handler = logging.StreamHandler()
    handler.setFormatter(_JsonFormatter())
    logging.basicConfig(level=logging.INFO, handlers=[handler])
