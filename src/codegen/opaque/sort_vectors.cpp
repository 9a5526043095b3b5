// A quicksort. Elements are signed keys that say all bits of a value. A part is split around a pivot: each vector leaves
// its lesser lanes where it was read, further to the front, and the others in free memory of the same length. Parts that
// fit into registers are sorted by a network, and go to the result as values.
//
// The keys of -0 and 0 differ, and those of NaNs, which compare equal. So NaNs are put aside, in their order, and where
// there is a -0 the zeros of the result are taken from the row again.
//
// Equal elements: if a sample has its middle value twice, what equals it is split off and is in order. A split that
// left little on one side is followed by one halfway between the smallest and the largest key, so that no order of
// elements takes more passes than a key has bits, and twice their number.
#include "codegen/opaque/sort_vectors.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <vector>

namespace sinter::codegen {
namespace {

constexpr int64_t kMostRows = 16;  ///< vectors that a network sorts at once: as many as AVX2 has registers

constexpr const char* kVectors = R"(
typedef $SIGNED $N_lanes __attribute__((vector_size($BYTES)));
typedef $SIGNED $N_lanes_m __attribute__((vector_size($BYTES), aligned(sizeof($SIGNED))));
typedef $VALUE $N_bits __attribute__((vector_size($BYTES)));
$FN $N_lanes $N_at(const $SIGNED* p) { return *(const $N_lanes_m*)p; }
$FN $N_lanes $N_lesser($N_lanes a, $N_lanes b) { const $N_lanes m = ($N_lanes)(a < b); return (a & m) | (b & ~m); }
$FN $N_lanes $N_greater($N_lanes a, $N_lanes b) { const $N_lanes m = ($N_lanes)(a < b); return (b & m) | (a & ~m); }
$FN $N_lanes $N_ordered($N_lanes v) { return $ORDERED; }
$FN $N_lanes $N_value($N_lanes v) { return $N_ordered($UNTURNED); }
$FN void $N_give(const $SIGNED* d, long long n, $SIGNED* out) {
  long long i = 0;
  for (; i + $LANES <= n; i += $LANES) *($N_lanes_m*)(out + i) = $N_value($N_at(d + i));
  if (i == n) return;
  const $N_lanes rest = $N_value($N_at(d + i));
  for (int j = 0; i < n; ++i, ++j) out[i] = rest[j];
}
)";

/// `below` has a bit per lane that is less than p; `put` writes the lanes whose bits are set one after another, and
/// something else after them, up to a whole vector.
constexpr const char* kMasks = R"(
$FN unsigned $N_below($N_lanes v, $SIGNED p) {
  return ($MASK)__builtin_ia32_cmp$Q512_mask(v, ($N_lanes){} + p, 1, ($MASK)-1);
}
$FN void $N_put($SIGNED* to, $N_lanes v, unsigned m) {
  *($N_lanes_m*)to = __builtin_ia32_compress$S512_mask(v, v, ($MASK)m);
}
)";
/// AVX2 has no such instruction: a table has the order of the lanes, four bits each, for all masks.
constexpr const char* kTable = R"(
typedef $FLOAT $N_signs __attribute__((vector_size(32)));
typedef int $N_order __attribute__((vector_size(32)));
typedef unsigned $N_shifts __attribute__((vector_size(32)));
static const unsigned $N_orders[] = {$ORDERS};
$FN unsigned $N_below($N_lanes v, $SIGNED p) {
  return __builtin_ia32_movmskp$Q256(($N_signs)(v < ($N_lanes){} + p));
}
$FN void $N_put($SIGNED* to, $N_lanes v, unsigned m) {
  const $N_shifts all = ($N_shifts){} + $N_orders[m & $ALL];
  *($N_lanes_m*)to =
      ($N_lanes)__builtin_ia32_permvarsi256(($N_order)v, ($N_order)(all >> ($N_shifts){0, 4, 8, 12, 16, 20, 24, 28}));
}
)";

/// The network: `exchange` orders the lanes of two vectors, `riffle` interleaves two vectors.
constexpr const char* kNetwork = R"(
$FN void $N_exchange($N_lanes* a, $N_lanes* b) {
  const $N_lanes l = $N_lesser(*a, *b);
  *b = $N_greater(*a, *b);
  *a = l;
}
$FN void $N_riffle($N_lanes* a, $N_lanes* b) {
  const $N_lanes l = __builtin_shufflevector(*a, *b, $FRONT);
  *b = __builtin_shufflevector(*a, *b, $BACK);
  *a = l;
}
$CROSSINGS$FN $N_lanes $N_padded(const $SIGNED* d, $SIGNED n, int at) {
  const $N_lanes m = ($N_lanes)(($N_lanes){$LANE_NUMBERS} < ($N_lanes){} + (n - at));
  return ($N_at(d + at) & m) | (~m & $LARGEST);
}
$FN void $N_few(const $SIGNED* d, $SIGNED* f, long long n, $SIGNED* out) {
$LOADED$NETWORK  const $N_lanes all[] = {$IN_ORDER};
  $N_give((const $SIGNED*)all, n, out);
}
)";
/// Lanes whose numbers differ in certain bits: the lower one gets the lesser element, of the other vector's lane too.
constexpr const char* kCrossing = R"($FN void $N_cross_$BY($N_lanes* a, $N_lanes* b) {
  const $N_lanes x = __builtin_shufflevector(*a, *a, $PARTNERS), y = __builtin_shufflevector(*b, *b, $PARTNERS);
  const $N_lanes l = __builtin_shufflevector($N_lesser(*a, y), $N_greater(*a, y), $KEPT);
  *b = __builtin_shufflevector($N_lesser(*b, x), $N_greater(*b, x), $KEPT);
  *a = l;
}
)";

/// A pivot is the middle lane of medians of medians of three vectors.
constexpr const char* kQuicksort = R"(
$FN long long $N_split($SIGNED* d, $SIGNED* f, long long n, $SIGNED pivot) {
  long long l = 0, i = 0;
  for (; i + $LANES <= n; i += $LANES) {
    const $N_lanes v = $N_at(d + i);
    const unsigned m = $N_below(v, pivot);
    $N_put(d + l, v, m);
    $N_put(f + (i - l), v, ~m);
    l += __builtin_popcount(m);
  }
  for (; i < n; ++i) {
    const $SIGNED e = d[i];
    f[i - l] = e;
    d[l] = e;
    l += e < pivot;
  }
  return l;
}
$FN $N_lanes $N_middle($N_lanes a, $N_lanes b, $N_lanes c) {
  return $N_greater($N_lesser(a, b), $N_lesser($N_greater(a, b), c));
}
$FN $N_lanes $N_sample(const $SIGNED* d, long long n) {
  const long long step = (n - $LANES) / 8;
  $N_lanes v0 = $N_middle($N_middle($N_at(d), $N_at(d + step), $N_at(d + 2 * step)),
                          $N_middle($N_at(d + 3 * step), $N_at(d + 4 * step), $N_at(d + 5 * step)),
                          $N_middle($N_at(d + 6 * step), $N_at(d + 7 * step), $N_at(d + 8 * step)));
$ONE_SORTED  return v0;
}
typedef struct { $SIGNED *d, *f, *out; long long n; int halve; } $N_part;
$FN void $N_many($SIGNED* a, $SIGNED* b, long long n, $SIGNED* out) {
  $N_part waiting[64], p = {a, b, out, n, 0};
  for (int count = 0;;) {
    if (p.n <= $FEW) {
      if (p.n) $N_few(p.d, p.f, p.n, p.out);
      if (!count) return;
      p = waiting[--count];
      continue;
    }
    $SIGNED pivot;
    int equal;
    if (p.halve) {
      $SIGNED low = p.d[0], high = low;
      for (long long i = 1; i < p.n; ++i) {
        const $SIGNED e = p.d[i];
        low = e < low ? e : low;
        high = e > high ? e : high;
      }
      const $VALUE span = ($VALUE)high - ($VALUE)low;
      equal = span == 0;
      pivot = low + ($SIGNED)(span / 2) + !equal;
    } else {
      const $N_lanes sample = $N_sample(p.d, p.n);
      pivot = sample[$LANES / 2];
      equal = pivot == sample[$LANES / 2 - 1];
    }
    const long long l = $N_split(p.d, p.f, p.n, pivot);
    $N_part less = {p.d, p.f + (p.n - l), p.out, l, 0}, rest = {p.f, p.d + l, p.out + l, p.n - l, 0};
    if (equal) {
      const long long e = pivot == $LARGEST ? rest.n : $N_split(rest.d, rest.f, rest.n, pivot + 1);
      $N_give(rest.d, e, rest.out);
      const $N_part more = {rest.f, rest.d + e, rest.out + e, rest.n - e, 0};
      rest = more;
    }
    $N_part* larger = less.n < rest.n ? &rest : &less;
    larger->halve = larger->n > p.n - p.n / 16;
    waiting[count++] = *larger;
    p = larger == &rest ? less : rest;
  }
}
)";

constexpr const char* kNumbers = R"(
$FN void $N_run(const $VALUE* x, long long n, long long first, $ELEMENT* a, $ELEMENT* b, unsigned* bins, $OUT* out) {
  for (long long i = 0; i < n; i += $LANES)
    *($N_lanes_m*)(a + i) = $N_key_bits($N_rest((const $SIGNED*)x + i, n - i));
  $SORT(($SIGNED*)a, ($SIGNED*)b, n, ($SIGNED*)out);
}
)";
constexpr const char* kFloats = R"(
$FN long long $N_before(const $OUT* x, long long n, $KEY key) {
  long long low = 0, high = n;
  while (low < high) {
    const long long m = (low + high) / 2;
    if ($N_key(x[m]) < key) low = m + 1; else high = m;
  }
  return low;
}
$FN void $N_run(const $VALUE* x, long long n, long long first, $ELEMENT* a, $ELEMENT* b, unsigned* bins, $OUT* out) {
  long long numbers = 0;
  unsigned minus = 0;
  for (long long i = 0; i < n; i += $LANES) {
    const $N_lanes v = $N_rest((const $SIGNED*)x + i, n - i), k = $N_key_bits(v);
    const unsigned m = $N_below(v & $LARGEST, $NAN);
    minus |= $N_below(v, -$LARGEST);
    if (m == $ALL) {
      *($N_lanes_m*)(a + numbers) = k;
      numbers += $LANES;
      continue;
    }
    $N_put(($SIGNED*)a + numbers, k, m);
    $N_put(($SIGNED*)b + (i - numbers), k, ~m);
    numbers += __builtin_popcount(m);
  }
  const long long nans = n - numbers;
  $N_give(($SIGNED*)b, nans, ($SIGNED*)out + $NANS_AT);
  $SORT(($SIGNED*)a, ($SIGNED*)b, numbers, ($SIGNED*)out + $NUMBERS_AT);
  if (!minus) return;
  const $KEY zero = $N_key_of(0);
  const long long end = $N_before(out, n, zero + 1);
  long long z = $N_before(out, n, zero);
  for (long long i = 0; z < end; ++i) {
    out[z] = x[i];
    z += $N_key_of(x[i]) == zero;
  }
}
)";
/// The last lanes of a row are followed by ones, which as floats are NaNs.
constexpr const char* kRest = R"(
$FN $N_lanes $N_key_bits($N_lanes v) { const $N_lanes k = $N_ordered(v); return $TURNED; }
$FN $N_lanes $N_rest(const $SIGNED* x, long long n) {
  if (n >= $LANES) return $N_at(x);
  $N_lanes v = ($N_lanes){} - 1;
  for (int j = 0; j < n; ++j) v[j] = x[j];
  return v;
}
)";

/// "f(0), f(1), ..." of `count` numbers.
std::string listed(int64_t count, const std::function<int64_t(int64_t)>& f) {
  std::string text;
  for (int64_t i = 0; i < count; ++i) text += fmt::format("{}{}", i ? ", " : "", f(i));
  return text;
}

/// A network for `rows` vectors of `lanes` lanes, numbered along the columns: columns are sorted, and then merged by
/// pairs.
struct Network {
  int64_t rows, lanes;

  void call(std::string& text, const char* function, int64_t a, int64_t b) const {
    text += fmt::format("  $N_{}(&v{}, &v{});\n", function, a, b);
  }
  /// Batcher's merges of odd and even ones.
  void sort_columns(std::string& text) const {
    for (int64_t p = 1; p < rows; p *= 2)
      for (int64_t k = p; k > 0; k /= 2)
        for (int64_t j = k % p; j + k < rows; j += 2 * k)
          for (int64_t i = j; i < j + k && i + k < rows; ++i)
            if (i / (2 * p) == (i + k) / (2 * p)) call(text, "exchange", i, i + k);
  }
  void cross(std::string& text, int64_t by, bool mirrored) const {
    for (int64_t r = 0; r < (mirrored ? (rows + 1) / 2 : rows); ++r)
      call(text, fmt::format("cross_{}", by).c_str(), r, mirrored ? rows - 1 - r : r);
  }
  std::string sorted() const {
    std::string text;
    sort_columns(text);
    for (int64_t width = 1; width < lanes; width *= 2) {
      cross(text, 2 * width - 1, true);
      for (int64_t s = width / 2; s > 0; s /= 2) cross(text, s, false);
      for (int64_t s = rows / 2; s > 0; s /= 2)
        for (int64_t r = 0; r < rows; ++r)
          if (!(r & s)) call(text, "exchange", r, r + s);
    }
    return text;
  }
  /// The functions that sorted() calls.
  std::string crossings() const {
    std::string text;
    for (int64_t by = 1; by < lanes; ++by) {
      if (!std::has_single_bit(static_cast<uint64_t>(by)) && !std::has_single_bit(static_cast<uint64_t>(by + 1)))
        continue;
      const auto highest = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(by)));
      text += filled(kCrossing, {{"$BY", fmt::format("{}", by)},
                                 {"$PARTNERS", listed(lanes, [&](int64_t i) { return i ^ by; })},
                                 {"$KEPT", listed(lanes, [&](int64_t i) { return i & highest ? i + lanes : i; })}});
    }
    return text;
  }
  /// From columns to rows, by riffles; `order` becomes the vectors' numbers.
  std::string transposed(std::vector<int64_t>& order) const {
    std::string text;
    for (int64_t r = 0; r < rows; ++r) order.push_back(r);
    for (int64_t s = 1; s < rows; s *= 2) {
      std::vector<int64_t> next;
      for (size_t i = 0; i < order.size() / 2; ++i) {
        const int64_t a = order[i], b = order[i + order.size() / 2];
        call(text, "riffle", a, b);
        next.insert(next.end(), {a, b});
      }
      order = next;
    }
    return text;
  }
};

Network network_of(const SortStep& step, const runtime::Target& target) {
  const int64_t lanes = target.vector_bytes * 8 / step.key_bits, vectors = (step.runs.group + lanes - 1) / lanes;
  return {std::min(static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(vectors))), kMostRows), lanes};
}

/// For each mask of lanes, their numbers in four bits each, those in the mask first. Lanes of 64 bits are pairs.
std::string orders(int64_t lanes) {
  const int64_t words = 8 / lanes;
  std::string text;
  for (uint32_t mask = 0; mask < 1u << lanes; ++mask) {
    uint32_t order = 0;
    int at = 0;
    for (const uint32_t wanted : {1u, 0u})
      for (int64_t i = 0; i < 8; ++i)
        if ((mask >> (i / words) & 1) == wanted) order |= static_cast<uint32_t>(i) << 4 * at++;
    text += fmt::format("{}{:#x}u", mask == 0 ? "" : mask % 8 ? ", " : ",\n  ", order);
  }
  return text;
}

}  // namespace

bool sorts_in_vectors(const SortStep& step, const runtime::Target& target) {
  const bool selects = step.runs.last() && step.runs.count < step.runs.row;
  return step.runs.values && !step.runs.sorted && !selects && step.key_bits >= 32 && target.vector_bytes >= 32;
}

int64_t vector_run_spare(const SortStep& step, const runtime::Target& target) {
  const Network network = network_of(step, target);
  return network.rows * network.lanes;
}

std::string vector_run_text(const SortStep& step, const runtime::Target& target, SortNames& names) {
  const Network network = network_of(step, target);
  const int64_t lanes = network.lanes;
  const bool wide = step.key_bits == 64, floats = is_float(step.dtype), descending = step.runs.descending;
  const bool several = step.runs.group > network.rows * lanes;
  const uint64_t largest = ~uint64_t{0} >> (wide ? 1 : 33);
  const int mantissa = wide ? 52 : 23;
  std::string loaded;
  for (int64_t r = 0; r < network.rows; ++r)
    loaded += fmt::format("  $N_lanes v{} = $N_padded(d, n, {});\n", r, r * lanes);
  std::vector<int64_t> order;
  const std::string transposed = network.transposed(order);
  std::string in_order;
  for (const int64_t r : order) in_order += fmt::format("{}v{}", in_order.empty() ? "" : ", ", r);
  const auto constant = [&](uint64_t value) { return fmt::format("{:#x}{}", value, wide ? "ll" : ""); };
  names.insert(
      names.end(),
      {{"$SIGNED", wide ? "long long" : "int"},
       {"$BYTES", fmt::format("{}", target.vector_bytes)},
       {"$LANES", fmt::format("{}", lanes)},
       {"$LARGEST", constant(largest)},
       {"$ALL", fmt::format("{}u", (1u << lanes) - 1)},
       {"$MASK", lanes == 16 ? "unsigned short" : "unsigned char"},
       {"$FLOAT", wide ? "double" : "float"},
       {"$ORDERED", floats ? fmt::format("v ^ ($N_lanes)(($N_bits)(v >> {}) >> 1)", step.key_bits - 1)
                    : is_unsigned(step.dtype) ? "v ^ ~$LARGEST"
                                              : "v"},
       {"$TURNED", descending ? "~k" : "k"},
       {"$UNTURNED", descending ? "~v" : "v"},
       {"$NAN", constant((largest >> mantissa << mantissa) + 1)},
       {"$NANS_AT", descending ? "0" : "numbers"},
       {"$NUMBERS_AT", descending ? "nans" : "0"},
       {"$LANE_NUMBERS", listed(lanes, [](int64_t i) { return i; })},
       {"$FRONT", listed(lanes, [&](int64_t i) { return i / 2 + i % 2 * lanes; })},
       {"$BACK", listed(lanes, [&](int64_t i) { return lanes / 2 + i / 2 + i % 2 * lanes; })},
       {"$CROSSINGS", network.crossings()},
       {"$LOADED", loaded},
       {"$NETWORK", network.sorted() + transposed},
       {"$IN_ORDER", in_order},
       {"$ONE_SORTED", Network{1, lanes}.sorted()},
       {"$FEW", fmt::format("{}", network.rows * lanes)},
       {"$SORT", several ? "$N_many" : "$N_few"}});
  if (target.masks)
    names.insert(names.end(), {{"$Q", wide ? "q" : "d"}, {"$S", wide ? "di" : "si"}});
  else
    names.insert(names.end(), {{"$Q", wide ? "d" : "s"}, {"$ORDERS", orders(lanes)}});
  return fmt::format("{}{}{}{}{}{}", kVectors, target.masks ? kMasks : kTable, kNetwork, several ? kQuicksort : "",
                     kRest, floats ? kFloats : kNumbers);
}

}  // namespace sinter::codegen
