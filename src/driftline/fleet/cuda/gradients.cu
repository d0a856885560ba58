// The gradients of the members of a space: sums over the rows that have one, in the order of the cores.

// Where the features of a lane's entries are in the memory of rows: entry q of a row is at first[q] plus width[q] times
// its place. Two entries of a lane are side by side if no more are needed.
template <int S>
struct Features {
  typedef Space<S> Sp;
  static constexpr bool IS_PAIR = GRADIENTS == 1 && Sp::PER_LANE == 2;
  static constexpr int N = IS_PAIR ? 1 : Sp::PER_LANE;
  int first[N], width[N];
  __device__ __forceinline__ Features() {
#pragma unroll
    for (int q = 0; q < N; ++q) {
      const Entry<S> entry(q);
      first[q] = Rows<S>::at(0, entry.j);
      width[q] = Rows<S>::width_at(entry.j);
    }
  }
  // Adds a listed row to the gradients.
  __device__ __forceinline__ void add_row(const Sp& space, const Drawn& row, float* gradient) const {
    if constexpr (IS_PAIR) {
      const float2 two = *reinterpret_cast<const float2*>(space.rows + first[0] + row.place * width[0]);
      gradient[0] += row.factors[0] * two.x;
      gradient[1] += row.factors[0] * two.y;
    } else {
#pragma unroll
      for (int q = 0; q < N; ++q)
        gradient[q] += row.factors[Entry<S>(q).k] * space.rows[first[q] + row.place * width[q]];
    }
  }
};

// Sets the gradients of this lane's entries to the sums over the rows listed for its member.
template <int S>
__device__ __forceinline__ void add_gradients(const Space<S>& space, const Features<S>& features, int most,
                                              float* gradient) {
  typedef Space<S> Sp;
  const Drawn* drawn = space.drawn[Entry<S>(0).m];
#pragma unroll
  for (int q = 0; q < Sp::PER_LANE; ++q) gradient[q] = 0.0f;
  if constexpr (GRADIENTS == 1) {
#pragma unroll 4
    for (int b = 0; b < most; b += 2) {
      const float4 two = *reinterpret_cast<const float4*>(drawn + b);
      features.add_row(space, Drawn{__float_as_int(two.x), {two.y}}, gradient);
      features.add_row(space, Drawn{__float_as_int(two.z), {two.w}}, gradient);
    }
  } else {
    for (int b = 0; b < most; ++b) features.add_row(space, drawn[b], gradient);
  }
  if (Sp::COMPENSATES) {
#pragma unroll
    for (int q = 0; q < Sp::PER_LANE; ++q) {
      const Entry<S> entry(q);
#pragma unroll
      for (int y = 0; y < C; ++y)
        gradient[q] += space.centre_factors[(entry.m * GRADIENTS + entry.k) * C + y] *
                       space.centres[y * Sp::D + entry.j];
    }
  }
}

// Of two classes, sets the difference of their solutions, of which all losses are computed.
template <int S>
__device__ __forceinline__ void set_differences(Space<S>& space) {
  typedef Space<S> Sp;
  const int lane = threadIdx.x % WARP;
  if constexpr (C == 2) {
    for (int e = lane; e < Sp::M * STRIDE<S>; e += WARP) {
      const float* mu = space.mu + e / STRIDE<S> * C * STRIDE<S> + e % STRIDE<S>;
      space.difference[e] = mu[0] - mu[STRIDE<S>];
    }
    __syncwarp();
  }
}

// Sets the scores of the centres.
template <int S>
__device__ __forceinline__ void set_centre_scores(Space<S>& space) {
  typedef Space<S> Sp;
  if constexpr (Sp::COMPENSATES) {
    for (int e = threadIdx.x % WARP; e < Sp::M * C * C; e += WARP) {
      const int m = e / (C * C), y = e / C % C, k = e % C;
      // Of two classes, the first scores are those of the difference, the second those of class 0.
      const float* mu = C == 2 ? (y == 0 ? space.difference + m * STRIDE<S> : space.mu + m * C * STRIDE<S>)
                               : space.mu + (m * C + y) * STRIDE<S>;
      space.centre_scores[e] = dot<Sp::D>(space.centres + k * Sp::D, mu);
    }
    __syncwarp();
  }
}
