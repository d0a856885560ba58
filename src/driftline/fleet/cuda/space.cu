// What a warp keeps in shared memory while the members of a space learn a row of one stream.
//
// Lanes are drawn rows where scores are computed, and entries (member, gradient row, feature) where gradients are
// summed, row by row in the order in which they were drawn. Rows whose loss is flat are left out of the list: they
// would add 0. Of two classes only the gradient of the first is computed; that of the second is its negative.

constexpr float STEP_SIZE = 6.0f, TINY = 1e-30f, MIN_AVERAGE = 1e-20f, SHARE = 1.0f / ROWS_PER_STEP;
constexpr double LOSS_GAIN = 0.5, TEMPER_CHECK_RATIO = 0.8;
constexpr int GRADIENTS = C == 2 ? 1 : C, SIGNS = C == 2 ? 2 : 1;

// A drawn row in a list: its place in the store, and its factors in the gradients.
struct DrawnOfMany {
  int at;
  float factors[GRADIENTS];
  __device__ __forceinline__ int place() const { return at; }
  __device__ __forceinline__ float factor(int k) const { return factors[k]; }
  __device__ __forceinline__ void add_to(float& gradient, int k, float x) const { gradient += factors[k] * x; }
};

// Of two classes, one number has both: the factor is half a share or a share, so that the last bits of it are free.
struct DrawnOfTwo {
  static constexpr unsigned PLACE = 0xffff;
  unsigned bits;
  __device__ __forceinline__ int place() const { return int(bits & PLACE); }
  __device__ __forceinline__ float factor(int) const { return __uint_as_float(bits & ~PLACE); }
  // A factor is a power of two, so that its product is exact, and product and sum are rounded once in one step, too.
  __device__ __forceinline__ void add_to(float& gradient, int k, float x) const {
    gradient = __fmaf_rn(factor(k), x, gradient);
  }
};

template <int N_CLASSES>
struct DrawnOf {
  typedef DrawnOfMany type;
};
template <>
struct DrawnOf<2> {
  typedef DrawnOfTwo type;
};
typedef DrawnOf<C>::type Drawn;

// The memory of a warp.
template <int S>
struct Space {
  static constexpr int D = SPACE_FEATURES[S], M = SPACE_MEMBERS[S], N = SPACE_ROWS[S];
  static constexpr int LANES = power_below(WARP / M), PER_LANE = (GRADIENTS * D + LANES - 1) / LANES;
  static constexpr int VECTORS = M * C * STRIDE<S>;
  static constexpr bool COMPENSATES = SPACE_FILTERS[S] > 0;
  static constexpr int LIST = ROWS_PER_STEP + 4;       // four more, so that lists begin in different banks
  static constexpr int LEADS = ROWS_PER_STEP + LANES;  // the same for the lanes of a member
  static constexpr int SCRATCH = larger_of(2 * VECTORS, C == 2 ? M * LEADS : 0);
  alignas(16) float rows[Rows<S>::SIZE];
  alignas(16) float mu[VECTORS], average[VECTORS], lam[VECTORS];
  alignas(16) float difference[C == 2 ? M * STRIDE<S> : 4];
  alignas(16) float scratch[SCRATCH];
  alignas(16) Drawn drawn[M][LIST];
  alignas(16) float centres[COMPENSATES ? C * STRIDE<S> : 4];
  float centre_scores[COMPENSATES ? M * C * C : 1], centre_factors[COMPENSATES ? M * GRADIENTS * C : 1];
  double inverse_masses[M];
  float width_factors[M], kept[M];
  alignas(16) typename Position<S>::type positions[M][STEPS_PER_LABEL][ROWS_PER_STEP];

  // Before the steps, sums and sums of squares; after them, the absolute values of averages.
  __device__ __forceinline__ float* sums() { return scratch; }
  __device__ __forceinline__ float* squares() { return scratch + VECTORS; }
  __device__ __forceinline__ float* magnitudes() { return scratch; }
  // During the steps, of two classes, by how much the score of the label of each listed row leads.
  __device__ __forceinline__ float* leads(int m) { return scratch + m * LEADS; }
};

// Entry q of a lane: gradient row k and feature j of its member, and their places in vectors, one for each sign.
template <int S>
struct Entry {
  bool is_used;
  int m, k, j;
  __device__ __forceinline__ Entry(int q) {
    typedef Space<S> Sp;
    const int lane = threadIdx.x % WARP, e = lane % Sp::LANES * Sp::PER_LANE + q;
    is_used = lane < Sp::LANES * Sp::M && e < GRADIENTS * Sp::D;
    m = lane < Sp::LANES * Sp::M ? lane / Sp::LANES : 0;
    k = is_used && GRADIENTS > 1 ? e / Sp::D : 0;
    j = is_used ? e % Sp::D : 0;
  }
  __device__ __forceinline__ int at(int sign) const { return (m * C + k + sign) * STRIDE<S> + j; }
};

// The sum over the lanes of a member.
template <int S, typename T>
__device__ __forceinline__ T sum_of_member(T x) {
#pragma unroll
  for (int distance = Space<S>::LANES / 2; distance > 0; distance /= 2)
    x += __shfl_xor_sync(ALL_LANES, x, distance);
  return x;
}
