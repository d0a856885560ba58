// Members that learn the newest row (driftline.kernels.members), one warp per stream.

// Evaluates the rows drawn for each member and lists those with a gradient; sets the gradients of this lane's entries.
// Members whose memories are cut take part, on rows at place 0, and nothing of it is written.
template <int S, bool MAY_BE_FIRST_STEP>
__device__ __forceinline__ void set_gradients(Space<S>& space, const Features<S>& features, int step,
                                              unsigned measuring, Sums& own, Listed& listed, float* gradient) {
  const int own_member = Entry<S>(0).m;
  int most = 0, own_count = 0;
  clear_lists<S>(space);
#pragma unroll 1  // the instructions of all members would not fit into their cache
  for (int m = 0; m < Space<S>::M; ++m) {
    const bool measures_all = MAY_BE_FIRST_STEP && step == 0 && (measuring >> m & 1);
    int count;
    if constexpr (C == 2) {
      count = list_rows_of_two<S, MAY_BE_FIRST_STEP>(space, m, step, measures_all, own);
    } else {
      count = list_rows_of_many<S>(space, m, step, measures_all, own);
    }
    most = max(most, count);
    own_count = m == own_member ? count : own_count;
  }
  __syncwarp();
  add_gradients<S>(space, features, most, gradient);
  if constexpr (C == 2) listed.add<S>(space, own_count);
  if constexpr (Space<S>::COMPENSATES) {
    const float* factors = C == 2 ? listed.centre_factors : space.centre_factors + own_member * GRADIENTS * C;
    add_centres<S>(space, factors, gradient);
  }
}

// Moves the averages towards the solutions and writes both, for the members that are not cut.
template <int S>
__device__ __forceinline__ void update_averages(Space<S>& space, char* stream, unsigned cuts) {
#pragma unroll
  for (int first = 4 * (threadIdx.x % WARP); first < Space<S>::VECTORS; first += 4 * WARP) {
    const int m = first / (C * STRIDE<S>);
    if (cuts >> m & 1) continue;
    const Vector<4> mu(space.mu + first);
    Vector<4> average(space.average + first), magnitudes(mu);
    const float gain = float(MEMBER_AVERAGE_GAIN[FIRST_MEMBER[S] + m]);
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      average.each[k] = next_average(average.each[k], mu.each[k], gain);
      magnitudes.each[k] = fabsf(average.each[k]);
    }
    average.write(array_at<float>(stream, AVERAGE_AT[S]) + first);
    mu.write(array_at<float>(stream, MU_AT[S]) + first);
    magnitudes.write(space.magnitudes() + first);
  }
  __syncwarp();
}

// Updates the figures of the member whose number is that of the lane, and writes them.
template <int S>
__device__ __forceinline__ void update_member(Space<S>& space, char* stream, Figures& figures, const Sums& own,
                                              bool measures_all) {
  constexpr int n_drawn = STEPS_PER_LABEL * ROWS_PER_STEP, n_supports = C == 2 ? ROWS_PER_STEP : n_drawn;
  const int lane = threadIdx.x % WARP;
#pragma unroll
  for (int k = 0; k < N_RULES; ++k) {
    const double loss = quotient(own.losses[k], n_drawn, 1.0 / n_drawn);
    if (k == 0 || measures_all) figures.loss[k] += LOSS_GAIN * (loss - figures.loss[k]);
  }
  const double mean = quotient(own.supports[0], n_supports, 1.0 / n_supports);
  const double variance = larger(quotient(own.supports[1], n_supports, 1.0 / n_supports) - mean * mean, 0.0);
  figures.margin[0] = margin_of<S>(space, lane);
  figures.margin[1] = MEMBER_WIDTH[FIRST_MEMBER[S] + lane] * sqrt(variance / figures.n_effective);
  figures.write<S>(stream, lane);
}

// Blocks of four warps that should fit into a multiprocessor at once: as many as its shared memory allows, but not more
// than there are registers for.
constexpr int MULTIPROCESSOR_BYTES = 228 << 10, RESERVED_BYTES = 1 << 10;
template <int S>
constexpr int BLOCKS = larger_of(1, smaller_of(C == 2 && Space<S>::PER_LANE <= 2 ? 6 : 2,
                                               MULTIPROCESSOR_BYTES / (RESERVED_BYTES + int(4 * sizeof(Space<S>)))));

// Lets the members of space S learn the newest row of each stream.
template <int S>
__global__ void __launch_bounds__(THREADS, BLOCKS<S>)
    learn_space(int n, const StreamRow* stream_rows, const uint4* positions, const uint8* all_cuts) {
  typedef Space<S> Sp;
  constexpr int M = Sp::M;
  extern __shared__ __align__(16) char memory[];
  const int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, i = blockIdx.x * (blockDim.x / WARP) + warp;
  if (i >= n) return;
  Sp& space = *reinterpret_cast<Sp*>(memory + warp * sizeof(Sp));
  char* stream = stream_rows[i].stream();
  load_space<S>(space, stream, positions + int64(i) * (sizeof(space.positions) / sizeof(uint4)));
  // All loads before the first use, which would wait for them.
  Figures figures = {};
  if (lane < M) figures.load<S>(stream, lane);
  const uint8 own_cut = lane < M ? all_cuts[int64(i) * N_MEMBERS + FIRST_MEMBER[S] + lane] : 0;
  const int64 n_seen = array_at<int64>(stream, N_SEEN_AT[S])[0];
  const double norm = array_at<double>(stream, MEAN_SQUARED_NORM_AT[S])[0];
  await_copies();
  __syncwarp();
  const unsigned cuts = __ballot_sync(ALL_LANES, own_cut);
  const int newest = int((n_seen - 1) % Sp::N);
  const float eta = STEP_SIZE / float(larger(norm, 1e-6));
  update_memories<S>(space, stream, figures, newest, cuts);
  const bool checks = lane < M && figures.loss[0] + (figures.margin[0] + figures.margin[1]) >
                                      TEMPER_CHECK_RATIO * (1.0 - 1.0 / C);
  const unsigned measuring = __ballot_sync(ALL_LANES, checks);
  Sums own = {};  // of the member whose number is that of the lane
  Listed listed;  // of the member whose entries the lane has
  const Features<S> features(space);
  Solution<S> solution(space, eta);
  set_differences<S>(space);
#pragma unroll 1
  for (int step = 0; step < STEPS_PER_LABEL; ++step) {
    __syncwarp();
    set_centre_scores<S>(space);
    float gradient[Sp::PER_LANE];
    if (C > 2 || step == 0) {  // of many classes, compiling takes its time, and the other steps are not simpler
      set_gradients<S, true>(space, features, step, measuring, own, listed, gradient);
    } else {
      set_gradients<S, false>(space, features, step, measuring, own, listed, gradient);
    }
    solution.take_step(space, gradient, eta);
  }
  if constexpr (C == 2) {
    solution.write(space);
    const double loss = sum_of_member<S>(listed.loss);
    own.losses[0] = __shfl_sync(ALL_LANES, loss, lane * Sp::LANES);
  }
  __syncwarp();
  update_averages<S>(space, stream, cuts);
  if (lane < M && !(cuts >> lane & 1)) update_member<S>(space, stream, figures, own, measuring >> lane & 1);
  __syncwarp();
#pragma unroll
  for (int m = 0; m < M; ++m) {
    if (cuts >> m & 1) cut_memory<S>(space, stream, m);
  }
}

// Sets the number of bytes that a warp needs for space S.
template <int S>
__global__ void set_warp_bytes(int64* n_bytes) {
  n_bytes[S] = sizeof(Space<S>);
}
