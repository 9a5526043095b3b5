// Verifier and text form of statements.
#include <fmt/core.h>

#include "codegen/kernel/access.h"
#include "codegen/nest/statement.h"
#include "ir/names.h"
#include "ir/walk.h"
#include "sinter/error.h"

namespace sinter::codegen {

void verify(const Statements& statements, FreeRanges& ranges) {
  for (size_t i = 0; i < statements.list.size(); ++i) {
    const Statement& s = statements.list[i];
    RangeSet open;
    for (const LoopLevel& l : s.loops) open.set(ranges.number(l.range));
    for (UOp n : body_of(s.node))
      if (n->op == Op::Range && !is_outer(n) && !one_trip(n) && !open[ranges.number(n)])
        throw InternalError(
            fmt::format("codegen: statement {} depends on range {} but does not run in it", i, range_id(n)));
    for (size_t a = 0; a < s.loops.size(); ++a)
      for (size_t b = 0; b < a; ++b)
        if (s.loops[a].range == s.loops[b].range && s.loops[a].number <= s.loops[b].number && !s.loops[a].fills)
          throw InternalError(fmt::format("codegen: in statement {} a loop of range {} is nested in itself", i,
                                          range_id(s.loops[a].range)));
    for (const Dependence& d : s.deps)
      if (d.on >= static_cast<int>(i))
        throw InternalError(fmt::format("codegen: statement {} depends on the later {}", i, d.on));
  }
}

std::string to_string(const LoopLevel& l) {
  std::string text = fmt::format("{} {}", is_outer(l.range) ? "outer" : "inner", range_id(l.range));
  if (l.number > 0) text += fmt::format(".{}", l.number);
  if (l.lanes > 1) text += fmt::format(" lanes {}", l.lanes);
  if (l.unroll > 1) text += fmt::format(" unroll {}", l.unroll);
  if (l.distance > 1) text += fmt::format(" by {}", l.distance);
  if (l.warp.threads > 1) text += fmt::format(" warp {} by {}", l.warp.threads, l.warp.stride);
  if (l.threads > 1) text += fmt::format(" threads {} by {}", l.threads, l.thread_stride);
  if (l.fills) text += " fills";
  if (l.joined_values) text += fmt::format(" joined {}", l.joined_values);
  if (l.live) text += " bounded";
  if (l.guard >= 0) text += fmt::format(" guard {}", l.guard);
  return text;
}

std::string to_string(const Statements& statements) {
  std::string text;
  for (size_t i = 0; i < statements.list.size(); ++i) {
    const Statement& s = statements.list[i];
    text += fmt::format("{}: {}", i,
                        s.accumulates()
                            ? fmt::format("{} {}", ir::info(s.node->op).name, ir::name_of(s.node->reduction().combine))
                            : fmt::format("Store p{}", slot_of(s.node)));
    for (const LoopLevel& l : s.loops) text += fmt::format(" [{}]", to_string(l));
    for (UOp home : s.homes) text += fmt::format(" carried in p{}", slot_of(home));
    for (const Dependence& d : s.deps) text += fmt::format(" after {}", d.on);
    if (s.guard >= 0) text += fmt::format(" guard {}", s.guard);
    for (UOp load : s.prefetches) text += fmt::format(" prefetches p{}", slot_of(load));
    text += "\n";
  }
  for (const Tile& t : statements.tiles) text += fmt::format("p{}: a tile of {} elements\n", t.slot, t.size);
  return text;
}

}  // namespace sinter::codegen
