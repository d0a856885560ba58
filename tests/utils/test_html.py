from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from driftline.utils.html import shortened, titled_table
from driftline.utils.terminal import visible


class Elements(HTMLParser):
    """Collects the elements and the texts of a page."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.names, self.texts = set(), set(), []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.names |= {name for name, _ in attrs}

    def handle_data(self, data):
        self.texts.append(data)


texts = st.text(st.one_of(st.characters(), st.sampled_from("<>&\"'/=")), max_size=20).map(
    lambda text: text.encode(errors="replace").decode()
)


@given(texts, st.lists(st.tuples(texts, texts), max_size=3), texts)
def test_whatever_is_in_a_table_is_text(title, rows, note):
    for header in ((), ("a", "b")):
        page = Elements(titled_table(title, rows, header, [note]))
        assert page.tags <= {"div", "p", "b", "table", "tr", "th", "td"}
        assert page.names <= {"style"}
        expected = [title, note, *header, *(cell for row in rows for cell in row)]
        assert "".join(page.texts) == "".join(map(visible, expected))


def test_lone_surrogates_can_be_shown():
    assert "?" in titled_table("\udcff", [])


def test_long_texts_are_cut():
    assert shortened("a" * 40) == "a" * 40
    assert shortened("a" * 41) == "a" * 39 + "…"
