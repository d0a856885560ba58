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

// The thresholds of all levels that decide by a group, in one pass over its rows; see thresholds.answer_threshold.
__device__ __forceinline__ void set_answer_thresholds(Tile& tile, const Tracked& state, const Levels& levels, int group,
                                                      bool by_class, double n_seen) {
  const double *n_rows = state.rows + group * CONFIDENCE_BINS, *n_wrong = n_rows + N_GROUPS * CONFIDENCE_BINS;
  double aims[N_ERRORS], total = 0.0, rows = 0.0, wrong = 0.0;
  int lowest[N_ERRORS], tried = CONFIDENCE_BINS;
#pragma unroll
  for (int e = 0; e < N_ERRORS; ++e) {
    aims[e] = aim_of(levels.levels[e], levels.debts[e]);
    lowest[e] = CONFIDENCE_BINS;
  }
  scan(tile, n_rows, CONFIDENCE_BINS, [&](int, double value) { total += value; });
  scan_both(tile, n_rows, n_wrong, CONFIDENCE_BINS, [&](int place, double of_rows, double of_wrong) {
    rows += of_rows;
    wrong += of_wrong;
    if (tried == CONFIDENCE_BINS && rows >= TRIED_SHARE * total) tried = place;
#pragma unroll
    for (int e = 0; e < N_ERRORS; ++e) {
      if (rows > 0.0 && wrong <= aims[e] * rows) lowest[e] = place;
    }
  });
#pragma unroll
  for (int e = 0; e < N_ERRORS; ++e) {
    if (levels.by_class[e] != by_class) continue;
    const double debt = levels.debts[e];
    const bool is_tried = debt >= LIMIT || (debt > 0.0 && lowest[e] == CONFIDENCE_BINS);
    const double threshold = is_tried ? TRIAL + min(lowest[e], tried) : lowest[e];
    state.thresholds[levels.at[e]] = n_seen < FIRST_ROWS ? CONFIDENCE_BINS : threshold;
  }
}

// The thresholds of all coverages for a group, in one pass over its rows; see thresholds.set_threshold.
__device__ __forceinline__ void set_set_thresholds(Tile& tile, const Tracked& state, int group,
                                                   const double* debts, const double* misses) {
  const double* n_rows = state.scores + group * SCORE_BINS;
  double wanted[N_SETS], thresholds[N_SETS], total = 0.0, below = 0.0;
  bool is_found[N_SETS];
  scan(tile, n_rows, SCORE_BINS, [&](int, double value) { total += value; });
#pragma unroll
  for (int s = 0; s < N_SETS; ++s) {
    wanted[s] = smaller(aim_of(misses[s], debts[s]), 1.0) * total;
    is_found[s] = debts[s] >= LIMIT || debts[s] <= -LIMIT;
    thresholds[s] = debts[s] <= -LIMIT ? NO_LABEL : ALL_LABELS;
  }
  scan(tile, n_rows, SCORE_BINS, [&](int place, double rows) {
#pragma unroll
    for (int s = 0; s < N_SETS; ++s) {
      if (!is_found[s] && below + rows >= wanted[s] && rows > 0.0) {
        const double score = LEAST_SCORE + SCORE_STEP * (place + (wanted[s] - below) / rows);
        thresholds[s] = 1.0 / (1.0 + exp(-score));
        is_found[s] = true;
      }
    }
    below += rows;
  });
#pragma unroll
  for (int s = 0; s < N_SETS; ++s) state.set_thresholds[s * N_SET_GROUPS + group] = thresholds[s];
}
