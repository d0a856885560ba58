// Filters of class means (driftline.kernels.filter_bank), one thread per component, and the newest row of each store.

constexpr double LOG_WEIGHT_DISCOUNT = 0.98, MIN_GAIN = 0.02, MIN_FILTER_VARIANCE = 1e-30, MIN_RATE_TIME = 1e-9;
constexpr double MAX_FORECAST_GAPS = 10.0, ELAPSED = 1.0;

// Where the arrays of a bank of R filters with J components are.
template <int R, int J>
struct Bank {
  // The numbers of a component, in pairs: levels, rates and weights of the filters, largest value, variance, and log
  // weights.
  static constexpr int PAIRS = 2 * R + 1;
  double2* components;
  double *n_rows, *age, *mean_gap, *inverse_gap;
  __device__ __forceinline__ Bank(char* stream, const int* at)
      : components(array_at<double2>(stream, at[0])), n_rows(array_at<double>(stream, at[1])),
        age(array_at<double>(stream, at[2])), mean_gap(array_at<double>(stream, at[3])),
        inverse_gap(array_at<double>(stream, at[4])) {}
  // A pair of numbers of component j of class y; those of all components are side by side.
  __device__ __forceinline__ double2& pair(int y, int k, int j) const { return components[(y * PAIRS + k) * J + j]; }
};

// What is kept of component j of class y.
template <int R, int J>
struct Component {
  double level[R], rate[R], weight[R], largest, variance, log_weight[R];
  // Number k of those that are in pairs.
  __device__ __forceinline__ double& number(int k) {
    return k < R       ? level[k]
           : k < 2 * R ? rate[k - R]
           : k < 3 * R ? weight[k - 2 * R]
           : k == 3 * R ? largest
           : k == 3 * R + 1 ? variance
                            : log_weight[k - 3 * R - 2];
  }
  __device__ __forceinline__ Component(const Bank<R, J>& bank, int y, int j) {
#pragma unroll
    for (int k = 0; k < Bank<R, J>::PAIRS; ++k) {
      const double2 pair = bank.pair(y, k, j);
      number(2 * k) = pair.x;
      number(2 * k + 1) = pair.y;
    }
  }
  __device__ __forceinline__ void write(const Bank<R, J>& bank, int y, int j) {
#pragma unroll
    for (int k = 0; k < Bank<R, J>::PAIRS; ++k) bank.pair(y, k, j) = make_double2(number(2 * k), number(2 * k + 1));
  }

  __device__ __forceinline__ double extrapolate(int r, double horizon) const {
    return clipped(level[r] + rate[r] * horizon, 2.0 * largest);
  }

  // The forecast mean at a horizon.
  __device__ __forceinline__ double forecast(double horizon) const {
    double total = 0.0;
#pragma unroll
    for (int r = 0; r < R; ++r) total += weight[r] * extrapolate(r, horizon);
    return total;
  }

  template <typename T>
  __device__ __forceinline__ void start(T x) {
    weight[0] = 1.0;
    if (isnan(x)) return;
    largest = fabs(double(x));
#pragma unroll
    for (int r = 0; r < R; ++r) {
      level[r] = x;
      weight[r] = 1.0 / R;
    }
  }

  // Updates all of it by a value of its class, which has had n rows, the last one a time `age` ago.
  template <typename T>
  __device__ __forceinline__ void update(const double (*gains)[R], T x, T centre, double n, double age,
                                         double horizon) {
    if (n == 0.0) start(x);
    if (n == 0.0 || isnan(x)) return;
    const T deviation = x - centre, square = deviation * deviation;
    variance += larger(MIN_GAIN, 1.0 / n) * (square - variance);
    const double scale = 0.5 / (variance + MIN_FILTER_VARIANCE), farthest = 2.0 * largest, least_gain = 1.0 / (n + 1.0);
    const double inverse_age = 1.0 / age;
    double best = -infinity(), total = 0.0;
#pragma unroll
    for (int r = 0; r < R; ++r) {
      const double predicted = extrapolate(r, horizon), error = x - predicted;
      if (age > MIN_RATE_TIME) {
        const double least = quotient(-farthest - level[r], age, inverse_age);
        const double most = quotient(farthest - level[r], age, inverse_age);
        rate[r] = smaller(larger(rate[r], least), most) + quotient(gains[1][r] * error, age, inverse_age);
      }
      level[r] = predicted + larger(gains[0][r], least_gain) * error;
      log_weight[r] = LOG_WEIGHT_DISCOUNT * log_weight[r] - scale * error * error;
      best = larger(best, log_weight[r]);
    }
#pragma unroll
    for (int r = 0; r < R; ++r) {
      weight[r] = exp(log_weight[r] - best);
      total += weight[r];
    }
    const double inverse_total = 1.0 / total;
#pragma unroll
    for (int r = 0; r < R; ++r) weight[r] = quotient(weight[r], total, inverse_total);
    largest = larger(largest, fabs(double(x)));
  }
};

// What the classes of a bank were before a row of class y, and what they are after it.
struct ClassTimes {
  double n, age, mean_gap, inverse_gap, horizon, ages[C], mean_gaps[C];
  template <int R, int J>
  __device__ __forceinline__ ClassTimes(const Bank<R, J>& bank, int y)
      : n(bank.n_rows[y]), inverse_gap(bank.inverse_gap[y]) {
#pragma unroll
    for (int k = 0; k < C; ++k) {
      ages[k] = bank.age[k] + ELAPSED;
      mean_gaps[k] = bank.mean_gap[k];
      if (k == y) {
        age = ages[k];
        mean_gap = mean_gaps[k];
        ages[k] = 0.0;
      }
    }
    horizon = smaller(age, MAX_FORECAST_GAPS * larger(mean_gap, ELAPSED));
    const double gain = larger(MIN_GAIN, 1.0 / n);
    if (n > 0.0) {
      mean_gap += gain * (age - mean_gap);
      if (age > MIN_RATE_TIME) inverse_gap += gain * (1.0 / (age * age) - inverse_gap);
    }
#pragma unroll
    for (int k = 0; k < C; ++k) mean_gaps[k] = k == y ? mean_gap : mean_gaps[k];
  }
  // Time from the last row of class k to the next row, as far ahead as a class is forecast.
  __device__ __forceinline__ double next_horizon(int k) const {
    double horizon = 0.0;
#pragma unroll
    for (int y = 0; y < C; ++y) {
      if (y == k) horizon = smaller(ages[y] + ELAPSED, MAX_FORECAST_GAPS * larger(mean_gaps[y], ELAPSED));
    }
    return horizon;
  }
  template <int R, int J>
  __device__ __forceinline__ void write(const Bank<R, J>& bank, int y) const {
#pragma unroll
    for (int k = 0; k < C; ++k) bank.age[k] = ages[k];
    bank.n_rows[y] = n + 1.0;
    bank.mean_gap[y] = mean_gap;
    bank.inverse_gap[y] = inverse_gap;
  }
};

// Updates the filters of the raw columns.
extern "C" __global__ void __launch_bounds__(COLUMN_THREADS<P>, COLUMN_BLOCKS<P, 4>)
    track_columns(int n, const StreamRow* stream_rows, const double* X) {
  const int i = blockIdx.x * (blockDim.x / P) + threadIdx.x / P, j = threadIdx.x % P;
  const bool is_used = i < n && threadIdx.x < blockDim.x / P * P;
  const StreamRow row = stream_rows[is_used ? i : 0];
  const int y = row.label;
  char* stream = row.stream();
  const Bank<N_COLUMN_FILTERS, P> bank(stream, COLUMN_BANK_AT);
  double& kept = array_at<double>(stream, ORIGIN_AT)[j];
  const double raw = X[int64(row.row) * P + j];
  Component<N_COLUMN_FILTERS, P> component(bank, y, j);
  double origin = kept;
  const ClassTimes times(bank, y);
  if (is_used) {
    if (isnan(origin) && !isnan(raw)) kept = origin = clipped(raw, MAX_MAGNITUDE);
    const double shift = raw - origin, x = isnan(shift) ? shift : clipped(shift, MAX_MAGNITUDE);
    component.update(COLUMN_GAINS, x, component.forecast(times.horizon), times.n, times.age, times.horizon);
    component.write(bank, y, j);
  }
  __syncthreads();  // all columns of a stream have read the times
  if (is_used && j == 0) times.write(bank, y);
}

// Puts the features of each row into the store of space S, less the forecast of its class if the store is compensated.
template <int S>
__global__ void __launch_bounds__(COLUMN_THREADS<SPACE_FEATURES[S]>)
    store_rows(int n, const StreamRow* stream_rows, const float* features) {
  constexpr int D = SPACE_FEATURES[S];
  const int i = blockIdx.x * (blockDim.x / D) + threadIdx.x / D, j = threadIdx.x % D;
  const bool is_used = i < n && threadIdx.x < blockDim.x / D * D;
  const int item = is_used ? i : 0;
  const StreamRow row = stream_rows[item];
  const int y = row.label;
  char* stream = row.stream();
  // All loads before the first of the stores, which would wait for them.
  const int64 n_seen = array_at<int64>(stream, N_SEEN_AT[S])[0];
  float x = features[int64(item) * N_FEATURES + FIRST_FEATURE[S] + j];
  if constexpr (SPACE_FILTERS[S] > 0) {
    const Bank<SPACE_FILTERS[S], D> bank(stream, SPACE_BANK_AT[S]);
    Component<SPACE_FILTERS[S], D> component(bank, y, j);
    const ClassTimes times(bank, y);
    if (is_used) {
      float* centres = array_at<float>(stream, CENTRES_AT[S]) + j;
      float of_others[C];
#pragma unroll
      for (int k = 1; k < C; ++k) {
        const int other = (y + k) % C;
        of_others[k] = float(Component<SPACE_FILTERS[S], D>(bank, other, j).forecast(times.next_horizon(other)));
      }
      const float centre = float(component.forecast(times.horizon));
      component.update(SPACE_GAINS, x, centre, times.n, times.age, times.horizon);
      x = times.n == 0.0 ? 0.0f : x - centre;
      component.write(bank, y, j);
      centres[y * STRIDE<S>] = float(component.forecast(times.next_horizon(y)));
#pragma unroll
      for (int k = 1; k < C; ++k) centres[(y + k) % C * STRIDE<S>] = of_others[k];
    }
    __syncthreads();  // all components of a stream have read the times
    if (is_used && j == 0) times.write(bank, y);
  }
  if (!is_used) return;
  const int place = int(n_seen % SPACE_ROWS[S]);
  array_at<float>(stream, ROWS_AT[S])[Rows<S>::at(place, j)] = x;
  if (j == 0) array_at<int>(stream, ROWS_AT[S])[Rows<S>::label_at(place)] = y;
}
