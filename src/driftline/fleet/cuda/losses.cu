// The losses of drawn rows and their factors in the gradients (driftline.kernels.descent), one lane per row.

// What a lane keeps of the member whose number is that of the lane: sums over the rows drawn for it.
struct Sums {
  double losses[N_RULES], supports[2];
};

// Sets the sums of the lane of a member to those over all lanes: its losses but that of the first rule, and its
// supports, if they are measured.
__device__ __forceinline__ void add_sums(Sums& own, const Sums& sums, bool is_own, bool measures_all,
                                         bool measures_supports) {
  if (measures_all) {
#pragma unroll
    for (int k = 1; k < N_RULES; ++k) {
      const double total = warp_sum(sums.losses[k]);
      if (is_own) own.losses[k] = total;
    }
  }
  if (measures_supports) {
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      const double total = warp_sum(sums.supports[k]);
      if (is_own) own.supports[k] += total;
    }
  }
}

// Empties the lists of all members.
template <int S>
__device__ __forceinline__ void clear_lists(Space<S>& space) {
  constexpr int N = (sizeof(space.drawn) + sizeof(uint4) - 1) / sizeof(uint4);  // what follows is aligned
#pragma unroll
  for (int first = 0; first < N; first += WARP) {
    const int k = first + threadIdx.x % WARP;
    if (k < N) reinterpret_cast<uint4*>(space.drawn)[k] = uint4{};
  }
  __syncwarp();
}
