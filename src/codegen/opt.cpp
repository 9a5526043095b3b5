// Opts: printing, legality, and what they make of the axes.
#include "codegen/opt.h"

#include <fmt/core.h>

#include <algorithm>

#include "codegen/ranges.h"
#include "sinter/error.h"
#include "uop/walk.h"

namespace sinter::codegen {
namespace {

using ir::AxisKind;
using ir::Op;
using ir::UOp;

void refuse(const Opt& opt, std::string_view why) {
  throw InternalError(fmt::format("codegen: {} is not legal: {}", to_string(opt), why));
}

Axis& axis(Schedule& schedule, const Opt& opt, int range) {
  auto it = std::find_if(schedule.axes.begin(), schedule.axes.end(),
                         [range](const Axis& a) { return range_id(a.range) == range; });
  if (it == schedule.axes.end()) refuse(opt, "the kernel has no outer or inner range of that id");
  return *it;
}
bool power_of_two(int n) { return n > 1 && (n & (n - 1)) == 0; }

void check(const Opt& opt, const Lanes& lanes, const Axis& axis, const Schedule& schedule, const Kernel& kernel) {
  if (!power_of_two(lanes.count)) refuse(opt, "a vector has 2, 4, 8, ... elements");
  if (axis.lanes > 1 || axis.unroll > 1) refuse(opt, "the range has its copies already");
  for (const Axis& other : schedule.axes)
    if (other.lanes > 1) refuse(opt, "another range is a vector already");
  // A reduction with lanes of its own must stand outside: it may depend on outer ranges before this one only.
  Ranges ranges;
  RangeSet inside;
  const std::vector<UOp> nodes = ir::topological(kernel.sink);
  for (UOp n : nodes)
    if (n->op == Op::Range && (n == axis.range || range_kind(n) != AxisKind::Outer)) inside.set(ranges.number(n));
  for (UOp n : nodes)
    if (n->op == Op::Reduce && n->reduction().tree.lanes > 1 && (ranges.free(n) & inside).any())
      refuse(opt, "a reduction inside it has lanes of its own");
  // Only the innermost outer range may be a vector: loops inside it would begin and end differently per lane.
  if (range_kind(axis.range) == AxisKind::Outer && range_id(axis.range) + 1 != static_cast<int>(kernel.outer.size()))
    refuse(opt, "outer ranges stand inside it");
}

void check(const Opt& opt, const Unroll& unroll, const Axis& axis, const Schedule&, const Kernel&) {
  if (unroll.count < 2 || unroll.count > 64) refuse(opt, "2 to 64 copies are possible");
  if (axis.lanes > 1 || axis.unroll > 1) refuse(opt, "the range has its copies already");
}

void set(Axis& axis, const Lanes& lanes) { axis.lanes = lanes.count; }
void set(Axis& axis, const Unroll& unroll) { axis.unroll = unroll.count; }

}  // namespace

std::string to_string(const Opt& opt) {
  if (const Lanes* lanes = std::get_if<Lanes>(&opt)) return fmt::format("lanes({}, {})", lanes->range, lanes->count);
  const Unroll& unroll = std::get<Unroll>(opt);
  return fmt::format("unroll({}, {})", unroll.range, unroll.count);
}
std::string to_string(const std::vector<Opt>& opts) {
  std::string text;
  for (const Opt& opt : opts) text += (text.empty() ? "" : " ") + to_string(opt);
  return text;
}

const Axis* Schedule::find(UOp range) const {
  auto it = std::find_if(axes.begin(), axes.end(), [range](const Axis& a) { return a.range == range; });
  return it == axes.end() ? nullptr : &*it;
}

Schedule make_schedule(const Kernel& kernel, const std::vector<Opt>& opts) {
  Schedule schedule;
  Ranges ranges;
  const RangeSet stored = ranges.of_stores(kernel.sink);
  for (UOp n : ir::topological(kernel.sink))
    if (n->op == Op::Range && (range_kind(n) == AxisKind::Outer || stored[ranges.number(n)]))
      schedule.axes.push_back({n});
  std::sort(schedule.axes.begin(), schedule.axes.end(),
            [](const Axis& a, const Axis& b) { return range_id(a.range) < range_id(b.range); });
  for (const Opt& opt : opts)
    std::visit(
        [&](const auto& o) {
          Axis& a = axis(schedule, opt, o.range);
          check(opt, o, a, schedule, kernel);
          set(a, o);
        },
        opt);
  return schedule;
}

}  // namespace sinter::codegen
