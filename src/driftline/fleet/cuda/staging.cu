// Numbers of streams in the shared memory of a warp. They come and go past the first cache, many lanes for one stream
// after the other: if each lane read those of its own stream, memory would bring 32 bytes for each number.

// Begins to copy N numbers, an even number of them, for each team of so many lanes of a warp to its memory; those of
// teams are `stride` bytes apart.
template <int LANES_OF_TEAM, int N, int N_TEAMS = WARP / LANES_OF_TEAM>
__device__ __forceinline__ void copy_for_teams(double* first_to, int stride, const double* from) {
#pragma unroll
  for (int team = 0; team < N_TEAMS; ++team) {
    const uint64 of_team = __shfl_sync(ALL_LANES, reinterpret_cast<uint64>(from), team * LANES_OF_TEAM);
    char* to = reinterpret_cast<char*>(first_to) + team * stride;
#pragma unroll
    for (int k = 0; k < N; k += 2 * WARP) {
      const int at = (k + 2 * (threadIdx.x % WARP)) * sizeof(double);
      if (at < N * int(sizeof(double))) copy_async<16>(to + at, reinterpret_cast<const char*>(of_team) + at);
    }
  }
}

// N numbers, an even number of them, of a stream for each of some lanes: as many as a block has memory for, which is a
// warp.
template <int N>
struct Staged {
  static constexpr int STRIDE = N / 2 % 2 == 1 ? N : N + 2;  // lanes use different banks
  static constexpr int LANES = power_below(smaller_of(WARP, BLOCK_BYTES / (STRIDE * int(sizeof(double)))));
  alignas(16) double numbers[LANES][STRIDE];

  // Those of the stream of this lane, if it has one.
  __device__ __forceinline__ double* own() { return numbers[threadIdx.x % LANES]; }
  // Begins to load them; `from` is where they are in the stream of this lane.
  __device__ __forceinline__ void load(const double* from) {
    copy_for_teams<1, N, LANES>(numbers[0], sizeof(numbers[0]), from);
  }
  // Writes those of the first lanes back.
  __device__ __forceinline__ void write(double* to, int n_lanes) const {
#pragma unroll 4
    for (int lane = 0; lane < n_lanes; ++lane) {
      const uint64 of_lane = __shfl_sync(ALL_LANES, reinterpret_cast<uint64>(to), lane);
      double* all = static_cast<double*>(__cvta_global_to_generic(of_lane));
#pragma unroll
      for (int first = 0; first < N; first += 2 * WARP) {
        const int k = first + 2 * threadIdx.x;
        if (k < N) *reinterpret_cast<double2*>(all + k) = *reinterpret_cast<const double2*>(numbers[lane] + k);
      }
    }
  }
};
