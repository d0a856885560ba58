// Members that learn the newest row (driftline.kernels.members), one warp per stream.

// The numbers of a member, which the lane with its number keeps.
struct Figures {
  double mass[2], loss[N_RULES], margin[2];
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
  __device__ __forceinline__ double n_effective() const { return mass[0] * mass[0] / mass[1]; }
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
  constexpr int D = SPACE_FEATURES[S];
  float total = 0.0f;
  for (int y = 0; y < C; ++y) total += dot<D>(space.lam + (m * C + y) * D, space.squares + (m * C + y) * D);
  return total;
}

// Sets what enters λ of member m.
template <int S>
__device__ __forceinline__ void set_width_factor(Space<S>& space, const Figures& figures, int m) {
  const double width = MEMBER_WIDTH[FIRST_MEMBER[S] + m];
  space.masses[m] = float(figures.mass[0]);
  space.width_factors[m] = float(width * width / figures.n_effective());
}

// Copies memory and solution of its partner, which has learned the newest row, to member m.
template <int S>
__device__ __noinline__ void cut_memory(Space<S>& space, char* stream, int m) {
  constexpr int D = SPACE_FEATURES[S];
  const int lane = threadIdx.x % WARP, k = MEMBER_PARTNER[FIRST_MEMBER[S] + m];
  Figures figures;
  figures.load<S>(stream, k);
  if (lane == 0) set_width_factor<S>(space, figures, m);
  __syncwarp();
  const float gain = float(MEMBER_AVERAGE_GAIN[FIRST_MEMBER[S] + m]);
  float *mu = array_at<float>(stream, MU_AT[S]), *average = array_at<float>(stream, AVERAGE_AT[S]);
  float *sums = array_at<float>(stream, SUMS_AT[S]), *squares = array_at<float>(stream, SQUARE_SUMS_AT[S]);
  for (int e = lane; e < C * D; e += WARP) {
    const int to = m * C * D + e, from = k * C * D + e;
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

// Loads what the steps need into the memory of the warp.
template <int S>
__device__ __forceinline__ void load_space(Space<S>& space, char* stream, const uint4* positions) {
  typedef Space<S> Sp;
  constexpr int LABELS = (Sp::N + WARP - 1) / WARP, ENTRIES = Sp::M * C * Sp::D;
  const int lane = threadIdx.x % WARP;
  const float* rows = array_at<float>(stream, ROWS_AT[S]);
#pragma unroll 8
  for (int k = lane; k < Sp::N * Sp::D; k += WARP)
    copy_async<4>(space.rows + k / Sp::D * Sp::STRIDE + k % Sp::D, rows + k);
#pragma unroll
  for (int k = lane; k < int(sizeof(space.positions) / sizeof(uint4)); k += WARP)
    copy_async<16>(reinterpret_cast<uint4*>(space.positions) + k, positions + k);
#pragma unroll
  for (int k = lane; k < ENTRIES; k += WARP) {
    copy_async<4>(space.mu + k / Sp::D * Sp::STRIDE + k % Sp::D, array_at<float>(stream, MU_AT[S]) + k);
    copy_async<4>(space.average + k, array_at<float>(stream, AVERAGE_AT[S]) + k);
    copy_async<4>(space.sums + k, array_at<float>(stream, SUMS_AT[S]) + k);
    copy_async<4>(space.squares + k, array_at<float>(stream, SQUARE_SUMS_AT[S]) + k);
  }
  if (Sp::COMPENSATES) {
    for (int k = lane; k < C * Sp::D; k += WARP)
      copy_async<4>(space.centres + k, array_at<float>(stream, CENTRES_AT[S]) + k);
  }
  int64 labels[LABELS];
#pragma unroll
  for (int k = 0; k < LABELS; ++k)
    labels[k] = lane + WARP * k < Sp::N ? array_at<int64>(stream, LABELS_AT[S])[lane + WARP * k] : 0;
#pragma unroll
  for (int k = 0; k < LABELS; ++k) {
    if (lane + WARP * k < Sp::N) space.labels[lane + WARP * k] = uint8(labels[k]);
  }
}

// The share by which the memory of member m forgets at this row.
template <int S>
__device__ __forceinline__ double forgetting_of(char* stream, int m) {
  const int number = FIRST_MEMBER[S] + m;
  if (MEMBER_PARTNER[number] < 0) return MEMBER_GAIN[number];
  const int64 n_since_cut = array_at<int64>(stream, N_SINCE_CUT_AT[S])[m], reach = MEMBER_REACH[number];
  return n_since_cut <= reach ? 0.0 : 1.0 / double(reach);
}

// Adds the newest row to the memories of the members that are not cut, and sets their λ.
template <int S>
__device__ __forceinline__ void update_memories(Space<S>& space, char* stream, Figures& figures, double forgetting,
                                                int newest, unsigned cuts) {
  typedef Space<S> Sp;
  const int lane = threadIdx.x % WARP, label = space.labels[newest];
  if (lane < Sp::M && !(cuts >> lane & 1)) {
    const double kept = 1.0 - forgetting;
    space.kept[lane] = float(kept);
    figures.mass[0] = kept * figures.mass[0] + 1.0;
    figures.mass[1] = kept * kept * figures.mass[1] + 1.0;
    set_width_factor<S>(space, figures, lane);
  }
  __syncwarp();
#pragma unroll
  for (int e = lane; e < Sp::M * C * Sp::D; e += WARP) {
    const int m = e / (C * Sp::D), y = e / Sp::D % C;
    if (cuts >> m & 1) continue;
    const float kept = space.kept[m], x = space.rows[newest * Sp::STRIDE + e % Sp::D];
    float sum = space.sums[e], square = space.squares[e];
    if (kept < 1.0f) {
      sum = sum * kept + TINY;
      square = square * kept + TINY;
    }
    if (y == label) {
      sum += x;
      square += x * x;
    }
    array_at<float>(stream, SUMS_AT[S])[e] = sum;
    array_at<float>(stream, SQUARE_SUMS_AT[S])[e] = square;
    const bool is_wide = MEMBER_WIDTH[FIRST_MEMBER[S] + m] > 0.0;
    space.lam[e] = is_wide ? width_of(sum, square, space.masses[m], space.width_factors[m]) : 0.0f;
  }
}

// Goes against the gradient and shrinks μ as λ asks, for the members that are not cut.
template <int S>
__device__ __forceinline__ void take_step(Space<S>& space, const float* gradient, float eta, unsigned cuts) {
#pragma unroll
  for (int q = 0; q < Space<S>::PER_LANE; ++q) {
    const Entry<S> entry(q);
    if (!entry.is_used || cuts >> entry.m & 1) continue;
#pragma unroll
    for (int sign = 0; sign < SIGNS; ++sign) {
      float& mu = space.mu[entry.in_mu(sign)];
      const float x = mu - eta * (sign == 0 ? gradient[q] : -gradient[q]);
      const float threshold = eta * space.lam[entry.in_lam(sign)];
      mu = larger(x - threshold, 0.0f) - larger(-x - threshold, 0.0f);
    }
  }
}

// Lets the members of space S learn the newest row of each stream.
template <int S>
__global__ void learn_space(int n, const uint64* buffers, const int64* slots,
                            const uint4* positions, const uint8* all_cuts) {
  typedef Space<S> Sp;
  constexpr int M = Sp::M, D = Sp::D;
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
  __syncwarp();
  for (int step = 0; step < STEPS_PER_LABEL; ++step) {
    set_differences<S>(space);
    int most = 0;
#pragma unroll
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
      first_losses[m] += sums.losses[0];
      add_sums(own, sums, lane == m, measures_all, measures_supports);
    }
    __syncwarp();
    float gradient[Sp::PER_LANE];
    add_gradients<S>(space, most, gradient);
    take_step<S>(space, gradient, eta, cuts);
    __syncwarp();
  }
#pragma unroll
  for (int m = 0; m < M; ++m) {
    const double total = warp_sum(first_losses[m]);
    if (lane == m) own.losses[0] = total;
  }
#pragma unroll
  for (int e = lane; e < M * C * D; e += WARP) {
    const int m = e / (C * D);
    if (cuts >> m & 1) continue;
    const float mu = space.mu[e / D * Sp::STRIDE + e % D];
    const float average = next_average(space.average[e], mu, float(MEMBER_AVERAGE_GAIN[FIRST_MEMBER[S] + m]));
    array_at<float>(stream, AVERAGE_AT[S])[e] = average;
    array_at<float>(stream, MU_AT[S])[e] = mu;
    space.squares[e] = fabsf(average);
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
    figures.margin[1] = MEMBER_WIDTH[FIRST_MEMBER[S] + lane] * sqrt(variance / figures.n_effective());
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
