// The memories of members (driftline.kernels.members): sums over the rows that a member has learned, and its figures.

// The numbers of a member, which the lane with its number keeps.
struct Figures {
  double mass[2], loss[N_RULES], margin[2], n_effective;
  int64 n_since_cut;
  template <int S>
  __device__ __forceinline__ void load(char* stream, int m) {
#pragma unroll
    for (int k = 0; k < 2; ++k) mass[k] = array_at<double>(stream, MASS_AT[S])[m * 2 + k];
#pragma unroll
    for (int k = 0; k < N_RULES; ++k) loss[k] = array_at<double>(stream, LOSS_AT[S])[m * N_RULES + k];
#pragma unroll
    for (int k = 0; k < 2; ++k) margin[k] = array_at<double>(stream, MARGIN_AT[S])[m * 2 + k];
    n_since_cut = array_at<int64>(stream, N_SINCE_CUT_AT[S])[m];
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

__device__ __forceinline__ float width_of(float sum, float square, double inverse_mass, float factor) {
  const float mean = times_inverse(sum, inverse_mass), variance = times_inverse(square, inverse_mass) - mean * mean;
  return sqrtf(larger(variance, 0.0f) * factor);
}

__device__ __forceinline__ float next_average(float average, float mu, float gain) {
  const float x = average + gain * (mu - average);
  return fabsf(x) < MIN_AVERAGE ? 0.0f : x;
}

// λᵀ|average| of member m, from the λ and the absolute values in the memory of the warp.
template <int S>
__device__ __forceinline__ double margin_of(Space<S>& space, int m) {
  typedef Vector<SPACE_FEATURES[S]> OfClass;
  float total = 0.0f;
  for (int y = 0; y < C; ++y) {
    const int first = (m * C + y) * STRIDE<S>;
    total += dot<SPACE_FEATURES[S]>(OfClass(space.lam + first).each, OfClass(space.magnitudes() + first).each);
  }
  return total;
}

// Sets what enters λ of member m, and its effective number of rows.
template <int S>
__device__ __forceinline__ void set_width_factor(Space<S>& space, Figures& figures, int m) {
  const double width = MEMBER_WIDTH[FIRST_MEMBER[S] + m];
  figures.n_effective = figures.mass[0] * figures.mass[0] / figures.mass[1];
  space.inverse_masses[m] = 1.0 / double(float(figures.mass[0]));
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
    space.lam[to] = is_wide ? width_of(sums[to], squares[to], space.inverse_masses[m], space.width_factors[m]) : 0.0f;
    space.magnitudes()[to] = fabsf(average[to]);
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
  copy_numbers<Sp::VECTORS>(space.sums(), array_at<float>(stream, SUMS_AT[S]));
  copy_numbers<Sp::VECTORS>(space.squares(), array_at<float>(stream, SQUARE_SUMS_AT[S]));
  if (Sp::COMPENSATES) copy_numbers<C * STRIDE<S>>(space.centres, array_at<float>(stream, CENTRES_AT[S]));
}

// The share by which the memory of member m forgets at this row.
template <int S>
__device__ __forceinline__ double forgetting_of(int m, int64 n_since_cut) {
  const int number = FIRST_MEMBER[S] + m;
  if (MEMBER_PARTNER[number] < 0) return MEMBER_GAIN[number];
  return n_since_cut <= MEMBER_REACH[number] ? 0.0 : MEMBER_SHARE_OF_REACH[number];
}

// Whether λ of a member is not 0 for some of the entries from `first` to `stop` - 1 of the vectors of a space.
template <int S>
__device__ constexpr bool has_width(int first, int stop) {
  bool is_wide = false;
  for (int e = first; e < stop && e < Space<S>::VECTORS; ++e)
    is_wide = is_wide || MEMBER_WIDTH[FIRST_MEMBER[S] + e / (C * STRIDE<S>)] > 0.0;
  return is_wide;
}

// Adds the newest row, of a label, to two entries of the memories, and sets their λ.
template <int S, bool HAS_WIDTH>
__device__ __forceinline__ void update_entries(Space<S>& space, char* stream, int first, int newest, int label) {
  const int m = first / (C * STRIDE<S>), y = first / STRIDE<S> % C, j = first % STRIDE<S>;
  const float kept = space.kept[m];
  float2 x = {}, lam = {};
  float2 sums = *reinterpret_cast<float2*>(space.sums() + first);
  float2 squares = *reinterpret_cast<float2*>(space.squares() + first);
  if (y == label && j < Space<S>::D) x = *reinterpret_cast<float2*>(space.rows + Rows<S>::at(newest, j));
  if (j + 1 >= Space<S>::D) x.y = 0.0f;  // it may be the label
  if (kept < 1.0f) {
    sums = make_float2(sums.x * kept + TINY, sums.y * kept + TINY);
    squares = make_float2(squares.x * kept + TINY, squares.y * kept + TINY);
  }
  sums = make_float2(sums.x + x.x, sums.y + x.y);
  squares = make_float2(squares.x + x.x * x.x, squares.y + x.y * x.y);
  if constexpr (HAS_WIDTH) {
    const double inverse = space.inverse_masses[m];
    const float factor = space.width_factors[m];
    const bool is_wide = MEMBER_WIDTH[FIRST_MEMBER[S] + m] > 0.0;  // a branch here keeps the optimiser busy for ever
    lam.x = is_wide ? width_of(sums.x, squares.x, inverse, factor) : 0.0f;
    lam.y = is_wide ? width_of(sums.y, squares.y, inverse, factor) : 0.0f;
  }
  *reinterpret_cast<float2*>(array_at<float>(stream, SUMS_AT[S]) + first) = sums;
  *reinterpret_cast<float2*>(array_at<float>(stream, SQUARE_SUMS_AT[S]) + first) = squares;
  *reinterpret_cast<float2*>(space.lam + first) = lam;
}

// Does so for all entries from `FIRST` on of the members that are not cut.
template <int S, int FIRST>
__device__ __forceinline__ void update_entries_from(Space<S>& space, char* stream, int newest, int label,
                                                    unsigned cuts) {
  if constexpr (FIRST < Space<S>::VECTORS) {
    constexpr bool HAS_WIDTH = has_width<S>(FIRST, FIRST + 2 * WARP);
    const int first = FIRST + 2 * (threadIdx.x % WARP);
    if (first < Space<S>::VECTORS && !(cuts >> first / (C * STRIDE<S>) & 1))
      update_entries<S, HAS_WIDTH>(space, stream, first, newest, label);
    update_entries_from<S, FIRST + 2 * WARP>(space, stream, newest, label, cuts);
  }
}

// Adds the newest row to the memories of the members that are not cut, and sets their λ.
template <int S>
__device__ __forceinline__ void update_memories(Space<S>& space, char* stream, Figures& figures, int newest,
                                                unsigned cuts) {
  typedef Space<S> Sp;
  const int lane = threadIdx.x % WARP, label = __float_as_int(space.rows[Rows<S>::label_at(newest)]);
  if (lane < Sp::M && !(cuts >> lane & 1)) {
    const double kept = 1.0 - forgetting_of<S>(lane, figures.n_since_cut);
    space.kept[lane] = float(kept);
    figures.mass[0] = kept * figures.mass[0] + 1.0;
    figures.mass[1] = kept * kept * figures.mass[1] + 1.0;
    set_width_factor<S>(space, figures, lane);
  }
  __syncwarp();
  update_entries_from<S, 0>(space, stream, newest, label, cuts);
  __syncwarp();
}
