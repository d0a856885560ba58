"""AᵢᵀB_k with vector instructions, in an order of sums that is the same on every processor.

A compiler may use vector instructions for a sum only if it may reorder it, and the order that it chooses follows the
width of the processor's vectors. Results would differ in their last digit between processors, and thousands of rows
later by tenths of a point. Here the order is fixed by 16 partial sums, for which any processor uses the widest vectors
it has. numba has no function for this, so the instructions are written by way of LLVM's own library.
"""

from typing import Any

import numpy as np
from llvmlite import ir

from driftline._jit import NUMBA

cgutils, types = NUMBA.cgutils, NUMBA.types
LANES = 16
"""How many partial sums `sum_of_products` has at first."""


def in_plain_python(A: Any, i: int, B: Any, k: int) -> Any:
    """Return A_iᵀB_k, in the precision of both, summed in the same order on every processor.

    Products j, j + 16, j + 32, … are added to partial sum j of 16. Then the second half of the partial sums is added to
    the first, and as many of the products that are left as there are partial sums, until one sum is left.
    """
    products = A[i] * B[k]
    n = len(products) - len(products) % LANES
    sums = np.zeros(LANES, products.dtype)
    for first in range(0, n, LANES):
        sums += products[first : first + LANES]
    lanes = LANES
    while lanes > 1:
        lanes //= 2
        sums = sums[:lanes] + sums[lanes:]
        if n + lanes <= len(products):
            sums += products[n : n + lanes]
            n += lanes
    return sums[0]


def _row_loader(context: Any, builder: Any, array_type: Any, array: Any, row: Any) -> tuple[Any, Any]:
    """Return a function that loads numbers of a row of a matrix as a vector, and the length of the row."""
    view = context.make_array(array_type)(context, builder, array)
    (row_stride, stride), (_, n) = (cgutils.unpack_tuple(builder, each, 2) for each in (view.strides, view.shape))
    start = cgutils.pointer_add(builder, view.data, builder.mul(row, row_stride))
    number = context.get_data_type(array_type.dtype)

    def load(first: Any, lanes: int) -> Any:
        if array_type.layout == "C":
            place = builder.bitcast(builder.gep(start, [first]), ir.VectorType(number, lanes).as_pointer())
            return builder.load(place, align=context.get_abi_sizeof(number))
        vector = ir.Constant(ir.VectorType(number, lanes), ir.Undefined)
        for lane in range(lanes):
            offset = builder.mul(builder.add(first, ir.Constant(first.type, lane)), stride)
            value = builder.load(cgutils.pointer_add(builder, start, offset))
            vector = builder.insert_element(vector, value, ir.Constant(ir.IntType(32), lane))
        return vector

    return load, n


def _halves(builder: Any, vector: Any, lanes: int) -> tuple[Any, Any]:
    """Return the first and the second half of a vector."""
    undefined, indices = ir.Constant(vector.type, ir.Undefined), ir.VectorType(ir.IntType(32), lanes // 2)
    places = list(range(lanes // 2)), list(range(lanes // 2, lanes))
    first, second = (builder.shuffle_vector(vector, undefined, ir.Constant(indices, each)) for each in places)
    return first, second


def _write_instructions(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Write the instructions of `sum_of_products`; return their result."""
    A_type, _, B_type, _ = signature.args
    load_a, n = _row_loader(context, builder, A_type, *arguments[:2])
    load_b, _ = _row_loader(context, builder, B_type, *arguments[2:])

    def products(first: Any, lanes: int) -> Any:
        return builder.fmul(load_a(first, lanes), load_b(first, lanes))

    def after(first: Any, lanes: int) -> tuple[Any, Any]:
        """Return the position after so many products, and whether there are so many."""
        position = builder.add(first, ir.Constant(n.type, lanes), flags=["nsw"])
        return position, builder.icmp_signed("<=", position, n)

    entry, head = builder.block, builder.append_basic_block("head")
    body, end = builder.append_basic_block("body"), builder.append_basic_block("end")
    builder.branch(head)
    builder.position_at_end(head)
    vector = ir.VectorType(context.get_data_type(signature.return_type), LANES)
    first, sums = builder.phi(n.type), builder.phi(vector)
    first.add_incoming(ir.Constant(n.type, 0), entry)
    sums.add_incoming(ir.Constant(vector, [0.0] * LANES), entry)
    position, has_more = after(first, LANES)
    builder.cbranch(has_more, body, end)
    builder.position_at_end(body)
    first.add_incoming(position, body)
    sums.add_incoming(builder.fadd(sums, products(first, LANES)), body)
    builder.branch(head)
    builder.position_at_end(end)
    lanes = LANES
    while lanes > 1:
        sums = builder.fadd(*_halves(builder, sums, lanes))
        lanes //= 2
        position, has_more = after(first, lanes)
        before = builder.block
        with builder.if_then(has_more):
            more, added = builder.fadd(sums, products(first, lanes)), builder.block
        merged_first, merged = builder.phi(n.type), builder.phi(sums.type)
        for phi, value_before, value_added in ((merged_first, first, position), (merged, sums, more)):
            phi.add_incoming(value_before, before)
            phi.add_incoming(value_added, added)
        first, sums = merged_first, merged
    return builder.extract_element(sums, ir.Constant(ir.IntType(32), 0))


@NUMBA.extending.intrinsic  # type: ignore[untyped-decorator]
def _compiled(typing_context: Any, A: Any, i: Any, B: Any, k: Any) -> Any:
    if A.dtype != B.dtype or A.ndim != 2 or B.ndim != 2:
        raise NUMBA.errors.TypingError(f"two matrices of the same precision are needed; got {A} and {B}")
    return A.dtype(A, types.intp, B, types.intp), _write_instructions


sum_of_products: Any = in_plain_python if NUMBA.config.DISABLE_JIT else _compiled
