// How the stored rows of a space lie in memory, with their labels.
//
// Four features of all rows come first, then the next four of all rows, and so on; at last what remains, and the label.
// So copies have 16 bytes. Before the next four is a gap, so that features of a row are in different banks of shared
// memory.

// Numbers of a vector of D features in memory: a multiple of 4.
template <int S>
constexpr int STRIDE = (SPACE_FEATURES[S] + 3) / 4 * 4;

template <int S>
struct Rows {
  static constexpr int D = SPACE_FEATURES[S], N = SPACE_ROWS[S], WHOLE = D / 4 * 4, REST = D % 4;
  static constexpr int WIDTH = REST == 0 ? 1 : REST == 1 ? 2 : 4;
  static constexpr int BLOCK = 4 * N + GAP, LAST = WHOLE / 4 * BLOCK, SIZE = (LAST + WIDTH * N + 3) / 4 * 4;

  // Where feature j of a row is, and its label.
  static __device__ __forceinline__ int width_at(int j) { return j < WHOLE ? 4 : WIDTH; }
  static __device__ __forceinline__ int at(int place, int j) { return j / 4 * BLOCK + place * width_at(j) + j % 4; }
  static __device__ __forceinline__ int label_at(int place) { return LAST + place * WIDTH + REST; }
};

// The features of a row, and its label.
template <int S>
struct Row {
  float each[SPACE_FEATURES[S]];
  int label;
  __device__ __forceinline__ Row(const float* rows, int place) {
    typedef Rows<S> R;
#pragma unroll
    for (int k = 0; k < R::WHOLE; k += 4) {
      const float4 four = *reinterpret_cast<const float4*>(rows + R::at(place, k));
      each[k] = four.x;
      each[k + 1] = four.y;
      each[k + 2] = four.z;
      each[k + 3] = four.w;
    }
    const float* last = rows + R::LAST + place * R::WIDTH;
    if constexpr (R::WIDTH == 1) {
      label = __float_as_int(*last);
    } else if constexpr (R::WIDTH == 2) {
      const float2 two = *reinterpret_cast<const float2*>(last);
      each[R::WHOLE] = two.x;
      label = __float_as_int(two.y);
    } else {
      const float4 four = *reinterpret_cast<const float4*>(last);
      each[R::WHOLE] = four.x;
      each[R::WHOLE + 1] = four.y;
      if constexpr (R::REST == 3) each[R::WHOLE + 2] = four.z;
      label = __float_as_int(R::REST == 3 ? four.w : four.z);
    }
  }
};
