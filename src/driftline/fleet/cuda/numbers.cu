// Sums and comparisons in the order of the cores, and where the bytes of a stream are.

typedef long long int64;
typedef unsigned long long uint64;
typedef unsigned char uint8;
typedef unsigned short uint16;

constexpr int N_RULES = 4;
constexpr unsigned ALL_LANES = 0xffffffffu;

__device__ __forceinline__ double infinity() { return __longlong_as_double(0x7ff0000000000000ll); }

constexpr int smaller_of(int a, int b) { return a < b ? a : b; }
constexpr int larger_of(int a, int b) { return a > b ? a : b; }
// The largest power of two that is not above n.
constexpr int power_below(int n) { return n < 2 ? 1 : 2 * power_below(n / 2); }
__device__ __forceinline__ double smaller(double a, double b) { return b < a ? b : a; }
__device__ __forceinline__ double larger(double a, double b) { return b > a ? b : a; }
__device__ __forceinline__ float larger(float a, float b) { return b > a ? b : a; }
__device__ __forceinline__ int64 smaller(int64 a, int64 b) { return b < a ? b : a; }
__device__ __forceinline__ int64 larger(int64 a, int64 b) { return b > a ? b : a; }
__device__ __forceinline__ double clipped(double x, double most) { return smaller(larger(x, -most), most); }

// a / b from the inverse of b, both finite and b not tiny, rounded as a division rounds it: the remainder of the first
// result corrects it.
__device__ __forceinline__ double quotient(double a, double b, double inverse) {
  const double first = a * inverse;
  return __fma_rn(__fma_rn(-b, first, a), inverse, first);
}

// a / b from the inverse of b, rounded as a division rounds it: no quotient of numbers of single precision is as near
// to where rounding turns as the errors of the inverse and of the product are.
__device__ __forceinline__ float times_inverse(float a, double inverse) { return float(double(a) * inverse); }

// A row that a stream learns or predicts: where its stream is, its number, and its label.
struct alignas(16) StreamRow {
  uint64 address;
  int row, label;
  // The first byte of the stream.
  __device__ __forceinline__ char* stream() const { return static_cast<char*>(__cvta_global_to_generic(address)); }
};

// Sets the rows of streams that all other kernels read, so that each of them waits for one load instead of three.
extern "C" __global__ void __launch_bounds__(THREADS)
    find_streams(int n, const uint64* buffers, const int64* slots, const int* rows, const int64* labels, bool learns,
                 StreamRow* stream_rows) {
  const int i = blockIdx.x * THREADS + threadIdx.x;
  if (i >= n) return;
  const uint64 buffer = buffers[slots[i] / STREAMS_PER_BUFFER];
  stream_rows[i] = StreamRow{buffer + slots[i] % STREAMS_PER_BUFFER * N_BYTES, rows[i],
                             learns ? int(labels[rows[i]]) : 0};
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
  // Writes them, if they are a multiple of 4.
  __device__ __forceinline__ void write(float* to) const {
#pragma unroll
    for (int k = 0; k < N; k += 4)
      *reinterpret_cast<float4*>(to + k) = make_float4(each[k], each[k + 1], each[k + 2], each[k + 3]);
  }
};

// Begins to copy bytes to the shared memory of a block; `await_copies` waits until all copies of this thread are there.
// Copies of 16 bytes go past the first cache, which would be the narrowest place on their way.
template <int BYTES>
__device__ __forceinline__ void copy_async(void* to, const void* from) {
  const unsigned place = unsigned(__cvta_generic_to_shared(to));
  if constexpr (BYTES == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], %2;" ::"r"(place), "l"(from), "n"(BYTES) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(place), "l"(from), "n"(BYTES) : "memory");
  }
}
__device__ __forceinline__ void await_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }

// N numbers of 8 bytes that begin at a multiple of 16 bytes: they are read and written two at a time.
template <typename T, int N>
struct Numbers {
  struct alignas(16) Pair {
    T first, second;
  };
  T each[N];
  __device__ __forceinline__ Numbers() {}
  __device__ __forceinline__ explicit Numbers(const T* from) {
#pragma unroll
    for (int k = 0; k + 1 < N; k += 2) {
      const Pair pair = *reinterpret_cast<const Pair*>(from + k);
      each[k] = pair.first;
      each[k + 1] = pair.second;
    }
    if (N % 2 == 1) each[N - 1] = from[N - 1];
  }
  __device__ __forceinline__ void write(T* to) const {
#pragma unroll
    for (int k = 0; k + 1 < N; k += 2) *reinterpret_cast<Pair*>(to + k) = Pair{each[k], each[k + 1]};
    if (N % 2 == 1) to[N - 1] = each[N - 1];
  }
};

// The sum over the lanes of a warp.
__device__ __forceinline__ double warp_sum(double x) {
#pragma unroll
  for (int distance = WARP / 2; distance > 0; distance /= 2) x += __shfl_xor_sync(ALL_LANES, x, distance);
  return x;
}

// The number that belongs to a label.
__device__ __forceinline__ double of_label(const double* h, int label) {
  double x = h[0];
#pragma unroll
  for (int y = 1; y < C; ++y) x = y == label ? h[y] : x;
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
