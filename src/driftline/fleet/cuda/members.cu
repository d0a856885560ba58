// Members that learn the newest row (driftline.kernels.members), one warp per stream.

// The numbers of a member, which the lane with its number keeps.
struct Figures {
  double mass[2], loss[N_RULES], margin[2], n_effective;
  template <int S>
  __device__ __forceinline__ void load(char* stream, int m) {
#pragma unroll
    for (int k = 0; k < 2; ++k) mass[k] = array_at<double>(stream, MASS_AT[S])[m * 2 + k];
#pragma unroll
    for (int k = 0; k < N_RULES; ++k) loss[k] = array_at<double>(stream, LOSS_AT[S])[m * N_RULES + k];
#pragma unroll
    for (int k = 0; k < 2; ++k) margin[k] = array_at<double>(stream, MARGIN_AT[S])[m * 2 + k];
  }
  // Writes them, and the rule that follows from them, as driftline.kernels.members.choose_rule.
  template <int S>
  __device__ __forceinline__ void write(char* stream, int m) const {
    int rule = 0;
    bool is_found = false;
#pragma unroll
    for (int k = 0; k < N_RULES; ++k) {
      is_found = is_found || loss[k] + (margin[0] + margin[1]) / (1 << k) <= 1.0 - 1.0 / C;
      rule += !is_found;
      array_at<double>(stream, LOSS_AT[S])[m * N_RULES + k] = loss[k];
    }
    array_at<int64>(stream, N_HALVINGS_AT[S])[m] = rule;
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      array_at<double>(stream, MASS_AT[S])[m * 2 + k] = mass[k];
      array_at<double>(stream, MARGIN_AT[S])[m * 2 + k] = margin[k];
    }
  }
};

__device__ __forceinline__ float width_of(float sum, float square, float mass, float factor) {
  const float mean = sum / mass, variance = square / mass - mean * mean;
  return sqrtf(larger(variance, 0.0f) * factor);
}

__device__ __forceinline__ float next_average(float average, float mu, float gain) {
  const float x = average + gain * (mu - average);
  return fabsf(x) < MIN_AVERAGE ? 0.0f : x;
}

// λᵀ|average| of member m, from the λ and the absolute values in the memory of the warp.
template <int S>
__device__ __forceinline__ double margin_of(const Space<S>& space, int m) {
  float total = 0.0f;
  for (int y = 0; y < C; ++y) {
    const int first = (m * C + y) * STRIDE<S>;
    total += dot<SPACE_FEATURES[S]>(space.lam + first, space.squares + first);
  }
  return total;
}

// Sets what enters λ of member m, and its effective number of rows.
template <int S>
__device__ __forceinline__ void set_width_factor(Space<S>& space, Figures& figures, int m) {
  const double width = MEMBER_WIDTH[FIRST_MEMBER[S] + m];
  figures.n_effective = figures.mass[0] * figures.mass[0] / figures.mass[1];
  space.masses[m] = float(figures.mass[0]);
  space.width_factors[m] = float(width * width / figures.n_effective);
}

// Copies memory and solution of its partner, which has learned the newest row, to member m.
template <int S>
__device__ __noinline__ void cut_memory(Space<S>& space, char* stream, int m) {
  const int lane = threadIdx.x % WARP, k = MEMBER_PARTNER[FIRST_MEMBER[S] + m];
  Figures figures;
  figures.load<S>(stream, k);
  if (lane == 0) set_width_factor<S>(space, figures, m);
  __syncwarp();
  const float gain = float(MEMBER_AVERAGE_GAIN[FIRST_MEMBER[S] + m]);
  float *mu = array_at<float>(stream, MU_AT[S]), *average = array_at<float>(stream, AVERAGE_AT[S]);
  float *sums = array_at<float>(stream, SUMS_AT[S]), *squares = array_at<float>(stream, SQUARE_SUMS_AT[S]);
  for (int e = lane; e < C * STRIDE<S>; e += WARP) {
    const int to = m * C * STRIDE<S> + e, from = k * C * STRIDE<S> + e;
    mu[to] = mu[from];
    sums[to] = sums[from];
    squares[to] = squares[from];
    average[to] = next_average(average[from], mu[from], gain);
    const bool is_wide = MEMBER_WIDTH[FIRST_MEMBER[S] + m] > 0.0;
    space.lam[to] = is_wide ? width_of(sums[to], squares[to], space.masses[m], space.width_factors[m]) : 0.0f;
    space.squares[to] = fabsf(average[to]);
  }
  __syncwarp();
  if (lane == 0) {
    figures.margin[0] = margin_of<S>(space, m);
    figures.write<S>(stream, m);
  }
  __syncwarp();
}

// Begins to copy numbers of single precision, as many as a multiple of 4, to the memory of the warp.
template <int N>
__device__ __forceinline__ void copy_numbers(float* to, const float* from) {
#pragma unroll
  for (int k = 0; k < N; k += 4 * WARP) {
    const int at = k + 4 * (threadIdx.x % WARP);
    if (at < N) copy_async<16>(to + at, from + at);
  }
}

// Begins to load what the steps need into the memory of the warp.
template <int S>
__device__ __forceinline__ void load_space(Space<S>& space, char* stream, const uint4* positions) {
  typedef Space<S> Sp;
  const int lane = threadIdx.x % WARP;
  copy_numbers<Rows<S>::SIZE>(space.rows, array_at<float>(stream, ROWS_AT[S]));
#pragma unroll
  for (int k = lane; k < int(sizeof(space.positions) / sizeof(uint4)); k += WARP)
    copy_async<16>(reinterpret_cast<uint4*>(space.positions) + k, positions + k);
  copy_numbers<Sp::VECTORS>(space.mu, array_at<float>(stream, MU_AT[S]));
  copy_numbers<Sp::VECTORS>(space.average, array_at<float>(stream, AVERAGE_AT[S]));
  copy_numbers<Sp::VECTORS>(space.sums, array_at<float>(stream, SUMS_AT[S]));
  copy_numbers<Sp::VECTORS>(space.squares, array_at<float>(stream, SQUARE_SUMS_AT[S]));
  if (Sp::COMPENSATES) {
    for (int k = lane; k < C * Sp::D; k += WARP)
      copy_async<4>(space.centres + k, array_at<float>(stream, CENTRES_AT[S]) + k);
  }
}

// The share by which the memory of member m forgets at this row.
template <int S>
__device__ __forceinline__ double forgetting_of(char* stream, int m) {
  const int number = FIRST_MEMBER[S] + m;
  if (MEMBER_PARTNER[number] < 0) return MEMBER_GAIN[number];
  return array_at<int64>(stream, N_SINCE_CUT_AT[S])[m] <= MEMBER_REACH[number] ? 0.0 : MEMBER_SHARE_OF_REACH[number];
}

// Adds the newest row to the memories of the members that are not cut, and sets their λ.
template <int S>
__device__ __forceinline__ void update_memories(Space<S>& space, char* stream, Figures& figures, double forgetting,
                                                int newest, unsigned cuts) {
  typedef Space<S> Sp;
  const int lane = threadIdx.x % WARP, label = __float_as_int(space.rows[Rows<S>::label_at(newest)]);
  if (lane < Sp::M && !(cuts >> lane & 1)) {
    const double kept = 1.0 - forgetting;
    space.kept[lane] = float(kept);
    figures.mass[0] = kept * figures.mass[0] + 1.0;
    figures.mass[1] = kept * kept * figures.mass[1] + 1.0;
    set_width_factor<S>(space, figures, lane);
  }
  __syncwarp();
#pragma unroll
  for (int first = 4 * lane; first < Sp::VECTORS; first += 4 * WARP) {
    const int m = first / (C * STRIDE<S>), y = first / STRIDE<S> % C, j = first % STRIDE<S>;
    if (cuts >> m & 1) continue;
    const float kept = space.kept[m], mass = space.masses[m], factor = space.width_factors[m];
    const bool is_wide = MEMBER_WIDTH[FIRST_MEMBER[S] + m] > 0.0;
    Vector<4> sums(space.sums + first), squares(space.squares + first), lam(sums);
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const float x = y == label && j + k < Sp::D ? space.rows[Rows<S>::at(newest, j + k)] : 0.0f;
      if (kept < 1.0f) {
        sums.each[k] = sums.each[k] * kept + TINY;
        squares.each[k] = squares.each[k] * kept + TINY;
      }
      sums.each[k] += x;
      squares.each[k] += x * x;
      lam.each[k] = is_wide ? width_of(sums.each[k], squares.each[k], mass, factor) : 0.0f;
    }
    sums.write(array_at<float>(stream, SUMS_AT[S]) + first);
    squares.write(array_at<float>(stream, SQUARE_SUMS_AT[S]) + first);
    lam.write(space.lam + first);
  }
}

// Goes against the gradient and shrinks μ as λ asks, for the members that are not cut.
template <int S>
__device__ __forceinline__ void take_step(Space<S>& space, const float* gradient, float eta, unsigned cuts) {
#pragma unroll
  for (int q = 0; q < Space<S>::PER_LANE; ++q) {
    const Entry<S> entry(q);
    if (!entry.is_used || cuts >> entry.m & 1) continue;
    float next[SIGNS];
#pragma unroll
    for (int sign = 0; sign < SIGNS; ++sign) {
      const float x = space.mu[entry.at(sign)] - eta * (sign == 0 ? gradient[q] : -gradient[q]);
      const float threshold = eta * space.lam[entry.at(sign)];
      next[sign] = larger(x - threshold, 0.0f) - larger(-x - threshold, 0.0f);
    }
#pragma unroll
    for (int sign = 0; sign < SIGNS; ++sign) space.mu[entry.at(sign)] = next[sign];
    if constexpr (SIGNS == 2) space.difference[entry.m * STRIDE<S> + entry.j] = next[0] - next[1];
  }
}

// Blocks of four warps that should fit into a multiprocessor at once: as many as its shared memory allows, but not more
// than there are registers for.
constexpr int MULTIPROCESSOR_BYTES = 220 << 10;
template <int S>
constexpr int BLOCKS = larger_of(1, smaller_of(Space<S>::PER_LANE <= 2 ? 6 : 2,
                                               MULTIPROCESSOR_BYTES / int(4 * sizeof(Space<S>))));

// Lets the members of space S learn the newest row of each stream.
template <int S>
__global__ void __launch_bounds__(THREADS, BLOCKS<S>) learn_space(int n, const uint64* buffers, const int64* slots,
                            const uint4* positions, const uint8* all_cuts) {
  typedef Space<S> Sp;
  constexpr int M = Sp::M;
  extern __shared__ __align__(16) char memory[];
  const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, i = blockIdx.x * (blockDim.x / WARP) + warp;
  if (i >= n) return;
  Sp& space = *reinterpret_cast<Sp*>(memory + warp * ((sizeof(Sp) + 15) / 16 * 16));
  char* stream = stream_at(buffers, slots[i]);
  load_space<S>(space, stream, positions + int64(i) * (sizeof(space.positions) / sizeof(uint4)));
  Figures figures = {};
  double forgetting = 0.0;
  if (lane < M) {
    figures.load<S>(stream, lane);
    forgetting = forgetting_of<S>(stream, lane);
  }
  const unsigned cuts = __ballot_sync(ALL_LANES, lane < M && all_cuts[int64(i) * N_MEMBERS + FIRST_MEMBER[S] + lane]);
  const int newest = int((array_at<int64>(stream, N_SEEN_AT[S])[0] - 1) % Sp::N);
  const float eta = STEP_SIZE / float(larger(array_at<double>(stream, MEAN_SQUARED_NORM_AT[S])[0], 1e-6));
  await_copies();
  __syncwarp();
  update_memories<S>(space, stream, figures, forgetting, newest, cuts);
  const bool checks = lane < M && figures.loss[0] + (figures.margin[0] + figures.margin[1]) >
                                      TEMPER_CHECK_RATIO * (1.0 - 1.0 / C);
  const unsigned measuring = __ballot_sync(ALL_LANES, checks);
  double first_losses[M] = {};
  Sums own = {};  // of the member whose number is that of the lane
  const Features<S> features;
  set_differences<S>(space);
  __syncwarp();
  for (int step = 0; step < STEPS_PER_LABEL; ++step) {
    set_centre_scores<S>(space);
    int most = 0;
#pragma unroll 1  // the instructions of all members would not fit into their cache
    for (int m = 0; m < M; ++m) {
      if (cuts >> m & 1) {
        for (int b = lane; b < ROWS_PER_STEP; b += WARP) space.drawn[m][b] = Drawn{};
        continue;
      }
      const bool measures_all = step == 0 && (measuring >> m & 1);
      const bool measures_supports = (C > 2 || step == 0) && MEMBER_WIDTH[FIRST_MEMBER[S] + m] > 0.0;
      Sums sums = {};
      const int count = list_rows<S>(space, m, step, measures_all, measures_supports, sums);
      most = count > most ? count : most;
#pragma unroll
      for (int k = 0; k < M; ++k) first_losses[k] += k == m ? sums.losses[0] : 0.0;
      add_sums(own, sums, lane == m, measures_all, measures_supports);
    }
    __syncwarp();
    float gradient[Sp::PER_LANE];
    add_gradients<S>(space, features, most, gradient);
    take_step<S>(space, gradient, eta, cuts);
    __syncwarp();
  }
#pragma unroll
  for (int m = 0; m < M; ++m) {
    const double total = warp_sum(first_losses[m]);
    if (lane == m) own.losses[0] = total;
  }
#pragma unroll
  for (int first = 4 * lane; first < Sp::VECTORS; first += 4 * WARP) {
    const int m = first / (C * STRIDE<S>);
    if (cuts >> m & 1) continue;
    const Vector<4> mu(space.mu + first);
    Vector<4> average(space.average + first), magnitudes(average);
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const float gain = float(MEMBER_AVERAGE_GAIN[FIRST_MEMBER[S] + m]);
      average.each[k] = next_average(average.each[k], mu.each[k], gain);
      magnitudes.each[k] = fabsf(average.each[k]);
    }
    average.write(array_at<float>(stream, AVERAGE_AT[S]) + first);
    mu.write(array_at<float>(stream, MU_AT[S]) + first);
    magnitudes.write(space.squares + first);
  }
  __syncwarp();
  if (lane < M && !(cuts >> lane & 1)) {
    constexpr int n_drawn = STEPS_PER_LABEL * ROWS_PER_STEP, n_supports = C == 2 ? ROWS_PER_STEP : n_drawn;
#pragma unroll
    for (int k = 0; k < N_RULES; ++k) {
      if (k == 0 || measuring >> lane & 1) figures.loss[k] += LOSS_GAIN * (own.losses[k] / n_drawn - figures.loss[k]);
    }
    const double mean = own.supports[0] / n_supports;
    const double variance = larger(own.supports[1] / n_supports - mean * mean, 0.0);
    figures.margin[0] = margin_of<S>(space, lane);
    figures.margin[1] = MEMBER_WIDTH[FIRST_MEMBER[S] + lane] * sqrt(variance / figures.n_effective);
    figures.write<S>(stream, lane);
  }
  __syncwarp();
#pragma unroll
  for (int m = 0; m < M; ++m) {
    if (cuts >> m & 1) cut_memory<S>(space, stream, m);
  }
}

// Sets the number of bytes that a warp needs for space S.
template <int S>
__global__ void set_warp_bytes(int64* n_bytes) {
  n_bytes[S] = (sizeof(Space<S>) + 15) / 16 * 16;
}
