// The confidence of a row, and the error of rows like it (driftline.kernels.confidence).

constexpr double SHARE_GAIN = 0.01, SHARE_WEIGHT = 0.05, MIN_SHARE = 0.001;
constexpr double SMOOTHING = 0.01, ERROR_SMOOTHING = 0.02, FORGETTING = 1e-4, MAX_LOG_ODDS = 30.0;
constexpr double STRETCH_ROWS = 500.0, MEMORY = 200.0, PRIOR_ROWS = 10.0, MARGIN = 1.3, MIN_ERROR_VARIANCE = 0.002;
constexpr double ALLOWED = 0.05, MARGIN_STEP = 0.25, MIN_LOG_FACTOR = -0.5, MAX_LOG_FACTOR = 7.0;
constexpr double MAX_WEIGHT = 1e9, LIMIT = 20.0, SOFT_LIMIT = 8.0, SLOW = 128.0, FAST = 8.0, TRIED_SHARE = 0.02;
constexpr double GROWTH = 1.0 / (1.0 - 1.0 / 50000.0), FIRST_ROWS = 100.0, TRIAL = 1000.0;
constexpr double ALL_LABELS = 0.0, NO_LABEL = 2.0;
constexpr int N_BINS = 5, N_COLUMNS = 6, N_DESCRIBED = 5, CONFIDENCE_BINS = 96, SCORE_BINS = 160;
constexpr double LEAST_SCORE = -10.0, SCORE_STEP = 0.125, LEAST_CONFIDENCE_SCORE = -1.0, CONFIDENCE_STEP = 0.1;
enum { BIN_ROWS, BIN_ERROR, LOG_FACTOR, OPEN_ROWS, OPEN_WRONG, OPEN_BOUNDS };
enum { HANDED_OVER, ANSWERED, ON_TRIAL };

// The next even number: parts of what is kept begin at multiples of 16 bytes.
__device__ constexpr int even(int n) { return (n + 1) / 2 * 2; }

// The parts of what is kept, one after the other; the bins first, and the rest, which may be in shared memory.
struct Tracked {
  double *weight, *weights, *covariance, *recent_errors, *bins;
  double *levels, *by_class, *seen, *rows, *debts, *thresholds, *counts;
  double *misses, *allows_empty, *class_shares, *scores, *set_debts, *set_thresholds, *set_counts;
  static constexpr int N_BINS_OF_ALL = 2 * N_GROUPS * CONFIDENCE_BINS + N_SET_GROUPS * SCORE_BINS;
  static constexpr int N_REST = even(1 + N_DESCRIBED) + even(N_DESCRIBED * N_DESCRIBED) + 2 + even(N_BINS * N_COLUMNS) +
                                3 * even(N_ERRORS * N_GROUPS) + even(N_ERRORS) + even(N_GROUPS) +
                                even(N_ERRORS * N_GROUPS * 3) + even(N_SETS) + even(1) + even(C) +
                                2 * even(N_SETS * N_SET_GROUPS) + even(N_SETS * N_SET_GROUPS * 3);
  __device__ __forceinline__ Tracked(double* bins_at, double* rest) {
    rows = bins_at;
    scores = rows + 2 * N_GROUPS * CONFIDENCE_BINS;
    weight = rest;
    weights = weight + 1;
    covariance = weight + even(1 + N_DESCRIBED);
    recent_errors = covariance + even(N_DESCRIBED * N_DESCRIBED);
    bins = recent_errors + 2;
    levels = bins + even(N_BINS * N_COLUMNS);
    by_class = levels + even(N_ERRORS * N_GROUPS);
    seen = by_class + even(N_ERRORS);
    debts = seen + even(N_GROUPS);
    thresholds = debts + even(N_ERRORS * N_GROUPS);
    counts = thresholds + even(N_ERRORS * N_GROUPS);
    misses = counts + even(N_ERRORS * N_GROUPS * 3);
    allows_empty = misses + even(N_SETS);
    class_shares = allows_empty + even(1);
    set_debts = class_shares + even(C);
    set_thresholds = set_debts + even(N_SETS * N_SET_GROUPS);
    set_counts = set_thresholds + even(N_SETS * N_SET_GROUPS);
  }
};

// What is said of one row.
struct Said {
  int predicted;
  double features[N_DESCRIBED], confidence, low, middle, bound, probabilities[C];
  signed char decisions[N_ERRORS];
  bool sets[N_SETS][C];
};

__device__ __forceinline__ double log_odds(double p, double q, double smoothing) {
  return log((p + smoothing) / (q + smoothing));
}

__device__ __forceinline__ void describe(const double* h, const Tracked& state, Said& said) {
  double largest = 0.0, second = 0.0;
#pragma unroll
  for (int y = 0; y < C; ++y) {
    if (y == said.predicted) largest = h[y];
    else second = larger(second, h[y]);
  }
  said.features[0] = 1.0;
  said.features[1] = 0.5 * log_odds(largest, 1.0 - largest, SMOOTHING);
  said.features[2] = 0.5 * log_odds(largest, second, SMOOTHING);
  for (int i = 0; i < 2; ++i) {
    const double error = state.recent_errors[i];
    said.features[3 + i] = -0.5 * (log_odds(error, 1.0 - error, ERROR_SMOOTHING) + 1.0);
  }
}

__device__ double confidence_of(const double* features, const double* weights) {
  double score = 0.0;
#pragma unroll
  for (int i = 0; i < N_DESCRIBED; ++i) score += weights[i] * features[i];
  return 1.0 / (1.0 + exp(-clipped(score, MAX_LOG_ODDS)));
}

__device__ __forceinline__ void learn_confidence(const double* features, double is_right, const Tracked& state) {
  constexpr int N = N_DESCRIBED;
  Numbers<double, 1 + N> all_weights(state.weight);
  Numbers<double, N * N> covariance(state.covariance);
  Numbers<double, 2> errors(state.recent_errors);
  double *weights = all_weights.each + 1, *S = covariance.each, gains[N], total = 0.0;
  const double wrong = 1.0 - is_right, p = confidence_of(features, weights), v = p * (1.0 - p);
#pragma unroll
  for (int i = 0; i < N; ++i) {
    gains[i] = 0.0;
#pragma unroll
    for (int j = 0; j < N; ++j) {
      total += features[i] * S[i * N + j] * features[j];
      gains[i] += S[i * N + j] * features[j];
    }
  }
  const double scale = 1.0 / (1.0 + v * total), factor = v * scale;
#pragma unroll
  for (int i = 0; i < N; ++i) {
    weights[i] += scale * gains[i] * (is_right - p);
#pragma unroll
    for (int j = 0; j < N; ++j) {
      S[i * N + j] = (1.0 - FORGETTING) * (S[i * N + j] - factor * gains[i] * gains[j]);
      if (i == j) S[i * N + j] += FORGETTING;
    }
  }
  errors.each[0] += 0.03 * (wrong - errors.each[0]);
  errors.each[1] += 0.003 * (wrong - errors.each[1]);
  all_weights.write(state.weight);
  covariance.write(state.covariance);
  errors.write(state.recent_errors);
}

__device__ __forceinline__ double* bin_at(double confidence, double* bins) {
  const int place = (confidence >= 0.65) + (confidence >= 0.8) + (confidence >= 0.9) + (confidence >= 0.97);
  return bins + place * N_COLUMNS;
}

__device__ __forceinline__ void describe_like_rows(const Tracked& state, Said& said) {
  const double* row = bin_at(said.confidence, state.bins);
  const double n = row[BIN_ROWS] + PRIOR_ROWS;
  const double error = (row[BIN_ROWS] * row[BIN_ERROR] + PRIOR_ROWS * (1.0 - said.confidence)) / n;
  const double variance = larger(error * (1.0 - error), MIN_ERROR_VARIANCE) * (1.0 / n + 1.0 / STRETCH_ROWS);
  const double margin = MARGIN * exp(row[LOG_FACTOR]) * sqrt(variance);
  said.low = larger(error - margin, 0.0);
  said.middle = error;
  said.bound = smaller(error + margin, 1.0);
}

__device__ __forceinline__ void learn_like_rows(const Said& said, double is_right, const Tracked& state) {
  double* to = bin_at(said.confidence, state.bins);
  Numbers<double, N_COLUMNS> numbers(to);
  double* row = numbers.each;
  row[BIN_ROWS] = row[BIN_ROWS] * (1.0 - 1.0 / MEMORY) + 1.0;
  row[BIN_ERROR] += (1.0 - is_right - row[BIN_ERROR]) / row[BIN_ROWS];
  row[OPEN_ROWS] += 1.0;
  row[OPEN_WRONG] += 1.0 - is_right;
  row[OPEN_BOUNDS] += said.bound;
  if (row[OPEN_ROWS] >= STRETCH_ROWS) {
    const double failed = row[OPEN_WRONG] > row[OPEN_BOUNDS] ? 1.0 : 0.0;
    const double moved = row[LOG_FACTOR] + MARGIN_STEP * (failed - ALLOWED);
    row[LOG_FACTOR] = smaller(larger(moved, MIN_LOG_FACTOR), MAX_LOG_FACTOR);
    row[OPEN_ROWS] = row[OPEN_WRONG] = row[OPEN_BOUNDS] = 0.0;
  }
  numbers.write(to);
}

__device__ int bin_of_probability(double p, double lowest, double step, int n_bins) {
  const double bounded = smaller(larger(p, 1e-12), 1.0 - 1e-12);
  const int place = int((log(bounded / (1.0 - bounded)) - lowest) / step);
  return min(max(place, 0), n_bins - 1);
}

__device__ __forceinline__ int confidence_place(double confidence) {
  return bin_of_probability(confidence, LEAST_CONFIDENCE_SCORE, CONFIDENCE_STEP, CONFIDENCE_BINS);
}

__device__ double aim_of(double level, double debt) {
  const double beyond = copysign(larger(fabs(debt) - SOFT_LIMIT, 0.0), debt);
  return level * exp(-debt / SLOW - beyond / FAST);
}
