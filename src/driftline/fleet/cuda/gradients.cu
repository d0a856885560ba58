// The gradients of the members of a space: sums over the rows that have one, in the order of the cores.

// Where the features of a lane's entries are in the memory of rows: entry q of a row is `width[q]` times its place bytes
// after `first[q]`. Two entries of a lane are side by side if no more are needed; the second may be the label, as a
// number so small that it adds nothing, and belongs to no feature then.
template <int S>
struct Features {
  typedef Space<S> Sp;
  static constexpr bool IS_PAIR = GRADIENTS == 1 && Sp::PER_LANE == 2;
  static constexpr int N = IS_PAIR ? 1 : Sp::PER_LANE;
  const char* first[N];
  int width[N];
  __device__ __forceinline__ explicit Features(const Sp& space) {
#pragma unroll
    for (int q = 0; q < N; ++q) {
      const Entry<S> entry(q);
      first[q] = reinterpret_cast<const char*>(space.rows + Rows<S>::at(0, entry.j));
      width[q] = Rows<S>::width_at(entry.j) * int(sizeof(float));
    }
  }
  // Adds a listed row to the gradients.
  __device__ __forceinline__ void add_row(const Drawn& row, float* gradient) const {
    if constexpr (IS_PAIR) {
      const float2 two = *reinterpret_cast<const float2*>(first[0] + row.place() * width[0]);
      row.add_to(gradient[0], 0, two.x);
      row.add_to(gradient[1], 0, two.y);
    } else {
#pragma unroll
      for (int q = 0; q < N; ++q)
        row.add_to(gradient[q], Entry<S>(q).k, *reinterpret_cast<const float*>(first[q] + row.place() * width[q]));
    }
  }
};

// Sets the gradients of this lane's entries to the sums over the rows listed for its member, at most so many; the rest
// of its list is empty.
template <int S>
__device__ __forceinline__ void add_gradients(const Space<S>& space, const Features<S>& features, int most,
                                              float* gradient) {
  typedef Space<S> Sp;
  const Drawn* drawn = space.drawn[Entry<S>(0).m];
#pragma unroll
  for (int q = 0; q < Sp::PER_LANE; ++q) gradient[q] = 0.0f;
  if constexpr (GRADIENTS == 1) {
#pragma unroll 2
    for (int b = 0; b < most; b += 4) {
      const uint4 four = *reinterpret_cast<const uint4*>(drawn + b);
      features.add_row(Drawn{four.x}, gradient);
      features.add_row(Drawn{four.y}, gradient);
      features.add_row(Drawn{four.z}, gradient);
      features.add_row(Drawn{four.w}, gradient);
    }
  } else {
    for (int b = 0; b < most; ++b) features.add_row(drawn[b], gradient);
  }
}

// Adds the rows of the centres to the gradients of this lane's entries; `factors` has one for each gradient row and
// centre.
template <int S>
__device__ __forceinline__ void add_centres(const Space<S>& space, const float* factors, float* gradient) {
#pragma unroll
  for (int q = 0; q < Space<S>::PER_LANE; ++q) {
    const Entry<S> entry(q);
#pragma unroll
    for (int y = 0; y < C; ++y)
      gradient[q] += factors[entry.k * C + y] * space.centres[y * STRIDE<S> + entry.j];
  }
}

// Of two classes, sets the difference of their solutions, of which all losses are computed.
template <int S>
__device__ __forceinline__ void set_differences(Space<S>& space) {
  typedef Space<S> Sp;
  if constexpr (C == 2) {
    for (int e = threadIdx.x % WARP; e < Sp::M * STRIDE<S>; e += WARP) {
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
      space.centre_scores[e] = dot<Sp::D>(Vector<Sp::D>(space.centres + k * STRIDE<S>).each, Vector<Sp::D>(mu).each);
    }
    __syncwarp();
  }
}

// The solution of an entry after a step against its gradient, shrunk by a threshold.
__device__ __forceinline__ float next_solution(float mu, float step, float threshold) {
  const float x = mu - step;
  return larger(x - threshold, 0.0f) - larger(-x - threshold, 0.0f);
}

// What a lane keeps of the solution while it takes steps: that of its entries, one for each sign, and how much a step
// shrinks them.
template <int S>
struct Solution {
  static constexpr int PER_LANE = Space<S>::PER_LANE;
  float mu[PER_LANE][SIGNS], thresholds[PER_LANE][SIGNS];
  __device__ __forceinline__ Solution(const Space<S>& space, float eta) {
#pragma unroll
    for (int q = 0; q < PER_LANE; ++q) {
      const Entry<S> entry(q);
#pragma unroll
      for (int sign = 0; sign < SIGNS; ++sign) {
        mu[q][sign] = space.mu[entry.at(sign)];
        thresholds[q][sign] = eta * space.lam[entry.at(sign)];
      }
    }
  }

  // Goes against the gradient and shrinks μ as λ asks.
  __device__ __forceinline__ void take_step(Space<S>& space, const float* gradient, float eta) {
#pragma unroll
    for (int q = 0; q < PER_LANE; ++q) {
#pragma unroll
      for (int sign = 0; sign < SIGNS; ++sign)
        mu[q][sign] = next_solution(mu[q][sign], (sign == 0 ? eta : -eta) * gradient[q], thresholds[q][sign]);
    }
    if constexpr (C == 2) {
#pragma unroll
      for (int q = 0; q < PER_LANE; ++q) {
        const Entry<S> entry(q);
        if (entry.is_used) space.difference[entry.m * STRIDE<S> + entry.j] = mu[q][0] - mu[q][1];
      }
    } else {
      write(space);
    }
  }

  __device__ __forceinline__ void write(Space<S>& space) const {
#pragma unroll
    for (int q = 0; q < PER_LANE; ++q) {
      const Entry<S> entry(q);
#pragma unroll
      for (int sign = 0; sign < SIGNS; ++sign) {
        if (entry.is_used) space.mu[entry.at(sign)] = mu[q][sign];
      }
    }
  }
};
