"""The page of the server in a real browser: live, after a crash, by keyboard, on a phone and in the dark."""

import json
import os
import re
import signal
from types import SimpleNamespace

import numpy as np
import pytest

from driftline.serve.client import Client
from helpers.kill_server import free_port, start_server

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright; pip install playwright")
LINEAR = {"features": "linear"}
ODD = "<img src=x onerror='document.title=1'>"
LONG = "a_name_that_goes_on_and_on_" * 5
LIGHT, DARK = "rgb(245, 246, 248)", "rgb(21, 24, 28)"
PATIENCE_MS = 20_000


def slow(*values):
    return pytest.param(*values, marks=pytest.mark.slow)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Return a server in a process of its own, with streams of several kinds; a test may kill it and start it again."""
    port, folder = free_port(), tmp_path_factory.mktemp("served")
    running = SimpleNamespace(address=f"http://127.0.0.1:{port}")
    running.start = lambda: setattr(running, "process", start_server(folder, port))
    running.start()
    with Client(running.address) as client:
        feed(client)
    yield running
    running.process.kill()
    running.process.wait()


def feed(client):
    """Create two streams with an alarm and a shadow, one with odd and long names, and one without labels."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 2)).round(3)
    y = np.where(np.arange(1200) < 600, X[:, 0] > 0, rng.random(1200) < 0.5)
    for name in ("changed", "settled"):
        client.create(name, parameters=LINEAR)
        client._send("PUT", f"/v1/streams/{name}/shadow", {"parameters": LINEAR | {"order": 0}})
        learn(client, name, X.tolist(), np.where(y, "yes", "no").tolist())
    client.create("odd", parameters=LINEAR)
    rows = [{ODD: t % 2, LONG: ODD, "c": f"{LONG} {t % 3}"} for t in range(60)]
    learn(client, "odd", rows, [ODD if t % 2 else f"{LONG}{t % 9}" for t in range(60)])
    client.predict("odd", rows[:5])
    client.create("new" * 30, parameters=LINEAR)


def learn(client, name, rows, labels):
    for start in range(0, len(rows), 600):
        client.learn(name, rows[start : start + 600], labels[start : start + 600])


@pytest.fixture
def open_page(browser, server):
    """Return a function that opens the page; it may not request anything elsewhere, nor log anything unexpected."""
    contexts, complaints = [], []

    def see(path="", width=1200, is_lost=False, **options):
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        context.set_default_timeout(PATIENCE_MS)
        contexts.append(context)
        tab = context.new_page()
        address = options.get("base_url", server.address)
        tab.on("console", lambda message: is_lost or complaints.append(message.text))
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        tab.on("request", lambda request: request.url.startswith(address) or complaints.append(request.url))
        tab.goto(f"{address}/{path}")
        return tab

    yield see
    for context in contexts:
        context.close()
    assert complaints == []


def tile(tab, name):
    """Return the tile with a name."""
    return tab.locator("main > div > .tiles > div", has=tab.get_by_text(name, exact=True)).locator("b")


def becomes(tab, name, value):
    """Wait until a tile has a value."""
    playwright.expect(tile(tab, name)).to_have_text(value, timeout=PATIENCE_MS)


def test_numbers_change_without_reload_and_are_the_same_after_a_kill(open_page, server):
    tab = open_page(is_lost=True)
    tab.get_by_role("button", name="New stream").click()
    tab.get_by_label("Name").fill("fed")
    tab.get_by_label("Features").select_option("linear")
    tab.get_by_role("button", name="Create").click()
    tab.get_by_role("heading", name="First steps").wait_for()
    tab.evaluate("window.isSameVisit = true")
    rows = [[float(t % 2), float(t % 3)] for t in range(200)]
    labels = ["yes" if row[0] else "no" for row in rows]
    with Client(server.address) as client:
        learn(client, "fed", rows, labels)
        becomes(tab, "Labels", "200")
        tab.locator("#connection", has_text="Live").wait_for()
        client.predict("fed", rows[:7], [f"row {t}" for t in range(7)])
        becomes(tab, "Awaited labels", "7")
        client.label("fed", {f"row {t}": labels[t] for t in range(4)})
        becomes(tab, "Labels", "204")
        becomes(tab, "Awaited labels", "3")
    assert not tab.get_by_role("heading", name="First steps").is_visible()
    tab.locator(".plot path.line").first.wait_for()
    shown = tab.locator("main > div > .tiles b").all_text_contents()
    assert tab.evaluate("window.isSameVisit")
    tab.reload()
    becomes(tab, "Labels", "204")
    assert tab.locator("main > div > .tiles b").all_text_contents() == shown
    tab.evaluate("window.isSameVisit = true")
    os.kill(server.process.pid, signal.SIGKILL)
    server.process.wait()
    tab.locator("#connection", has_text="No connection since").wait_for()
    server.start()
    tab.locator("#connection", has_text="Live").wait_for()
    assert tab.locator("main > div > .tiles b").all_text_contents() == shown
    with Client(server.address) as client:
        client.label("fed", {f"row {t}": labels[t] for t in range(4, 7)})
    becomes(tab, "Labels", "207")
    becomes(tab, "Awaited labels", "0")
    assert tab.evaluate("window.isSameVisit")


def test_all_streams_are_listed_with_their_states_and_those_with_problems_first(open_page):
    tab = open_page()
    rows = tab.locator("main table tbody tr")
    tab.get_by_role("link", name="odd").wait_for()
    texts = rows.all_text_contents()
    assert texts[0].startswith("changedAlarm")
    assert any(text.startswith("oddHealthy") for text in texts)
    assert any("Waiting for labels" in text for text in texts)
    assert int(tile(tab, "Alarms").text_content()) == sum("Alarm" in text for text in texts) >= 1
    assert rows.first.locator("svg.spark polyline").count() == 1


def test_names_from_elsewhere_stay_text(open_page, server):
    tab = open_page("#/streams/odd")
    tab.locator(".heat th", has_text="<img src=x").first.wait_for()
    assert tab.locator("main img").count() == 0
    tab.locator("summary").click()
    assert tab.get_by_role("rowheader", name=ODD).first.is_visible()
    with Client(server.address) as client:  # such a stream cannot be created, but who knows what answers
        content = {"names": [ODD], "changed": {ODD: client.stream("odd")["status"]}}
    body = f"event: streams\ndata: {json.dumps(content)}\n\n"
    tab.route("**/v1/events*", lambda route: route.fulfill(content_type="text/event-stream", body=body))
    tab.goto(tab.url.partition("#")[0] + "#/")
    link = tab.locator("main tbody a")
    playwright.expect(link).to_have_text(ODD)
    assert "<" not in link.get_attribute("href")
    assert tab.locator("main img").count() == 0
    assert tab.title() == "Streams · driftline"


def test_everything_can_be_reached_by_keyboard(open_page):
    tab = open_page()
    tab.get_by_role("link", name="changed").wait_for()
    press = tab.keyboard.press
    focused = lambda: tab.evaluate("document.activeElement.textContent")  # noqa: E731
    press("Tab")
    assert focused() == "driftline"
    press("Tab")
    assert focused() == "New stream"
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    assert tab.evaluate(outline) == "solid"
    press("Enter")
    assert tab.locator("dialog input").evaluate("(field) => field === document.activeElement")
    press("Escape")
    playwright.expect(tab.locator("dialog")).to_have_count(0)
    assert focused() == "New stream"
    press("Tab")
    assert focused() == "changed"
    press("Enter")
    tab.locator(".plot path.line").first.wait_for()
    assert focused() == "changed"
    assert tab.evaluate("document.activeElement.tagName") == "H1"
    press("Tab")
    assert focused() == "Acknowledge"
    press("Tab")
    assert "Error" in tab.evaluate("document.activeElement.getAttribute('aria-label')")
    press("ArrowLeft")
    assert tab.locator(".tip").first.is_visible()
    said = tab.locator("#announcements").text_content()
    assert re.fullmatch(
        r"rows 1,\d+–1,200: error [\d.]+%, since the start [\d.]+%, its limits [\d.]+% to [\d.]+%", said
    )
    press("Home")
    assert tab.locator("#announcements").text_content().startswith("rows 1–")
    press("Escape")
    assert not tab.locator(".tip").first.is_visible()


def test_parts_of_the_page_have_names_for_screen_readers(open_page):
    tab = open_page("#/streams/changed")
    tab.locator(".plot path.line").first.wait_for()
    assert tab.locator("h1").count() == tab.locator("main").count() == tab.locator("header.bar").count() == 1
    for name in ("Error", "Answers", "Mistakes", "Classes", "Drift by feature and class", "Changes and alarms"):
        assert tab.get_by_role("region", name=name, exact=True).count() == 1, name
    assert tab.get_by_role("navigation", name="Breadcrumb").is_visible()
    assert "Alarm" in tab.title()
    labels = [plot.get_attribute("aria-label") for plot in tab.locator(".plot:visible").all()]
    assert len(labels) == 5
    assert all(re.match(r"(Error|Answers|Mistakes|Classes|Errors on the same rows): ", label) for label in labels)
    controls = tab.locator("button:visible, a:visible").all()
    assert len(controls) >= 5
    assert all(control.text_content().strip() for control in controls)


def test_an_alarm_is_acknowledged_and_a_shadow_promoted_after_a_question(open_page):
    tab = open_page("#/streams/settled")
    alarms = tab.locator("table.alarms tbody tr")
    alarms.first.wait_for()
    playwright.expect(tab.locator(".marks text", has_text="1")).to_have_count(4)
    tab.locator("code", has_text='"order":0').wait_for()
    tab.get_by_role("button", name="Promote…").click()
    tab.get_by_role("button", name="Cancel").click()
    assert tab.locator("code", has_text='"order":0').count() == 1
    tab.get_by_role("button", name="Promote…").click()
    tab.get_by_role("button", name="Promote", exact=True).click()
    tab.locator("dl.facts code", has_text='"order":0').wait_for()
    tab.get_by_role("button", name="Acknowledge").click()
    tab.locator(".head .state", has_text="Healthy").wait_for()
    playwright.expect(tab.get_by_role("button", name="Acknowledge")).to_have_count(0)
    assert alarms.count() == 1
    tab.get_by_role("button", name="Drop…").click()
    tab.get_by_role("button", name="Drop", exact=True).click()
    tab.get_by_text("There is no shadow.").wait_for()


WIDER = """() => [...document.querySelectorAll("body *")].filter((each) => {
    if (each.closest(".wide") && !each.matches(".wide")) return false;
    const box = each.getBoundingClientRect();
    return box.width > 1 && (box.right > innerWidth + .5 || box.left < -.5);
}).map((each) => each.outerHTML.slice(0, 120))"""


@pytest.mark.parametrize(
    "path",
    ["", "#/streams/odd", *map(slow, ("#/streams/changed", f"#/streams/{'new' * 30}", "#/streams/none"))],
)
def test_nothing_is_wider_than_a_phone(open_page, path):
    tab = open_page(path, width=390, is_lost=path.endswith("none"))
    tab.locator("main .panel:visible, main .message:visible").first.wait_for()
    if path in ("#/streams/odd", "#/streams/changed"):
        tab.locator(".plot path.line").first.wait_for()
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    assert tab.evaluate(WIDER) == []


CONTRASTS = """() => {
    const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const mix = (layers) => {
        context.clearRect(0, 0, 1, 1);
        for (const layer of layers) { context.fillStyle = layer; context.fillRect(0, 0, 1, 1); }
        return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3);
    };
    const luminance = (rgb) => rgb.map((each) => each / 255)
        .map((each) => (each <= .03928 ? each / 12.92 : ((each + .055) / 1.055) ** 2.4))
        .reduce((sum, each, k) => sum + each * [.2126, .7152, .0722][k], 0);
    const found = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const element = walker.currentNode.parentElement;
        if (!walker.currentNode.data.trim() || !element.checkVisibility()) continue;
        const style = getComputedStyle(element);
        const layers = [];
        for (let each = element; each; each = each.parentElement)
            layers.unshift(getComputedStyle(each).backgroundColor);
        const colour = element.closest("svg") ? style.fill : style.color;
        const [one, other] = [luminance(mix(layers)), luminance(mix([...layers, colour]))].sort();
        found.push([(other + .05) / (one + .05), walker.currentNode.data.slice(0, 40)]);
    }
    return found;
}"""


@pytest.mark.parametrize(
    ("path", "scheme"),
    [("", "light"), ("#/streams/changed", "dark"), slow("", "dark"), slow("#/streams/changed", "light")],
)
def test_text_has_enough_contrast_in_both_themes(open_page, scheme, path):
    tab = open_page(path, color_scheme=scheme)
    tab.locator("svg.spark, .plot path.line").first.wait_for()
    if path:
        tab.locator(".heat td.wrong").first.wait_for()
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == {"light": LIGHT, "dark": DARK}[scheme]
    found = tab.evaluate(CONTRASTS)
    assert len(found) > 30
    assert [each for each in found if each[0] < 4.5] == []


@pytest.mark.slow
def test_a_key_is_asked_for_and_decides_what_can_be_done(open_page, tmp_path):
    port = free_port()
    process = start_server(tmp_path, port)
    try:
        address = f"http://127.0.0.1:{port}"
        with Client(address) as client:
            client.create("a", parameters=LINEAR)
            client.create("b", parameters=LINEAR)
            root = client.create_key("root", {"*": "admin"})
        with Client(address, key=root) as client:
            reader = client.create_key("reader", {"a": "read"})
        tab = open_page(base_url=address, is_lost=True)
        tab.get_by_label("Key").fill("wrong")
        tab.get_by_role("button", name="Sign in").click()
        tab.get_by_text("This key is not valid.").wait_for()
        tab.get_by_label("Key").fill(reader)
        tab.keyboard.press("Enter")
        tab.get_by_role("link", name="a", exact=True).wait_for()
        assert tab.locator("main tbody tr").count() == 1
        assert tab.get_by_role("button", name="New stream").count() == 0
        assert tab.get_by_text("Key: reader").is_visible()
        assert reader not in tab.evaluate("document.cookie + JSON.stringify(localStorage)")
        tab.goto(f"{address}/#/streams/b")
        tab.get_by_text("does not allow to read here").wait_for()
        tab.goto(f"{address}/#/")
        tab.get_by_role("button", name="Sign out").click()
        tab.get_by_label("Key").fill(root)
        tab.keyboard.press("Enter")
        tab.get_by_role("link", name="b", exact=True).wait_for()
        assert tab.get_by_role("button", name="New stream").is_visible()
    finally:
        process.kill()
        process.wait()
