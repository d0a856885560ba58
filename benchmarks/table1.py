"""The paper's Table 1 on the streams of up to 20,000 rows: all thirteen rows, beside the published figures.

    python benchmarks/table1.py [NAME ...] [--jobs N] [--write]

Columns are scaled by their range over the whole stream, and the scale of each kernel is chosen by the paper's
cross-validation on the whole stream: both look ahead, as the paper does. `--write` puts the tables, with the command
and the versions, into results/table1.md beside this file.
"""

import argparse
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
from driftline.experiments import read_spec
from driftline.streams import RangeScaled, load
from driftline.tuning import choose_scale
from provenance import keep

STREAMS = ("weather", "elec2", "german", "chess", "usenet1", "usenet2", "email")
TABLE = read_spec("table1")
PUBLISHED = {
    method.row: [method.published[TABLE.streams.index(name)] for name in STREAMS]
    for method in TABLE.methods
    if not method.ours
}
"""Errors in %, in the order of the streams."""
GRID = tuple(2.0**i for i in range(-8, 9))
"""The scales that the two stages of the cross-validation can choose, and those between them."""
SEEDS = range(5)
N_NEAR = 5.0


METHODS = {
    "AdaRaker": AdaRaker,
    "RBP": RBP,
    "Projectron": Projectron,
    "Projectron++": ProjectronPlusPlus,
    "NORMA": NORMA,
    "NOGD": NOGD,
    "FOGD": FOGD,
    "λ-perceptron": LambdaPerceptron,
    "DWM": DWM,
    "Forgetron": Forgetron,
    "AMRC": PaperAMRC,
}
"""AMRC stands for its three rows: all have the scale that is chosen for the deterministic rule."""
AS_PUBLISHED = {"unobserved": "hold", "label_variance": "sample"}
QUICK = {"n_iterations": 500}
"""While the scale of AMRC is chosen: by the paper's Table 4 that changes little."""
WITH_KERNELS = ("RBP", "Projectron", "Projectron++", "NORMA", "NOGD", "FOGD", "Forgetron")
EXPLANATION = """
## Row by row

- **RBP, Projectron, Projectron++, Forgetron, NORMA, NOGD.** At the scales that cross-validation chooses they err less
  than published, most where columns are zeros and ones. The published figures are those of one kernel for all streams,
  which is so wide (scales from 1/32 to 1/4, on columns between 0 and 1) that its functions are nearly linear. The
  paper says that scales were chosen by cross-validation for each stream, but not how: if folds were stretches of the
  stream, a classifier was asked about rows from before the drifts that it had followed.
- **NORMA** besides: its settings are not published. The defaults here (step 1/2, decay 0.01, fixed margin 1, no offset)
  did best on these streams.
- **FOGD.** As these, but nearest at a scale that is too large, at which the features of different rows have little in
  common, and not near even there.
- **AdaRaker.** It has scales of its own, so that all depends on those of the columns. With the columns as the files
  have them it is near the published figures but on usenet1 and usenet2, whose columns are zeros and ones anyway.
- **λ-perceptron.** A reconstruction: the authors' text was not at hand. What differs cannot be told.
- **DWM.** All columns as numbers, with Gaussian densities. The exception is german, where the published error is above
  the share of the smaller class, 30 %.
- **Unidimensional AMRC, AMRC, Deterministic AMRC.** One seed; the scale is chosen for the deterministic rule, with 500
  iterations instead of 2000. What is further off has another scale than the paper's, which is not published: AMRC
  follows its scale more than the others do. The gain of many dimensions over one is smaller here than published.
"""


def data(name, scaled=True):
    """Return a stream, as a rule scaled as the paper has it, with its rows and labels."""
    stream = RangeScaled(load(name)) if scaled else load(name)
    blocks = list(stream.blocks())
    return stream, np.concatenate([block.rows for block in blocks]), np.concatenate([block.labels for block in blocks])


def built(kind, **changes):
    """Return a classifier, with those of the settings that it has."""
    parameters = kind().get_params()
    settings = AS_PUBLISHED | {"scaling": "none"} | changes
    return kind(**{key: value for key, value in settings.items() if key in parameters})


def answers(kind, name, scaled=True, **changes):
    """Return what a classifier says, and the labels."""
    _, X, y = data(name, scaled)
    return built(kind, **changes).prequential(X, y, classes=np.unique(y)), y


def error_of(kind, name, **changes):
    """Return the error in %: the mean over seeds, where a method draws."""
    seeds = SEEDS if "random_state" in kind().get_params() else (0,)
    runs = [answers(kind, name, random_state=seed, **changes) for seed in seeds]
    return float(np.mean([100 * np.mean(said.predictions != y) for said, y in runs]))


def errors_of_amrc(name, scale):
    """Return the errors of the three rows of AMRC in %, of one seed."""
    said, y = answers(PaperAMRC, name, scale=scale)
    one_gain, _ = answers(PaperAMRC, name, scale=scale, gain="unidimensional")
    return {
        "Unidimensional AMRC": float(100 * np.mean(one_gain.predictions != y)),
        "AMRC": float(100 * np.mean(1 - said.probabilities)),
        "Deterministic AMRC": float(100 * np.mean(said.predictions != y)),
    }


def cells_of(method, name):
    """Return the scale that the paper's cross-validation chooses, and the error of each row of a method."""
    kind = METHODS[method]
    if "scale" not in kind().get_params():
        return {(method, name): (None, error_of(kind, name))}
    scale = choose_scale(built(kind, **QUICK), data(name)[0], progress=False).scale
    errors = errors_of_amrc(name, scale) if kind is PaperAMRC else {method: error_of(kind, name, scale=scale)}
    return {(row, name): (scale, error) for row, error in errors.items()}


def nearest_of(method, names):
    """Return the cells of a method at that one scale for all streams that is nearest to the published figures."""
    if method == "AdaRaker":
        return {(method, name): (None, error_of(AdaRaker, name, scaled=False)) for name in names}
    tried = [
        {(method, name): (scale, error_of(METHODS[method], name, scale=scale)) for name in names} for scale in GRID
    ]
    return min(tried, key=lambda cells: np.mean(np.abs(differences(cells))))


def run(function, tasks, jobs, description):
    """Run some tasks; return all cells."""
    done = Parallel(n_jobs=jobs, return_as="generator_unordered")(delayed(function)(*task) for task in tasks)
    cells = {}
    for some in track(done, description, len(tasks), transient=True, console=Console(stderr=True)):
        cells |= some
    return cells


def differences(cells):
    """Return by how much each cell is above the published one."""
    return np.array([error - PUBLISHED[row][STREAMS.index(name)] for (row, name), (_, error) in cells.items()])


def table(cells, rows, names):
    """Return lines of Markdown: errors, with the published ones and the scales in brackets."""
    lines = [
        f"| | {' | '.join(names)} | mean difference | mean distance |",
        "|---|" + "---|" * (len(names) + 2),
    ]
    for row in rows:
        shown, own = [], {key: cell for key, cell in cells.items() if key[0] == row}
        for name in names:
            scale, error = own[row, name]
            at = "" if scale is None else f"; 2^{np.log2(scale):.0f}"
            shown.append(f"{error:.1f} ({PUBLISHED[row][STREAMS.index(name)]:.1f}{at})")
        gaps = differences(own)
        lines.append(f"| {row} | {' | '.join(shown)} | {np.mean(gaps):+.1f} | {np.mean(np.abs(gaps)):.1f} |")
    return lines


def closeness(cells):
    """Return a sentence that says how many cells are near the published ones, and how many are better."""
    gaps = differences(cells)
    near, lower = np.sum(np.abs(gaps) <= N_NEAR), np.sum(gaps < -N_NEAR)
    return (
        f"Of {len(gaps)} cells {near} are within {N_NEAR:g} points of the published ones, {lower} are lower by "
        f"more, and {len(gaps) - near - lower} higher by more."
    )


def main():
    """Run, print, and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"streams, of {', '.join(STREAMS)}; by default all")
    parser.add_argument("--jobs", type=int, default=-1, help="processes; by default as many as there are cores")
    parser.add_argument("--write", action="store_true", help="write results/table1.md")
    arguments = parser.parse_args()
    names = arguments.names or STREAMS
    tasks = list(product(reversed(METHODS), names))  # AMRC, which takes longest, first
    own = run(cells_of, tasks, arguments.jobs, "scales by cross-validation")
    others = ("AdaRaker", *WITH_KERNELS)
    nearest = run(nearest_of, [(method, names) for method in others], arguments.jobs, "what comes near")
    lines = [
        "Errors in %; in brackets the published ones and the scale chosen by cross-validation.",
        "",
        *table(own, PUBLISHED, names),
        "",
        closeness(own),
        "",
        "## What comes near the published figures",
        "",
        "Kernel methods at one scale for all streams, that which comes nearest to what is published of the method; "
        "AdaRaker on columns that are not scaled.",
        "",
        *table(nearest, others, names),
        "",
        closeness(nearest),
        "",
        f"With these for those of the first table: {closeness(own | nearest)}",
        EXPLANATION,
    ]
    Console().print("\n".join(lines), markup=False, soft_wrap=True)
    if arguments.write:
        keep("table1", "# Table 1 of the paper, on the streams of up to 20,000 rows\n", lines, ("joblib",))


if __name__ == "__main__":
    main()
