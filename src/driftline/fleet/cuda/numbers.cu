// Sums and comparisons in the order of the cores, and where the bytes of a stream are.

typedef long long int64;
typedef unsigned long long uint64;
typedef unsigned char uint8;
typedef unsigned short uint16;

constexpr int WARP = 32;
constexpr int N_RULES = 4;
constexpr unsigned ALL_LANES = 0xffffffffu;

__device__ __forceinline__ double infinity() { return __longlong_as_double(0x7ff0000000000000ll); }

__device__ __forceinline__ double smaller(double a, double b) { return b < a ? b : a; }
__device__ __forceinline__ double larger(double a, double b) { return b > a ? b : a; }
__device__ __forceinline__ float larger(float a, float b) { return b > a ? b : a; }
__device__ __forceinline__ int64 smaller(int64 a, int64 b) { return b < a ? b : a; }
__device__ __forceinline__ int64 larger(int64 a, int64 b) { return b > a ? b : a; }
__device__ __forceinline__ double clipped(double x, double most) { return smaller(larger(x, -most), most); }

// The first byte of the stream in a slot.
__device__ __forceinline__ char* stream_at(const uint64* buffers, int64 slot) {
  return reinterpret_cast<char*>(buffers[slot / STREAMS_PER_BUFFER]) + (slot % STREAMS_PER_BUFFER) * N_BYTES;
}

template <typename T>
__device__ __forceinline__ T* array_at(char* stream, int first_byte) {
  return reinterpret_cast<T*>(stream + first_byte);
}

// Halves the partial sums until one is left; each time as many products as there are sums are added, if that many are
// left.
template <int N, int LANES, int FROM, bool IS_EMPTY>
__device__ __forceinline__ void fold(float* sums, const float* a, const float* b) {
  if constexpr (LANES > 0) {
    constexpr bool has_more = FROM + LANES <= N;
#pragma unroll
    for (int l = 0; l < LANES; ++l) {
      if (!IS_EMPTY) sums[l] = sums[l] + sums[l + LANES];
      if (has_more) sums[l] = IS_EMPTY ? a[FROM + l] * b[FROM + l] : sums[l] + a[FROM + l] * b[FROM + l];
    }
    fold<N, LANES / 2, has_more ? FROM + LANES : FROM, IS_EMPTY && !has_more>(sums, a, b);
  }
}

// The product of two vectors, summed in the order of driftline.kernels.sum_of_products.
template <int N>
__device__ __forceinline__ float dot(const float* a, const float* b) {
  float sums[16];
  constexpr int whole = N / 16 * 16;
#pragma unroll
  for (int l = 0; l < 16; ++l) sums[l] = whole > 0 ? a[l] * b[l] : 0.0f;
#pragma unroll
  for (int first = 16; first < whole; first += 16) {
#pragma unroll
    for (int l = 0; l < 16; ++l) sums[l] += a[first + l] * b[first + l];
  }
  fold<N, 8, whole, whole == 0>(sums, a, b);
  return sums[0];
}

// The numbers of a vector of N that begins at a multiple of 16 bytes.
template <int N>
struct Vector {
  float each[N];
  __device__ __forceinline__ Vector(const float* from) {
#pragma unroll
    for (int k = 0; k < N; k += 4) {
      const float4 four = *reinterpret_cast<const float4*>(from + k);
      each[k] = four.x;
      if (k + 1 < N) each[k + 1] = four.y;
      if (k + 2 < N) each[k + 2] = four.z;
      if (k + 3 < N) each[k + 3] = four.w;
    }
  }
};

// Begins to copy bytes to the shared memory of a block; `await_copies` waits until all copies of this thread are there.
template <int BYTES>
__device__ __forceinline__ void copy_async(void* to, const void* from) {
  const unsigned place = unsigned(__cvta_generic_to_shared(to));
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(place), "l"(from), "n"(BYTES) : "memory");
}
__device__ __forceinline__ void await_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }

// The sum over the lanes of a warp.
__device__ __forceinline__ double warp_sum(double x) {
#pragma unroll
  for (int distance = WARP / 2; distance > 0; distance /= 2) x += __shfl_xor_sync(ALL_LANES, x, distance);
  return x;
}

// The labels by falling score.
template <typename T>
__device__ __forceinline__ void sort_labels(const T* scores, int* order) {
#pragma unroll
  for (int y = 0; y < C; ++y) {
    int k = y;
    while (k > 0 && scores[order[k - 1]] < scores[y]) {
      order[k] = order[k - 1];
      --k;
    }
    order[k] = y;
  }
}

// As driftline.kernels.simplex.single_support.
__device__ __forceinline__ float single_support(const float* scores, int* order, int& size) {
  if (C == 2) {
    const bool is_first = scores[0] >= scores[1];
    order[0] = is_first ? 0 : 1;
    order[1] = is_first ? 1 : 0;
    const float most = is_first ? scores[0] : scores[1], least = is_first ? scores[1] : scores[0];
    if (most - least >= 1.0f) {
      size = 1;
      return most - 1.0f;
    }
    size = 2;
    return (scores[0] + scores[1] - 1.0f) * 0.5f;
  }
  sort_labels(scores, order);
  float total = scores[order[0]] - 1.0f, best = total;
  size = 1;
  for (int k = 1; k < C; ++k) {
    total += scores[order[k]];
    const float value = total / float(k + 1);
    if (value <= best) break;
    best = value;
    size = k + 1;
  }
  return best;
}

// Memory in which a warp brings numbers of 32 streams to the lanes of these: two parts, one of which is being filled.
constexpr int PART_NUMBERS = 16;
struct Tile {
  double numbers[2][WARP][PART_NUMBERS + 1];
};

// Begins to fill part `first / 16 % 2` of a tile with numbers `first` and after it, of n, of the streams of all lanes:
// half of the lanes copy those of one stream, which are side by side.
__device__ __forceinline__ void begin_part(Tile& tile, const double* own, int first, int n) {
  const int lane = threadIdx.x % WARP, k = lane % PART_NUMBERS;
#pragma unroll
  for (int pair = 0; pair < WARP / 2; ++pair) {
    const int s = 2 * pair + lane / PART_NUMBERS;
    const uint64 other = __shfl_sync(ALL_LANES, reinterpret_cast<uint64>(own), s);
    if (first + k < n)
      copy_async<8>(&tile.numbers[first / PART_NUMBERS % 2][s][k], reinterpret_cast<const double*>(other) + first + k);
  }
  asm volatile("cp.async.commit_group;" ::: "memory");
}

// Calls f(position, value) for n numbers of the stream of each lane, in order; all lanes of the warp take
// part.
template <typename F>
__device__ __forceinline__ void scan(Tile& tile, const double* own, int n, F f) {
  const int lane = threadIdx.x % WARP, n_parts = (n + PART_NUMBERS - 1) / PART_NUMBERS;
  __syncwarp();
  begin_part(tile, own, 0, n);
  for (int part = 0; part < n_parts; ++part) {
    const int first = part * PART_NUMBERS;
    if (part + 1 < n_parts) {
      begin_part(tile, own, first + PART_NUMBERS, n);
      asm volatile("cp.async.wait_group 1;" ::: "memory");
    } else {
      await_copies();
    }
    __syncwarp();
    const double* numbers = tile.numbers[first / PART_NUMBERS % 2][lane];
    const int count = n - first < PART_NUMBERS ? n - first : PART_NUMBERS;
#pragma unroll 4
    for (int k = 0; k < count; ++k) f(first + k, numbers[k]);
    __syncwarp();
  }
}

// Calls f(position, value, other value) for two arrays of n numbers of the stream of each lane, from the end to the
// beginning; n is a multiple of 16.
template <typename F>
__device__ __forceinline__ void scan_both(Tile& tile, const double* own, const double* second, int n, F f) {
  const int lane = threadIdx.x % WARP;
  for (int first = n - PART_NUMBERS; first >= 0; first -= PART_NUMBERS) {
    __syncwarp();
    begin_part(tile, own + first, 0, PART_NUMBERS);
    begin_part(tile, second + first - PART_NUMBERS, PART_NUMBERS, 2 * PART_NUMBERS);
    await_copies();
    __syncwarp();
#pragma unroll 4
    for (int k = PART_NUMBERS - 1; k >= 0; --k) f(first + k, tile.numbers[0][lane][k], tile.numbers[1][lane][k]);
  }
}
