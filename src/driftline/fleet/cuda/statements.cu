// What is said of a row, and what its label changes (driftline.kernels.statements).

// All that is said of a row whose probabilities are h.
__device__ __forceinline__ void state_row(const double* h, const Tracked& state, Said& said) {
  describe(h, state, said);
  said.confidence = confidence_of(said.features, state.weights);
  describe_like_rows(state, said);
  const int place = confidence_place(said.confidence);
#pragma unroll
  for (int e = 0; e < N_ERRORS; ++e) {
    const double threshold = state.thresholds[e * N_GROUPS + int(state.by_class[e]) * (1 + said.predicted)];
    const bool is_trial = threshold >= TRIAL;
    const bool is_below = place < (is_trial ? threshold - TRIAL : threshold);
    said.decisions[e] = is_below ? HANDED_OVER : is_trial ? ON_TRIAL : ANSWERED;
  }
  double total = 0.0;
  const double rest = 1.0 - said.confidence;
#pragma unroll
  for (int y = 0; y < C; ++y) {
    const double g = h[y] + SHARE_WEIGHT * (state.class_shares[y] + MIN_SHARE);
    said.probabilities[y] = g;
    total += y != said.predicted ? g : 0.0;
  }
#pragma unroll
  for (int y = 0; y < C; ++y)
    said.probabilities[y] = y == said.predicted ? said.confidence : said.probabilities[y] * (rest / total);
#pragma unroll
  for (int s = 0; s < N_SETS; ++s) {
#pragma unroll
    for (int y = 0; y < C; ++y) {
      const double threshold = state.set_thresholds[s * N_SET_GROUPS + (N_SET_GROUPS > 1 ? y : 0)];
      const bool is_kept = y == said.predicted && state.allows_empty[0] == 0.0;
      said.sets[s][y] = is_kept || said.probabilities[y] >= threshold;
    }
  }
}

// Adds to a number in global memory without waiting for it.
__device__ __forceinline__ void add_later(double& number, double x) { atomicAdd(&number, x); }

__device__ __forceinline__ void learn_decisions(double is_right, const Said& said, const Tracked& state) {
  const int place = confidence_place(said.confidence);
#pragma unroll
  for (int which = 0; which < (N_GROUPS < 2 ? 1 : 2); ++which) {
    const int group = which * (1 + said.predicted);
    state.seen[group] += 1.0;
    add_later(state.rows[group * CONFIDENCE_BINS + place], *state.weight);
    add_later(state.rows[(N_GROUPS + group) * CONFIDENCE_BINS + place], *state.weight * (1.0 - is_right));
  }
#pragma unroll
  for (int e = 0; e < N_ERRORS; ++e) {
    const int decision = said.decisions[e], at = e * N_GROUPS + int(state.by_class[e]) * (1 + said.predicted);
    if (decision == HANDED_OVER) continue;
    const double before = state.debts[at], level = state.levels[at];
    double debt = before + 1.0 - is_right - level;
    if (decision == ON_TRIAL) debt = smaller(debt, larger(LIMIT + 1.0, before - level));
    state.debts[at] = larger(debt, -LIMIT);
    double* counts = state.counts + at * 3;
    counts[0] += decision == ANSWERED ? 1.0 : 0.0;
    counts[1] += decision == ANSWERED ? 1.0 - is_right : 0.0;
    counts[2] += decision == ON_TRIAL ? 1.0 : 0.0;
  }
}

__device__ __forceinline__ void learn_sets(int label, const Said& said, const Tracked& state) {
  const int group = N_SET_GROUPS > 1 ? label : 0;
  const int place = bin_of_probability(of_label(said.probabilities, label), LEAST_SCORE, SCORE_STEP, SCORE_BINS);
  add_later(state.scores[group * SCORE_BINS + place], *state.weight);
#pragma unroll
  for (int s = 0; s < N_SETS; ++s) {
    const int at = s * N_SET_GROUPS + group;
    double* counts = state.set_counts + at * 3;
    int n_labels = 0;
    bool is_missed = true;
#pragma unroll
    for (int y = 0; y < C; ++y) {
      n_labels += said.sets[s][y];
      if (y == label) is_missed = !said.sets[s][y];
    }
    counts[0] += 1.0;
    counts[1] += is_missed ? 1.0 : 0.0;
    counts[2] += n_labels;
    const double debt = state.set_debts[at] + (is_missed ? 1.0 : 0.0) - state.misses[s];
    state.set_debts[at] = state.allows_empty[0] == 1.0 ? debt : larger(debt, -LIMIT);
  }
#pragma unroll
  for (int y = 0; y < C; ++y) state.class_shares[y] += SHARE_GAIN * ((y == label ? 1.0 : 0.0) - state.class_shares[y]);
}

// Updates all but thresholds by the label of a row.
__device__ __forceinline__ void learn_row(int label, const Said& said, const Tracked& state) {
  const double is_right = said.predicted == label ? 1.0 : 0.0;
  learn_decisions(is_right, said, state);
  learn_sets(label, said, state);
  learn_like_rows(said, is_right, state);
  learn_confidence(said.features, is_right, state);
}
