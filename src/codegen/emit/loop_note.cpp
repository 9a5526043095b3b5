#include "codegen/emit/loop_note.h"

#include <fmt/core.h>

#include "codegen/kernel/ranges.h"
#include "sinter/shape.h"

namespace sinter::codegen {

std::string step_text(const LoopLevel& level) {
  std::string text;
  auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (level.threads > 1) add(fmt::format("{} threads", level.threads));
  if (level.lanes > 1) add(fmt::format("{} lanes", level.lanes));
  if (level.unroll > 1) add(fmt::format("unrolled by {}", level.unroll));
  if (level.joined_values > 1) add(fmt::format("{} joined values", level.joined_values));
  if (level.distance > 1) add(fmt::format("copies {} apart", level.distance));
  return text;
}

std::string loop_note(const LoopAxis& axis, const LoopLevel& level, const std::string& how) {
  UOp bound = axis.range->src[0];
  std::string size = bound->op == Op::Const ? fmt::format(" of {}", bound->scalar().as_int())
                     : bound->op == Op::Var ? " of " + bound->get<sinter::Var>().name()
                                            : "";
  return fmt::format("{} range {}{}{}{}", axis.outer() ? "outer" : "inner", range_id(level.range), size,
                     how.empty() ? "" : ", ", how);
}

}  // namespace sinter::codegen
