"""The packages that users install: what they contain, and the wheel in an environment without any extra."""

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from importlib.metadata import distribution, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OPTIONAL = "capymoa", "matplotlib", "pandas", "polars", "pooch", "pyarrow", "pytest", "rich", "river", "typer"
"""Import names of packages that only extras install."""

USE = f"""
import importlib.util, sys
import numpy as np
import driftline
from driftline import AMRC, MissingExtraError
from driftline.registry import create
from driftline.streams import RotatingGaussians

assert driftline.__file__.startswith(sys.prefix), driftline.__file__
installed = [name for name in {OPTIONAL} if importlib.util.find_spec(name)]
assert not installed, installed
X, y = RotatingGaussians().sample(20, seed=0)
model = AMRC(n_components=10).partial_fit(X, y)
model.save("model.driftline")
assert np.array_equal(AMRC.load("model.driftline").predict_proba(X), model.predict_proba(X))
assert set(model.predict(X)) <= {{0, 1}}
try:
    create("river-arf")
except MissingExtraError as error:
    print(driftline.__version__, error)
"""


def run(*command, **environment):
    """Run a command outside of the source tree's settings; return its exit code, output and errors."""
    settings = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [str(part) for part in command], check=False, capture_output=True, text=True, env=settings | environment
    )


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """Return the paths of the source archive, built from this tree, and of the wheel, built from that archive."""
    folder = tmp_path_factory.mktemp("dist")
    built = run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT)
    assert built.returncode == 0, built.stdout + built.stderr
    (sdist,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return sdist, wheel


def core_distributions():
    """Return the names of all distributions that driftline needs without extras, directly or indirectly."""
    found, pending = set(), [Requirement(text) for text in PROJECT["dependencies"]]
    while pending:
        requirement = pending.pop()
        name = canonicalize_name(requirement.name)
        if name not in found and (requirement.marker is None or requirement.marker.evaluate({"extra": ""})):
            found.add(name)
            pending += [Requirement(text) for text in requires(name) or ()]
    return found


def create_environment(folder, with_pip):
    """Create a virtual environment; return its interpreter, its script `driftline` and its site-packages."""
    venv.create(folder, with_pip=with_pip, symlinks=os.name != "nt")
    scripts, suffix = (folder / "Scripts", ".exe") if os.name == "nt" else (folder / "bin", "")
    python = scripts / f"python{suffix}"
    where = run(python, "-I", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))")
    return python, scripts / f"driftline{suffix}", Path(where.stdout.strip())


def link_distribution(name, site_packages):
    """Make a distribution of this environment available in another one, without its neighbours."""
    installed = distribution(name)
    for top in {file.parts[0] for file in installed.files} - {"..", "__pycache__"}:
        source = Path(installed.locate_file(top))
        try:
            (site_packages / top).symlink_to(source, target_is_directory=source.is_dir())
        except OSError as error:  # Windows, without the privilege
            pytest.skip(f"needs symbolic links ({error})")


def check_use(python, command, folder, **environment):
    """Check that a model can be fitted, saved and loaded, and that what needs an extra names that extra."""
    used = run(python, "-I", "-c", f"import os; os.chdir({str(folder)!r})\n{USE}", **environment)
    assert used.returncode == 0, used.stderr
    assert used.stdout.startswith(PROJECT["version"])
    assert "pip install 'driftline[river]'" in used.stdout
    refused = run(command, "demo")
    assert refused.returncode == 1
    assert refused.stderr == "driftline: the command line needs typer; pip install 'driftline[cli]'\n"


def test_the_wheel_contains_the_whole_package_and_nothing_else(packages):
    source = ROOT / "src"
    expected = {
        path.relative_to(source).as_posix()
        for path in (source / "driftline").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    names = set(zipfile.ZipFile(packages[1]).namelist())
    assert {name for name in names if ".dist-info/" not in name} == expected
    assert "driftline/py.typed" in names
    assert "Typing :: Typed" in PROJECT["classifiers"]


def test_the_source_archive_contains_what_a_build_needs_and_neither_tests_nor_results(packages):
    with tarfile.open(packages[0]) as archive:
        tops = {name.split("/")[1] for name in archive.getnames()}
    assert tops - {".gitignore"} == {
        "CHANGELOG.md", "CITATION.cff", "LICENSE", "PKG-INFO", "README.md", "pyproject.toml", "src",
    }  # fmt: skip


@pytest.mark.slow  # make dist runs it, too
def test_the_wheel_works_with_the_core_dependencies_alone(packages, tmp_path):
    python, command, site_packages = create_environment(tmp_path / "venv", with_pip=False)
    for name in core_distributions():
        link_distribution(name, site_packages)
    pip = sys.executable, "-m", "pip", "--python", python
    installed = run(*pip, "install", "--quiet", "--no-index", "--no-deps", packages[1])
    assert installed.returncode == 0, installed.stderr
    assert run(*pip, "check").stdout.startswith("No broken requirements")
    check_use(python, command, tmp_path, NUMBA_DISABLE_JIT="1")  # compilation takes longer than the rest


@pytest.mark.slow
def test_pip_installs_the_wheel_and_its_dependencies_from_the_package_index(packages, tmp_path):
    python, command, _ = create_environment(tmp_path / "venv", with_pip=True)
    installed = run(python, "-m", "pip", "install", "--quiet", "-c", ROOT / "constraints.txt", packages[1])
    assert installed.returncode == 0, installed.stderr
    check_use(python, command, tmp_path)


def test_the_version_is_the_same_in_all_files_that_state_it():
    citation = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    releases = re.findall(r"^## \[([\d.]+)\] - \d{4}-\d\d-\d\d$", changelog, re.MULTILINE)
    assert citation[1] == releases[0] == PROJECT["version"]
    assert re.findall(r"^\[([\d.]+)\]: https://", changelog, re.MULTILINE) == releases


def test_the_lowest_versions_that_are_tested_are_those_that_are_promised():
    lines = (ROOT / "constraints-lowest.txt").read_text(encoding="utf-8").splitlines()
    pins = dict(line.split("==") for line in lines if not line.startswith("#"))
    lowest = {}
    for text in sum(PROJECT["optional-dependencies"].values(), PROJECT["dependencies"]):
        requirement = Requirement(text)
        for specifier in requirement.specifier:
            if specifier.operator == ">=":
                version = Version(specifier.version)  # an extra may need a later one than another
                lowest[requirement.name] = min(lowest.get(requirement.name, version), version)
    assert {name: Version(version) for name, version in pins.items()} == {name: lowest[name] for name in pins}
    for extra in ("cli", "data", "files", "plot", "report", "river"):
        assert {Requirement(text).name for text in PROJECT["optional-dependencies"][extra]} <= pins.keys()
    assert {Requirement(text).name for text in PROJECT["dependencies"]} <= pins.keys()
