// The mixture of the members for each row (driftline.kernels.mixing), and what follows from it, one thread per stream.

constexpr double LEARNING_RATE = 0.5, FIXED_SHARE = 0.003;

// Writes N bytes, four at a time if N is a multiple of four; they begin at a multiple of N.
template <int N>
__device__ __forceinline__ void write_bytes(void* to, const void* from) {
  const uint8* bytes = static_cast<const uint8*>(from);
  if constexpr (N % 4 == 0) {
#pragma unroll
    for (int k = 0; k < N; k += 4)
      static_cast<unsigned*>(to)[k / 4] =
          bytes[k] | unsigned(bytes[k + 1]) << 8 | unsigned(bytes[k + 2]) << 16 | unsigned(bytes[k + 3]) << 24;
  } else {
    for (int k = 0; k < N; ++k) static_cast<uint8*>(to)[k] = bytes[k];
  }
}

// What is said of all rows: the mixture, and the arrays of driftline.kernels.statements.RowStatements.
struct Results {
  double* h;
  int64* predicted;
  double *features, *confidences, *like_errors;
  signed char* decisions;
  double* probabilities;
  bool* sets;
  __device__ void write(int64 row, const double* mixture, const Said& said) const {
    predicted[row] = said.predicted;
    confidences[row] = said.confidence;
    like_errors[row * 3] = said.low;
    like_errors[row * 3 + 1] = said.middle;
    like_errors[row * 3 + 2] = said.bound;
    for (int k = 0; k < N_DESCRIBED; ++k) features[row * N_DESCRIBED + k] = said.features[k];
    write_bytes<N_ERRORS>(decisions + row * N_ERRORS, said.decisions);
    write_bytes<N_SETS * C>(sets + row * N_SETS * C, said.sets);
    for (int y = 0; y < C; ++y) {
      h[row * C + y] = mixture[y];
      probabilities[row * C + y] = said.probabilities[y];
    }
  }
};

// The share of a label in the largest probability: 1 if it has it alone.
__device__ __forceinline__ double counted_right(const double* h, double own) {
  int n_equal = 0;
  bool is_largest = true;
#pragma unroll
  for (int y = 0; y < C; ++y) {
    is_largest = is_largest && !(h[y] > own);
    n_equal += h[y] == own;
  }
  return is_largest ? 1.0 / n_equal : 0.0;
}

__device__ __forceinline__ void reweigh(char* stream, const double* before, const double* members, int label) {
  double raised[N_MEMBERS], total = 0.0;
  Numbers<double, N_MEMBERS> weights;
#pragma unroll
  for (int m = 0; m < N_MEMBERS; ++m) {
    const double h = of_label(members + m * C, label);
    double right = (1.0 - COUNTED_SHARE) * h;
    if (COUNTED_SHARE > 0.0) right += COUNTED_SHARE * counted_right(members + m * C, h);
    raised[m] = before[m] * exp(LEARNING_RATE * right);
    total += raised[m];
  }
  const double inverse_total = 1.0 / total;
#pragma unroll
  for (int m = 0; m < N_MEMBERS; ++m)
    weights.each[m] = (1.0 - FIXED_SHARE) * quotient(raised[m], total, inverse_total) + FIXED_SHARE / N_MEMBERS;
  weights.write(array_at<double>(stream, WEIGHTS_AT));
  double* schemes = array_at<double>(stream, SCHEME_WEIGHTS_AT);
#pragma unroll
  for (int m = 0; m < N_MEMBERS; ++m) schemes[m] = schemes[N_MEMBERS + m] = weights.each[m];
}

// What a lane keeps in shared memory: all that statements are made of but bins, or the numbers of the alarm.
typedef Staged<Tracked::N_REST> Statements;
constexpr int ALARM_BYTES = STARTS_AT + 4 * N_ALARM_RATES * int(sizeof(int64)) - ALARM_COUNTS_AT;
typedef Staged<HAS_ALARM ? (ALARM_BYTES + 15) / 16 * 2 : 2> Alarm;
static_assert(!HAS_ALARM || (ALARM_BYTES > 0 && ALARM_BYTES < 600), "the arrays of the alarm are side by side");

// Mixes the members' probabilities of each row and says what follows; if `learns`, updates all of it by the labels but
// counts, thresholds and the bound.
extern "C" __global__ void __launch_bounds__(WARP)
    state_rows(int n, const StreamRow* stream_rows, const double* h_members, double* mixture, int64* predicted,
               double* features, double* confidences, double* like_errors, signed char* decisions,
               double* probabilities, bool* sets, bool learns) {
  __shared__ Statements staged;
  const Results results{mixture, predicted, features, confidences, like_errors, decisions, probabilities, sets};
  const int first = blockIdx.x * Statements::LANES, i = first + threadIdx.x;
  const bool is_used = threadIdx.x < Statements::LANES && i < n;
  const StreamRow item = stream_rows[is_used ? i : first];
  char* stream = item.stream();
  double *bins = array_at<double>(stream, STATEMENTS_AT), *rest = bins + Tracked::N_BINS_OF_ALL;
  staged.load(rest);
  const Numbers<double, N_MEMBERS> weights(array_at<double>(stream, WEIGHTS_AT));
  double members[N_MEMBERS * C];
#pragma unroll
  for (int k = 0; k < N_MEMBERS * C; ++k) members[k] = h_members[int64(is_used ? i : first) * N_MEMBERS * C + k];
  double h[C], largest = 0.0;
  Said said;
#pragma unroll
  for (int y = 0; y < C; ++y) {
    double total = 0.0;
#pragma unroll
    for (int m = 0; m < N_MEMBERS; ++m) total += weights.each[m] * members[m * C + y];
    h[y] = smaller(total, 1.0);
    if (y == 0 || h[y] > largest) {
      largest = h[y];
      said.predicted = y;
    }
  }
  await_copies();
  __syncwarp();
  if (is_used) {
    const Tracked state(bins, staged.own());
    state_row(h, state, said);
    results.write(item.row, h, said);
    if (learns) {
      reweigh(stream, weights.each, members, item.label);
      learn_row(item.label, said, state);
    }
  }
  __syncwarp();
  if (learns) staged.write(rest, min(Statements::LANES, n - first));
}

// Counts the label of each row, and tests whether an alarm is to be raised.
extern "C" __global__ void __launch_bounds__(WARP)
    count_rows(int n, const StreamRow* stream_rows, const int64* predicted) {
  __shared__ Alarm staged;
  const int first = blockIdx.x * Alarm::LANES, i = first + threadIdx.x;
  const bool is_used = threadIdx.x < Alarm::LANES && i < n;
  const StreamRow item = stream_rows[is_used ? i : first];
  char* stream = item.stream();
  double* alarm = array_at<double>(stream, ALARM_COUNTS_AT);
  if (HAS_ALARM) staged.load(alarm);
  const int prediction = int(predicted[item.row]);
  if (is_used) count_row(stream, prediction, item.label);
  if (!HAS_ALARM) return;
  await_copies();
  __syncwarp();
  if (is_used) test_row(reinterpret_cast<char*>(staged.own()) - ALARM_COUNTS_AT, prediction != item.label);
  __syncwarp();
  staged.write(alarm, min(Alarm::LANES, n - first));
}

// Sets the number of rows of a block in each of these kernels.
extern "C" __global__ void set_staged_lanes(int64* n_lanes) {
  n_lanes[0] = Statements::LANES;
  n_lanes[1] = Alarm::LANES;
}
