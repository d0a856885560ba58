// Probabilities of the members for each row, and the rows that they draw to learn from.

constexpr int ROWS_KEPT_AT_CUT = 10;
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

// Sets the probabilities of the members of space S for each row, as driftline.kernels.members.predict_row, with a thread
// for each member.
template <int S>
__global__ void __launch_bounds__(THREADS)
    predict_rows(int n, const StreamRow* stream_rows, const float* features, double* h_members) {
  constexpr int D = SPACE_FEATURES[S], M = SPACE_MEMBERS[S];
  const int thread = blockIdx.x * THREADS + threadIdx.x, i = thread / M, m = thread % M;
  if (i >= n) return;
  char* stream = stream_rows[i].stream();
  const float* psi = features + int64(i) * N_FEATURES + FIRST_FEATURE[S];
  const int n_halvings = int(array_at<int64>(stream, N_HALVINGS_AT[S])[m]);
  const float factor = n_halvings == N_RULES ? 0.0f : 1.0f / float(1 << n_halvings);
  float scores[C], largest = -float(infinity());
#pragma unroll
  for (int y = 0; y < C; ++y) {
    const Vector<D> average(array_at<float>(stream, AVERAGE_AT[S]) + (m * C + y) * STRIDE<S>);
    scores[y] = factor * dot<D>(psi, average.each);
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
  double* h = h_members + (int64(i) * N_MEMBERS + FIRST_MEMBER[S] + m) * C;
#pragma unroll
  for (int y = 0; y < C; ++y) h[y] = total > 0.0 ? rule[y] / total : 1.0 / C;
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

// The b-th of the ages that are drawn uniformly below n, as driftline.kernels.descent.age_of.
__device__ __forceinline__ int uniform_age(uint64 x, int b, int n) {
  const double uniform = double(x >> 11) * 0x1p-53;
  const int age = int((b + uniform) * n / ROWS_PER_STEP);
  return age < n - 1 ? age : n - 1;
}

// The remainder of an age divided by n, for numbers below 2^16, without a branch.
__device__ __forceinline__ int remainder_of(int age, int n, float inverse) {
  const int rest = age - int(float(age) * inverse) * n;
  return rest < 0 ? rest + n : rest >= n ? rest - n : rest;
}

// What a block keeps in shared memory: the ages that each member draws, then those folded back to its reach, and for
// each warp the positions that a member of 32 streams draws for a step. Reads of global memory would wait for those
// before them.
template <int S>
struct DrawSpace {
  typedef typename Position<S>::type P;
  static constexpr int M = SPACE_MEMBERS[S], AGES = ROWS_PER_STEP << PART_BITS;
  static constexpr int PER_CHUNK = 16 / sizeof(P), CHUNKS = ROWS_PER_STEP / PER_CHUNK;
  alignas(16) uint16 ages[2][M][AGES];
  uint4 chunks[THREADS / WARP][WARP][CHUNKS + 1];

  __device__ __forceinline__ void load_ages(const uint16* all) {
    constexpr int OF_KIND = M * AGES * sizeof(uint16) / sizeof(uint4);
    for (int k = threadIdx.x; k < 2 * OF_KIND; k += THREADS) {
      const uint16* from = all + (k / OF_KIND * N_MEMBERS + FIRST_MEMBER[S]) * AGES;
      reinterpret_cast<uint4*>(ages)[k] = __ldg(reinterpret_cast<const uint4*>(from) + k % OF_KIND);
    }
    __syncthreads();
  }
  // Sets the positions of this lane to 0: a member whose memory is cut draws none, but steps are computed for it, too.
  __device__ __forceinline__ void clear() {
    for (uint4& chunk : chunks[threadIdx.x / WARP][threadIdx.x % WARP]) chunk = uint4{};
  }
  // Writes the positions that the streams of a warp have drawn for a step of member m; `first` is the first one, of n.
  __device__ __forceinline__ void write(P* positions, int first, int n, int m, int step) const {
    const int lane = threadIdx.x % WARP;
    __syncwarp();
    for (int k = lane; k < WARP * CHUNKS; k += WARP) {
      const int64 item = first + k / CHUNKS;
      if (item < n)
        reinterpret_cast<uint4*>(positions)[((item * M + m) * STEPS_PER_LABEL + step) * CHUNKS + k % CHUNKS] =
            chunks[threadIdx.x / WARP][k / CHUNKS][k % CHUNKS];
    }
    __syncwarp();
  }
};

// Sets the positions of the rows that a member draws from the last n for a step; returns the state of the generator.
template <int S, Ages KIND>
__device__ __forceinline__ uint64 draw_ages(uint64 x, int newest, int n, const uint16* ages, uint4* chunks) {
  constexpr int N = SPACE_ROWS[S], PER_CHUNK = DrawSpace<S>::PER_CHUNK;
  const float inverse = 1.0f / float(n);
#pragma unroll 1
  for (int first = 0; first < ROWS_PER_STEP; first += PER_CHUNK) {
    union {
      typename Position<S>::type each[PER_CHUNK];
      uint4 all;
    } drawn;
#pragma unroll
    for (int l = 0; l < PER_CHUNK; ++l) {
      x = first + l == 0 ? x : next_state(x);
      int age = KIND == Ages::UNIFORM ? uniform_age(x, first + l, n)
                                      : ages[(first + l << PART_BITS) + int(x >> (64 - PART_BITS))];
      if (KIND == Ages::QUANTILES) age = remainder_of(age, n, inverse);
      const int place = newest - (first + l == 0 ? 0 : age);  // the newest row is always drawn
      drawn.each[l] = (N & (N - 1)) == 0 ? place & (N - 1) : place < 0 ? place + N : place;
    }
    chunks[first / PER_CHUNK] = drawn.all;
  }
  return x;
}

// Draws for a step of member m.
template <int S>
__device__ __forceinline__ uint64 draw_for_member(DrawSpace<S>& space, uint64 x, int m, int newest, int n) {
  const int number = FIRST_MEMBER[S] + m;
  uint4* chunks = space.chunks[threadIdx.x / WARP][threadIdx.x % WARP];
  if (MEMBER_IS_UNIFORM[number]) return draw_ages<S, Ages::UNIFORM>(x, newest, n, space.ages[0][m], chunks);
  if (n == MEMBER_REACH[number]) return draw_ages<S, Ages::FOLDED>(x, newest, n, space.ages[1][m], chunks);
  return draw_ages<S, Ages::QUANTILES>(x, newest, n, space.ages[0][m], chunks);
}

// Counts the newest row of a stream, which has these features.
template <int S>
__device__ __forceinline__ int64 count_features(char* stream, const float* psi) {
  int64& n_seen = array_at<int64>(stream, N_SEEN_AT[S])[0];
  double& norm = array_at<double>(stream, MEAN_SQUARED_NORM_AT[S])[0];
  const int64 n_rows = n_seen + 1;
  n_seen = n_rows;
  norm += (dot<SPACE_FEATURES[S]>(psi, psi) - norm) / double(n_rows);
  return n_rows;
}

// Counts each row, draws the rows for the steps of each member, and tells in `cuts` whose memory is cut; one thread per
// stream.
template <int S>
__global__ void __launch_bounds__(THREADS)
    draw_rows(int n, const StreamRow* stream_rows, const float* features, const uint16* ages, const double* h_members,
              typename Position<S>::type* positions, uint8* cuts) {
  constexpr int M = SPACE_MEMBERS[S], N = SPACE_ROWS[S];
  __shared__ DrawSpace<S> space;
  space.load_ages(ages);
  const int i = blockIdx.x * THREADS + threadIdx.x, item = i < n ? i : 0;
  const StreamRow row = stream_rows[item];
  char* stream = row.stream();
  const double* h = h_members + (int64(item) * N_MEMBERS + FIRST_MEMBER[S]) * C;
  const int64 n_rows =
      i < n ? count_features<S>(stream, features + int64(item) * N_FEATURES + FIRST_FEATURE[S]) : 1;
  uint64& random_state = array_at<uint64>(stream, RANDOM_STATE_AT[S])[0];
  uint64 x = random_state;
#pragma unroll 1
  for (int m = 0; m < M; ++m) {
    const bool draws = i < n && !is_cut<S>(stream, m, row.label, h);
    if (i < n) cuts[int64(i) * N_MEMBERS + FIRST_MEMBER[S] + m] = !draws;
    int64 reach = smaller(n_rows, MEMBER_REACH[FIRST_MEMBER[S] + m]);
    if (MEMBER_PARTNER[FIRST_MEMBER[S] + m] >= 0)
      reach = smaller(reach, array_at<int64>(stream, N_SINCE_CUT_AT[S])[m]);
#pragma unroll 1
    for (int step = 0; step < STEPS_PER_LABEL; ++step) {
      if (draws) {
        x = draw_for_member<S>(space, x, m, int((n_rows - 1) % N), int(reach));
      } else {
        space.clear();
      }
      space.write(positions, i - int(threadIdx.x % WARP), n, m, step);
    }
  }
  if (i < n) random_state = x;
}
