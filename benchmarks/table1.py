"""The paper's Table 1 on the streams of up to 20,000 rows: all thirteen rows, beside the published figures.

    python benchmarks/table1.py [NAME ...] [--jobs N] [--write]

Columns are scaled by their range over the whole stream, and the scale of each kernel is chosen by the paper's
cross-validation on the whole stream: both look ahead, as the paper does. `--write` puts the tables, with the command
and the versions, into results/table1.md beside this file.
"""

import argparse
from dataclasses import dataclass, field
from functools import cache
from itertools import product

import numpy as np
from joblib import Parallel, delayed
from rich.console import Console
from rich.progress import track

from driftline import PaperAMRC
from driftline.baselines import (
    DWM,
    FOGD,
    NOGD,
    NORMA,
    RBP,
    AdaRaker,
    Forgetron,
    LambdaPerceptron,
    Projectron,
    ProjectronPlusPlus,
)
from driftline.streams import RangeScaled, load
from driftline.streams.catalogue import describe
from driftline.tuning import choose_scale
from provenance import keep

STREAMS = ("weather", "elec2", "german", "chess", "usenet1", "usenet2", "email")
PUBLISHED = {
    "AdaRaker": (34.8, 49.5, 41.0, 46.6, 50.0, 49.0, 45.7),
    "RBP": (34.3, 39.6, 40.5, 36.5, 44.9, 48.3, 45.3),
    "Projectron": (30.7, 36.8, 40.0, 35.1, 49.1, 47.7, 48.2),
    "Projectron++": (32.0, 48.1, 42.2, 43.4, 47.2, 45.2, 48.1),
    "NORMA": (35.5, 43.2, 39.7, 39.4, 36.0, 32.8, 34.6),
    "NOGD": (38.2, 48.2, 37.1, 39.0, 34.6, 33.4, 36.1),
    "FOGD": (32.0, 44.9, 37.6, 38.3, 45.9, 47.0, 44.9),
    "λ-perceptron": (31.4, 40.4, 42.9, 41.6, 44.5, 31.4, 46.8),
    "DWM": (30.0, 36.3, 41.2, 35.2, 36.3, 28.8, 39.5),
    "Forgetron": (32.0, 46.0, 40.1, 33.1, 46.8, 47.2, 41.7),
    "Unidimensional AMRC": (31.3, 40.1, 30.3, 38.3, 46.3, 33.3, 48.4),
    "AMRC": (32.3, 35.8, 30.3, 27.7, 35.7, 30.9, 43.7),
    "Deterministic AMRC": (30.0, 33.9, 30.0, 33.4, 32.0, 29.9, 33.9),
}
"""Errors in %, in the order of the streams."""
WIDE = 2.0**-3
"""A scale that no cross-validation chose, and that is close to what the paper's cells of methods with supports show."""
SEEDS = range(5)
N_NEAR = 5.0


@dataclass(frozen=True)
class Method:
    """A row of the table: the classifier, and how its scale is chosen."""

    kind: type
    settings: dict = field(default_factory=dict)
    tuned: dict = field(default_factory=dict)
    """What to set otherwise while the scale is chosen."""
    randomised: bool = False


AS_PUBLISHED = {"unobserved": "hold", "label_variance": "sample"}
QUICK = {"n_iterations": 500}
METHODS = {
    "AdaRaker": Method(AdaRaker),
    "RBP": Method(RBP),
    "Projectron": Method(Projectron),
    "Projectron++": Method(ProjectronPlusPlus),
    "NORMA": Method(NORMA),
    "NOGD": Method(NOGD),
    "FOGD": Method(FOGD),
    "λ-perceptron": Method(LambdaPerceptron),
    "DWM": Method(DWM),
    "Forgetron": Method(Forgetron),
    "Unidimensional AMRC": Method(PaperAMRC, AS_PUBLISHED | {"gain": "unidimensional"}, QUICK),
    "AMRC": Method(PaperAMRC, AS_PUBLISHED, QUICK, randomised=True),
    "Deterministic AMRC": Method(PaperAMRC, AS_PUBLISHED, QUICK),
}
WITH_SUPPORTS = ("RBP", "Projectron", "Projectron++", "NORMA", "NOGD", "Forgetron")


@cache
def data(name):
    """Return a stream as the paper has it, with its rows and labels."""
    stream = RangeScaled(load(name))
    blocks = list(stream.blocks())
    return stream, np.concatenate([block.rows for block in blocks]), np.concatenate([block.labels for block in blocks])


def built(method, name, **changes):
    """Return a classifier for a stream."""
    parameters = method.kind().get_params()
    settings = dict(method.settings)
    if "scaling" in parameters:
        settings["scaling"] = "none"
    if "nominal" in parameters:
        settings["nominal"] = [j for j, column in enumerate(describe(name).columns) if column.kind != "numeric"]
    return method.kind(**settings | {key: value for key, value in changes.items() if key in parameters})


def scale_of(row, name):
    """Return the scale that the paper's cross-validation chooses; None for methods without a kernel."""
    method = METHODS[row]
    if "scale" not in method.kind().get_params():
        return None
    return choose_scale(built(method, name, **method.tuned), data(name)[0], progress=False).scale


def error_of(row, name, scale):
    """Return the error in %: of the randomised rule for AMRC; the mean over seeds, where a quick method has one."""
    method = METHODS[row]
    _, X, y = data(name)
    seeds = SEEDS if "random_state" in method.kind().get_params() and method.kind is not PaperAMRC else (0,)
    errors = []
    for seed in seeds:
        model = built(method, name, random_state=seed) if scale is None else None
        model = model or built(method, name, random_state=seed, scale=scale)
        answers = model.prequential(X, y, classes=np.unique(y))
        mistakes = 1 - answers.probabilities if method.randomised else answers.predictions != y
        errors.append(100 * np.mean(mistakes))
    return float(np.mean(errors))


def cell(row, name, scale):
    """Return a cell: the scale used and the error. AMRC's three rows share the scale of the deterministic rule."""
    if scale is None:
        scale = scale_of(row, name)
    return row, name, scale, error_of(row, name, scale)


def run(rows, names, scale, jobs, description):
    """Run cells, all at a scale or each at its own; return scales and errors."""
    tasks = [delayed(cell)(row, name, scale) for row, name in product(rows, names)]
    done = Parallel(n_jobs=jobs, return_as="generator_unordered")(tasks)
    return {
        (row, name): (used, error)
        for row, name, used, error in track(done, description, len(tasks), transient=True, console=Console(stderr=True))
    }


def table(cells, rows, names):
    """Return lines of Markdown: errors, with the published ones and the scales in brackets."""
    lines = [
        f"| | {' | '.join(names)} | mean difference |",
        "|---|" + "---|" * (len(names) + 1),
    ]
    for row in rows:
        shown, differences = [], []
        for name in names:
            scale, error = cells[row, name]
            published = PUBLISHED[row][STREAMS.index(name)]
            differences.append(error - published)
            at = "" if scale is None else f"; 2^{np.log2(scale):.0f}"
            shown.append(f"{error:.1f} ({published:.1f}{at})")
        lines.append(f"| {row} | {' | '.join(shown)} | {np.mean(differences):+.1f} |")
    return lines


def closeness(cells):
    """Return a sentence that says how many cells are near the published ones, and how many are better."""
    differences = np.array([error - PUBLISHED[row][STREAMS.index(name)] for (row, name), (_, error) in cells.items()])
    near, lower = np.sum(np.abs(differences) <= N_NEAR), np.sum(differences < -N_NEAR)
    return (
        f"Of {len(differences)} cells {near} are within {N_NEAR:g} points of the published ones, {lower} are lower by "
        f"more, and {len(differences) - near - lower} higher by more."
    )


def main():
    """Run, print, and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"streams, of {', '.join(STREAMS)}; by default all")
    parser.add_argument("--jobs", type=int, default=-1, help="processes; by default as many as there are cores")
    parser.add_argument("--write", action="store_true", help="write results/table1.md")
    arguments = parser.parse_args()
    names = arguments.names or STREAMS
    own = run(METHODS, names, None, arguments.jobs, "scales by cross-validation")
    wide = run(WITH_SUPPORTS, names, WIDE, arguments.jobs, "one scale for all")
    lines = [
        "Errors in %, in brackets the published ones and the scale chosen.",
        "",
        *table(own, METHODS, names),
        "",
        closeness(own),
        "",
        "## The methods with supports, all with the kernel scale 2^-3",
        "",
        *table(wide, WITH_SUPPORTS, names),
        "",
        closeness(wide),
    ]
    Console().print("\n".join(lines), markup=False, soft_wrap=True)
    if arguments.write:
        keep("table1", "# Table 1 of the paper, on the streams of up to 20,000 rows\n", lines, ("joblib",))


if __name__ == "__main__":
    main()
