"""Where another library is not installed."""

import builtins
import sys

import pytest

from driftline import MissingExtraError
from driftline.adapters import CapyMOAClassifier, RiverClassifier
from driftline.registry import create
from helpers.quick_models import small_stream


@pytest.fixture
def without(monkeypatch):
    """Return a function that makes a package fail to be imported."""
    real = builtins.__import__

    def forbid(package, error):
        def failing(name, *rest):
            if name.split(".")[0] == package:
                raise error
            return real(name, *rest)

        for name in [name for name in sys.modules if name.split(".")[0] == package]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setattr(builtins, "__import__", failing)

    return forbid


class Lookalike:
    _multiclass = True

    def learn_one(self, x, y): ...

    def predict_one(self, x): ...

    def clone(self):
        return self


def test_without_river_the_message_says_what_to_install(without):
    without("river", ModuleNotFoundError("No module named 'river'", name="river"))
    for use in (lambda: RiverClassifier(Lookalike()).fit(*small_stream()), lambda: create("river-arf")):
        with pytest.raises(MissingExtraError, match=r"need river .*pip install 'driftline\[river\]'"):
            use()


def test_without_capymoa_the_message_says_what_to_install(without):
    without("capymoa", ModuleNotFoundError("No module named 'capymoa'", name="capymoa"))
    for use in (lambda: CapyMOAClassifier("NaiveBayes").fit(*small_stream()), lambda: create("capymoa-arf")):
        with pytest.raises(MissingExtraError, match=r"needs CapyMOA .*pip install 'driftline\[capymoa\]'"):
            use()


def test_without_capymoa_its_amrc_says_what_to_install(without, monkeypatch):
    monkeypatch.delitem(sys.modules, "driftline.adapters.capymoa.amrc", raising=False)
    without("capymoa", ModuleNotFoundError("No module named 'capymoa'", name="capymoa"))
    with pytest.raises(MissingExtraError, match=r"needs CapyMOA .*pip install 'driftline\[capymoa\]'"):
        from driftline.adapters.capymoa import AMRC  # noqa: F401, PLC0415


def test_without_java_the_message_says_so(without):
    without("capymoa", RuntimeError("Java not found."))
    with pytest.raises(MissingExtraError, match=r"CapyMOA needs Java \(Java not found.\); install a Java runtime"):
        CapyMOAClassifier("NaiveBayes").fit(*small_stream())


def test_without_river_its_amrc_says_what_to_install_and_the_rest_can_be_imported(without, monkeypatch):
    without("river", ModuleNotFoundError("No module named 'river'", name="river"))
    monkeypatch.delitem(sys.modules, "driftline.adapters.river.amrc", raising=False)
    with pytest.raises(MissingExtraError, match=r"needs river .*pip install 'driftline\[river\]'"):
        from driftline.adapters.river import AMRC  # noqa: F401, PLC0415
    with pytest.raises(ImportError, match="cannot import name 'AMRX'"):
        from driftline.adapters.river import AMRX  # noqa: F401, PLC0415
