// The losses of drawn rows and their factors in the gradients (driftline.kernels.descent), one lane per row.

__device__ __forceinline__ double loss_of_two(double lead) { return larger(larger(0.5 * (1.0 - lead), -lead), 0.0); }

// As driftline.kernels.descent.scaled_loss.
__device__ double scaled_loss(const float* scores, const int* order, int label, double factor) {
  double total = factor * double(scores[order[0]]) - 1.0, best = total;
  for (int k = 1; k < C; ++k) {
    total += factor * double(scores[order[k]]);
    best = larger(best, total / (k + 1));
  }
  return 1.0 - factor * double(scores[label]) + best;
}

// What a warp sums over the rows drawn for a member.
struct Sums {
  double losses[N_RULES], supports[2];
};

// Adds the sums of all lanes to those of one of them, apart from the losses of the first rule.
__device__ __forceinline__ void add_sums(Sums& own, const Sums& sums, bool is_own, bool measures_all,
                                         bool measures_supports) {
  if (measures_all) {
#pragma unroll
    for (int k = 1; k < N_RULES; ++k) {
      const double total = warp_sum(sums.losses[k]);
      if (is_own) own.losses[k] = total;
    }
  }
  if (measures_supports) {
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      const double total = warp_sum(sums.supports[k]);
      if (is_own) own.supports[k] += total;
    }
  }
}

// Sets the factors of the row of this lane in the gradients of member m, and of more than two classes the losses of all
// rules but the first; adds its losses and its support value. Returns whether it has a gradient.
template <int S>
__device__ __forceinline__ bool evaluate_row(const Space<S>& space, int m, const Row<S>& row, bool measures_all,
                                             bool measures_supports, Sums& sums, Drawn& drawn, double* scaled) {
  constexpr int D = SPACE_FEATURES[S];
  const int label = row.label;
  const float* scores_of_centres = space.centre_scores + m * C * C;
  if constexpr (C == 2) {
    float difference = dot<D>(row.each, Vector<D>(space.difference + m * STRIDE<S>).each);
    if (Space<S>::COMPENSATES) difference += scores_of_centres[label];
    const float lead = label == 0 ? difference : -difference;
    sums.losses[0] += loss_of_two(double(lead));
    if (measures_all) {
#pragma unroll
      for (int k = 1; k < N_RULES; ++k)
        sums.losses[k] += STEPS_PER_LABEL * loss_of_two((1.0 / (1 << k)) * double(lead));
    }
    if (measures_supports) {
      float score = dot<D>(row.each, Vector<D>(space.mu + m * C * STRIDE<S>).each);
      if (Space<S>::COMPENSATES) score += scores_of_centres[C + label];
      const float both = score - 0.5f * (difference - 1.0f);
      const double phi = double(larger(larger(score, score - difference), both)) - 1.0;
      sums.supports[0] += phi;
      sums.supports[1] += phi * phi;
    }
    const float factor = lead <= -1.0f ? SHARE : 0.5f * SHARE;
    drawn.factors[0] = label == 0 ? -factor : factor;
    return lead < 1.0f;
  } else {
    float scores[C];
    int order[C], size;
#pragma unroll
    for (int y = 0; y < C; ++y) {
      scores[y] = dot<D>(row.each, Vector<D>(space.mu + (m * C + y) * STRIDE<S>).each);
      if (Space<S>::COMPENSATES) scores[y] += scores_of_centres[y * C + label];
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
    for (int y = 0; y < C; ++y) drawn.factors[y] = y == label ? -SHARE : 0.0f;
    for (int k = 0; k < size; ++k) drawn.factors[order[k]] = order[k] == label ? share - SHARE : share;
    return !(size == 1 && order[0] == label);
  }
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

// Evaluates the rows drawn for member m and lists those that have a gradient; returns their number.
template <int S>
__device__ __forceinline__ int list_rows(Space<S>& space, int m, int step, bool measures_all,
                                         bool measures_supports, Sums& sums) {
  const int lane = threadIdx.x % WARP;
  Drawn drawn[2];
  bool has_gradient[2];
  int labels[2];
  double scaled[2][N_RULES];
#pragma unroll
  for (int part = 0; part < 2; ++part) {
    drawn[part].place = space.positions[m][step][lane + WARP * part];
    const Row<S> row(space.rows, drawn[part].place);
    labels[part] = row.label;
    has_gradient[part] =
        evaluate_row<S>(space, m, row, measures_all, measures_supports, sums, drawn[part], scaled[part]);
  }
  if (C > 2 && measures_all) add_scaled(scaled, sums);
  const unsigned first = __ballot_sync(ALL_LANES, has_gradient[0]), second = __ballot_sync(ALL_LANES, has_gradient[1]);
  const unsigned before = (1u << lane) - 1u;
  const int n_first = __popc(first), n = n_first + __popc(second);
  const int places[2] = {has_gradient[0] ? __popc(first & before) : n + __popc(~first & before),
                         has_gradient[1] ? n_first + __popc(second & before)
                                         : n + WARP - n_first + __popc(~second & before)};
#pragma unroll
  for (int part = 0; part < 2; ++part) {
#pragma unroll
    for (int k = 0; k < GRADIENTS; ++k)
      drawn[part].factors[k] = has_gradient[part] ? drawn[part].factors[k] : 0.0f;
    space.drawn[m][places[part]] = drawn[part];
  }
  if constexpr (Space<S>::COMPENSATES && C == 2) {  // multiples of half a share, whose sums are exact in any order
#pragma unroll
    for (int y = 0; y < C; ++y) {
      int n_halves = 0;
#pragma unroll
      for (int part = 0; part < 2; ++part) {
        const bool counts = has_gradient[part] && labels[part] == y;
        n_halves += __popc(__ballot_sync(ALL_LANES, counts));
        n_halves += __popc(__ballot_sync(ALL_LANES, counts && fabsf(drawn[part].factors[0]) == SHARE));
      }
      if (lane == 0) space.centre_factors[m * C + y] = (y == 0 ? -0.5f : 0.5f) * SHARE * n_halves;
    }
  } else if constexpr (Space<S>::COMPENSATES) {
    __syncwarp();
    for (int k = lane; k < GRADIENTS * C; k += WARP) {
      float total = 0.0f;
      for (int b = 0; b < n; ++b) {
        const Drawn& row = space.drawn[m][b];
        const int label = __float_as_int(space.rows[Rows<S>::label_at(row.place)]);
        total += label == k % C ? row.factors[k / C] : 0.0f;
      }
      space.centre_factors[m * GRADIENTS * C + k] = total;
    }
  }
  return n;
}
