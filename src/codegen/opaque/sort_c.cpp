// Values alone by vectors, where there is a text for them (sort_vectors.h). Else long runs by radix sort from the
// lowest digit, in memory of the thread: one pass counts all digits, and passes over digits that all elements share are
// left out. Short runs by merges.
#include <fmt/format.h>

#include <cmath>

#include "codegen/opaque/sort_text.h"
#include "codegen/opaque/sort_vectors.h"
#include "ir/ceil_div.h"

namespace sinter::codegen {
namespace {

constexpr int64_t kShort = 64;              ///< elements of a run up to which counting digits costs more than it saves
constexpr int64_t kManyBins = 4096;         ///< elements of a run from which on digits are wide
constexpr int64_t kManyElements = 1 << 17;  ///< of a run from which on it does not lie in the cache
constexpr int64_t kParts = 4;               ///< of a merge, at once
constexpr int64_t kSamples = 4096;          ///< of a row of which some ranks are wanted
constexpr int64_t kSparse = 16;             ///< times as many elements has a row that is worth a sample, and its ranks
constexpr double kDeviations = 4;           ///< of the samples below a rank: how far the keys around it lie

/// `merge`: two sorted runs in order into `to`. `from_a`: how many of the first d elements of a merge come from `a`.
constexpr const char* kMerge = R"(
$FN long long $N_from_a(const $ELEMENT* a, long long na, const $ELEMENT* b, long long nb, long long d) {
  long long low = d > nb ? d - nb : 0, high = d < na ? d : na;
  while (low < high) {
    const long long m = (low + high) / 2;
    if ($N_less(b[d - 1 - m], a[m])) high = m; else low = m + 1;
  }
  return low;
}
$FN void $N_merge(const $ELEMENT* a, const $ELEMENT* a_end, const $ELEMENT* b, const $ELEMENT* b_end, $TO* to) {
  while (a < a_end && b < b_end) {
    const $ELEMENT x = *a, y = *b;
    const int right = $N_less(y, x);
    const $ELEMENT e = right ? y : x;
    *to++ = $STORED;
    b += right;
    a += 1 - right;
  }
  for (; a < a_end; ++a) { const $ELEMENT e = *a; *to++ = $STORED; }
  for (; b < b_end; ++b) { const $ELEMENT e = *b; *to++ = $STORED; }
}
)";

/// In several parts at once, for a merge waits for one comparison after the other. All parts take as many steps as the
/// shortest remaining run has elements.
constexpr const char* kMergeParts = R"(
$FN void $N_merge_parts(const $ELEMENT* a, long long na, const $ELEMENT* b, long long nb, long long d, long long end,
                        $TO* to) {
  const $ELEMENT *x[$PARTS + 1], *y[$PARTS + 1], *x_end[$PARTS], *y_end[$PARTS];
  $TO* out[$PARTS];
  for (int p = 0; p <= $PARTS; ++p) {
    const long long at = d + (end - d) * p / $PARTS, i = $N_from_a(a, na, b, nb, at);
    x[p] = a + i;
    y[p] = b + (at - i);
    if (p) { x_end[p - 1] = x[p]; y_end[p - 1] = y[p]; }
    if (p < $PARTS) out[p] = to + at;
  }
  for (;;) {
    long long steps = end - d;
    for (int p = 0; p < $PARTS; ++p) {
      const long long nx = x_end[p] - x[p], ny = y_end[p] - y[p];
      steps = nx < steps ? nx : steps;
      steps = ny < steps ? ny : steps;
    }
    if (steps == 0) break;
    for (long long s = 0; s < steps; ++s)
      for (int p = 0; p < $PARTS; ++p) {
        const $ELEMENT u = *x[p], v = *y[p];
        const int right = $N_less(v, u);
        const $ELEMENT e = right ? v : u;
        *out[p]++ = $STORED;
        y[p] += right;
        x[p] += 1 - right;
      }
  }
  for (int p = 0; p < $PARTS; ++p) $N_merge(x[p], x_end[p], y[p], y_end[p], out[p]);
}
)";

constexpr const char* kShortRun = R"(
$FN void $N_run(const $VALUE* x, long long n, long long first, $ELEMENT* a, $ELEMENT* b, unsigned* bins, $OUT* out) {
  for (long long i = 0; i < n; ++i) {
    const $ELEMENT e = $N_make(x[i], $N_key_of(x[i]), first + i);
    long long k = i;
    for (; k % 8 && $N_less(e, a[k - 1]); --k) a[k] = a[k - 1];
    a[k] = e;
  }
  for (long long w = 8; w < n; w *= 2) {
    for (long long i = 0; i < n; i += 2 * w) {
      const long long na = n - i < w ? n - i : w, nb = n - i - na < w ? n - i - na : w;
      $N_merge(a + i, a + i + na, a + i + na, a + i + na + nb, b + i);
    }
    $ELEMENT* t = a;
    a = b;
    b = t;
  }
  for (long long i = 0; i < n - $OTHERS; ++i) out[i] = $N_result(a[$FIRST + i]);
}
)";

/// Passes over the digits of the lowest `bits` bits, without those that all elements share. Returns a or b.
constexpr const char* kPasses = R"(
$FN $ELEMENT* $N_sorted($ELEMENT* a, $ELEMENT* b, long long m, unsigned* bins, int bits, int width) {
  const int last = (1 << width) - 1;
  for (int s = 0; s < bits; s += width) {
    for (int i = 0; i <= last; ++i) bins[i] = 0;
    for (long long i = 0; i < m; ++i) ++bins[$N_key(a[i]) >> s & last];
    if (bins[$N_key(a[0]) >> s & last] == m) continue;
    unsigned sum = 0;
    for (int i = 0; i <= last; ++i) {
      const unsigned here = bins[i];
      bins[i] = sum;
      sum += here;
    }
    for (long long i = 0; i < m; ++i) {
      const $ELEMENT e = a[i];
      b[bins[$N_key(e) >> s & last]++] = e;
    }
    $ELEMENT* t = a;
    a = b;
    b = t;
  }
  return a;
}
)";

/// Some ranks of a row. Those elements are sorted whose keys a sample of the row puts around these ranks, or, where
/// they do not have them all, those whose highest digits these ranks have.
constexpr const char* kSelect = R"(
$FN long long $N_with_digits(const $VALUE* x, long long n, $ELEMENT* a, unsigned* bins, long long* skipped) {
  for (int i = 0; i < $BINS; ++i) bins[i] = 0;
  for (long long i = 0; i < n; ++i) ++bins[$N_key_of(x[i]) >> $TOP];
  long long reached = bins[0], m = 0;
  unsigned low = 0;
  for (*skipped = 0; reached <= $FIRST; reached += bins[low]) {
    *skipped = reached;
    ++low;
  }
  unsigned high = low;
  while (reached < $FIRST + $COUNT) reached += bins[++high];
  const unsigned span = high - low;
  for (long long i = 0; i < n; ++i) {
    const $KEY k = $N_key_of(x[i]);
    a[m] = $N_make(x[i], k, i);
    m += (unsigned)(k >> $TOP) - low <= span;
  }
  return m;
}
)";

/// Blocks without an element between the keys are skipped, and elements below the keys counted, by vectors.
constexpr const char* kSampled = R"(
typedef $VALUE $N_lanes __attribute__((vector_size(32)));
typedef $VALUE $N_lanes_m __attribute__((vector_size(32), aligned(sizeof($VALUE))));
typedef unsigned long long $N_words __attribute__((vector_size(32)));
$FN $N_lanes $N_keys_of($N_lanes b) { return $VECTOR_KEY; }
$FN long long $N_with_keys(const $VALUE* x, long long n, $ELEMENT* a, $VALUE low, $VALUE high, long long* skipped) {
  const $VALUE span = high - low;
  const int lanes = 32 / sizeof($VALUE);
  $N_lanes less = {};
  $N_lanes keys[2 * sizeof($VALUE)];
  long long m = 0, i = 0;
  for (; i + 64 <= n; i += 64) {
    $N_lanes any = {};
    for (int j = 0; j < 2 * sizeof($VALUE); ++j) {
      const $N_lanes k = $N_keys_of(*(const $N_lanes_m*)(x + i + j * lanes));
      keys[j] = k;
      any |= ($N_lanes)(k - low <= span);
      less -= ($N_lanes)(k < low);
    }
    const $N_words found = ($N_words)any;
    if (!(found[0] | found[1] | found[2] | found[3])) continue;
    const $VALUE* key = (const $VALUE*)keys;
    for (int j = 0; j < 64; ++j) {
      a[m] = $N_make(x[i + j], key[j], i + j);
      m += ($VALUE)(key[j] - low) <= span;
    }
  }
  long long below = 0;
  for (int j = 0; j < lanes; ++j) below += less[j];
  for (; i < n; ++i) {
    const $VALUE k = $N_key_of(x[i]);
    a[m] = $N_make(x[i], k, i);
    m += ($VALUE)(k - low) <= span;
    below += k < low;
  }
  *skipped = below;
  return m;
}
)";

constexpr const char* kSelectRun = R"(
$FN void $N_run(const $VALUE* x, long long n, long long first, $ELEMENT* a, $ELEMENT* b, unsigned* bins, $OUT* out) {
  long long skipped = n, m = 0;
$SAMPLE  if (skipped > $FIRST || skipped + m < $FIRST + $COUNT) m = $N_with_digits(x, n, a, bins, &skipped);
  a = $N_sorted(a, b, m, bins, $BITS, $WIDTH);
  for (long long i = 0; i < $COUNT; ++i) out[i] = $N_result(a[$FIRST - skipped + i]);
}
)";

constexpr const char* kSample = R"(  for (int i = 0; i < $SAMPLES; ++i) {
    const $VALUE v = x[i * $STRIDE];
    a[i] = $N_make(v, $N_key_of(v), i);
  }
  const $ELEMENT* sample = $N_sorted(a, b, $SAMPLES, bins, $BITS, $WIDTH);
  const $VALUE low = $LOWEST, high = $HIGHEST;
  m = $N_with_keys(x, n, a, low, high, &skipped);
)";

/// A run by its highest digit first, and then each bucket, which lies in the cache. Returns 0 where few buckets have
/// most elements.
constexpr const char* kBuckets = R"(
$FN int $N_in_buckets(const $VALUE* x, long long n, long long first, $ELEMENT* a, $ELEMENT* b, unsigned* bins,
                      $OUT* out) {
  for (int i = 0; i < $BINS; ++i) bins[i] = 0;
  for (long long i = 0; i < n; ++i) ++bins[$N_key_of(x[i]) >> $TOP];
  unsigned sum = 0, most = 0;
  for (int i = 0; i < $BINS; ++i) {
    const unsigned here = bins[i];
    most = here > most ? here : most;
    bins[i] = sum;
    sum += here;
  }
  if (most > n / 4) return 0;
  for (long long i = 0; i < n; ++i) {
    const $KEY k = $N_key_of(x[i]);
    a[bins[k >> $TOP]++] = $N_make(x[i], k, first + i);
  }
  long long begin = 0;
  for (int i = 0; i < $BINS; ++i) {
    const long long m = bins[i] - begin;
    if (m == 0) continue;
    const $ELEMENT* e = m < $BINS ? $N_sorted(a + begin, b, m, bins + $BINS, $TOP, 7)
                                  : $N_sorted(a + begin, b, m, bins + $BINS, $TOP, $WIDTH);
    for (long long j = 0; j < m; ++j) out[begin + j] = $N_result(e[j]);
    begin += m;
  }
  return 1;
}
)";

constexpr const char* kLongRun = R"(
$FN void $N_run(const $VALUE* x, long long n, long long first, $ELEMENT* a, $ELEMENT* b, unsigned* bins, $OUT* out) {
$TRY_BUCKETS  for (int i = 0; i < $PASSES * $BINS; ++i) bins[i] = 0;
  for (long long i = 0; i < n; ++i) {
    const $KEY k = $N_key_of(x[i]);
$DIGITS  }
  int shifts[$PASSES], count = 0;
  unsigned* digits[$PASSES];
  for (int p = 0; p < $PASSES; ++p) {
    unsigned* c = bins + p * $BINS;
    if (c[$N_key_of(x[0]) >> p * $WIDTH & ($BINS - 1)] == n) continue;
    unsigned sum = 0;
    for (int i = 0; i < $BINS; ++i) {
      const unsigned here = c[i];
      c[i] = sum;
      sum += here;
    }
    shifts[count] = p * $WIDTH;
    digits[count++] = c;
  }
  if (count == 0) {
    for (long long i = 0; i < n; ++i) out[i] = $N_result($N_make(x[i], $N_key_of(x[i]), first + i));
    return;
  }
  unsigned* c = digits[0];
  int s = shifts[0];
  if (count == 1) {
    for (long long i = 0; i < n; ++i) {
      const $KEY k = $N_key_of(x[i]);
      out[c[k >> s & ($BINS - 1)]++] = $N_result($N_make(x[i], k, first + i));
    }
    return;
  }
  for (long long i = 0; i < n; ++i) {
    const $KEY k = $N_key_of(x[i]);
    a[c[k >> s & ($BINS - 1)]++] = $N_make(x[i], k, first + i);
  }
  for (int p = 1; p < count - 1; ++p) {
    c = digits[p];
    s = shifts[p];
    for (long long i = 0; i < n; ++i) {
      const $ELEMENT e = a[i];
      b[c[$N_key(e) >> s & ($BINS - 1)]++] = e;
    }
    $ELEMENT* t = a;
    a = b;
    b = t;
  }
  c = digits[count - 1];
  s = shifts[count - 1];
  for (long long i = 0; i < n; ++i) {
    const $ELEMENT e = a[i];
    out[c[$N_key(e) >> s & ($BINS - 1)]++] = $N_result(e);
  }
}
)";

constexpr const char* kSortTask = R"(
int $N(void* const* bufs, const long long* vars, long long begin, long long end) {
  $OUT* to = bufs[1];
  const $VALUE* from = bufs[2];
  unsigned* bins = bufs[3];
  $ELEMENT* a = ($ELEMENT*)(bins + $COUNTERS);
  $ELEMENT* b = a + $RUN + $SPARE;
  for (long long t = begin; t < end; ++t) {
    const long long row = t / $TASKS, first = t % $TASKS * $RUN;
    $N_run(from + row * $ROW + first, $ROW - first < $RUN ? $ROW - first : $RUN, first, a, b, bins,
           to + row * $COUNT + first);
  }
  return 0;
}
)";

constexpr const char* kMergeTask = R"(
int $N(void* const* bufs, const long long* vars, long long begin, long long end) {
  const long long chunk = ($COUNT + $TASKS - 1) / $TASKS;
  for (long long t = begin; t < end; ++t) {
    long long at = $FIRST + t % $TASKS * chunk;
    const long long till = at + chunk < $FIRST + $COUNT ? at + chunk : $FIRST + $COUNT;
    $OUT* to = ($OUT*)bufs[1] + t / $TASKS * $COUNT - $FIRST;
    const $ELEMENT* from = (const $ELEMENT*)bufs[2] + t / $TASKS * $ROW;
    while (at < till) {
      const long long base = at / $RUN * $RUN, stop = base + $RUN < $ROW ? base + $RUN : $ROW;
      const long long middle = base + $SORTED < stop ? base + $SORTED : stop, until = till < stop ? till : stop;
      $N_merge_parts(from + base, middle - base, from + middle, stop - middle, at - base, until - base, to + base);
      at = until;
    }
  }
  return 0;
}
)";

/// How many samples are below the element of a rank: the mean, and `deviations` times the standard deviation more.
int64_t sample_of_rank(int64_t rank, int64_t row, double deviations) {
  const double part = static_cast<double>(rank) / static_cast<double>(row), samples = kSamples;
  return std::llround(samples * part + deviations * (std::sqrt(samples * part * (1 - part)) + 1));
}

/// What narrows a selection, and names for it; empty if the row is too short or too many ranks are wanted.
std::string sample_text(const SortStep& step, SortNames& names) {
  const ir::SortRuns& runs = step.runs;
  if (step.key_bits < 32 || runs.row < kSparse * kSamples || runs.row < kSparse * runs.count) return {};
  const int64_t low = sample_of_rank(runs.first, runs.row, -kDeviations);
  const int64_t high = sample_of_rank(runs.first + runs.count, runs.row, kDeviations);
  names.insert(names.end(), {{"$SAMPLES", fmt::format("{}", kSamples)},
                             {"$STRIDE", fmt::format("{}ll", runs.row / kSamples)},
                             {"$VECTOR_KEY", vector_key(step)},
                             {"$LOWEST", low < 0 ? "0" : fmt::format("$N_key(sample[{}])", low)},
                             {"$HIGHEST", high >= kSamples ? "~($VALUE)0" : fmt::format("$N_key(sample[{}])", high)}});
  return kSample;
}

}  // namespace

runtime::KernelSource sort_c(const SortStep& step, const Kernel& kernel, const runtime::Target& target) {
  const ir::SortRuns& runs = step.runs;
  const bool vectors = sorts_in_vectors(step, target), brief = runs.group <= kShort,
             selects = runs.last() && runs.count < runs.row;
  const int width = step.key_bits == 8 || runs.group < kManyBins ? 8 : 11, bins = 1 << width;
  const int passes = static_cast<int>(ceil_div(step.key_bits, width));
  const int64_t counters = brief || vectors ? 0 : int64_t{passes} * bins;
  // Elements beyond a run that may be written: one by a selection, up to a vector by vectors.
  const int64_t spare = vectors ? target.vector_bytes * 8 / step.key_bits : 1;
  std::string digits;
  for (int p = 0; p < passes; ++p)
    digits += fmt::format("    ++bins[{} + (k >> {} & {})];\n", p * bins, p * width, bins - 1);

  SortNames names = names_of(step);
  names.insert(names.end(), {{"$FN", "static inline __attribute__((always_inline))"},
                             {"$PASSES", fmt::format("{}", passes)},
                             {"$BINS", fmt::format("{}", bins)},
                             {"$COUNTERS", fmt::format("{}", counters)},
                             {"$PARTS", fmt::format("{}", kParts)},
                             {"$SPARE", fmt::format("{}", spare)},
                             {"$WIDTH", fmt::format("{}", width)},
                             {"$BITS", fmt::format("{}", step.key_bits)},
                             {"$TOP", fmt::format("{}", step.key_bits - width)},
                             {"$DIGITS", digits},
                             {"$OTHERS", fmt::format("{}", selects ? runs.row - runs.count : 0)},
                             {"$TO", runs.sorted ? "$OUT" : "$ELEMENT"},
                             {"$STORED", runs.sorted ? "$N_result(e)" : "e"}});
  std::string text = element_text(step);
  if (runs.sorted || (brief && !vectors)) text += kMerge;
  if (vectors) {
    text += vector_run_text(step, target, names);
  } else if (!runs.sorted && selects && !brief) {
    const std::string sample = sample_text(step, names);
    text += fmt::format("{}{}{}{}", kPasses, kSelect, sample.empty() ? "" : kSampled, kSelectRun);
    names.emplace_back("$SAMPLE", sample);
  } else if (!runs.sorted && brief) {
    text += kShortRun;
  } else if (!runs.sorted) {
    const bool buckets = runs.group >= kManyElements && step.key_bits >= 32;
    text += fmt::format("{}{}{}", buckets ? kPasses : "", buckets ? kBuckets : "", kLongRun);
    names.emplace_back("$TRY_BUCKETS", buckets ? "  if ($N_in_buckets(x, n, first, a, b, bins, out)) return;\n" : "");
  }
  text += runs.sorted ? std::string(kMergeParts) + kMergeTask : kSortTask;

  runtime::KernelSource source;
  const int64_t elements = 2 * (runs.group + spare) * (runs.values ? step.key_bits / 8 : runs.words * 8);
  if (!runs.sorted) source.scratch = round_up(elements + counters * 4, 64);
  finish(source, text, kernel.name, names);
  return source;
}

}  // namespace sinter::codegen
