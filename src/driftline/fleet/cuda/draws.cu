// Probabilities of the members for each row, and the rows that they draw to learn from, one thread per stream.

constexpr int STEPS_PER_LABEL = 3, ROWS_PER_STEP = 64, ROWS_KEPT_AT_CUT = 10;
constexpr double CUT_LEAD_MISTAKES = 3.0;

// The positions of the drawn rows in the store: 64 for each step of each member.
template <int S>
struct Position {
  typedef uint8 type;
};
template <int S>
  requires(SPACE_ROWS[S] > 256)
struct Position<S> {
  typedef uint16 type;
};

__device__ __forceinline__ uint64 next_state(uint64 x) {
  x ^= x << 13;
  x ^= x >> 7;
  return x ^ (x << 17);
}

// As driftline.kernels.members.predict_row.
template <int S>
__device__ __forceinline__ void predict_members(char* stream, const float* features, double* h) {
  constexpr int D = SPACE_FEATURES[S], M = SPACE_MEMBERS[S];
  float psi[D];
#pragma unroll
  for (int j = 0; j < D; ++j) psi[j] = features[j];
  for (int m = 0; m < M; ++m) {
    const int n_halvings = int(array_at<int64>(stream, N_HALVINGS_AT[S])[m]);
    const float factor = n_halvings == N_RULES ? 0.0f : 1.0f / float(1 << n_halvings);
    float scores[C], largest = -float(infinity());
#pragma unroll
    for (int y = 0; y < C; ++y) {
      scores[y] = factor * dot<D>(psi, array_at<float>(stream, AVERAGE_AT[S]) + (m * C + y) * D);
      largest = larger(largest, scores[y]);
    }
#pragma unroll
    for (int y = 0; y < C; ++y) scores[y] -= largest;
    int order[C], size;
    const float theta = single_support(scores, order, size);
    double rule[C], total = 0.0;
#pragma unroll
    for (int y = 0; y < C; ++y) {
      rule[y] = larger(scores[y] - theta, 0.0f);
      total += rule[y];
    }
#pragma unroll
    for (int y = 0; y < C; ++y) h[m * C + y] = total > 0.0 ? rule[y] / total : 1.0 / C;
  }
}

// Whether the memory of a member is cut at this row; counts its rows.
template <int S>
__device__ __forceinline__ bool is_cut(char* stream, int m, int label, const double* h) {
  const int k = MEMBER_PARTNER[FIRST_MEMBER[S] + m];
  if (k < 0) return false;
  double& lead = array_at<double>(stream, PARTNER_LEAD_AT[S])[m];
  int64& n_since_cut = array_at<int64>(stream, N_SINCE_CUT_AT[S])[m];
  lead = larger(lead + h[k * C + label] - h[m * C + label], 0.0);
  if (lead > CUT_LEAD_MISTAKES) {
    lead = 0.0;
    n_since_cut = ROWS_KEPT_AT_CUT;
    array_at<int64>(stream, N_CUTS_AT[S])[m] += 1;
    return true;
  }
  n_since_cut += 1;
  return false;
}

// How a member draws ages: uniformly, from its quantiles, or from quantiles that are already folded back to its reach.
enum class Ages { UNIFORM, QUANTILES, FOLDED };

// The age of the b-th row that is drawn from the last n, as driftline.kernels.descent.age_of.
template <Ages KIND>
__device__ __forceinline__ int age_of(uint64 x, int b, int n, const uint16* ages) {
  if (KIND == Ages::UNIFORM) {
    const double uniform = double(x >> 11) * 0x1p-53;
    const int age = int((b + uniform) * n / ROWS_PER_STEP);
    return age < n - 1 ? age : n - 1;
  }
  const int age = __ldg(ages + (b << PART_BITS) + int(x >> (64 - PART_BITS)));
  return KIND == Ages::FOLDED || age < n ? age : age % n;
}

// Sets the positions of the rows that a member draws from the last n for a step; returns the state of the generator.
template <int S, Ages KIND>
__device__ __forceinline__ uint64 draw_rows(uint64 x, int newest, int n, const uint16* ages,
                                            typename Position<S>::type* positions) {
  constexpr int N = SPACE_ROWS[S], PER_WRITE = 16 / sizeof(*positions);
  for (int first = 0; first < ROWS_PER_STEP; first += PER_WRITE) {
    union {
      typename Position<S>::type each[PER_WRITE];
      uint4 all;
    } drawn;
#pragma unroll
    for (int l = 0; l < PER_WRITE; ++l) {
      const bool is_newest = first + l == 0;
      x = is_newest ? x : next_state(x);
      const int place = newest - (is_newest ? 0 : age_of<KIND>(x, first + l, n, ages));
      drawn.each[l] = (N & (N - 1)) == 0 ? place & (N - 1) : place < 0 ? place + N : place;
    }
    *reinterpret_cast<uint4*>(positions + first) = drawn.all;
  }
  return x;
}

// Draws for all steps of member m.
template <int S>
__device__ __forceinline__ uint64 draw_for_member(uint64 x, int m, int newest, int n, const uint16* ages,
                                                  typename Position<S>::type* positions) {
  const int number = FIRST_MEMBER[S] + m;
  const uint16* own = ages + (number * ROWS_PER_STEP << PART_BITS);
  const uint16* folded = own + (N_MEMBERS * ROWS_PER_STEP << PART_BITS);
  for (int step = 0; step < STEPS_PER_LABEL; ++step) {
    typename Position<S>::type* to = positions + step * ROWS_PER_STEP;
    if (MEMBER_IS_UNIFORM[number])
      x = draw_rows<S, Ages::UNIFORM>(x, newest, n, own, to);
    else if (n == MEMBER_REACH[number])
      x = draw_rows<S, Ages::FOLDED>(x, newest, n, folded, to);
    else
      x = draw_rows<S, Ages::QUANTILES>(x, newest, n, own, to);
  }
  return x;
}

// Sets the probabilities of the members of space S for each row. If `learns`, counts the row, draws the rows for the
// steps of each member, and tells in `cuts` whose memory is cut.
template <int S>
__global__ void predict_and_draw(int n, const uint64* buffers, const int64* slots, const int* rows,
                                 const float* features, const int64* labels, const uint16* ages, double* h_members,
                                 typename Position<S>::type* positions, uint8* cuts, bool learns) {
  constexpr int D = SPACE_FEATURES[S], M = SPACE_MEMBERS[S], N = SPACE_ROWS[S];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  char* stream = stream_at(buffers, slots[i]);
  const float* psi = features + int64(i) * N_FEATURES + FIRST_FEATURE[S];
  double* h = h_members + (int64(i) * N_MEMBERS + FIRST_MEMBER[S]) * C;
  predict_members<S>(stream, psi, h);
  if (!learns) return;
  const int label = int(labels[rows[i]]);
  int64& n_seen = array_at<int64>(stream, N_SEEN_AT[S])[0];
  const int64 n_rows = n_seen + 1;
  n_seen = n_rows;
  double& norm = array_at<double>(stream, MEAN_SQUARED_NORM_AT[S])[0];
  norm += (dot<D>(psi, psi) - norm) / double(n_rows);
  uint64& random_state = array_at<uint64>(stream, RANDOM_STATE_AT[S])[0];
  uint64 x = random_state;
  for (int m = 0; m < M; ++m) {
    const bool was_cut = is_cut<S>(stream, m, label, h);
    cuts[int64(i) * N_MEMBERS + FIRST_MEMBER[S] + m] = was_cut;
    if (was_cut) continue;
    int64 reach = smaller(n_rows, MEMBER_REACH[FIRST_MEMBER[S] + m]);
    if (MEMBER_PARTNER[FIRST_MEMBER[S] + m] >= 0)
      reach = smaller(reach, array_at<int64>(stream, N_SINCE_CUT_AT[S])[m]);
    x = draw_for_member<S>(x, m, int((n_rows - 1) % N), int(reach), ages,
                           positions + (int64(i) * M + m) * STEPS_PER_LABEL * ROWS_PER_STEP);
  }
  random_state = x;
}
