"""Sums of products, whose order does not depend on the processor."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from llvmlite.binding import get_host_cpu_features

from driftline.kernels.sum_of_products import in_plain_python
from driftline.kernels.vectors import dot

PROCESSORS = {"of 2003": ("x86-64", ""), "of 2013": ("haswell", "+avx,+avx2,+fma"), "of this computer": None}
DOT = """
import numpy as np
from driftline.kernels.vectors import dot
A = np.random.default_rng(0).normal(size=(40, 409)).astype(np.float32)
print(np.array([dot(A, i, A, k) for i in range(40) for k in range(40)]).tobytes().hex())
"""
CLASSIFIER = """
import hashlib
import numpy as np
from driftline import AMRC
rng = np.random.default_rng(0)
for n_classes in (2, 3):
    y = rng.integers(0, n_classes, 600)
    X = rng.normal(size=(n_classes, 5))[y] + rng.normal(size=(600, 5))
    X[rng.random(X.shape) < 0.01] = np.nan
    model = AMRC(label_memory=True).partial_fit(X[:200], y[:200])
    model.observe(X[200:], ids=np.arange(200, 600))
    model.partial_fit(X[200:400], y[200:400], ids=np.arange(200, 400))
    state = np.concatenate([model.predict_proba(X).ravel(), model.predict_confidence(X), [model.error_bound_]])
    print(hashlib.sha256(state.tobytes()).hexdigest())
"""


def summed_in_lanes(products):
    """Return the sum of some numbers in the order that `dot` promises, number by number."""
    sums = [products.dtype.type(0)] * 16
    whole = len(products) // 16 * 16
    for j in range(whole):
        sums[j % 16] += products[j]
    left = list(products[whole:])
    while len(sums) > 1:
        half = len(sums) // 2
        sums = [sums[j] + sums[half + j] for j in range(half)]
        if len(left) >= half:
            sums = [total + product for total, product in zip(sums, left, strict=False)]
            left = left[half:]
    return sums[0]


@given(st.integers(0, 2**32 - 1), st.integers(0, 100), st.sampled_from([np.float32, np.float64]), st.booleans())
def test_products_are_summed_in_a_fixed_order(seed, n, precision, is_transposed):
    rng = np.random.default_rng(seed)
    A, B = (np.exp(rng.normal(size=(3, n), scale=3)).astype(precision) for _ in range(2))
    if is_transposed:
        A = np.asfortranarray(A)
    expected = summed_in_lanes(A[2] * B[1])
    assert dot(A, 2, B, 1) == expected
    assert in_plain_python(A, 2, B, 1) == expected
    assert expected == pytest.approx(np.sum(A[2].astype(float) * B[1]), rel=1e-5)


def printed_on(processor, code):
    """Return what a program prints that is compiled for another kind of processor."""
    name, features = PROCESSORS[processor] or (None, None)
    chosen = {} if name is None else {"NUMBA_CPU_NAME": name, "NUMBA_CPU_FEATURES": features}
    environment = {key: value for key, value in os.environ.items() if key != "NUMBA_DISABLE_JIT"} | chosen
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    return done.stdout


@pytest.mark.skipif(not get_host_cpu_features().get("avx2"), reason="needs a processor of the family x86-64, with AVX2")
@pytest.mark.parametrize("code", [DOT, pytest.param(CLASSIFIER, marks=pytest.mark.slow)], ids=["a product", "AMRC"])
def test_results_are_the_same_on_every_processor(code):
    assert len({printed_on(processor, code) for processor in PROCESSORS}) == 1
