#include "nn/line_search.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sinter::inline v0::optim {
namespace {

constexpr double kDecrease = 1e-4, kCurvature = 0.9;

using At = std::function<TrialStep(double)>;

/// Where the cubic through two steps, with their slopes, is least; within bounds.
double cubic_minimum(const TrialStep& a, const TrialStep& b, double least, double most) {
  const double d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t);
  const double square = d1 * d1 - a.slope * b.slope;
  if (!(square >= 0)) return (least + most) / 2;
  const double d2 = std::sqrt(square);
  const double at = a.t <= b.t ? b.t - (b.t - a.t) * ((b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2))
                               : a.t - (a.t - b.t) * ((a.slope + d2 - d1) / (a.slope - b.slope + 2 * d2));
  return std::min(std::max(at, least), most);
}

struct Bracket {
  TrialStep low, high;  ///< low has the smaller loss
  bool done = false;    ///< low satisfies the conditions
};

Bracket ordered(TrialStep a, TrialStep b) {
  if (a.loss <= b.loss) return {std::move(a), std::move(b)};
  return {std::move(b), std::move(a)};
}

bool falls_too_little(const TrialStep& now, const TrialStep& start) {
  return now.loss > start.loss + kDecrease * now.t * start.slope;
}
bool is_flat(const TrialStep& now, const TrialStep& start) { return std::abs(now.slope) <= -kCurvature * start.slope; }

/// Lengthens the step until the interval from the last one contains a good one.
Bracket bracketed(const At& at, const TrialStep& start, double t, int64_t limit, int64_t& evaluations) {
  TrialStep last = start, now = at(t);
  for (; evaluations < limit; ++evaluations) {
    if (falls_too_little(now, start) || (evaluations > 1 && now.loss >= last.loss)) return ordered(last, now);
    if (is_flat(now, start)) return {now, now, true};
    if (now.slope >= 0) return ordered(last, now);
    t = cubic_minimum(last, now, now.t + 0.01 * (now.t - last.t), now.t * 10);
    last = std::exchange(now, at(t));
  }
  return ordered(start, now);
}

/// The next length to try within the bracket; `slow` says that the last one was near an end.
double within(const Bracket& b, bool& slow) {
  const double least = std::min(b.low.t, b.high.t), most = std::max(b.low.t, b.high.t);
  const double t = cubic_minimum(b.low, b.high, least, most), margin = 0.1 * (most - least);
  const bool near_end = std::min(most - t, t - least) < margin;
  if (!near_end || !(slow || t >= most || t <= least)) {
    slow = near_end;
    return t;
  }
  slow = false;
  return std::abs(t - most) < std::abs(t - least) ? most - margin : least + margin;
}

}  // namespace

TrialStep strong_wolfe(const At& at, const TrialStep& start, double t, double longest, int64_t limit,
                       double tolerance_change) {
  int64_t evaluations = 0;
  Bracket b = bracketed(at, start, t, limit, evaluations);
  for (bool slow = false; !b.done && evaluations < limit; ++evaluations) {
    if (std::abs(b.high.t - b.low.t) * longest < tolerance_change) break;
    TrialStep now = at(within(b, slow));
    if (falls_too_little(now, start) || now.loss >= b.low.loss) {
      b = ordered(std::move(b.low), std::move(now));
      continue;
    }
    b.done = is_flat(now, start);
    if (!b.done && now.slope * (b.high.t - b.low.t) >= 0) b.high = b.low;
    b.low = std::move(now);
  }
  return b.low;
}

}  // namespace sinter::inline v0::optim
