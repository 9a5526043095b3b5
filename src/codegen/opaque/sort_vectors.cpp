// A quicksort. Elements are signed keys that tell all bits of a value. A part is split around a pivot: each vector
// leaves its lesser lanes where the part begins, and the others in free memory of the same length. Parts that fit into
// registers are sorted by a network, and go to the result as values.
//
// Keys tell -0 from 0, and NaNs from each other, which compare equal. So NaNs are put aside, in their order, and where
// there is a -0 the zeros of the result are copied from the row again.
//
// Equal elements: if a sample has its middle value twice, all that equal it are split off and are done. A split that
// left less than a 16th on one side is followed by one halfway between the smallest and the largest key. Of two passes
// over an element, one takes at least a 16th off its part, or halves the range of its keys.
#include "codegen/opaque/sort_vectors.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <vector>

#include "ir/ceil_div.h"

namespace sinter::codegen {
namespace {

constexpr int64_t kMaxRows = 16;  ///< vectors that a network sorts at once: as many as AVX2 has registers

/// `permuted` takes lanes in words of 32 bits. `ordered` makes keys of bits, in ascending order, and bits of keys.
constexpr const char* kVectors = R"(
typedef $SIGNED $N_lanes __attribute__((vector_size($BYTES)));
typedef $SIGNED $N_lanes_m __attribute__((vector_size($BYTES), aligned(sizeof($SIGNED))));
typedef $VALUE $N_bits __attribute__((vector_size($BYTES)));
typedef int $N_words __attribute__((vector_size($BYTES)));
static const $N_lanes $N_lane = {$LANE_NUMBERS};
static const $N_words $N_word = {$WORD_NUMBERS};
$FN $N_lanes $N_at(const $SIGNED* p) { return *(const $N_lanes_m*)p; }
$FN $N_lanes $N_lesser($N_lanes a, $N_lanes b) { $LESSER }
$FN $N_lanes $N_greater($N_lanes a, $N_lanes b) { $GREATER }
$FN $N_lanes $N_permuted($N_lanes v, $N_words from) { return ($N_lanes)$PERMUTE(($N_words)v, from); }
$FN $N_lanes $N_ordered($N_lanes v) { return $ORDERED; }
$FN $N_lanes $N_value($N_lanes v) { return $N_ordered($UNTURNED); }
)";

/// `below` has a bit per lane that is less than p. `put` writes the lanes whose bits are set one after another, and
/// something else after them, up to a whole vector. `first` and `write` are accesses to the first n lanes. `divide`
/// writes the lanes whose bits are set to d + l, and the others to the free memory f of n elements, of which `others`
/// are written: from its begin ($UPWARD), or from its end.
constexpr const char* kMasks = R"(
$FN unsigned $N_below($N_lanes v, $SIGNED p) {
  return ($MASK)__builtin_ia32_cmp$Q512_mask(v, ($N_lanes){} + p, 1, ($MASK)-1);
}
$FN void $N_put($SIGNED* to, $N_lanes v, unsigned m) {
  *($N_lanes_m*)to = __builtin_ia32_compress$S512_mask(v, v, ($MASK)m);
}
$FN $N_lanes $N_first(const $SIGNED* p, $SIGNED n, $N_lanes others) {
  return ($N_lanes)__builtin_ia32_loaddqu$S512_mask((const void*)p, others, ($MASK)$N_below($N_lane, n));
}
$FN void $N_write($SIGNED* p, $N_lanes v, $SIGNED n) {
  __builtin_ia32_storedqu$S512_mask((void*)p, v, ($MASK)$N_below($N_lane, n));
}
$FN void $N_divide($SIGNED* d, $SIGNED* f, long long n, long long l, long long others, $N_lanes v,
                  unsigned m) {
  $N_put(d + l, v, m);
  $N_put(f + others, v, ~m);
}
)";
/// AVX2 has no such instruction: a table has the order of the lanes, four bits each, for all masks. In that order a
/// vector serves both sides, each of which overwrites the lanes of the other.
constexpr const char* kTable = R"(
typedef $FLOAT $N_signs __attribute__((vector_size(32)));
typedef unsigned $N_shifts __attribute__((vector_size(32)));
static const unsigned $N_orders[] = {$ORDERS};
$FN unsigned $N_below($N_lanes v, $SIGNED p) {
  return __builtin_ia32_movmskp$Q256(($N_signs)(v < ($N_lanes){} + p));
}
$FN $N_lanes $N_parted($N_lanes v, unsigned m) {
  const $N_shifts all = ($N_shifts){} + $N_orders[m & $ALL];
  return $N_permuted(v, ($N_words)(all >> ($N_shifts){0, 4, 8, 12, 16, 20, 24, 28}));
}
$FN void $N_put($SIGNED* to, $N_lanes v, unsigned m) { *($N_lanes_m*)to = $N_parted(v, m); }
$FN $N_lanes $N_first(const $SIGNED* p, $SIGNED n, $N_lanes others) {
  const $N_lanes m = ($N_lanes)($N_lane < ($N_lanes){} + n);
  return ($N_lanes)__builtin_ia32_maskload$S256((const void*)p, m) | (others & ~m);
}
$FN void $N_write($SIGNED* p, $N_lanes v, $SIGNED n) {
  for (int i = 0; i < n; ++i) p[i] = v[i];
}
$FN void $N_divide($SIGNED* d, $SIGNED* f, long long n, long long l, long long others, $N_lanes v,
                  unsigned m) {
  const $N_lanes parted = $N_parted(v, m);
  *($N_lanes_m*)(d + l) = parted;
  *($N_lanes_m*)(f + n - others - $LANES) = parted;
}
)";

/// `few` is the network; it reads no more than n elements. `front` and `back` interleave two vectors. `crossed`: what
/// `a` becomes when its lanes are compared with those lanes of `b` whose numbers differ by `by`, bits of which `half`
/// is the highest. The lower lane gets the lesser element.
constexpr const char* kNetwork = R"(
$FN void $N_give(const $SIGNED* d, long long n, $SIGNED* out) {
  long long i = 0;
  for (; i + $LANES <= n; i += $LANES) *($N_lanes_m*)(out + i) = $N_value($N_at(d + i));
  if (i < n) $N_write(out + i, $N_value($N_at(d + i)), n - i);
}
$FN $N_lanes $N_front($N_lanes a, $N_lanes b) { return __builtin_shufflevector(a, b, $FRONT); }
$FN $N_lanes $N_back($N_lanes a, $N_lanes b) { return __builtin_shufflevector(a, b, $BACK); }
$FN $N_lanes $N_crossed($N_lanes a, $N_lanes b, int by, int half) {
  const $N_lanes c = $N_permuted(b, $N_word ^ (by * $WORDS)), upper = ($N_lanes)(($N_lane & half) != 0);
  return ($N_lesser(a, c) & ~upper) | ($N_greater(a, c) & upper);
}
$FN void $N_few(const $SIGNED* d, $SIGNED* f, long long n, $SIGNED* out) {
  const $N_lanes most = ($N_lanes){} + $LARGEST;
  $N_lanes l;
$LOADED$NETWORK  const $N_lanes all[] = {$IN_ORDER};
  $N_give((const $SIGNED*)all, n, out);
}
)";

/// `split` moves the elements that are less to the begin of d, and the others to f. Whole vectors are written where at
/// least as many elements remain, so none leaves the memory of its part. A pivot is the middle lane of the median of
/// three medians of three vectors.
constexpr const char* kQuicksort = R"(
typedef struct { $SIGNED *d, *f, *out; long long n; int halve; } $N_part;
$FN void $N_split($N_part p, $SIGNED pivot, $N_part* less, $N_part* rest) {
  const long long n = p.n;
  long long l = 0, i = 0;
  for (; i + $LANES <= n; i += $LANES) {
    const $N_lanes v = $N_at(p.d + i);
    const unsigned m = $N_below(v, pivot);
    $N_divide(p.d, p.f, n, l, i - l, v, m);
    l += __builtin_popcount(m);
  }
  for (; i < n; ++i) {
    const $SIGNED e = p.d[i];
    p.f[$UPWARD ? i - l : n - 1 - (i - l)] = e;
    p.d[l] = e;
    l += e < pivot;
  }
  const $N_part parts[] = {{p.d, p.f + ($UPWARD ? n - l : 0), p.out, l, 0},
                          {p.f + ($UPWARD ? 0 : l), p.d + l, p.out + l, n - l, 0}};
  *less = parts[0];
  *rest = parts[1];
}
$FN $N_lanes $N_middle($N_lanes a, $N_lanes b, $N_lanes c) {
  return $N_greater($N_lesser(a, b), $N_lesser($N_greater(a, b), c));
}
$FN $N_lanes $N_sample(const $SIGNED* d, long long n) {
  const long long step = (n - $LANES) / 8;
  $N_lanes l, v0 = $N_middle($N_middle($N_at(d), $N_at(d + step), $N_at(d + 2 * step)),
                          $N_middle($N_at(d + 3 * step), $N_at(d + 4 * step), $N_at(d + 5 * step)),
                          $N_middle($N_at(d + 6 * step), $N_at(d + 7 * step), $N_at(d + 8 * step)));
$ONE_SORTED  return v0;
}
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
    $N_part less, rest;
    $N_split(p, pivot, &less, &rest);
    if (equal) {
      $N_part same = rest;
      if (pivot == $LARGEST) rest.n = 0; else $N_split(same, pivot + 1, &same, &rest);
      $N_give(same.d, same.n, same.out);
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
/// Behind the end of a run there are ones, which as floats are NaNs.
constexpr const char* kRest = R"(
$FN $N_lanes $N_key_bits($N_lanes v) { const $N_lanes k = $N_ordered(v); return $TURNED; }
$FN $N_lanes $N_rest(const $SIGNED* x, long long n) {
  return n >= $LANES ? $N_at(x) : $N_first(x, n, ($N_lanes){} - 1);
}
)";

/// "f(0), f(1), ..." of `count` numbers.
std::string listed(int64_t count, const std::function<int64_t(int64_t)>& f) {
  std::string text;
  for (int64_t i = 0; i < count; ++i) text += fmt::format("{}{}", i ? ", " : "", f(i));
  return text;
}

/// A network for `rows` vectors of `lanes` lanes, as text: columns are sorted, and then merged by pairs, an element's
/// rank running along the columns. Vectors are the variables v0, v1 and so on.
struct Network {
  int64_t rows, lanes;

  static std::string exchanged(int64_t a, int64_t b) {
    return fmt::format("  l = $N_lesser(v{0}, v{1}), v{1} = $N_greater(v{0}, v{1}), v{0} = l;\n", a, b);
  }
  static std::string crossed(const char* by, int64_t a, int64_t b) {
    if (a == b) return fmt::format("    v{0} = $N_crossed(v{0}, v{0}, {1});\n", a, by);
    return fmt::format("    l = $N_crossed(v{0}, v{1}, {2}), v{1} = $N_crossed(v{1}, v{0}, {2}), v{0} = l;\n", a, b,
                       by);
  }
  /// Batcher's merges of odd and even ones.
  std::string sorted_columns() const {
    std::string text;
    for (int64_t p = 1; p < rows; p *= 2)
      for (int64_t k = p; k > 0; k /= 2)
        for (int64_t j = k % p; j + k < rows; j += 2 * k)
          for (int64_t i = j; i < j + k && i + k < rows; ++i)
            if (i / (2 * p) == (i + k) / (2 * p)) text += exchanged(i, i + k);
    return text;
  }
  std::string sorted() const {
    std::string mirrored, apart, merged;
    for (int64_t r = 0; r < (rows + 1) / 2; ++r) mirrored += crossed("2 * width - 1, width", r, rows - 1 - r);
    for (int64_t r = 0; r < rows; ++r) apart += crossed("s, s", r, r);
    for (int64_t s = rows / 2; s > 0; s /= 2)
      for (int64_t r = 0; r < rows; ++r)
        if (!(r & s)) merged += exchanged(r, r + s);
    return fmt::format(
        "{}  for (int width = 1; width < $LANES; width *= 2) {{\n"
        "{}    for (int s = width / 2; s > 0; s /= 2) {{\n"
        "{}    }}\n{}  }}\n",
        sorted_columns(), mirrored, apart, merged);
  }
  /// From columns to rows, by interleaving; `order` becomes the vectors' numbers.
  std::string transposed(std::vector<int64_t>& order) const {
    std::string text;
    for (int64_t r = 0; r < rows; ++r) order.push_back(r);
    for (int64_t s = 1; s < rows; s *= 2) {
      std::vector<int64_t> next;
      for (size_t i = 0; i < order.size() / 2; ++i) {
        const int64_t a = order[i], b = order[i + order.size() / 2];
        text += fmt::format("  l = $N_front(v{0}, v{1}), v{1} = $N_back(v{0}, v{1}), v{0} = l;\n", a, b);
        next.insert(next.end(), {a, b});
      }
      order = next;
    }
    return text;
  }
};

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
  return step.runs.values && !step.runs.sorted && !selects && ir::has_vector_sort(step.dtype, target.vector_bytes);
}

std::string vector_run_text(const SortStep& step, const runtime::Target& target, SortNames& names) {
  const bool wide = step.key_bits == 64, floats = is_float(step.dtype), descending = step.runs.descending;
  const bool clang = target.dialect == runtime::Dialect::Clang;
  // A row of half a vector is sorted in half a vector.
  const int64_t bytes = step.runs.group * step.key_bits <= 256 ? 32 : target.vector_bytes;
  const bool masks = bytes == 64;
  const int64_t lanes = bytes * 8 / step.key_bits, vectors = ceil_div(step.runs.group, lanes);
  const Network network{std::min(static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(vectors))), kMaxRows), lanes};
  const bool many = vectors > network.rows;

  std::string loaded, in_order;
  std::vector<int64_t> order;
  const std::string transposed = network.transposed(order);
  for (int64_t r = 0; r < network.rows; ++r) {
    loaded += fmt::format("  $N_lanes v{0} = $N_first(d + {1}, n - {1}, most);\n", r, r * lanes);
    in_order += fmt::format("{}v{}", r ? ", " : "", order[r]);
  }
  const uint64_t largest = ~uint64_t{0} >> (wide ? 1 : 33);
  const auto number = [](int64_t value) { return fmt::format("{}", value); };
  const auto constant = [&](uint64_t value) { return fmt::format("{:#x}{}", value, wide ? "ll" : ""); };
  const auto minimum = [&](const char* builtin, const char* smaller, const char* other) {
    if (clang) return fmt::format("return __builtin_elementwise_{}(a, b);", builtin);
    return fmt::format("const $N_lanes m = ($N_lanes)(a < b); return ({} & m) | ({} & ~m);", smaller, other);
  };
  names.insert(names.end(),
               {{"$SIGNED", wide ? "long long" : "int"},
                {"$BYTES", number(bytes)},
                {"$LANES", number(lanes)},
                {"$WORDS", wide ? "2" : "1"},
                {"$LANE_NUMBERS", listed(lanes, [](int64_t i) { return i; })},
                {"$WORD_NUMBERS", listed(bytes / 4, [](int64_t i) { return i; })},
                {"$ALL", fmt::format("{}u", (1u << lanes) - 1)},
                {"$LARGEST", constant(largest)},
                {"$NAN", constant((largest >> (wide ? 52 : 23) << (wide ? 52 : 23)) + 1)},
                {"$LESSER", minimum("min", "a", "b")},
                {"$GREATER", minimum("max", "b", "a")},
                {"$PERMUTE", clang ? fmt::format("__builtin_ia32_permvarsi{}", bytes * 8) : "__builtin_shuffle"},
                {"$ORDERED", floats ? fmt::format("v ^ ($N_lanes)(($N_bits)(v >> {}) >> 1)", step.key_bits - 1)
                             : is_unsigned(step.dtype) ? "v ^ ~$LARGEST"
                                                       : "v"},
                {"$TURNED", descending ? "~k" : "k"},
                {"$UNTURNED", descending ? "~v" : "v"},
                {"$NANS_AT", descending ? "0" : "numbers"},
                {"$NUMBERS_AT", descending ? "nans" : "0"},
                {"$FRONT", listed(lanes, [&](int64_t i) { return i / 2 + i % 2 * lanes; })},
                {"$BACK", listed(lanes, [&](int64_t i) { return lanes / 2 + i / 2 + i % 2 * lanes; })},
                {"$LOADED", loaded},
                {"$NETWORK", network.sorted() + transposed},
                {"$IN_ORDER", in_order},
                {"$ONE_SORTED", Network{1, lanes}.sorted()},
                {"$FEW", number(network.rows * lanes)},
                {"$SORT", many ? "$N_many" : "$N_few"}});
  if (masks)
    names.insert(names.end(), {{"$MASK", lanes == 16 ? "unsigned short" : "unsigned char"},
                               {"$Q", wide ? "q" : "d"},
                               {"$S", wide ? "di" : "si"},
                               {"$UPWARD", "1"}});
  else
    names.insert(names.end(), {{"$ORDERS", orders(lanes)},
                               {"$FLOAT", wide ? "double" : "float"},
                               {"$Q", wide ? "d" : "s"},
                               {"$S", wide ? "q" : "d"},
                               {"$UPWARD", "0"}});
  return fmt::format("{}{}{}{}{}{}", kVectors, masks ? kMasks : kTable, kNetwork, many ? kQuicksort : "", kRest,
                     floats ? kFloats : kNumbers);
}

}  // namespace sinter::codegen
