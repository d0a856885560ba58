// Thresholds and the calibrated bound after each row: a team of lanes for each stream, which share the sums over its
// memory; a block is one warp.

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
    copy_for_teams<TEAM, CONFIDENCE_BINS>(all->rows[which][0], sizeof(Bins), from);
    copy_for_teams<TEAM, CONFIDENCE_BINS>(all->rows[which][1], sizeof(Bins), from + N_GROUPS * CONFIDENCE_BINS);
  }
  const double* scores = state.scores + (N_SET_GROUPS > 1 ? label : 0) * SCORE_BINS;
  copy_for_teams<TEAM, SCORE_BINS>(all->scores, sizeof(Bins), scores);
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

// Sets the thresholds of all levels and coverages that concern each row.
extern "C" __global__ void __launch_bounds__(WARP)
    set_thresholds(int n, const StreamRow* stream_rows, const int64* predicted) {
  __shared__ Bins all[WARP / TEAM];
  const Bins& bins = all[threadIdx.x / TEAM];
  const int i = (blockIdx.x * WARP + threadIdx.x) / TEAM;
  const StreamRow row = stream_rows[i < n ? i : n - 1];
  double* statements = array_at<double>(row.stream(), STATEMENTS_AT);
  const Tracked state(statements, statements + Tracked::N_BINS_OF_ALL);
  const int prediction = int(predicted[row.row]);
  load_bins(all, state, prediction, row.label);
  AnswerThresholds answers(state, prediction);
  SetThresholds sets(state, row.label);
  await_copies();
  __syncwarp();
#pragma unroll
  for (int which = 0; which < Bins::GROUPS; ++which) answers.find(bins.rows[which][0], bins.rows[which][1], which);
  sets.find(bins.scores);
  if (i >= n) return;
  answers.write(state);
  sets.write(state);
  if (threadIdx.x % TEAM == 0) grow_weight(state);
}

// What is kept of the last 100 steps: expected mistakes, bounds and rates.
struct Steps {
  alignas(16) double window[3][WINDOW_STEPS], unused[2];
  // The sum of a row of the window in which one value is replaced.
  __device__ __forceinline__ double sum_with(int row, int at, double replaced) const {
    double total = 0.0;
#pragma unroll 5
    for (int k = 0; k < WINDOW_STEPS; k += 2) {
      const double2 two = *reinterpret_cast<const double2*>(window[row] + k);
      total += k == at ? replaced : two.x;
      total += k + 1 == at ? replaced : two.y;
    }
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

// Sets the calibrated bound of each row to what it was before the row; if `learns`, updates the calibration and the
// sums by its expected mistake. All lanes of a team compute the same, but for sums, which each computes of another row.
extern "C" __global__ void __launch_bounds__(WARP)
    calibrate_bounds(int n, const StreamRow* stream_rows, const double* mixture, double* bounds, bool learns) {
  __shared__ Steps all[WARP / TEAM];
  const Steps& steps = all[threadIdx.x / TEAM];
  const int lane = threadIdx.x % TEAM, i = (blockIdx.x * WARP + threadIdx.x) / TEAM;
  const bool is_writer = i < n && lane == 0;
  const StreamRow item = stream_rows[i < n ? i : n - 1];
  const int64 row = item.row;
  char* stream = item.stream();
  double *kept = array_at<double>(stream, FIGURES_AT), *sums = array_at<double>(stream, STEP_SUMS_AT);
  double *window = array_at<double>(stream, WINDOW_AT), *stretches = array_at<double>(stream, STRETCHES_AT);
  copy_for_teams<TEAM, 3 * WINDOW_STEPS>(all->window[0], sizeof(Steps), window);
  double figures[N_FIGURES];
#pragma unroll
  for (int k = 0; k < N_FIGURES; ++k) figures[k] = kept[k];
  const double so_far[3] = {sums[0], sums[1], sums[4]}, loss = learns ? 1.0 - mixture[row * C + item.label] : 0.0;
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
