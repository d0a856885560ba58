// Thresholds that keep a share of wrong answers, or of missed labels, at a level (driftline.kernels.thresholds).

// The error levels as they concern a row: their places, and their levels and debts there.
struct Levels {
  int at[N_ERRORS];
  bool by_class[N_ERRORS];
  double levels[N_ERRORS], debts[N_ERRORS];
  __device__ __forceinline__ Levels(const Tracked& state, int predicted) {
#pragma unroll
    for (int e = 0; e < N_ERRORS; ++e) {
      by_class[e] = N_GROUPS > 1 && state.by_class[e] != 0.0;
      at[e] = e * N_GROUPS + (by_class[e] ? 1 + predicted : 0);
      levels[e] = state.levels[at[e]];
      debts[e] = state.debts[at[e]];
    }
  }
};

// The threshold of a level for answers, from the numbers of rows and of wrong ones in each bin of confidence; see
// thresholds.answer_threshold.
__device__ __forceinline__ double answer_threshold(const double* n_rows, const double* n_wrong, double level,
                                                   double debt, double n_seen) {
  const double aim = aim_of(level, debt);
  double total = 0.0, rows = 0.0, wrong = 0.0;
  int lowest = CONFIDENCE_BINS, tried = CONFIDENCE_BINS;
#pragma unroll 8
  for (int place = 0; place < CONFIDENCE_BINS; ++place) total += n_rows[place];
#pragma unroll 8
  for (int place = CONFIDENCE_BINS - 1; place >= 0; --place) {
    rows += n_rows[place];
    wrong += n_wrong[place];
    if (tried == CONFIDENCE_BINS && rows >= TRIED_SHARE * total) tried = place;
    if (rows > 0.0 && wrong <= aim * rows) lowest = place;
  }
  const bool is_tried = debt >= LIMIT || (debt > 0.0 && lowest == CONFIDENCE_BINS);
  const double threshold = is_tried ? TRIAL + min(lowest, tried) : lowest;
  return n_seen < FIRST_ROWS ? CONFIDENCE_BINS : threshold;
}

// The threshold of a coverage, from the numbers of rows in each bin of scores; see thresholds.set_threshold.
__device__ __forceinline__ double set_threshold(const double* n_rows, double misses, double debt) {
  double total = 0.0, sum = 0.0, below = 0.0;
#pragma unroll 8
  for (int place = 0; place < SCORE_BINS; ++place) total += n_rows[place];
  const double wanted = smaller(aim_of(misses, debt), 1.0) * total;
  int found = SCORE_BINS;
#pragma unroll 8
  for (int place = 0; place < SCORE_BINS; ++place) {
    const double rows = n_rows[place], next = sum + rows;
    const bool is_it = found == SCORE_BINS && next >= wanted && rows > 0.0;
    found = is_it ? place : found;
    below = is_it ? sum : below;
    sum = next;
  }
  if (debt <= -LIMIT) return NO_LABEL;
  if (debt >= LIMIT || found == SCORE_BINS) return ALL_LABELS;
  const double score = LEAST_SCORE + SCORE_STEP * (found + (wanted - below) / n_rows[found]);
  return 1.0 / (1.0 + exp(-score));
}
