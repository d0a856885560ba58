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

__device__ __forceinline__ void learn_decisions(double is_right, const Said& said, const Tracked& state) {
  constexpr int GROUPS = N_GROUPS < 2 ? 1 : 2;
  const int place = confidence_place(said.confidence), k = said.predicted;
  const double weight = *state.weight;
  double seen[GROUPS], rows[GROUPS], wrong[GROUPS], counts[N_ERRORS][3];
  const Levels levels(state, k);  // all loads before the first of the stores, which would wait for them
#pragma unroll
  for (int which = 0; which < GROUPS; ++which) {
    const int group = which * (1 + k);
    seen[which] = state.seen[group] + 1.0;
    rows[which] = state.rows[group * CONFIDENCE_BINS + place];
    wrong[which] = state.rows[(N_GROUPS + group) * CONFIDENCE_BINS + place];
  }
#pragma unroll
  for (int e = 0; e < N_ERRORS; ++e) {
#pragma unroll
    for (int n = 0; n < 3; ++n) counts[e][n] = state.counts[levels.at[e] * 3 + n];
  }
#pragma unroll
  for (int which = 0; which < GROUPS; ++which) {
    const int group = which * (1 + k);
    state.seen[group] = seen[which];
    state.rows[group * CONFIDENCE_BINS + place] = rows[which] + weight;
    state.rows[(N_GROUPS + group) * CONFIDENCE_BINS + place] = wrong[which] + weight * (1.0 - is_right);
  }
#pragma unroll
  for (int e = 0; e < N_ERRORS; ++e) {
    const int decision = said.decisions[e];
    if (decision == HANDED_OVER) continue;
    const double before = levels.debts[e], level = levels.levels[e];
    double debt = before + 1.0 - is_right - level;
    if (decision == ON_TRIAL) debt = smaller(debt, larger(LIMIT + 1.0, before - level));
    state.debts[levels.at[e]] = larger(debt, -LIMIT);
    double* to = state.counts + levels.at[e] * 3;
    to[0] = counts[e][0] + (decision == ANSWERED ? 1.0 : 0.0);
    to[1] = counts[e][1] + (decision == ANSWERED ? 1.0 - is_right : 0.0);
    to[2] = counts[e][2] + (decision == ON_TRIAL ? 1.0 : 0.0);
  }
}

__device__ __forceinline__ void learn_sets(int label, const Said& said, const Tracked& state) {
  const int group = N_SET_GROUPS > 1 ? label : 0;
  double of_label = 0.0, debts[N_SETS], misses[N_SETS], counts[N_SETS][3], shares[C];
#pragma unroll
  for (int y = 0; y < C; ++y) of_label = y == label ? said.probabilities[y] : of_label;
  double& score = state.scores[group * SCORE_BINS + bin_of_probability(of_label, LEAST_SCORE, SCORE_STEP, SCORE_BINS)];
  const double scored = score + *state.weight, allows_empty = state.allows_empty[0];
#pragma unroll
  for (int s = 0; s < N_SETS; ++s) {  // all loads before the first of the stores, which would wait for them
    const int at = s * N_SET_GROUPS + group;
    debts[s] = state.set_debts[at];
    misses[s] = state.misses[s];
#pragma unroll
    for (int n = 0; n < 3; ++n) counts[s][n] = state.set_counts[at * 3 + n];
  }
#pragma unroll
  for (int y = 0; y < C; ++y) shares[y] = state.class_shares[y];
  score = scored;
#pragma unroll
  for (int s = 0; s < N_SETS; ++s) {
    const int at = s * N_SET_GROUPS + group;
    int n_labels = 0;
    bool is_missed = true;
#pragma unroll
    for (int y = 0; y < C; ++y) {
      n_labels += said.sets[s][y];
      if (y == label) is_missed = !said.sets[s][y];
    }
    state.set_counts[at * 3] = counts[s][0] + 1.0;
    state.set_counts[at * 3 + 1] = counts[s][1] + (is_missed ? 1.0 : 0.0);
    state.set_counts[at * 3 + 2] = counts[s][2] + n_labels;
    const double debt = debts[s] + (is_missed ? 1.0 : 0.0) - misses[s];
    state.set_debts[at] = allows_empty == 1.0 ? debt : larger(debt, -LIMIT);
  }
#pragma unroll
  for (int y = 0; y < C; ++y) state.class_shares[y] = shares[y] + SHARE_GAIN * ((y == label ? 1.0 : 0.0) - shares[y]);
}

// Updates all but thresholds by the label of a row.
__device__ __forceinline__ void learn_row(int label, const Said& said, const Tracked& state) {
  const double is_right = said.predicted == label ? 1.0 : 0.0;
  learn_decisions(is_right, said, state);
  learn_sets(label, said, state);
  learn_like_rows(said, is_right, state);
  learn_confidence(said.features, is_right, state);
}
