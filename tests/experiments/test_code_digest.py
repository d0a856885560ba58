"""The digest of the code: what changes it, and what does not."""

import shutil
from pathlib import Path

import pytest

import driftline
from driftline import registry
from driftline.experiments.code_digest import COMMON_CODE, SourceTree, code_digest

FILES = {
    "__init__.py": "",
    "common.py": "COMMON = 1\n",
    "methods/__init__.py": "from driftline.methods.one import One\nfrom driftline.methods.two import Two\n",
    "methods/one.py": '''"""A method."""
from math import floor as rounded
from driftline.kernels import dot
SIZE = 3
"""Its size."""
class One:
    """One."""
    def learn(self, x):
        # the product
        return rounded(dot(x, SIZE))
''',
    "methods/two.py": "class Two:\n    pass\n",
    "kernels/__init__.py": "from driftline.kernels.products import product as dot\n",
    "kernels/products.py": "import driftline.constants\ndef product(x, y):\n    return x * y\n",
    "constants.py": "UNIT = 1.0\n",
}


@pytest.fixture
def digest(tmp_path, monkeypatch):
    """Return a function that gives the digest of method One after some changes of files."""
    monkeypatch.setattr("driftline.experiments.code_digest.COMMON_CODE", ("driftline.common",))

    def digest_after(changes):
        root = tmp_path / str(len(list(tmp_path.iterdir())))
        for name, text in (FILES | changes).items():
            path = root / "driftline" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if text is not None:
                path.write_text(text)
        return SourceTree(root).digest("driftline.methods", "One")

    return digest_after


def edited(name, old, new):
    assert old in FILES[name]
    return {name: FILES[name].replace(old, new)}


@pytest.mark.parametrize(
    "changes",
    [
        edited("methods/one.py", "# the product", "# x times the size"),
        edited("methods/one.py", '"""One."""', '"""The first method."""'),
        edited("methods/one.py", '"""Its size."""', '"""Number of rows."""'),
        edited("methods/one.py", "dot(x, SIZE)", "dot(\n            x,\n            SIZE,\n        )"),
        edited("methods/two.py", "pass", "SIZE = 4"),
        {"kernels/products.py": None, "kernels/inner.py": FILES["kernels/products.py"]}
        | edited("kernels/__init__.py", "kernels.products", "kernels.inner"),
    ],
    ids=["comment", "docstring", "description of a constant", "formatting", "another method", "moved file"],
)
def test_the_digest_stays_the_same(digest, changes):
    assert digest(changes) == digest({})


@pytest.mark.parametrize(
    "changes",
    [
        edited("methods/one.py", "SIZE = 3", "SIZE = 4"),
        edited("methods/one.py", "floor as", "ceil as"),
        edited("kernels/products.py", "x * y", "y * x"),
        edited("constants.py", "1.0", "2.0"),
        edited("common.py", "1", "2"),
        {"kernels/other.py": "def product(x, y):\n    return x + y\n"}
        | edited("kernels/__init__.py", "kernels.products", "kernels.other"),
    ],
    ids=["constant", "function of another package", "kernel", "indirect import", "common code", "another kernel"],
)
def test_the_digest_changes(digest, changes):
    assert digest(changes) != digest({})


def test_packages_beside_driftline_do_not_count(tmp_path, digest):
    expected = digest({})
    (tmp_path / "0" / "math.py").write_text("import driftline.methods.two\n")
    assert SourceTree(tmp_path / "0").digest("driftline.methods", "One") == expected


def test_the_code_common_to_all_results_exists():
    tree = SourceTree(Path(driftline.__file__).parent.parent)
    assert [name for name in COMMON_CODE if not tree.modules_in(name)] == []


def test_every_classifier_has_a_digest_of_its_code():
    digests = {name: code_digest(name) for name in registry.names()}
    assert digests["amrc-paper"] == digests["amrc-paper-linear"]
    assert len({digests[name] for name in ("amrc", "amrc-paper", "dwm", "rbp", "river-arf", "sklearn-nb")}) == 6


@pytest.mark.parametrize(("package", "changed"), [("kernels", {"amrc", "amrc-paper", "rbp"}), ("ensemble", {"amrc"})])
def test_results_depend_on_the_kernels_and_on_their_own_method(tmp_path, package, changed):
    shutil.copytree(Path(driftline.__file__).parent, tmp_path / "driftline")
    for path in (tmp_path / "driftline" / package).rglob("*.py"):
        path.write_text(path.read_text(encoding="utf-8") + "\nADDED = 1\n", encoding="utf-8")
    tree = SourceTree(tmp_path)
    entries = {name: registry.describe(name) for name in ("amrc", "amrc-paper", "rbp")}
    assert {
        name for name, entry in entries.items() if tree.digest(entry.module, entry.maker) != code_digest(name)
    } == changed
