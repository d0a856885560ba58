"""Requests that follow the OpenAPI description, and requests that do not, get the answers that it describes."""

import pytest
import requests
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from driftline.serve import webhooks
from driftline.serve.app import create_app
from driftline.serve.settings import Limits, ServerSettings
from helpers.running_server import running_server
from helpers.served_streams import LINEAR

schemathesis = pytest.importorskip("schemathesis", reason="needs schemathesis")
POSITIVE, NEGATIVE = schemathesis.GenerationMode.POSITIVE, schemathesis.GenerationMode.NEGATIVE
TAGS = ("streams", "models", "records", "health", "keys")
NOT_DESCRIBED = [schemathesis.checks.positive_data_acceptance]
"""A description cannot say all that is refused, such as fewer ids than rows."""
STREAM = "/v1/streams/a"


class Caller:
    """Calls a server with a key that may do everything."""

    def __init__(self, url):
        self.url, self.session = url, requests.Session()
        created = self.call("POST", "/v1/keys", {"name": "root", "scopes": {"*": "admin"}})
        self.session.headers["Authorization"] = f"Bearer {created.json()['key']}"

    def call(self, method, path, body=None):
        return self.session.request(method, self.url + path, json=body)

    def restore_stream(self, *, is_new):
        """Let there be a stream "a" that is not paused: one without columns, or one that has learned a few rows."""
        if is_new:
            self.call("DELETE", STREAM)
        if self.call("POST", "/v1/streams", {"name": "a", "parameters": LINEAR}).status_code == 201 and not is_new:
            rows = [{"amount": 1, "shop": "north"}, {"amount": 2, "shop": "web"}]
            self.call("POST", f"{STREAM}/learn", {"rows": rows, "labels": ["no", "yes"]})
        self.call("PATCH", STREAM, {"paused": False})


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(webhooks, "SECONDS_BETWEEN_LOOKS", 3600.0)  # nothing is sent to addresses that were made up
        app = create_app(ServerSettings(tmp_path_factory.mktemp("data"), limits=Limits(streams=20, open_rows=2000)))
        with running_server(app) as url:
            app.state.requests.are_ending = lambda: True  # events end after the first look
            yield Caller(url)


def operations(server):
    """Return the operations of the description."""
    schema = schemathesis.openapi.from_url(f"{server.url}/v1/openapi.json")
    return [found.ok() for found in schema.get_all_operations()]


def test_each_operation_is_of_a_kind_that_is_tested(server):
    assert {tag for operation in operations(server) for tag in operation.tags} == set(TAGS)
    assert all(len(operation.tags) == 1 for operation in operations(server))


@pytest.mark.parametrize("n_examples", [8, pytest.param(200, marks=pytest.mark.slow)])
@pytest.mark.parametrize("mode", [POSITIVE, NEGATIVE], ids=["positive", "negative"])
@pytest.mark.parametrize("tag", TAGS)
def test_answers_are_those_of_the_description(server, tag, mode, n_examples):
    for operation in operations(server):
        if operation.tags != [tag]:
            continue
        if mode is NEGATIVE and "application/json" not in [body.media_type for body in operation.body]:
            continue  # whatever is sent follows the description

        @settings(max_examples=n_examples, suppress_health_check=list(HealthCheck))
        @given(operation.as_strategy(generation_mode=mode), st.booleans(), st.booleans())
        def check(case, has_name, is_new):
            server.restore_stream(is_new=is_new)
            if "name" in case.path_parameters and has_name:
                case.path_parameters["name"] = "a"
            case.call_and_validate(session=server.session, excluded_checks=NOT_DESCRIBED)

        check()
