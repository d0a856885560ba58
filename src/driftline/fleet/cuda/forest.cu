// The two forests of a stream (driftline.kernels.forest): the features that they give, and what they learn.

constexpr int RECENT_ROWS = 200, MIN_ROWS = 10;
constexpr double LEAF_PRIOR_ROWS = 0.5, FOREST_LEAD_MISTAKES = 10.0, MAX_TREE_VALUE = 1e30, MAX_SAVED_LABELS = 16.0;
constexpr int ALL_TREES = N_TREES[0] + N_TREES[1];
enum { RECENT_IS_DUE = 1, LONG_IS_DUE = 2, WAS_CUT = 4, N_KINDS = 8 };

// What the threads of a row keep in shared memory: the row as the trees see it, its leaves, the number of rows in them,
// and for each class its shares in the leaves of both forests.
struct Walk {
  double totals[ALL_TREES], shares[2 * C];
  int leaves[ALL_TREES];
  float values[P];
};

// The state of the forests of a stream.
struct Forests {
  int64 &n_seen, &n_since_cut, &n_cuts;
  double& lead;
  __device__ __forceinline__ Forests(char* stream)
      : n_seen(*array_at<int64>(stream, FOREST_N_SEEN_AT)), n_since_cut(*array_at<int64>(stream, FOREST_N_SINCE_CUT_AT)),
        n_cuts(*array_at<int64>(stream, FOREST_N_CUTS_AT)), lead(*array_at<double>(stream, FOREST_RECENT_LEAD_AT)) {}
  // Whether the memory of the long forest is cut at this row, because the recent one predicts better for long
  // enough; `shares` are those of the label in both.
  __device__ __forceinline__ bool is_cut(const double* shares) {
    n_since_cut += 1;
    const double total = lead + shares[0] - shares[1];
    lead = larger(total, 0.0);
    if (!(total > FOREST_LEAD_MISTAKES && n_since_cut > RECENT_ROWS)) return false;
    n_since_cut = RECENT_ROWS;
    lead = 0.0;
    n_cuts += 1;
    return true;
  }
  // The number of rows from which the trees of a forest are grown.
  __device__ __forceinline__ int n_rows(int forest) const {
    return int(forest == 0 ? smaller(n_seen, int64(RECENT_ROWS)) : smaller(n_since_cut, int64(N_STORED)));
  }
};

// The share of class y in the leaves of a row: a mean over the trees of a forest.
__device__ __forceinline__ double share_of(const Walk& walk, const Trees& trees, int forest, int y) {
  const int n = trees.n_used(), first = forest == 0 ? 0 : N_TREES[0];
  double share = n > 0 ? 0.0 : 1.0 / C;
  for (int t = 0; t < n; ++t) {
    const double count = trees.counts_of(t, walk.leaves[first + t])[y];
    share += (count + LEAF_PRIOR_ROWS / C) / (walk.totals[first + t] * n);
  }
  return share;
}

// Adds the credit for a row; whether a tree of the forest is due.
__device__ __forceinline__ bool is_due(const Trees& trees, int forest, int n_rows) {
  *trees.credit = smaller(*trees.credit + CREDIT[forest], MAX_SAVED_LABELS * CREDIT[forest]);
  return n_rows >= MIN_ROWS && *trees.credit > 0.0;
}

// Sets the features that the forests give each row, with a thread for each tree. If `learns`, stores the row, counts it
// in its leaves, and adds it to the list `due` if trees are to be grown or replaced.
extern "C" __global__ void walk_trees(int n, const StreamRow* stream_rows, const double* X, float* features,
                                      int* n_due, int* due, bool learns) {
  extern __shared__ __align__(16) char forest_memory[];
  const int i = blockIdx.x * (blockDim.x / ALL_TREES) + threadIdx.x / ALL_TREES, thread = threadIdx.x % ALL_TREES;
  const bool is_used = i < n && threadIdx.x < blockDim.x / ALL_TREES * ALL_TREES;
  const int forest = thread < N_TREES[0] ? 0 : 1, t = thread - (forest == 0 ? 0 : N_TREES[0]);
  const StreamRow row = stream_rows[is_used ? i : 0];
  Walk& walk = reinterpret_cast<Walk*>(forest_memory)[threadIdx.x / ALL_TREES];
  char* stream = row.stream();
  const Trees trees(stream, forest);
  Forests forests(stream);
  if (is_used) {
    float* stored = array_at<float>(stream, FOREST_ROWS_AT) + int(forests.n_seen % N_STORED) * P;
    for (int j = thread; j < P; j += ALL_TREES) {
      const double raw = X[int64(row.row) * P + j];
      double& kept = array_at<double>(stream, FOREST_ORIGIN_AT)[j];
      double origin = kept;
      if (learns && isnan(origin) && !isnan(raw)) kept = origin = clipped(raw, MAX_MAGNITUDE);
      const double shift = isnan(origin) ? raw : raw - origin;
      walk.values[j] = float(isnan(shift) ? shift : clipped(shift, MAX_TREE_VALUE));
      if (learns) stored[j] = walk.values[j];
    }
  }
  __syncthreads();
  const bool has_leaf = is_used && t < trees.n_used();
  if (has_leaf) {
    const int leaf = walk.leaves[thread] = trees.leaf_of(t, walk.values);
    double total = LEAF_PRIOR_ROWS;
#pragma unroll
    for (int y = 0; y < C; ++y) total += double(trees.counts_of(t, leaf)[y]);
    walk.totals[thread] = total;
  }
  __syncthreads();
  if (is_used) {
    float* psi = features + int64(i) * N_FEATURES + FOREST_FEATURE;
    for (int k = thread; k < 2 * C; k += ALL_TREES) {
      walk.shares[k] = share_of(walk, Trees(stream, k % 2), k % 2, k / 2);
      psi[1 + k] = float(walk.shares[k] - 1.0 / C);
    }
    if (thread == 0) psi[0] = 0.5f;
  }
  if (!learns) return;
  __syncthreads();  // all shares are of the counts before this row
  if (has_leaf) trees.counts_of(t, walk.leaves[thread])[row.label] += 1.0f;
  if (!is_used || thread != 0) return;
  array_at<int64>(stream, FOREST_LABELS_AT)[forests.n_seen % N_STORED] = row.label;
  forests.n_seen += 1;
  int what = forests.is_cut(walk.shares + 2 * row.label) ? WAS_CUT : 0;
  if (is_due(Trees(stream, 0), 0, forests.n_rows(0))) what |= RECENT_IS_DUE;
  if (is_due(Trees(stream, 1), 1, forests.n_rows(1))) what |= LONG_IS_DUE;
  if (what) due[atomicAdd(n_due, 1)] = i * N_KINDS + what;
}

// Replaces the trees of the long forest by those of the recent one.
__device__ __forceinline__ void copy_trees(const Trees& recent, const Trees& trees) {
  const int lane = threadIdx.x % WARP;
  for (int t = 0; t < recent.n_trees; ++t) {
    const int from = t * recent.max_nodes, to = t * trees.max_nodes;
    for (int k = lane; k < recent.n_nodes[t]; k += WARP) {
      trees.nodes[to + k] = recent.nodes[from + k];
    }
    for (int k = lane; k < recent.n_leaves[t] * C; k += WARP) trees.counts_of(t, 0)[k] = recent.counts_of(t, 0)[k];
    if (lane == 0) {
      trees.n_nodes[t] = recent.n_nodes[t];
      trees.n_leaves[t] = recent.n_leaves[t];
    }
  }
  if (lane == 0) *trees.n_grown = recent.n_used();
  __syncwarp();
}

// Loads what is stored of a stream.
__device__ __forceinline__ void load_stored(Growth& growth, char* stream, int n) {
  const float* stored = array_at<float>(stream, FOREST_ROWS_AT);
#pragma unroll 8
  for (int k = threadIdx.x % WARP; k < n * P; k += WARP)
    copy_async<4>(growth.values + k % P * Growth::STRIDE + k / P, stored + k);
}

// Grows the next tree of a forest from the last n rows. (Compilers take minutes if this is inlined.)
__device__ __noinline__ void grow_next(Growth& growth, const Trees& trees, char* stream, int n, int newest,
                                       uint64& x) {
  const int lane = threadIdx.x % WARP;
  for (int i = lane; i < n; i += WARP) {
    const int place = newest - i < 0 ? newest - i + N_STORED : newest - i;
    growth.rows[i] = unsigned(place) | unsigned(array_at<int64>(stream, FOREST_LABELS_AT)[place]) << 16;
  }
  __syncwarp();
  const int64 n_grown = *trees.n_grown;
  const int cost = grow_tree(growth, trees, int(n_grown % trees.n_trees), n, x);
  if (lane == 0) {
    *trees.credit -= cost;
    *trees.n_grown = n_grown + 1;
  }
}

// Replaces and grows the trees that are due, with a warp for each stream on the list.
extern "C" __global__ void grow_trees(const StreamRow* stream_rows, const int* n_due, const int* due) {
  extern __shared__ __align__(16) char forest_memory[];
  const int n_warps = blockDim.x / WARP, warp = threadIdx.x / WARP;
  Growth& growth = reinterpret_cast<Growth*>(forest_memory)[warp];
  for (int k = blockIdx.x * n_warps + warp; k < *n_due; k += gridDim.x * n_warps) {
    char* stream = stream_rows[due[k] / N_KINDS].stream();
    const Forests forests(stream);
    const int what = due[k] % N_KINDS, newest = int((forests.n_seen - 1) % N_STORED);
    __syncwarp();
    if (what & (RECENT_IS_DUE | LONG_IS_DUE)) load_stored(growth, stream, int(smaller(forests.n_seen, int64(N_STORED))));
    if (what & WAS_CUT) copy_trees(Trees(stream, 0), Trees(stream, 1));
    uint64 x = *array_at<uint64>(stream, FOREST_RANDOM_STATE_AT);
    await_copies();
    __syncwarp();
    for (int forest = 0; forest < 2; ++forest) {
      if (what & (forest == 0 ? RECENT_IS_DUE : LONG_IS_DUE))
        grow_next(growth, Trees(stream, forest), stream, forests.n_rows(forest), newest, x);
      __syncwarp();
    }
    if (threadIdx.x % WARP == 0) *array_at<uint64>(stream, FOREST_RANDOM_STATE_AT) = x;
  }
}

// Sets the number of bytes that a warp needs to grow trees, and those that a row needs to walk through them.
extern "C" __global__ void set_forest_bytes(int64* n_bytes) {
  n_bytes[0] = (sizeof(Growth) + 15) / 16 * 16;
  n_bytes[1] = sizeof(Walk);
}
