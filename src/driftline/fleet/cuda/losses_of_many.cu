// Losses of drawn rows for more than two classes: they depend on the scores of all of them.

// As driftline.kernels.descent.scaled_loss.
__device__ double scaled_loss(const float* scores, const int* order, int label, double factor) {
  double total = factor * double(scores[order[0]]) - 1.0, best = total;
  for (int k = 1; k < C; ++k) {
    total += factor * double(scores[order[k]]);
    best = larger(best, total / (k + 1));
  }
  return 1.0 - factor * double(scores[label]) + best;
}

// Sets the factors of a row in the gradients of member m, and its losses of all rules but the first; adds its loss and
// its support value. Returns whether it has a gradient.
template <int S>
__device__ __forceinline__ bool evaluate_row(const Space<S>& space, int m, const Row<S>& row, bool measures_all,
                                             Sums& sums, DrawnOfMany& drawn, double* scaled) {
  constexpr int D = SPACE_FEATURES[S];
  const int label = row.label;
  float scores[C];
  int order[C], size;
#pragma unroll
  for (int y = 0; y < C; ++y) {
    scores[y] = dot<D>(row.each, Vector<D>(space.mu + (m * C + y) * STRIDE<S>).each);
    if (Space<S>::COMPENSATES) scores[y] += space.centre_scores[(m * C + y) * C + label];
  }
  const float phi = single_support(scores, order, size);
  sums.losses[0] += larger(1.0 - double(scores[label]) + double(phi), 0.0);
  sums.supports[0] += double(phi);
  sums.supports[1] += double(phi * phi);  // in single precision, as on the cores
  if (measures_all) {
    for (int k = 1; k < N_RULES; ++k)
      scaled[k] = STEPS_PER_LABEL * scaled_loss(scores, order, label, 1.0 / (1 << k));
  }
  const float share = SHARE / float(size);
  for (int y = 0; y < GRADIENTS; ++y) drawn.factors[y] = y == label ? -SHARE : 0.0f;
  for (int k = 0; k < size; ++k) drawn.factors[order[k]] = order[k] == label ? share - SHARE : share;
  return !(size == 1 && order[0] == label);
}

// Sets the losses of all rules but the first to their sums over all rows, in the order of the cores: if all rows have
// the loss of guessing, as at the start, rounding decides whether a rule is better than guessing.
__device__ __forceinline__ void add_scaled(const double (*scaled)[N_RULES], Sums& sums) {
  for (int k = 1; k < N_RULES; ++k) {
    double total = 0.0;
    for (int b = 0; b < ROWS_PER_STEP; ++b)
      total += __shfl_sync(ALL_LANES, b < WARP ? scaled[0][k] : scaled[1][k], b % WARP);
    sums.losses[k] = threadIdx.x % WARP == 0 ? total : 0.0;
  }
}

// Sets the sums of the factors of the n rows listed for member m, by gradient row and label.
template <int S>
__device__ __forceinline__ void set_centre_factors(Space<S>& space, int m, int n) {
  __syncwarp();
  for (int k = threadIdx.x % WARP; k < GRADIENTS * C; k += WARP) {
    float total = 0.0f;
    for (int b = 0; b < n; ++b) {
      const Drawn row = space.drawn[m][b];
      const int label = __float_as_int(space.rows[Rows<S>::label_at(row.place())]);
      total += label == k % C ? row.factor(k / C) : 0.0f;
    }
    space.centre_factors[m * GRADIENTS * C + k] = total;
  }
}

// Lists the rows drawn for member m that have a gradient: places and factors; adds its loss to `own`, which is that of
// the lane with its number. Returns how many there are.
template <int S>
__device__ __forceinline__ int list_rows_of_many(Space<S>& space, int m, int step, bool measures_all, Sums& own) {
  const int lane = threadIdx.x % WARP;
  const bool measures_supports = MEMBER_WIDTH[FIRST_MEMBER[S] + m] > 0.0;
  DrawnOfMany drawn[2];
  bool has_gradient[2];
  double scaled[2][N_RULES];
  Sums sums = {};
#pragma unroll
  for (int part = 0; part < 2; ++part) {
    drawn[part].at = space.positions[m][step][lane + WARP * part];
    const Row<S> row(space.rows, drawn[part].at);
    has_gradient[part] = evaluate_row<S>(space, m, row, measures_all, sums, drawn[part], scaled[part]);
  }
  if (measures_all) add_scaled(scaled, sums);
  const unsigned first = __ballot_sync(ALL_LANES, has_gradient[0]), second = __ballot_sync(ALL_LANES, has_gradient[1]);
  const unsigned before = (1u << lane) - 1u;
  const int n_first = __popc(first), listed[2] = {__popc(first & before), n_first + __popc(second & before)};
#pragma unroll
  for (int part = 0; part < 2; ++part) {
    if (has_gradient[part]) space.drawn[m][listed[part]] = drawn[part];
  }
  const int n = n_first + __popc(second);
  if (Space<S>::COMPENSATES) set_centre_factors<S>(space, m, n);
  const double loss = warp_sum(sums.losses[0]);
  if (lane == m) own.losses[0] += loss;
  add_sums(own, sums, lane == m, measures_all, measures_supports);
  return n;
}
