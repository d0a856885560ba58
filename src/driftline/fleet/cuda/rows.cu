// The mixture of the members for each row (driftline.kernels.mixing), and what follows from it, one thread per stream.

constexpr double LEARNING_RATE = 0.5, FIXED_SHARE = 0.003;

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
    for (int e = 0; e < N_ERRORS; ++e) decisions[row * N_ERRORS + e] = said.decisions[e];
    for (int y = 0; y < C; ++y) {
      h[row * C + y] = mixture[y];
      probabilities[row * C + y] = said.probabilities[y];
      for (int s = 0; s < N_SETS; ++s) sets[(row * N_SETS + s) * C + y] = said.sets[s][y];
    }
  }
};

__device__ __forceinline__ double counted_right(const double* h, int label) {
  int n_equal = 0;
  for (int y = 0; y < C; ++y) {
    if (h[y] > h[label]) return 0.0;
    n_equal += h[y] == h[label];
  }
  return 1.0 / n_equal;
}

__device__ __forceinline__ void reweigh(char* stream, const double* before, const double* members, int label) {
  double raised[N_MEMBERS], total = 0.0;
  Numbers<double, N_MEMBERS> weights;
#pragma unroll
  for (int m = 0; m < N_MEMBERS; ++m) {
    double right = (1.0 - COUNTED_SHARE) * members[m * C + label];
    if (COUNTED_SHARE > 0.0) right += COUNTED_SHARE * counted_right(members + m * C, label);
    raised[m] = before[m] * exp(LEARNING_RATE * right);
    total += raised[m];
  }
#pragma unroll
  for (int m = 0; m < N_MEMBERS; ++m)
    weights.each[m] = (1.0 - FIXED_SHARE) * (raised[m] / total) + FIXED_SHARE / N_MEMBERS;
  weights.write(array_at<double>(stream, WEIGHTS_AT));
  double* schemes = array_at<double>(stream, SCHEME_WEIGHTS_AT);
#pragma unroll
  for (int m = 0; m < N_MEMBERS; ++m) schemes[m] = schemes[N_MEMBERS + m] = weights.each[m];
}

// Mixes the members' probabilities of each row and says what follows; if `learns`, updates all of it by the labels but
// thresholds and the bound.
extern "C" __global__ void __launch_bounds__(THREADS, 4)
    state_rows(int n, const uint64* buffers, const int64* slots, const int* rows, const int64* labels,
               const double* h_members, double* mixture, int64* predicted, double* features, double* confidences,
               double* like_errors, signed char* decisions, double* probabilities, bool* sets, bool learns) {
  const Results results{mixture, predicted, features, confidences, like_errors, decisions, probabilities, sets};
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  char* stream = stream_at(buffers, slots[i]);
  const int64 row = rows[i];
  const double* members = h_members + int64(i) * N_MEMBERS * C;
  const Numbers<double, N_MEMBERS> weights(array_at<double>(stream, WEIGHTS_AT));
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
  const Tracked state(array_at<double>(stream, STATEMENTS_AT));
  state_row(h, state, said);
  results.write(row, h, said);
  if (!learns) return;
  const int label = int(labels[row]);
  reweigh(stream, weights.each, members, label);
  learn_row(label, said, state);
  count_row(stream, said.predicted, label);
  if (HAS_ALARM) test_row(stream, said.predicted != label);
}
