"""The page is complete and self-contained, and escapes the names of columns, labels and files."""

import hashlib
import json
import re
import sys
from html.parser import HTMLParser
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftline import MissingExtraError
from driftline.guarantees import Alarm, AlarmKind
from driftline.report import to_html
from driftline.report.confusion_table import STRONGEST_SHADE
from helpers.report_entries import entry

pytest.importorskip("jinja2")
CHARTS = {
    *("error", "answers", "sets", "mistakes", "classes", "drift", "comparison", "calibration"),
    *("cost", "found", "roc", "precision", "values-0", "distribution-0", "missing"),
}
HOSTILE = (
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "{{ 7 * 7 }}{% raw %}{# not a comment #}",
    "<b>bold</b> & %{x} $y$",
    "--page",
    " ",
    "a" * 300,
)


class Reader(HTMLParser):
    """Collects the tags of a page, and the text of its elements."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.texts, self.open = [], {}, []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in self.open:
            while self.open.pop() != tag:
                pass

    def handle_data(self, data):
        if self.open:
            self.texts.setdefault(self.open[-1], []).append(data)

    def named(self, tag):
        return [attrs for name, attrs in self.tags if name == tag]


def page(*entries, command="driftline run sensors.csv --label class", versions=None):
    return to_html(entries, command=command, versions=versions or {"driftline": "0.1.0"})


def charts(text):
    (found,) = re.findall(r'<script type="application/json" id="charts">(.*?)</script>', text, re.DOTALL)
    assert not set("<>&") & set(found)  # no character that HTML interprets, even in Plotly's own tags
    return {chart["name"]: chart for chart in json.loads(found)}


def alarm(label="spam", column="heat"):
    return Alarm(AlarmKind.RISE, 400, 350, 50, 25, 0.2, 0.1, ((label, column, 9.0),))


def test_a_page_has_all_its_parts():
    shown = {"answered": 0.5, "positive": "spam", "missing_from": 3000, "has_costs": True}
    text = page(
        entry(4000, change_at=2000, alarms=[alarm()], **shown),
        entry(4000, name="dwm", has_bound=False, seed=1, **shown),
    )
    read = Reader(text)
    assert set(charts(text)) == CHARTS
    places = [attrs for attrs in read.named("div") if attrs.get("class") == "chart"]
    assert {place["id"] for place in places} == {f"chart-{name}" for name in charts(text)}
    assert all(place["role"] == "img" and place["aria-label"] for place in places)
    assert all(attrs.get("scope") in {"row", "col"} for attrs in read.named("th"))
    assert len(read.named("table")) == len(read.named("caption")) == 5
    assert "driftline run sensors.csv --label class" in read.texts["code"]
    assert read.texts["h1"] == ["amrc on sensors"]
    assert "heat in class" in text
    assert "Each point is the mean over" in text
    assert any("charts need JavaScript" in text for text in read.texts["p"])
    anchors = [attrs["id"] for attrs in read.named("h2") if "id" in attrs]
    assert [attrs["href"] for attrs in read.named("a")] == [f"#{name}" for name in anchors]
    assert anchors[0] == "comparison"
    names = ["Rank", "Error", "Cost", "Answered", "Recall of spam", "Changes", "Alarms"]
    assert read.texts["dt"][: len(names)] == names


def test_a_large_page_is_below_a_megabyte_and_a_half():
    shown = {"labels": tuple(f"kind {k}" for k in range(7)), "columns": [f"sensor number {j}" for j in range(12)]}
    first = entry(40_000, change_at=20_000, start_time=1e9, answered=0.9, missing_from=30_000, **shown)
    assert len(page(first, entry(40_000, name="dwm", seed=1, **shown)).encode()) < 1_500_000


def test_a_page_loads_nothing_else():
    read = Reader(page(entry()))
    assert all("src" not in attrs and attrs.get("href", "#").startswith("#") for _, attrs in read.tags)
    (policy,) = [attrs["content"] for attrs in read.named("meta") if attrs.get("http-equiv")]
    assert policy.startswith("default-src 'none'; ")
    assert "http" not in policy


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_shown_as_text(name):
    said = {"change_at": 400, "answered": 0.5, "missing_from": 600, "has_costs": True}
    other = entry(900, name="dwm", answered=0.5)
    usual = Reader(page(entry(900, alarms=[alarm()], positive="spam", **said), other, command="x"))
    names = {"name": name, "stream": name, "labels": (name, "other"), "columns": (name, "wind", "rain")}
    other = entry(900, name=f"not {name}", labels=(name, "other"), answered=0.5)
    first = entry(900, alarms=[alarm(name, name)], positive=name, **said, **names)
    text = page(first, other, command=name, versions={name: name})
    read = Reader(text)
    assert [(tag, sorted(attrs)) for tag, attrs in read.tags] == [(tag, sorted(attrs)) for tag, attrs in usual.tags]
    assert "".join(read.texts["code"]) == name
    assert "".join(read.texts["h1"]) == "".join(read.texts["title"]) == f"{name} on {name}"
    assert any(f"{name if name.strip() else repr(name)} in class" in text for text in read.texts["li"])
    assert set(charts(text)) == CHARTS


@settings(max_examples=15)
@given(st.lists(st.text() | st.integers() | st.booleans() | st.floats(), min_size=1, max_size=3, unique_by=repr))
def test_labels_may_be_anything(labels):
    text = page(entry(200, labels=tuple(labels)))
    assert charts(text)["classes"]["data"]
    assert text.encode()


def test_plotly_does_not_interpret_tags_in_labels():
    text = page(entry(600, labels=("<b>x</b>", "y"), columns=("<i>heat</i>", "wind", "rain"), change_at=300))
    found = charts(text)
    assert "class &lt;b&gt;x&lt;/b&gt;" in [trace.get("name") for trace in found["classes"]["data"]]
    assert "&lt;i&gt;heat&lt;/i&gt;" in found["drift"]["data"][0]["hovertemplate"]
    assert any(tick.startswith("&lt;i&gt;heat") for tick in found["drift"]["layout"]["yaxis"]["ticktext"])


def test_plotly_does_not_interpret_tags_in_the_text_of_an_alarm():
    text = page(entry(answered=0.5, alarms=[alarm("<b>x</b>", "<i>heat</i>")]))
    (marks,) = [trace for trace in charts(text)["error"]["data"] if trace.get("name") == "alarm"]
    assert "moved: &lt;i&gt;heat&lt;/i&gt; in class &lt;b&gt;x&lt;/b&gt;" in marks["customdata"][0]


def test_a_path_that_is_not_valid_utf_8_can_be_written():
    assert page(entry(), command="driftline run caf\udce9.csv").encode()


def test_a_run_that_was_stopped_says_so():
    text = page(entry(finished=False))
    assert "The run was stopped after 600 rows of sensors" in text
    assert "600 rows, 2 classes; the run was stopped early" in text
    assert "was stopped" not in page(entry())


def test_the_table_of_changes_has_times_if_the_stream_has():
    assert "Time</th>" not in page(entry(4000, change_at=2000))
    text = page(entry(4000, change_at=2000, start_time=1e9))
    assert "Time</th>" in text
    assert "2001-12-01 08:46 UTC" in text


def test_a_classifier_that_cannot_be_ranked_is_in_the_table():
    text = page(entry(), entry(name="dwm", seed=1), entry(300, name="rbp", finished=False))
    assert "rbp <small>stopped after 300 rows</small></th>" in text


def test_the_comparison_is_by_the_measure_that_was_asked_for():
    worse, better = entry(positive="spam", error=0.4), entry(name="dwm", positive="spam", seed=1)
    text = to_html([worse, better], command="x", versions={}, by="recall")
    assert "The recall of each classifier on the same rows; larger is better." in text
    assert "<dt>Rank</dt><dd><b>2 of 2</b><span>by recall</span>" in text
    assert Reader(text).texts["th"].index("dwm") < Reader(text).texts["th"].index("amrc")
    (figures,) = [each for each in better.summary.per_class if each.label == "spam"]
    assert f'<td data-name="Recall">{figures.recall:.1%}</td>' in text
    silent = entry(name="rbp", has_bound=False, positive="spam")
    text = to_html([silent, better], command="x", versions={}, by="log-loss")
    assert set(series_names(charts(text)["comparison"])) == {"dwm"}
    assert '<td data-name="Log loss">–</td>' in text


def series_names(chart):
    return [trace["name"] for trace in chart["data"] if "name" in trace]


def test_a_missing_package_is_reported_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingExtraError, match=r"needs jinja2; pip install 'driftline\[report\]'"):
        page(entry())


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_text_has_enough_contrast(theme):
    style = (files("driftline.report") / "templates" / "look.css").read_text(encoding="utf-8")
    colours = dict(
        re.findall(r"(--[a-z0-9-]+): (#[0-9a-f]{6});", re.findall(r":root.*?\{(.*?)\}", style, re.DOTALL)[theme])
    )
    shaded = [mixed(colours[name], colours["--raised"], STRONGEST_SHADE / 100) for name in ("--bound", "--error")]
    for background in shaded:  # of the confusion matrix
        assert contrast(colours["--ink"], background) >= 4.5
    texts = [name for name in colours if name.endswith("-text")] + ["--ink", "--quiet"]
    assert len(texts) == 15
    for name in texts:
        assert contrast(colours[name], colours["--page"]) >= 4.5, name


def mixed(colour, other, share):
    """Return a colour that is a share of one colour and the rest of another, as color-mix() in CSS."""
    parts = [[int(each[k : k + 2], 16) for k in (1, 3, 5)] for each in (colour, other)]
    return "#" + "".join(f"{round(share * a + (1 - share) * b):02x}" for a, b in zip(*parts, strict=True))


def contrast(colour, other):
    lighter, darker = sorted((luminance(colour), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def luminance(colour):
    """Return the relative luminance of a colour, as the accessibility guidelines define it."""
    parts = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def test_the_script_of_plotly_is_the_published_one():
    folder = files("driftline.report") / "vendor"
    content = (folder / "plotly-basic.min.js").read_bytes()
    assert hashlib.sha256(content).hexdigest() in (folder / "README.md").read_text(encoding="utf-8")
    assert "MIT" in (folder / "LICENSE").read_text(encoding="utf-8")
