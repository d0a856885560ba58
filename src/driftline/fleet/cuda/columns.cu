// Raw values to features: driftline.kernels.representation and driftline.kernels.column_scales, one thread per column.

constexpr int EARLY_VALUES = 10, RECENT_VALUES = 32, IGNORED_VALUES = 5;
constexpr double OUTLIER_MADS = 100.0, STD_PER_MAD = 1.4826, BINARY_WEIGHT = 0.5, MAX_MAGNITUDE = 1e15;
constexpr double MAX_DEVIATIONS = 4.0, MEMORY_VALUES = 10000.0, DEVIATIONS_PER_WIDTH = 2.0;
constexpr double RANGE_GAIN = RECENT_VALUES / MEMORY_VALUES, MAX_UNUSUAL = 4.0, CLIPPED_SHARE = 0.75, MAX_LEAD = 6.0;
constexpr double SMALLEST_WIDTH = 1e-300;
enum { N_RECENT, CLIPPED_LEAD, N_UNUSUAL, IS_MISFIT, LEAST_SPREAD, MOST_SPREAD, LEAST_MEDIAN, MOST_MEDIAN };
enum { LAST_SPREAD = MOST_MEDIAN + 1, LAST_MEDIAN };

struct Column {
  double *count, *mean, *squares, *is_binary, *early, *recent, *figures;
  __device__ Column(char* stream, int j)
      : count(array_at<double>(stream, COUNT_AT) + j), mean(array_at<double>(stream, MEAN_AT) + j),
        squares(array_at<double>(stream, SQUARES_AT) + j), is_binary(array_at<double>(stream, IS_BINARY_AT) + j),
        early(array_at<double>(stream, EARLY_AT) + j), recent(array_at<double>(stream, RECENT_AT) + j),
        figures(array_at<double>(stream, RECENT_FIGURES_AT) + j) {}
  __device__ double& figure(int k) { return figures[k * P]; }
};

// Sorts numbers: N times, neighbours are exchanged if the first is larger. All places are known when this is compiled,
// so that the numbers can be in registers.
template <int N>
__device__ __forceinline__ void sort_values(double (&values)[N]) {
#pragma unroll 1
  for (int pass = 0; pass < N; pass += 2) {
#pragma unroll
    for (int first = 0; first < 2; ++first) {
#pragma unroll
      for (int i = first; i + 1 < N; i += 2) {
        const double a = values[i], b = values[i + 1];
        values[i] = b < a ? b : a;
        values[i + 1] = b < a ? a : b;
      }
    }
  }
}

// Sets mean and squares of a column to those of some values, clipped about a centre.
template <int N>
__device__ __forceinline__ void restart_column(Column column, const double (&values)[N], double centre,
                                               double farthest) {
  double total = 0.0, squares = 0.0;
#pragma unroll
  for (int i = 0; i < N; ++i) total += smaller(larger(values[i], centre - farthest), centre + farthest);
  const double mean = total / N;
#pragma unroll
  for (int i = 0; i < N; ++i) {
    const double shift = smaller(larger(values[i], centre - farthest), centre + farthest) - mean;
    squares += shift * shift;
  }
  *column.mean = mean;
  *column.squares = squares;
}

__device__ __noinline__ void clip_early_outliers(Column column) {
  double values[EARLY_VALUES], sorted[EARLY_VALUES], distances[EARLY_VALUES];
#pragma unroll
  for (int i = 0; i < EARLY_VALUES; ++i) values[i] = sorted[i] = column.early[i * P];
  sort_values(sorted);
  const double median = (sorted[EARLY_VALUES / 2 - 1] + sorted[EARLY_VALUES / 2]) / 2.0;
#pragma unroll
  for (int i = 0; i < EARLY_VALUES; ++i) distances[i] = fabs(values[i] - median);
  sort_values(distances);
  const double mad = (distances[EARLY_VALUES / 2 - 1] + distances[EARLY_VALUES / 2]) / 2.0;
  if (mad > 0.0 && distances[EARLY_VALUES - 1] > OUTLIER_MADS * mad)
    restart_column(column, values, median, MAX_DEVIATIONS * STD_PER_MAD * mad);
}

__device__ __forceinline__ bool mostly_beyond(const double (&group)[RECENT_VALUES], double centre, double farthest) {
  int n_distinct = 0, n_beyond = 0;
#pragma unroll
  for (int i = 0; i < RECENT_VALUES; ++i) {
    if (i == 0 || group[i] != group[i - 1]) {
      ++n_distinct;
      n_beyond += fabs(group[i] - centre) > farthest;
    }
  }
  return n_beyond >= CLIPPED_SHARE * n_distinct;
}

__device__ void keep_group(Column column, double spread, double median) {
  column.figure(LAST_SPREAD) = spread;
  column.figure(LAST_MEDIAN) = median;
  column.figure(N_UNUSUAL) = column.figure(IS_MISFIT) = 0.0;
}

__device__ void start_ranges(Column column, double spread, double median) {
  column.figure(LEAST_SPREAD) = column.figure(MOST_SPREAD) = spread;
  column.figure(LEAST_MEDIAN) = column.figure(MOST_MEDIAN) = median;
  keep_group(column, spread, median);
}

__device__ void extend_range(double& least, double& most, double value) {
  const double low = least, high = most;
  least = smaller(value, low + RANGE_GAIN * (value - low));
  most = larger(value, high + RANGE_GAIN * (value - high));
}

__device__ void extend_ranges(Column column, double spread, double median) {
  extend_range(column.figure(LEAST_SPREAD), column.figure(MOST_SPREAD), spread);
  extend_range(column.figure(LEAST_MEDIAN), column.figure(MOST_MEDIAN), median);
}

__device__ __noinline__ void judge_group(Column column) {
  const double NEW_SPREAD = NEW_SPREAD_VALUE;
  double group[RECENT_VALUES];
#pragma unroll
  for (int i = 0; i < RECENT_VALUES; ++i) group[i] = column.recent[i * P];
  sort_values(group);
  const double width = larger(group[RECENT_VALUES - 1 - IGNORED_VALUES] - group[IGNORED_VALUES], SMALLEST_WIDTH);
  const double spread = log(width), median = 0.5 * (group[RECENT_VALUES / 2 - 1] + group[RECENT_VALUES / 2]);
  const bool is_first = column.figure(LEAST_SPREAD) > column.figure(MOST_SPREAD);
  const bool is_narrow = is_first || spread < column.figure(LEAST_SPREAD) - NEW_SPREAD;
  const bool is_wide = spread > column.figure(MOST_SPREAD) + NEW_SPREAD;
  const double reach = exp(column.figure(MOST_SPREAD));
  const bool is_elsewhere = median < column.figure(LEAST_MEDIAN) - reach || median > column.figure(MOST_MEDIAN) + reach;
  const double deviation = sqrt(*column.squares / *column.count);
  const bool is_tiny = is_narrow && exp(spread + NEW_SPREAD) < deviation;
  const bool is_beyond = !is_first && mostly_beyond(group, *column.mean, MAX_DEVIATIONS * deviation);
  const bool was_usual = column.figure(N_UNUSUAL) == 0.0;
  column.figure(N_UNUSUAL) += 1.0;
  if (is_tiny || is_beyond || column.figure(CLIPPED_LEAD) > 0.0) column.figure(IS_MISFIT) = 1.0;
  if (!(is_narrow || is_wide || is_elsewhere)) {
    if (was_usual) extend_ranges(column, column.figure(LAST_SPREAD), column.figure(LAST_MEDIAN));
    keep_group(column, spread, median);
  } else if (is_first && column.figure(IS_MISFIT) == 0.0) {
    start_ranges(column, spread, median);
  } else if (column.figure(N_UNUSUAL) >= MAX_UNUSUAL && column.figure(IS_MISFIT) == 1.0) {
    *column.count = RECENT_VALUES;
    restart_column(column, group, median, MAX_DEVIATIONS * width / DEVIATIONS_PER_WIDTH);
    start_ranges(column, spread, median);
  } else if (column.figure(N_UNUSUAL) >= MAX_UNUSUAL) {
    extend_ranges(column, spread, median);
    keep_group(column, spread, median);
  }
}

// Adds a value to the n recent ones, of which the last is given, as is the lead of clipped ones.
__device__ __forceinline__ void note_value(Column column, double x, bool is_clipped, double lead, int n, double last) {
  column.figure(CLIPPED_LEAD) = clipped(lead + (is_clipped ? 1.0 : 0.0) - CLIPPED_SHARE, MAX_LEAD);
  if (x == last) return;
  column.recent[n * P] = x;
  column.figure(N_RECENT) = n + 1.0;
  if (n + 1 == RECENT_VALUES) {
    judge_group(column);
    column.figure(N_RECENT) = 0.0;
  }
}

__device__ __forceinline__ void update_column(Column column, double raw, double* n_missing) {
  // All loads before the first of the stores, which would wait for them.
  double x = raw, count = *column.count, mean = *column.mean, squares = *column.squares;
  const bool is_binary = *column.is_binary != 0.0;
  const double lead = column.figure(CLIPPED_LEAD);
  const int n_recent = int(column.figure(N_RECENT));
  const double last = column.recent[(n_recent + RECENT_VALUES - 1) % RECENT_VALUES * P];
  if (isnan(raw)) {
    atomicAdd(n_missing, 1.0);
    return;
  }
  if (count >= EARLY_VALUES && !is_binary && squares > 0.0) {
    const double farthest = MAX_DEVIATIONS * sqrt(squares / count);
    x = smaller(larger(x, mean - farthest), mean + farthest);
  }
  if (count < EARLY_VALUES) column.early[int(count) * P] = x;
  if (count >= MEMORY_VALUES)
    squares *= 1.0 - 1.0 / MEMORY_VALUES;
  else
    count += 1.0;
  const double shift = x - mean;
  mean += shift / count;
  squares += shift * (x - mean);
  *column.count = count;
  *column.mean = mean;
  *column.squares = squares;
  if (count == EARLY_VALUES) clip_early_outliers(column);
  if (!is_binary) note_value(column, raw, x != raw, lead, n_recent, last);
  if (is_binary && !(raw * (raw - 1.0) == 0.0)) *column.is_binary = 0.0;
}

// Largest number of threads of a block that has a thread for each of J columns, or features, of each of its streams,
// and how many such blocks should fit into a multiprocessor: only one if a stream alone needs a larger block than usual.
template <int J>
constexpr int COLUMN_THREADS = J > THREADS ? (J + WARP - 1) / WARP * WARP : THREADS;
template <int J, int BLOCKS>
constexpr int COLUMN_BLOCKS = J > THREADS ? 1 : BLOCKS;

// Sets the linear features of each row; if `learns`, updates the statistics of its columns.
extern "C" __global__ void __launch_bounds__(COLUMN_THREADS<P>, COLUMN_BLOCKS<P, 6>)
    prepare_columns(int n, const StreamRow* stream_rows, const double* X, float* features, bool learns) {
  const int i = blockIdx.x * (blockDim.x / P) + threadIdx.x / P, j = threadIdx.x % P;
  const bool is_used = i < n && threadIdx.x < blockDim.x / P * P;
  double x = 0.0;
  char* stream = nullptr;
  if (is_used) {
    const StreamRow item = stream_rows[i];
    stream = item.stream();
    Column column(stream, j);
    x = X[int64(item.row) * P + j];
    const double mean = *column.mean, count = *column.count;
    const double filled = isnan(x) ? (count > 0.0 ? mean : 0.0) : x;
    double z = clipped(filled, MAX_MAGNITUDE);
    if (STANDARDISES) {
      double total = 0.0;
      for (int k = 0; k < P; ++k) {
        const double weight = 1.0 - (1.0 - BINARY_WEIGHT) * array_at<double>(stream, IS_BINARY_AT)[k];
        total += weight * weight;
      }
      const double weight = (1.0 - (1.0 - BINARY_WEIGHT) * *column.is_binary) / sqrt(total / P);
      const double shift = filled - mean, deviation = shift * count / (count + 1.0);
      const double variance = (*column.squares + shift * deviation) / (count + 1.0);
      z = weight * clipped(variance > 0.0 ? deviation / sqrt(variance) : 0.0, MAX_DEVIATIONS);
    }
    float* psi = features + int64(i) * N_FEATURES;
    psi[1 + j] = float(z * (1.0 / sqrt(double(P))));
    if (j == 0) psi[0] = 0.5f;
  }
  __syncthreads();  // all columns of a stream have read which ones are binary
  if (is_used && learns) update_column(Column(stream, j), x, array_at<double>(stream, MISSING_AT));
}
