"""The page in a real browser: offline, without errors, on wide and narrow screens and in print."""

import pytest

from driftline.guarantees import Alarm, AlarmKind
from driftline.report import to_html
from helpers.report_entries import entry

pytest.importorskip("jinja2")
LIGHT, DARK = "rgb(255, 255, 255)", "rgb(21, 24, 28)"
ODD = "</script><script>throw 1</script>"
LONG = "a_column_whose_name_goes_on_and_on_" * 4


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Return the URLs of pages by name."""
    said = {"answered": 0.5, "alarms": [Alarm(AlarmKind.RISE, 400, 350, 50, 25, 0.2, 0.1, ((LONG, ODD, 9.0),))]}
    figures = {"positive": 1, "missing_from": 3000, "has_costs": True}
    usual = entry(4000, change_at=2000, start_time=1e9, labels=(0, 1), **said, **figures)
    many = tuple(f"class <b>{k}</b> & {LONG}" for k in range(10))
    odd = (ODD, "%{x} $y$", LONG)
    shown = {
        "usual": [usual, entry(4000, name="dwm", labels=(0, 1), has_bound=False, error=0.3, seed=1, answered=0.9)],
        "odd": [entry(900, name=LONG, stream=LONG, labels=many, columns=odd, change_at=450, window=7, **said)],
        "tiny": [entry(1, answered=1.0)],
        "long": [entry(500_000, labels=tuple(range(10)), columns=[f"x{j}" for j in range(10)], change_at=250_000)],
    }
    folder = tmp_path_factory.mktemp("pages")
    addresses = {}
    for name, entries in shown.items():
        path = folder / f"{name}.html"
        path.write_text(
            to_html(entries, command=f"driftline run {LONG}", versions={"driftline": "0"}), encoding="utf-8"
        )
        addresses[name] = path.as_uri()
    return addresses


@pytest.fixture
def open_page(browser, pages):
    """Return a function that opens a page offline; no page may log anything or request anything else."""
    contexts, complaints = [], []

    def see(name, width=1100, **options):
        context = browser.new_context(viewport={"width": width, "height": 800}, offline=True, **options)
        contexts.append(context)
        tab = context.new_page()
        tab.on("console", lambda message: complaints.append(message.text))
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        tab.on("request", lambda request: request.url.startswith("file:") or complaints.append(request.url))
        tab.goto(pages[name])
        return tab

    yield see
    for context in contexts:
        context.close()
    assert complaints == []


def becomes(tab, colour, width=None):
    """Wait until page and charts have a colour, and charts a width: browsers apply such changes asynchronously."""
    tab.wait_for_function(
        """([colour, width]) => {
            const chart = document.querySelector("#chart-error .main-svg");
            const colours = [document.body, chart].map((each) => getComputedStyle(each).backgroundColor);
            return colours.every((each) => each === colour) && (width === null || chart.clientWidth === width);
        }""",
        arg=[colour, width],
        timeout=5000,
    )
    return True


def hover_text(tab, chart, what, shown):
    """Return the text shown when the mouse points at the upper left of an element of a chart."""
    place = tab.locator(f"#chart-{chart}")
    place.scroll_into_view_if_needed()
    box = place.locator(what).first.bounding_box()
    tab.mouse.move(box["x"] + box["width"] / 20, box["y"] + 8, steps=5)
    place.locator(shown).wait_for(timeout=5000)
    return place.locator(shown).text_content()


@pytest.mark.parametrize(
    "name", ["usual", *(pytest.param(name, marks=pytest.mark.slow) for name in ("odd", "tiny", "long"))]
)
def test_every_chart_is_drawn(open_page, name):
    tab = open_page(name)
    places = tab.locator(".chart")
    assert places.count() == {"usual": 15, "odd": 11, "tiny": 6, "long": 9}[name]
    for k in range(places.count()):
        marks = places.nth(k).locator(".scatterlayer path, .barlayer path")
        marks.first.wait_for(state="attached", timeout=10_000)
        boxes = [marks.nth(j).bounding_box() for j in range(marks.count())]
        assert max(box["width"] for box in boxes if box) > 1


def test_pointing_at_the_errors_shows_their_values(open_page):
    text = hover_text(open_page("usual"), "error", ".nsewdrag", ".hoverlayer .legend")
    for part in ("row ", "rows ", ", until 2001-", "error : ", "%"):
        assert part in text
    assert "bound" not in text  # labels were chosen by cost
    assert "bound on average : " in hover_text(open_page("long"), "error", ".nsewdrag", ".hoverlayer .legend")


def test_pointing_at_an_alarm_shows_what_happened(open_page):
    tab = open_page("usual")
    mark = tab.locator("#chart-error .scatterlayer path.point").last
    mark.scroll_into_view_if_needed()
    box = mark.bounding_box()
    tab.mouse.move(box["x"] + box["width"] / 2, box["y"] + 2, steps=5)
    shown = tab.locator("#chart-error .hoverlayer .legend", has_text="alarm at row 400")
    shown.wait_for(timeout=5000)
    for part in (
        "the error had risen",
        "since about row 350: 50.0%",
        "before: 10.0%",
        "moved: </script><script>throw 1",
    ):
        assert part in shown.text_content()


@pytest.mark.parametrize(("chart", "parts"), [("answers", ("answered", "wrong")), ("sets", ("labels", "contain it"))])
def test_pointing_at_one_panel_shows_the_values_of_both(open_page, chart, parts):
    text = hover_text(open_page("usual"), chart, ".nsewdrag", ".hoverlayer .legend")
    for part in ("rows ", "amrc : ", "dwm : ", *parts):
        assert part in text


def test_pointing_at_the_heat_map_shows_feature_class_and_mean(open_page):
    tab = open_page("odd")
    text = hover_text(tab, "drift", ".barlayer path", ".hoverlayer .hovertext")
    assert "</script><script>throw 1</script> in class class <b>" in text  # the name as it is, with no tag interpreted
    assert "standard deviations" in text


def test_the_theme_is_followed_while_the_page_is_open(open_page):
    tab = open_page("usual")
    assert becomes(tab, LIGHT)
    tab.emulate_media(color_scheme="dark")
    assert becomes(tab, DARK)
    tab.emulate_media(color_scheme="light")
    assert becomes(tab, LIGHT)


@pytest.mark.parametrize("name", [pytest.param("usual", marks=pytest.mark.slow), "odd"])
def test_nothing_is_wider_than_a_phone(open_page, name):
    tab = open_page(name, width=390)
    assert tab.evaluate("document.documentElement.scrollWidth") <= 390
    widths = tab.evaluate("[...document.querySelectorAll('.chart .main-svg')].map((svg) => svg.clientWidth)")
    assert widths
    assert max(widths) <= 350
    tab.set_viewport_size({"width": 1100, "height": 800})
    tab.wait_for_function("document.querySelector('#chart-error .main-svg').clientWidth > 600")


def test_printed_pages_are_light_and_charts_fit(open_page):
    tab = open_page("usual", color_scheme="dark")
    tab.emulate_media(media="print", color_scheme="dark")
    assert becomes(tab, LIGHT, 660)
    tab.emulate_media(media="screen", color_scheme="dark")
    assert becomes(tab, DARK)
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert becomes(tab, LIGHT, 660)
    tab.evaluate("dispatchEvent(new Event('afterprint'))")
    assert becomes(tab, DARK, 920)
    assert tab.pdf(format="A4").startswith(b"%PDF")


def test_without_scripts_text_and_tables_are_there(open_page):
    tab = open_page("usual", java_script_enabled=False)
    assert tab.locator("noscript p").is_visible()
    assert tab.locator("table").count() == 5
    assert tab.locator("table").first.is_visible()
    assert not any(place.is_visible() for place in tab.locator(".chart").all())
