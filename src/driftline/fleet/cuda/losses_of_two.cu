// Of two classes, the losses of drawn rows depend on the difference of the scores alone.

__device__ __forceinline__ double loss_of_two(double lead) { return larger(larger(0.5 * (1.0 - lead), -lead), 0.0); }

// A number with its sign changed if the label is 1.
__device__ __forceinline__ float signed_by(float x, int label) {
  return __uint_as_float(__float_as_uint(x) ^ (unsigned(label) << 31));
}

// Adds the losses of the rules but the first for a row whose label leads by so much, and its support value.
template <int S>
__device__ __forceinline__ void measure_row(const Space<S>& space, int m, const Row<S>& row, float difference,
                                            bool measures_all, bool measures_supports, Sums& sums) {
  constexpr int D = SPACE_FEATURES[S];
  if (measures_all) {
    const double lead = signed_by(difference, row.label);
#pragma unroll
    for (int k = 1; k < N_RULES; ++k) sums.losses[k] += STEPS_PER_LABEL * loss_of_two((1.0 / (1 << k)) * lead);
  }
  if (measures_supports) {
    float score = dot<D>(row.each, Vector<D>(space.mu + m * C * STRIDE<S>).each);
    if (Space<S>::COMPENSATES) score += space.centre_scores[m * C * C + C + row.label];
    const float both = score - 0.5f * (difference - 1.0f);
    const double phi = double(larger(larger(score, score - difference), both)) - 1.0;
    sums.supports[0] += phi;
    sums.supports[1] += phi * phi;
  }
}

// Lists the rows drawn for member m that have a gradient: places, factors and leads; returns their number.
template <int S, bool IS_FIRST_STEP>
__device__ __forceinline__ int list_rows_of_two(Space<S>& space, int m, int step, bool measures_all, Sums& own) {
  constexpr int D = SPACE_FEATURES[S];
  const int lane = threadIdx.x % WARP;
  const bool measures_supports = IS_FIRST_STEP && MEMBER_WIDTH[FIRST_MEMBER[S] + m] > 0.0;
  const auto* positions = space.positions[m][step] + lane;
  const int places[2] = {positions[0], positions[WARP]};
  const Vector<D> solution(space.difference + m * STRIDE<S>);
  float leads[2];
  int labels[2];
  Sums sums = {};
#pragma unroll
  for (int part = 0; part < 2; ++part) {
    const Row<S> row(space.rows, places[part]);
    float difference = dot<D>(row.each, solution.each);
    if (Space<S>::COMPENSATES) difference += space.centre_scores[m * C * C + row.label];
    labels[part] = row.label;
    leads[part] = signed_by(difference, row.label);
    if (IS_FIRST_STEP) measure_row<S>(space, m, row, difference, measures_all, measures_supports, sums);
  }
  const bool has_gradient[2] = {leads[0] < 1.0f, leads[1] < 1.0f};
  const unsigned first = __ballot_sync(ALL_LANES, has_gradient[0]), second = __ballot_sync(ALL_LANES, has_gradient[1]);
  const unsigned before = (1u << lane) - 1u;
  const int n_first = __popc(first), listed[2] = {__popc(first & before), n_first + __popc(second & before)};
#pragma unroll
  for (int part = 0; part < 2; ++part) {
    if (has_gradient[part]) {
      const float factor = leads[part] <= -1.0f ? -SHARE : -0.5f * SHARE;
      space.drawn[m][listed[part]].bits = __float_as_uint(signed_by(factor, labels[part])) | unsigned(places[part]);
      space.leads(m)[listed[part]] = leads[part];
    }
  }
  if (IS_FIRST_STEP) add_sums(own, sums, lane == m, measures_all, measures_supports);
  return n_first + __popc(second);
}

// What the lanes of a member sum over the rows listed for it: their losses, and their factors by label. The factors are
// multiples of half a share, whose sums are exact in any order.
struct Listed {
  double loss = 0.0;
  float centre_factors[2] = {0.0f, 0.0f};
  // Adds those of the last step; `count` is the number of rows listed for the member of this lane.
  template <int S>
  __device__ __forceinline__ void add(Space<S>& space, int count) {
    const int lane = threadIdx.x % WARP, m = Entry<S>(0).m;
    float factors[2] = {0.0f, 0.0f};
    for (int b = lane % Space<S>::LANES; b < count; b += Space<S>::LANES) {
      const float lead = space.leads(m)[b];
      const bool is_far = lead <= -1.0f;  // then -lead is larger than half of 1 - lead
      loss += __fma_rn(is_far ? -1.0 : -0.5, double(lead), is_far ? 0.0 : 0.5);
      if (Space<S>::COMPENSATES) {
        const float factor = space.drawn[m][b].factor(0);
        factors[0] += fminf(factor, 0.0f);
        factors[1] += fmaxf(factor, 0.0f);
      }
    }
    if (Space<S>::COMPENSATES) {
#pragma unroll
      for (int y = 0; y < C; ++y) centre_factors[y] = sum_of_member<S>(factors[y]);
    }
  }
};
