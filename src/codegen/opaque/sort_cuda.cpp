// A block of threads sorts a run by a bitonic network in shared memory, or several short rows at once. Merges: a block
// writes as many elements as a run of the first step has, which it finds in both runs by bisection.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "codegen/opaque/sort_text.h"

namespace sinter::codegen {
namespace {

constexpr int64_t kBlock = 2048;  ///< elements in shared memory
constexpr int64_t kThreads = 256;

/// The network of Batcher (1968) on $PADDED elements for each of $ROWS rows, which the last elements fill up.
constexpr const char* kSort = R"(
extern "C" __global__ void __launch_bounds__($THREADS)
$N(unsigned* error, $OUT* __restrict__ to, const $VALUE* __restrict__ from$VARS) {
  __shared__ $ELEMENT e[$ROWS * $PADDED];
  const long long block = blockIdx.x, first = block % $TASKS * $PADDED, row = block / $TASKS * $ROWS;
  for (int i = threadIdx.x; i < $ROWS * $PADDED; i += $THREADS) {
    const long long r = row + i / $PADDED, at = first + i % $PADDED;
    $ELEMENT x = $N_make(0, ($KEY)~0ull, 0xffffffffll);
    if (at < $ROW$INSIDE) {
      const $VALUE v = from[r * $ROW + at];
      x = $N_make(v, $N_key_of(v), at);
    }
    e[i] = x;
  }
  for (int k = 2; k <= $PADDED; k *= 2)
    for (int j = k / 2; j > 0; j /= 2) {
      __syncthreads();
      for (int i = threadIdx.x; i < $ROWS * $PADDED / 2; i += $THREADS) {
        const int a = 2 * i - (i & (j - 1)), b = a + j;
        const $ELEMENT x = e[a], y = e[b];
        const bool up = k == $PADDED || (a & k) == 0;
        if ($N_less(y, x) == up) {
          e[a] = y;
          e[b] = x;
        }
      }
    }
  __syncthreads();
  for (int i = threadIdx.x; i < $ROWS * $PADDED; i += $THREADS) {
    const long long r = row + i / $PADDED, at = first + i % $PADDED;
    if (at >= $FIRST && at < $FIRST + $COUNT$INSIDE) to[r * $COUNT + at - $FIRST] = $N_result(e[i]);
  }
}
)";

/// How many of the first d elements of two sorted runs come from the first one.
constexpr const char* kMergeBlock = R"(
$FN long long $N_split(const $ELEMENT* a, long long na, const $ELEMENT* b, long long nb, long long d) {
  long long low = d > nb ? d - nb : 0, high = d < na ? d : na;
  while (low < high) {
    const long long m = (low + high) / 2;
    if ($N_less(b[d - 1 - m], a[m])) high = m; else low = m + 1;
  }
  return low;
}
extern "C" __global__ void __launch_bounds__($THREADS)
$N(unsigned* error, $OUT* __restrict__ to, const $ELEMENT* __restrict__ from$VARS) {
  __shared__ $ELEMENT e[$BLOCK];
  __shared__ long long splits[2];
  const long long block = blockIdx.x, row = block / $TASKS, at = $FIRST + block % $TASKS * $BLOCK;
  const long long base = at / $RUN * $RUN, stop = base + $RUN < $ROW ? base + $RUN : $ROW;
  const long long middle = base + $SORTED < stop ? base + $SORTED : stop;
  const long long na = middle - base, nb = stop - middle, begin = at - base;
  const long long last = stop < $FIRST + $COUNT ? stop - base : $FIRST + $COUNT - base;
  const long long end = begin + $BLOCK < last ? begin + $BLOCK : last;
  const $ELEMENT* a = from + row * $ROW + base;
  const $ELEMENT* b = from + row * $ROW + middle;
  if (threadIdx.x < 2) splits[threadIdx.x] = $N_split(a, na, b, nb, threadIdx.x ? end : begin);
  __syncthreads();
  const long long i0 = splits[0], j0 = begin - i0;
  const int count = end - begin, ni = splits[1] - i0, nj = count - ni;
  for (int i = threadIdx.x; i < count; i += $THREADS) e[i] = i < ni ? a[i0 + i] : b[j0 + i - ni];
  __syncthreads();
  const int d = threadIdx.x * $EACH < count ? threadIdx.x * $EACH : count;
  int i = $N_split(e, ni, e + ni, nj, d), j = d - i;
  $ELEMENT mine[$EACH];
#pragma unroll
  for (int k = 0; k < $EACH; ++k)
    if (d + k < count) {
      const bool right = i >= ni || (j < nj && $N_less(e[ni + j], e[i]));
      mine[k] = right ? e[ni + j] : e[i];
      if (right) ++j; else ++i;
    }
  __syncthreads();
#pragma unroll
  for (int k = 0; k < $EACH; ++k)
    if (d + k < count) e[d + k] = mine[k];
  __syncthreads();
  for (int k = threadIdx.x; k < count; k += $THREADS) to[row * $COUNT + at - $FIRST + k] = $N_result(e[k]);
}
)";

}  // namespace

runtime::KernelSource sort_cuda(const SortStep& step, const Kernel& kernel) {
  const bool merges = step.runs.sorted > 0, one = step.runs.tasks == 1 && kernel.outer.size() == 1;
  const auto padded = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(step.runs.group, 2))));
  const int64_t all_rows = kernel.outer[0].bound();
  const int64_t rows = merges || !one ? 1 : std::clamp<int64_t>(kBlock / padded, 1, std::max<int64_t>(all_rows, 1));
  const int64_t threads = merges ? kThreads : std::clamp<int64_t>((rows * padded / 2 + 31) / 32 * 32, 32, kThreads);
  std::string vars;
  for (size_t i = 0; i < kernel.vars.size(); ++i) vars += fmt::format(", long long a{}", i);

  SortNames names = names_of(step);
  names.insert(names.end(), {{"$FN", "static __device__ __forceinline__"},
                             {"$THREADS", fmt::format("{}", threads)},
                             {"$PADDED", fmt::format("{}", padded)},
                             {"$ROWS", fmt::format("{}", rows)},
                             {"$INSIDE", rows > 1 ? fmt::format(" && r < {}ll", all_rows) : ""},
                             {"$BLOCK", fmt::format("{}", kBlock)},
                             {"$EACH", fmt::format("{}", kBlock / kThreads)},
                             {"$VARS", vars}});
  runtime::KernelSource source;
  source.threads = static_cast<int>(threads);
  if (rows > 1) source.blocks = {rows};
  finish(source, element_text(step) + (merges ? kMergeBlock : kSort), kernel.name, names);
  return source;
}

}  // namespace sinter::codegen
