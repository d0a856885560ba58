// The gradients of the members of a space: sums over the rows that have one, in the order of the cores.

// Adds a listed row to the gradients of this lane's entries, which begin at position `at` of the row if they are
// side by side.
template <int S>
__device__ __forceinline__ void add_row(const Space<S>& space, const Drawn& row, int at, float* gradient) {
  typedef Space<S> Sp;
  if constexpr (GRADIENTS == 1 && Sp::PER_LANE == 2) {
    const float2 two = *reinterpret_cast<const float2*>(space.rows + row.first + at);
    gradient[0] += row.factors[0] * two.x;
    gradient[1] += row.factors[0] * two.y;
  } else {
#pragma unroll
    for (int q = 0; q < Sp::PER_LANE; ++q) {
      const Entry<S> entry(q);
      gradient[q] += row.factors[entry.k] * space.rows[row.first + entry.j];
    }
  }
}

// Sets the gradients of this lane's entries to the sums over the rows listed for its member.
template <int S>
__device__ __forceinline__ void add_gradients(const Space<S>& space, int most, float* gradient) {
  typedef Space<S> Sp;
  const Entry<S> first(0);
  const Drawn* drawn = space.drawn[first.m];
#pragma unroll
  for (int q = 0; q < Sp::PER_LANE; ++q) gradient[q] = 0.0f;
  if constexpr (GRADIENTS == 1) {
#pragma unroll 4
    for (int b = 0; b < most; b += 2) {
      const float4 two = *reinterpret_cast<const float4*>(drawn + b);
      add_row<S>(space, Drawn{__float_as_int(two.x), {two.y}}, first.j, gradient);
      add_row<S>(space, Drawn{__float_as_int(two.z), {two.w}}, first.j, gradient);
    }
  } else {
    for (int b = 0; b < most; ++b) add_row<S>(space, drawn[b], first.j, gradient);
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

template <int S>
__device__ __forceinline__ void set_differences(Space<S>& space) {
  typedef Space<S> Sp;
  const int lane = threadIdx.x % WARP;
  if constexpr (C == 2) {
    for (int e = lane; e < Sp::M * Sp::D; e += WARP) {
      const int m = e / Sp::D, j = e % Sp::D;
      const float* mu = space.mu + m * C * Sp::STRIDE + j;
      space.difference[m * Sp::STRIDE + j] = mu[0] - mu[Sp::STRIDE];
    }
    __syncwarp();
  }
  if (Sp::COMPENSATES) {
    for (int e = lane; e < Sp::M * C * C; e += WARP) {
      const int m = e / (C * C), y = e / C % C, k = e % C;
      // Of two classes, the first scores are those of the difference, the second those of class 0.
      const float* mu = C == 2 ? (y == 0 ? space.difference + m * Sp::STRIDE : space.mu + m * C * Sp::STRIDE)
                               : space.mu + (m * C + y) * Sp::STRIDE;
      space.centre_scores[e] = dot<Sp::D>(space.centres + k * Sp::D, mu);
    }
    __syncwarp();
  }
}
