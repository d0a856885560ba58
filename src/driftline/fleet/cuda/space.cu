// What a warp keeps in shared memory while the members of a space learn a row of one stream.
//
// Lanes are drawn rows where losses are computed, and entries (member, gradient row, feature) where gradients are
// summed, row by row in the order in which they were drawn. Rows whose loss is flat are left out of the list: they
// would add 0. Of two classes only the gradient of the first is computed; that of the second is its negative.

constexpr float STEP_SIZE = 6.0f, TINY = 1e-30f, MIN_AVERAGE = 1e-20f, SHARE = 1.0f / ROWS_PER_STEP;
constexpr double LOSS_GAIN = 0.5, TEMPER_CHECK_RATIO = 0.8;
constexpr int GRADIENTS = C == 2 ? 1 : C, SIGNS = C == 2 ? 2 : 1;

// A drawn row in a list: its place in the store, and its factors in the gradients.
struct alignas(C == 2 ? 8 : 4) Drawn {
  int place;
  float factors[GRADIENTS];
};

// The memory of a warp.
template <int S>
struct Space {
  static constexpr int D = SPACE_FEATURES[S], M = SPACE_MEMBERS[S], N = SPACE_ROWS[S];
  static constexpr int LANES = WARP / M, PER_LANE = (GRADIENTS * D + LANES - 1) / LANES;
  static constexpr int VECTORS = M * C * STRIDE<S>;
  static constexpr bool COMPENSATES = SPACE_FILTERS[S] > 0;
  alignas(16) float rows[Rows<S>::SIZE];
  alignas(16) float mu[VECTORS], average[VECTORS], sums[VECTORS], squares[VECTORS], lam[VECTORS];
  alignas(16) float difference[C == 2 ? M * STRIDE<S> : 4];
  alignas(16) Drawn drawn[M][ROWS_PER_STEP + 2];  // two more, so that lists begin in different banks
  float centres[COMPENSATES ? C * D : 1], centre_scores[COMPENSATES ? M * C * C : 1];
  float centre_factors[COMPENSATES ? M * GRADIENTS * C : 1];
  float masses[M], width_factors[M], kept[M];
  alignas(16) typename Position<S>::type positions[M][STEPS_PER_LABEL][ROWS_PER_STEP];
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
