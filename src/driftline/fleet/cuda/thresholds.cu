// Thresholds that keep a share of wrong answers, or of missed labels, at a level (driftline.kernels.thresholds). A team
// of lanes shares the bins of a stream; its lanes have bins side by side.

// The value that another lane of the team has.
template <typename T>
__device__ __forceinline__ T from_lane(T x, int lane) {
  return __shfl_sync(ALL_LANES, x, lane, TEAM);
}

// The sum over the lanes of the team before this one.
__device__ __forceinline__ double sum_before(double x) {
  const int lane = threadIdx.x % TEAM;
#pragma unroll
  for (int distance = 1; distance < TEAM; distance *= 2) {
    const double other = __shfl_up_sync(ALL_LANES, x, distance, TEAM);
    if (lane >= distance) x += other;
  }
  const double before = __shfl_up_sync(ALL_LANES, x, 1, TEAM);
  return lane == 0 ? 0.0 : before;
}

// The smallest value of the lanes of the team.
__device__ __forceinline__ int smallest_of_team(int x) {
#pragma unroll
  for (int distance = TEAM / 2; distance > 0; distance /= 2) x = min(x, __shfl_xor_sync(ALL_LANES, x, distance));
  return x;
}

// The thresholds of all levels for answers; see thresholds.answer_threshold. A lane keeps those of the levels with its
// number, and with TEAM more each.
struct AnswerThresholds {
  static constexpr int KEPT = (N_ERRORS + TEAM - 1) / TEAM, BINS = CONFIDENCE_BINS / TEAM;
  static_assert(BINS * TEAM == CONFIDENCE_BINS, "all lanes have as many bins");
  double aims[KEPT], debts[KEPT], seen[KEPT], thresholds[KEPT];
  int at[KEPT];
  bool by_class[N_ERRORS];

  __device__ __forceinline__ AnswerThresholds(const Tracked& state, int predicted) {
#pragma unroll
    for (int e = 0; e < N_ERRORS; ++e) by_class[e] = N_GROUPS > 1 && state.by_class[e] != 0.0;
#pragma unroll
    for (int k = 0; k < KEPT; ++k) {
      const int e = min(int(threadIdx.x % TEAM) + k * TEAM, N_ERRORS - 1);
      const int group = N_GROUPS > 1 && state.by_class[e] != 0.0 ? 1 + predicted : 0;
      at[k] = e * N_GROUPS + group;
      debts[k] = state.debts[at[k]];
      aims[k] = aim_of(state.levels[at[k]], debts[k]);
      seen[k] = state.seen[group];
    }
  }

  // Finds those of the levels for all predictions, or of the others if `which` is 1, from the numbers of rows and of
  // wrong ones in each bin of confidence. The first lane has the highest bins.
  __device__ __forceinline__ void find(const double* n_rows, const double* n_wrong, int which) {
    const int first = (TEAM - 1 - threadIdx.x % TEAM) * BINS;
    double rows = 0.0, wrong = 0.0, aim[N_ERRORS];
#pragma unroll
    for (int k = BINS - 1; k >= 0; --k) {
      rows += n_rows[first + k];
      wrong += n_wrong[first + k];
    }
    const double rows_before = sum_before(rows), total = from_lane(rows_before + rows, TEAM - 1);
    rows = rows_before;
    wrong = sum_before(wrong);
    int lowest[N_ERRORS], tried = -1;
#pragma unroll
    for (int e = 0; e < N_ERRORS; ++e) {
      aim[e] = from_lane(aims[e / TEAM], e % TEAM);
      lowest[e] = CONFIDENCE_BINS;
    }
#pragma unroll 4
    for (int place = first + BINS - 1; place >= first; --place) {
      rows += n_rows[place];
      wrong += n_wrong[place];
      if (tried < 0 && rows >= TRIED_SHARE * total) tried = place;
#pragma unroll
      for (int e = 0; e < N_ERRORS; ++e) {
        if (rows > 0.0 && wrong <= aim[e] * rows) lowest[e] = place;
      }
    }
    tried = -smallest_of_team(-tried);
#pragma unroll
    for (int e = 0; e < N_ERRORS; ++e) {
      if (by_class[e] != (which == 1)) continue;
      const int place = smallest_of_team(lowest[e]);
      if (e % TEAM == threadIdx.x % TEAM) thresholds[e / TEAM] = threshold_of(e / TEAM, place, tried);
    }
  }

  __device__ __forceinline__ double threshold_of(int k, int lowest, int tried) const {
    const bool is_tried = debts[k] >= LIMIT || (debts[k] > 0.0 && lowest == CONFIDENCE_BINS);
    const double threshold = is_tried ? TRIAL + min(lowest, tried) : lowest;
    return seen[k] < FIRST_ROWS ? CONFIDENCE_BINS : threshold;
  }

  __device__ __forceinline__ void write(const Tracked& state) const {
#pragma unroll
    for (int k = 0; k < KEPT; ++k) {
      if (threadIdx.x % TEAM + k * TEAM < N_ERRORS) state.thresholds[at[k]] = thresholds[k];
    }
  }
};

// The thresholds of all coverages; see thresholds.set_threshold. A lane keeps those of the coverages with its number,
// and with TEAM more each. Lanes add in another order than the cores do, and a sum that should be as large as wanted may
// be smaller by rounding: ALMOST as large is enough.
constexpr double ALMOST = 1.0 - 1e-12;
struct SetThresholds {
  static constexpr int KEPT = (N_SETS + TEAM - 1) / TEAM, BINS = SCORE_BINS / TEAM;
  static_assert(BINS * TEAM == SCORE_BINS, "all lanes have as many bins");
  double aims[KEPT], debts[KEPT], thresholds[KEPT];
  int at[KEPT];

  __device__ __forceinline__ SetThresholds(const Tracked& state, int label) {
#pragma unroll
    for (int k = 0; k < KEPT; ++k) {
      const int s = min(int(threadIdx.x % TEAM) + k * TEAM, N_SETS - 1);
      at[k] = s * N_SET_GROUPS + (N_SET_GROUPS > 1 ? label : 0);
      debts[k] = state.set_debts[at[k]];
      aims[k] = aim_of(state.misses[s], debts[k]);
    }
  }

  // Finds them from the numbers of rows in each bin of scores.
  __device__ __forceinline__ void find(const double* n_rows) {
    const double* own = n_rows + threadIdx.x % TEAM * BINS;
    double sum = 0.0;
#pragma unroll
    for (int k = 0; k < BINS; ++k) sum += own[k];
    const double before = sum_before(sum);
    double up_to = before;  // with its bins
#pragma unroll
    for (int k = 0; k < BINS; ++k) up_to += own[k];
    const double total = from_lane(up_to, TEAM - 1);
#pragma unroll
    for (int k = 0; k < KEPT; ++k) {
      const double wanted = smaller(aims[k], 1.0) * total;
      double start = 0.0;
      int lane = 0;
#pragma unroll
      for (int l = TEAM - 1; l >= 0; --l) {  // the first lane with which the sum is as large as wanted
        const bool is_it = from_lane(up_to, l) >= ALMOST * wanted;
        const double other = from_lane(before, l);
        start = is_it ? other : start;
        lane = is_it ? l : lane;
      }
      thresholds[k] = threshold_of(k, n_rows, lane * BINS, start, wanted);
    }
  }

  // The threshold of a coverage if the sum of the rows, which is `sum` before a bin, is as large as wanted in this bin
  // or in one of those of the same lane after it.
  __device__ __forceinline__ double threshold_of(int k, const double* n_rows, int first, double sum,
                                                 double wanted) const {
    int found = SCORE_BINS;
    double below = 0.0, share = 1.0;
#pragma unroll 5
    for (int place = first; place < first + BINS; ++place) {
      const double rows = n_rows[place], next = sum + rows;
      const bool is_it = found == SCORE_BINS && next >= ALMOST * wanted && rows > 0.0;
      found = is_it ? place : found;
      below = is_it ? sum : below;
      share = is_it ? rows : share;
      sum = next;
    }
    if (debts[k] <= -LIMIT) return NO_LABEL;
    if (debts[k] >= LIMIT || found == SCORE_BINS) return ALL_LABELS;
    const double score = LEAST_SCORE + SCORE_STEP * (found + (wanted - below) / share);
    return 1.0 / (1.0 + exp(-score));
  }

  __device__ __forceinline__ void write(const Tracked& state) const {
#pragma unroll
    for (int k = 0; k < KEPT; ++k) {
      if (threadIdx.x % TEAM + k * TEAM < N_SETS) state.set_thresholds[at[k]] = thresholds[k];
    }
  }
};
