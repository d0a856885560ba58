// Counts, alarm and calibrated bound (driftline.kernels.row_counts, .alarm, .error_interval and .calibration).

constexpr double MEAN_GAIN = 0.02, FAST_MEAN_GAIN = 0.05, VARIANCE_GAIN = 0.002, COVARIANCE_FACTOR = 2.0;
constexpr double UNSEEN_DEVIATION = 0.025, MIN_DEVIATION = 0.001, STRETCH_STEP = 0.25, GUESSING = 1.0 - 1.0 / C;
constexpr double START_SCALE = 5000.0, PRECISION = 1e-10;
constexpr int WINDOW_STEPS = 100, N_BLOCKS = 11, N_ALARM_RATES = 7, N_LIMIT_RATES = 24;
constexpr int MAX_HALVINGS = 120, REFRESH_ROWS = 64;
enum { STEPS, MEAN, FAST_MEAN, COVARIANCE, VARIANCE, LAST_DEVIATION, N_FIGURES };
enum { ALARM_ROWS, ARMED_AT, WRONG, RAISED, RAISED_AT, SINCE, WRONG_SINCE };

__device__ __forceinline__ void count_row(char* stream, int predicted, int label) {
  const bool is_wrong = predicted != label;
  int64* blocks = array_at<int64>(stream, BLOCKS_AT);
  int64* const places[3] = {array_at<int64>(stream, TOTALS_AT), array_at<int64>(stream, BY_CLASS_AT) + label * 2,
                            array_at<int64>(stream, BY_PREDICTION_AT) + predicted * 2};
  // All loads before the first of the stores, which would wait for them.
  Numbers<int64, 2> counts[3] = {Numbers<int64, 2>(places[0]), Numbers<int64, 2>(places[1]),
                                 Numbers<int64, 2>(places[2])};
  const int64 n = counts[0].each[0];
  int64 of_blocks[N_BLOCK_SIZES];
#pragma unroll
  for (int w = 0; w < N_BLOCK_SIZES; ++w) of_blocks[w] = blocks[w * N_BLOCKS + n / BLOCK_ROWS[w] % N_BLOCKS];
#pragma unroll
  for (int w = 0; w < N_BLOCK_SIZES; ++w)
    blocks[w * N_BLOCKS + n / BLOCK_ROWS[w] % N_BLOCKS] = (n % BLOCK_ROWS[w] == 0 ? 0 : of_blocks[w]) + is_wrong;
#pragma unroll
  for (int k = 0; k < 3; ++k) {
    counts[k].each[0] += 1;
    counts[k].each[1] += is_wrong;
    counts[k].write(places[k]);
  }
}

// Whether the mixture over λ of one sign reaches the limit; the gains are e^λ - 1.
__device__ bool reaches_limit(double n, double wrong, double risk, double log_limit, double sign, const double* gains) {
  double total = 0.0;
  for (int j = 0; j < N_LIMIT_RATES; ++j) {
    const double exponent = sign * LIMIT_RATES[j] * wrong - n * log1p(risk * gains[j]) - log_limit;
    total += LIMIT_WEIGHTS[j] * exp(smaller(exponent, 10.0));
  }
  return total >= 1.0;
}

__device__ double lower_limit_of_few(double n, double wrong, double log_limit) {
  double low = 0.0, high = wrong / n;
  if (!reaches_limit(n, wrong, low, log_limit, 1.0, LIMIT_RISES)) return low;
  for (int k = 0; k < MAX_HALVINGS && !(high - low <= PRECISION * low); ++k) {
    const double middle = 0.5 * (low + high);
    (reaches_limit(n, wrong, middle, log_limit, 1.0, LIMIT_RISES) ? low : high) = middle;
  }
  return low;
}

__device__ double upper_limit_of_few(double n, double wrong, double log_limit) {
  double low = wrong / n, high = 1.0;
  if (!reaches_limit(n, wrong, high, log_limit, -1.0, LIMIT_FALLS)) return high;
  for (int k = 0; k < MAX_HALVINGS && !(high - low <= PRECISION * high); ++k) {
    const double middle = 0.5 * (low + high);
    (reaches_limit(n, wrong, middle, log_limit, -1.0, LIMIT_FALLS) ? high : low) = middle;
  }
  return high;
}

__device__ __noinline__ double upper_limit(double n, double wrong, double log_limit) {
  return 2.0 * wrong > n ? 1.0 - lower_limit_of_few(n, n - wrong, log_limit) : upper_limit_of_few(n, wrong, log_limit);
}

// Updates a test by a row; returns the mixture over starts and λ.
__device__ double update_test(char* stream, int test, int64 row, bool is_wrong) {
  const int64 k = ++array_at<int64>(stream, N_TESTED_AT)[test];
  const double remaining = 1.0 / (1.0 + log1p(k / START_SCALE)), weight = remaining * remaining / (START_SCALE + k);
  double *evidence_at = array_at<double>(stream, EVIDENCE_AT) + test * 2 * N_ALARM_RATES, mixture = remaining;
  int64* starts_at = array_at<int64>(stream, STARTS_AT) + test * 2 * N_ALARM_RATES;
  Numbers<double, 2 * N_ALARM_RATES> evidence(evidence_at);
  Numbers<int64, 2 * N_ALARM_RATES> counts(starts_at);
  const double level = array_at<double>(stream, LEVELS_AT)[test];
  double *sums = evidence.each, *most = sums + N_ALARM_RATES;
  int64 *starts = counts.each, *wrong = starts + N_ALARM_RATES;
#pragma unroll
  for (int j = 0; j < N_ALARM_RATES; ++j) {
    const bool begins = most[j] <= weight;
    const double factor = (is_wrong ? ALARM_GAINS[j] : 1.0) / (1.0 + level * ALARM_RISES[j]);
    sums[j] = (sums[j] + weight) * factor;
    most[j] = (begins ? weight : most[j]) * factor;
    starts[j] = begins ? row : starts[j];
    wrong[j] = (begins ? 0 : wrong[j]) + is_wrong;
    mixture += ALARM_WEIGHTS[j] * sums[j];
  }
  evidence.write(evidence_at);
  counts.write(starts_at);
  return mixture;
}

__device__ void raise_alarm(char* stream, int test, int64 row) {
  int64* counts = array_at<int64>(stream, ALARM_COUNTS_AT);
  const double* most = array_at<double>(stream, EVIDENCE_AT) + (test * 2 + 1) * N_ALARM_RATES;
  const int64 *starts = array_at<int64>(stream, STARTS_AT) + test * 2 * N_ALARM_RATES, *wrong = starts + N_ALARM_RATES;
  int best = 0;
  for (int j = 1; j < N_ALARM_RATES; ++j) {
    if (ALARM_WEIGHTS[j] * most[j] > ALARM_WEIGHTS[best] * most[best]) best = j;
  }
  const int64 since = smaller(larger(starts[best], counts[ARMED_AT]), row);
  const int64 wrong_since = smaller(smaller(wrong[best], counts[WRONG]), row + 1 - since);
  counts[RAISED] = test;
  counts[RAISED_AT] = row;
  counts[SINCE] = since;
  counts[WRONG_SINCE] = wrong_since;
  counts[WRONG] = smaller(counts[WRONG] - wrong_since, since - counts[ARMED_AT]);
}

__device__ void test_row(char* stream, bool is_wrong) {
  int64* counts = array_at<int64>(stream, ALARM_COUNTS_AT);
  double* levels = array_at<double>(stream, LEVELS_AT);
  const int64 row = counts[ALARM_ROWS]++;
  if (counts[RAISED] != -1) {
    counts[WRONG_SINCE] += is_wrong;
    return;
  }
  counts[WRONG] += is_wrong;
  const bool is_made[2] = {levels[0] != 1.0, levels[1] != 1.0};
#pragma unroll 1
  for (int test = 0; test < 2; ++test) {
    if (!is_made[test] || (test == 1 && is_made[0] && counts[RAISED] != -1)) continue;
    if (update_test(stream, test, row, is_wrong) >= TARGETS[3 + test]) raise_alarm(stream, test, row);
  }
  const int64 n = row + 1 - counts[ARMED_AT];
  if (TARGETS[2] < 1.0 && n % REFRESH_ROWS == 0 && counts[RAISED] == -1) {
    const double limit = upper_limit(double(n), double(counts[WRONG]), TARGETS[5]);
    levels[1] = smaller(limit + TARGETS[2], levels[1]);
  }
}

// The bound at the next step, or that of the rate of mistakes, from the sum of the last expected mistakes and its
// largest stretch; see calibration.next_bounds. Both take the same instructions, so that two lanes compute them at once.
__device__ __forceinline__ double next_bound(const double* figures, double losses, double stretch, bool is_rate) {
  if (figures[STEPS] == 0.0) return GUESSING;
  const double gain = larger(MEAN_GAIN, 2.0 / (figures[STEPS] + 2.0)), multiplier = is_rate ? 1.0 : TARGETS[1];
  const double unseen = larger(smaller(UNSEEN_DEVIATION, 1.5 * figures[MEAN]), MIN_DEVIATION);
  const double least = is_rate ? MIN_DEVIATION : unseen, of_mean = 0.5 * gain * figures[VARIANCE];
  const double covariance = COVARIANCE_FACTOR * larger(figures[COVARIANCE], 0.0);
  const double variance = (is_rate ? of_mean : covariance + of_mean) + least * least;
  const double bound = figures[MEAN] + multiplier * exp(stretch) * sqrt(variance);
  const double rest = larger(stretch - log(1.0 / (multiplier * MIN_DEVIATION)), 0.0);
  const double limit = smaller(larger(GUESSING, losses / WINDOW_STEPS) + rest, 1.0);
  return smaller(is_rate ? bound : larger(figures[FAST_MEAN], bound), limit);
}

__device__ __forceinline__ void update_figures(double* figures, double loss) {
  const double n = figures[STEPS];
  if (n == 0.0) {
    figures[MEAN] = figures[FAST_MEAN] = GUESSING;
    figures[VARIANCE] = GUESSING * GUESSING;
  }
  const double deviation = loss - figures[MEAN], gain = larger(MEAN_GAIN, 2.0 / (n + 2.0));
  const double variance_gain = larger(VARIANCE_GAIN, 3.0 / (n + 3.0));
  figures[MEAN] += gain * deviation;
  figures[FAST_MEAN] += larger(FAST_MEAN_GAIN, 2.0 / (n + 2.0)) * (loss - figures[FAST_MEAN]);
  figures[COVARIANCE] += variance_gain * (deviation * figures[LAST_DEVIATION] - figures[COVARIANCE]);
  figures[VARIANCE] += variance_gain * (deviation * deviation - figures[VARIANCE]);
  figures[LAST_DEVIATION] = deviation;
  figures[STEPS] += 1.0;
}
