// The trees of two forests, and how a warp grows one from stored rows (driftline.kernels.trees).

constexpr int LEAF = -1, DRAWS_PER_COLUMN = 4;

// A node of a tree: a column or LEAF, the most of its values that go to the first child, and the place of that child,
// or of the leaf.
struct Node {
  int column;
  float threshold;
  int child;
};

// Where the trees of a forest are: of the recent one, 0, or of the long one, 1.
struct Trees {
  int n_trees, max_nodes, max_leaves;
  Node* nodes;
  float* counts;
  int64 *n_nodes, *n_leaves, *n_grown;
  double* credit;
  __device__ __forceinline__ Trees(char* stream, int forest)
      : n_trees(N_TREES[forest]), max_nodes(MAX_NODES[forest]), max_leaves(MAX_LEAVES[forest]),
        nodes(array_at<Node>(stream, TREE_COLUMN_AT[forest])),
        counts(array_at<float>(stream, TREE_COUNTS_AT[forest])),
        n_nodes(array_at<int64>(stream, TREE_N_NODES_AT[forest])),
        n_leaves(array_at<int64>(stream, TREE_N_LEAVES_AT[forest])),
        n_grown(array_at<int64>(stream, TREE_N_GROWN_AT[forest])),
        credit(array_at<double>(stream, TREE_CREDIT_AT[forest])) {}
  __device__ __forceinline__ int n_used() const { return int(smaller(*n_grown, int64(n_trees))); }
  __device__ __forceinline__ float* counts_of(int t, int leaf) const { return counts + (t * max_leaves + leaf) * C; }

  // The leaf of tree t to which a row belongs.
  __device__ __forceinline__ int leaf_of(int t, const float* values) const {
    for (int place = t * max_nodes;;) {
      const Node node = nodes[place];
      if (node.column == LEAF) return node.child;
      place = t * max_nodes + node.child + (values[node.column] <= node.threshold ? 0 : 1);
    }
  }
};

// What a warp keeps in shared memory while it grows trees from the rows of one stream.
struct Growth {
  static constexpr int STRIDE = N_STORED + 1;  // so that the values of a row are in different banks, too
  float values[P * STRIDE];                    // one column after the other
  unsigned rows[N_STORED], moved[N_STORED];    // place in the store and, in the upper half, label; grouped by node
  uint16 starts[LARGEST_TREE], stops[LARGEST_TREE];        // where the rows of each node begin and end
  uint16 columns[P];                                       // in an order that changes from node to node of a tree
  uint16 early[N_STORED / 2 + 1], late[N_STORED / 2 + 1];  // for `divide_rows`
  __device__ __forceinline__ float value(int column, unsigned row) const {
    return values[column * STRIDE + (row & 0xffff)];
  }
};
static_assert(N_STORED <= 256, "all rows of a node are compared, without drawing some of them");

// A random number from 0 to n - 1: the whole part of n (x >> 11) / 2^53, which the cores compute in double precision.
__device__ __forceinline__ int draw_below(int n, uint64& x) {
  x = next_state(x);
  const unsigned high = unsigned(x >> 32), low = unsigned(x) & ~0x7ffu;
  const uint64 product = uint64(high) * unsigned(n) + __umulhi(low, unsigned(n));  // without its last 32 bits
  if (unsigned(product) != 0xffffffffu) return int(product >> 32);
  const int k = int(double(x >> 11) * 0x1p-53 * n);  // so close to the next whole number that it may be rounded to it
  return k < n - 1 ? k : n - 1;
}

// A threshold between the values of two of n rows, as driftline.kernels.trees.draw_threshold.
__device__ __forceinline__ float draw_threshold(const Growth& growth, int column, int start, int n, uint64& x) {
  const float low = growth.value(column, growth.rows[start + draw_below(n, x)]);
  for (int draw = 0; draw < DRAWS_PER_COLUMN; ++draw) {
    const float high = growth.value(column, growth.rows[start + draw_below(n, x)]);
    if (low < high || low > high) {
      const float least = fminf(low, high), most = fmaxf(low, high);
      x = next_state(x);
      const float threshold = least + __ull2float_rn(x >> 11) * 0x1p-53f * (most - least);
      return threshold >= most ? least : threshold;
    }
    if (isnan(low) != isnan(high)) return float(infinity());
  }
  return nanf("");
}

constexpr unsigned NO_ROW = 0xffff0000u;  // of a class that does not exist

// The row of this lane, of those from `first` to `stop`.
__device__ __forceinline__ unsigned row_of(const Growth& growth, int first, int stop) {
  const int i = first + int(threadIdx.x % WARP);
  return i < stop ? growth.rows[i] : NO_ROW;
}

// The lanes whose row is of class y.
__device__ __forceinline__ unsigned lanes_of(unsigned row, int y) {
  return __ballot_sync(ALL_LANES, int(row >> 16) == y);
}

// How the rows of a node are divided, how many go to the first child, and the comparisons made to choose this.
struct Split {
  int column, n_first, cost;
  float threshold;
};

// The lane with the largest purity, the first of several; -1 if it is negative for all.
__device__ __forceinline__ int purest_lane(double purity) {
  double most = purity;
#pragma unroll
  for (int distance = WARP / 2; distance > 0; distance /= 2)
    most = larger(most, __shfl_xor_sync(ALL_LANES, most, distance));
  return most < 0.0 ? -1 : __ffs(__ballot_sync(ALL_LANES, purity == most)) - 1;
}

// The best of N_TRIED random splits of n rows, of which each class has `totals`. Lane k keeps the k-th one.
__device__ __forceinline__ Split choose_split(Growth& growth, int start, int n, const int* totals, uint64& x) {
  const int lane = threadIdx.x % WARP;
  const unsigned row = row_of(growth, start, start + n);
  unsigned of_class[C];
#pragma unroll
  for (int y = 0; y < C; ++y) of_class[y] = lanes_of(row, y);
  int column = LEAF, firsts[C] = {}, n_found = 0, cost = n;
  float threshold = 0.0f;
  for (int n_left = P; n_left > 0 && n_found < N_TRIED;) {
    const int k = draw_below(n_left, x);
    const uint16 drawn = growth.columns[k], last = growth.columns[--n_left];
    __syncwarp();
    growth.columns[k] = last;
    growth.columns[n_left] = drawn;
    __syncwarp();
    const float limit = draw_threshold(growth, drawn, start, n, x);
    cost += DRAWS_PER_COLUMN;
    if (isnan(limit)) continue;
    cost += n + C;
    int counts[C];
    const unsigned below = __ballot_sync(ALL_LANES, growth.value(drawn, row) <= limit);
#pragma unroll
    for (int y = 0; y < C; ++y) counts[y] = __popc(below & of_class[y]);
    for (int first = WARP; first < n; first += WARP) {
      const unsigned other = row_of(growth, start + first, start + n);
      const bool is_below = growth.value(drawn, other) <= limit;
#pragma unroll
      for (int y = 0; y < C; ++y) counts[y] += __popc(__ballot_sync(ALL_LANES, is_below && int(other >> 16) == y));
    }
    const bool is_own = lane == n_found++;
    column = is_own ? drawn : column;
    threshold = is_own ? limit : threshold;
#pragma unroll
    for (int y = 0; y < C; ++y) firsts[y] = is_own ? counts[y] : firsts[y];
  }
  int n_first = 0, first = 0, second = 0;
#pragma unroll
  for (int y = 0; y < C; ++y) {
    n_first += firsts[y];
    first += firsts[y] * firsts[y];
    second += (totals[y] - firsts[y]) * (totals[y] - firsts[y]);
  }
  const bool divides = 0 < n_first && n_first < n;
  const double purity = divides ? double(first) / n_first + double(second) / (n - n_first) : -1.0;
  const int best = purest_lane(purity);
  if (best < 0) return Split{LEAF, 0, cost, 0.0f};
  return Split{__shfl_sync(ALL_LANES, column, best), __shfl_sync(ALL_LANES, n_first, best), cost,
               __shfl_sync(ALL_LANES, threshold, best)};
}

// Moves the rows of a node that go to the first child before the others, into the order that the cores give them.
//
// The cores go through the rows from the front, and swap each that belongs behind the middle with the last one that was
// not swapped yet. So these early rows change places with the late ones, which stand behind the middle and belong before
// it: the k-th late row from the end goes where the k-th early row was, and the k-th early row goes one place before
// late row k - 1 (the first one to the end). The other rows behind the middle move up by one place, but for the one
// directly behind the middle, which is moved as an early row is.
__device__ __forceinline__ void divide_rows(Growth& growth, const Split& split, int start, int stop) {
  const int lane = threadIdx.x % WARP, middle = start + split.n_first;
  const unsigned before = (1u << lane) - 1u;
  int n = 0, n_late = 0;  // early and late rows; they are as many
  for (int first = start; first < stop; first += WARP) {
    const int i = first + lane;
    const bool is_first = i < stop && growth.value(split.column, growth.rows[i]) <= split.threshold;
    const bool is_early = i < middle && !is_first, is_late = i >= middle && is_first;
    const unsigned early = __ballot_sync(ALL_LANES, is_early), late = __ballot_sync(ALL_LANES, is_late);
    if (is_early) growth.early[n + __popc(early & before)] = uint16(i);
    if (is_late) growth.late[n_late + __popc(late & before)] = uint16(i);
    n += __popc(early);
    n_late += __popc(late);
  }
  __syncwarp();
  int n_early = 0;
  n_late = 0;
  for (int first = start; first < stop; first += WARP) {
    const int i = first + lane;
    const unsigned row = i < stop ? growth.rows[i] : 0;
    const bool is_first = i < stop && growth.value(split.column, row) <= split.threshold;
    const bool is_early = i < middle && !is_first, is_late = i >= middle && is_first;
    const unsigned early = __ballot_sync(ALL_LANES, is_early), late = __ballot_sync(ALL_LANES, is_late);
    const int k = n_early + __popc(early & before);
    int to = i;
    if (is_early || (i == middle && !is_first)) to = (k == 0 ? stop : int(growth.late[n - k])) - 1;
    else if (is_late) to = growth.early[n - 1 - (n_late + __popc(late & before))];
    else if (i > middle) to = i - 1;
    if (i < stop) growth.moved[to] = row;
    n_early += __popc(early);
    n_late += __popc(late);
  }
  __syncwarp();
  for (int i = start + lane; i < stop; i += WARP) growth.rows[i] = growth.moved[i];
  __syncwarp();
}

// Grows tree t anew from the first n rows; returns the comparisons made.
__device__ __forceinline__ int grow_tree(Growth& growth, const Trees& trees, int t, int n, uint64& x) {
  const int lane = threadIdx.x % WARP;
  int n_nodes = 1, n_leaves = 0, cost = 0;
  for (int j = lane; j < P; j += WARP) growth.columns[j] = uint16(j);
  if (lane == 0) growth.starts[0] = 0, growth.stops[0] = uint16(n);
  __syncwarp();
  for (int node = 0; node < n_nodes; ++node) {
    const int start = growth.starts[node], stop = growth.stops[node], size = stop - start;
    int totals[C] = {}, largest = 0;
    for (int first = start; first < stop; first += WARP) {
      const unsigned row = row_of(growth, first, stop);
#pragma unroll
      for (int y = 0; y < C; ++y) totals[y] += __popc(lanes_of(row, y));
    }
#pragma unroll
    for (int y = 0; y < C; ++y) largest = totals[y] > largest ? totals[y] : largest;
    Split split{LEAF, 0, 0, 0.0f};
    if (n_nodes + 2 <= trees.max_nodes && largest < size) split = choose_split(growth, start, size, totals, x);
    cost += 2 * size + split.cost;
    const bool is_leaf = split.column == LEAF;
    if (is_leaf) {
      float* counts = trees.counts_of(t, n_leaves);
#pragma unroll
      for (int y = 0; y < C; ++y) {
        if (lane == y % WARP) counts[y] = float(totals[y]);
      }
    } else {
      divide_rows(growth, split, start, stop);
    }
    if (lane == 0) {
      const int middle = start + split.n_first;
      trees.nodes[t * trees.max_nodes + node] =
          Node{split.column, is_leaf ? 0.0f : split.threshold, is_leaf ? n_leaves : n_nodes};
      if (!is_leaf) {
        growth.starts[n_nodes] = uint16(start), growth.stops[n_nodes] = uint16(middle);
        growth.starts[n_nodes + 1] = uint16(middle), growth.stops[n_nodes + 1] = uint16(stop);
      }
    }
    n_leaves += is_leaf;
    n_nodes += is_leaf ? 0 : 2;
    __syncwarp();
  }
  if (lane == 0) {
    trees.n_nodes[t] = n_nodes;
    trees.n_leaves[t] = n_leaves;
  }
  return cost;
}
