// Thresholds and the calibrated bound after each row: a team of lanes for each stream, which share the sums over its
// memory; a block is one warp.

// Begins to copy N numbers, an even number of them, for each team of a warp to its memory, whose addresses are `stride`
// bytes apart. All lanes copy for one team after the other.
template <int N>
__device__ __forceinline__ void copy_for_teams(double* first_to, int stride, const double* from) {
#pragma unroll
  for (int team = 0; team < WARP / TEAM; ++team) {
    const uint64 of_team = __shfl_sync(ALL_LANES, reinterpret_cast<uint64>(from), team * TEAM);
    char* to = reinterpret_cast<char*>(first_to) + team * stride;
#pragma unroll
    for (int k = 0; k < N; k += 2 * WARP) {
      const int at = (k + 2 * (threadIdx.x % WARP)) * sizeof(double);
      if (at < N * int(sizeof(double))) copy_async<16>(to + at, reinterpret_cast<const char*>(of_team) + at);
    }
  }
}

// The rows in each bin of confidence and of scores that concern a row; teams of a warp read from different banks.
struct Bins {
  static constexpr int GROUPS = N_GROUPS < 2 ? 1 : 2;
  alignas(16) double rows[GROUPS][2][CONFIDENCE_BINS], scores[SCORE_BINS], unused[2];
};

// Begins to load the bins of all teams of a warp.
__device__ __forceinline__ void load_bins(Bins* all, const Tracked& state, int predicted, int label) {
#pragma unroll
  for (int which = 0; which < Bins::GROUPS; ++which) {
    const double* from = state.rows + which * (1 + predicted) * CONFIDENCE_BINS;
    copy_for_teams<CONFIDENCE_BINS>(all->rows[which][0], sizeof(Bins), from);
    copy_for_teams<CONFIDENCE_BINS>(all->rows[which][1], sizeof(Bins), from + N_GROUPS * CONFIDENCE_BINS);
  }
  copy_for_teams<SCORE_BINS>(all->scores, sizeof(Bins), state.scores + (N_SET_GROUPS > 1 ? label : 0) * SCORE_BINS);
}

__device__ void grow_weight(const Tracked& state) {
  double weight = *state.weight * GROWTH;
  if (weight > MAX_WEIGHT) {
    for (int k = 0; k < 2 * N_GROUPS * CONFIDENCE_BINS; ++k) state.rows[k] /= weight;
    for (int k = 0; k < N_SET_GROUPS * SCORE_BINS; ++k) state.scores[k] /= weight;
    weight = 1.0;
  }
  *state.weight = weight;
}

// Sets the thresholds of all levels and coverages that concern each row, one for each lane.
extern "C" __global__ void __launch_bounds__(WARP)
    set_thresholds(int n, const uint64* buffers, const int64* slots, const int* rows, const int64* labels,
                   const int64* predicted) {
  constexpr int ERRORS = (N_ERRORS + TEAM - 1) / TEAM, SETS = (N_SETS + TEAM - 1) / TEAM;  // of a lane
  __shared__ Bins all[WARP / TEAM];
  const Bins& bins = all[threadIdx.x / TEAM];
  const int lane = threadIdx.x % TEAM, i = (blockIdx.x * WARP + threadIdx.x) / TEAM, item = i < n ? i : n - 1;
  const Tracked state(array_at<double>(stream_at(buffers, slots[item]), STATEMENTS_AT));
  const int label = int(labels[rows[item]]), prediction = int(predicted[rows[item]]);
  load_bins(all, state, prediction, label);
  double levels[ERRORS], debts[ERRORS], seen[ERRORS], misses[SETS], set_debts[SETS];
  int group[ERRORS];
#pragma unroll
  for (int k = 0; k < ERRORS; ++k) {
    const int e = min(lane + k * TEAM, N_ERRORS - 1);
    group[k] = N_GROUPS > 1 && state.by_class[e] != 0.0 ? 1 + prediction : 0;
    levels[k] = state.levels[e * N_GROUPS + group[k]];
    debts[k] = state.debts[e * N_GROUPS + group[k]];
    seen[k] = state.seen[group[k]];
  }
#pragma unroll
  for (int k = 0; k < SETS; ++k) {
    const int s = min(lane + k * TEAM, N_SETS - 1);
    misses[k] = state.misses[s];
    set_debts[k] = state.set_debts[s * N_SET_GROUPS + (N_SET_GROUPS > 1 ? label : 0)];
  }
  await_copies();
  __syncwarp();
#pragma unroll
  for (int k = 0; k < ERRORS; ++k) {
    const int e = lane + k * TEAM;
    const double(*rows)[CONFIDENCE_BINS] = bins.rows[group[k] > 0];
    const double threshold = answer_threshold(rows[0], rows[1], levels[k], debts[k], seen[k]);
    if (i < n && e < N_ERRORS) state.thresholds[e * N_GROUPS + group[k]] = threshold;
  }
#pragma unroll
  for (int k = 0; k < SETS; ++k) {
    const int s = lane + k * TEAM;
    const double threshold = set_threshold(bins.scores, misses[k], set_debts[k]);
    if (i < n && s < N_SETS) state.set_thresholds[s * N_SET_GROUPS + (N_SET_GROUPS > 1 ? label : 0)] = threshold;
  }
  if (i < n && lane == 0) grow_weight(state);
}

// What is kept of the last 100 steps: expected mistakes, bounds and rates.
struct Steps {
  alignas(16) double window[3][WINDOW_STEPS], unused[2];
  // The sum of a row of the window in which one value is replaced.
  __device__ __forceinline__ double sum_with(int row, int at, double replaced) const {
    double total = 0.0;
#pragma unroll 10
    for (int k = 0; k < WINDOW_STEPS; ++k) total += k == at ? replaced : window[row][k];
    return total;
  }
};

// The largest stretch of the last steps, which the lanes of a team share.
__device__ __forceinline__ double largest_stretch(const double* stretches) {
  double most = 0.0;
#pragma unroll
  for (int k = 0; k < WINDOW_STEPS; k += 2 * TEAM) {
    const int at = k + 2 * (threadIdx.x % TEAM);
    if (at >= WINDOW_STEPS) continue;
    const double2 two = *reinterpret_cast<const double2*>(stretches + at);
    most = larger(larger(most, two.x), two.y);
  }
#pragma unroll
  for (int distance = TEAM / 2; distance > 0; distance /= 2)
    most = larger(most, __shfl_xor_sync(ALL_LANES, most, distance));
  return most;
}

// The value that another lane of the team has.
__device__ __forceinline__ double from_lane(double x, int lane) { return __shfl_sync(ALL_LANES, x, lane, TEAM); }

// Sets the calibrated bound of each row to what it was before the row; if `learns`, updates the calibration and the
// sums by its expected mistake. All lanes of a team compute the same, but for sums, which each computes of another row.
extern "C" __global__ void __launch_bounds__(WARP)
    calibrate_bounds(int n, const uint64* buffers, const int64* slots, const int* rows, const int64* labels,
                     const double* mixture, double* bounds, bool learns) {
  __shared__ Steps all[WARP / TEAM];
  const Steps& steps = all[threadIdx.x / TEAM];
  const int lane = threadIdx.x % TEAM, i = (blockIdx.x * WARP + threadIdx.x) / TEAM, item = i < n ? i : n - 1;
  const bool is_writer = i < n && lane == 0;
  const int64 row = rows[item];
  char* stream = stream_at(buffers, slots[item]);
  double *kept = array_at<double>(stream, FIGURES_AT), *sums = array_at<double>(stream, STEP_SUMS_AT);
  double *window = array_at<double>(stream, WINDOW_AT), *stretches = array_at<double>(stream, STRETCHES_AT);
  copy_for_teams<3 * WINDOW_STEPS>(all->window[0], sizeof(Steps), window);
  double figures[N_FIGURES];
#pragma unroll
  for (int k = 0; k < N_FIGURES; ++k) figures[k] = kept[k];
  const double so_far[3] = {sums[0], sums[1], sums[4]}, loss = learns ? 1.0 - mixture[row * C + labels[row]] : 0.0;
  const int at = int(int64(figures[STEPS]) % WINDOW_STEPS);
  const double largest[2] = {largest_stretch(stretches), largest_stretch(stretches + WINDOW_STEPS)};
  const bool is_rate = lane % 2 == 1;
  const double asked[2] = {stretches[at], stretches[WINDOW_STEPS + at]};
  await_copies();
  __syncwarp();
  const double of_row = steps.sum_with(0, lane == 0 ? -1 : at, loss);
  const double own = next_bound(figures, from_lane(of_row, 0), is_rate ? largest[1] : largest[0], is_rate);
  const double bound = from_lane(own, 0), rate = from_lane(own, 1), replaced[3] = {loss, bound, rate};
  if (is_writer) bounds[row] = bound;
  if (!learns) return;
  const double of_other = steps.sum_with(1 + is_rate, at, own);
  const double totals[3] = {from_lane(of_row, 1), from_lane(of_other, 0), from_lane(of_other, 1)};
  if (!is_writer) return;
#pragma unroll
  for (int k = 0; k < 3; ++k) window[k * WINDOW_STEPS + at] = replaced[k];
#pragma unroll
  for (int k = 0; k < 2; ++k) {
    const double step = STRETCH_STEP * ((totals[0] > totals[1 + k] ? 1.0 : 0.0) - (1.0 - TARGETS[0]));
    stretches[k * WINDOW_STEPS + at] = larger(asked[k] + step, 0.0);
  }
  update_figures(figures, loss);
#pragma unroll
  for (int k = 0; k < N_FIGURES; ++k) kept[k] = figures[k];
  sums[0] = so_far[0] + 1.0;
  sums[1] = so_far[1] + rate;
  sums[4] = so_far[2] + loss;
}
