"""Leaves out the doctests of what is not installed; their tests are skipped and say so."""

from importlib.util import find_spec

collect_ignore = [f"src/driftline/adapters/{name}.py" for name in ("river", "capymoa") if find_spec(name) is None]
if find_spec("plotly") is None:
    collect_ignore.append("src/driftline/report/page.py")
