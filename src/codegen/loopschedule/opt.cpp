// Prints Opts, and makes those that take several numbers to say.
#include "codegen/loopschedule/opt.h"

#include <fmt/core.h>

namespace sinter::codegen {
namespace {

std::string text(const Lanes& o) { return fmt::format("lanes({}, {})", o.range, o.count); }
std::string text(const Unroll& o) {
  return fmt::format("unroll({}, {}{})", o.range, o.count, o.distance > 1 ? fmt::format(", {}", o.distance) : "");
}
std::string text(const Cut& o) {
  std::string list;
  for (int64_t at : o.at) list += fmt::format(", {}", at);
  return fmt::format("cut({}{})", o.range, list);
}
std::string text(const Split& o) { return fmt::format("split({}, {})", o.range, o.step); }
std::string text(const TaskBlock& o) { return fmt::format("block({}, {})", o.range, o.size); }
std::string text(const TaskBand& o) { return fmt::format("band({}, {})", o.range, o.blocks); }
std::string text(const ThreadBind& o) { return fmt::format("thread_bind({}, {}, {})", o.range, o.threads, o.stride); }
std::string text(const Mma& o) { return fmt::format("mma({}, {})", o.rows, o.columns); }
std::string text(const NonTemporal& o) { return fmt::format("nontemporal({})", o.store); }
std::string text(const Prefetch& o) {
  const std::string loop = o.loop < 0 ? "" : fmt::format(", loop {}", o.loop);
  return fmt::format("prefetch(#{}, {}, {}{})", o.load, o.range, o.distance, loop);
}
std::string text(const Occupancy& o) { return fmt::format("occupancy({})", o.blocks); }
std::string text(const LastBlock& o) { return fmt::format("last_block({})", o.threads); }
std::string text(const LoopOrder& o) {
  std::string list;
  for (const LoopOrder::Loop& l : o.loops)
    list += fmt::format("{}{}{}", list.empty() ? "" : ", ", l.range, l.level ? fmt::format(".{}", l.level) : "");
  return fmt::format("order({})", list);
}
std::string text(const Materialize& o) {
  std::string list;
  for (int r : o.ranges) list += fmt::format(", {}", r);
  if (o.over >= 0) list += fmt::format(", over #{}", o.over);
  if (o.pad) list += fmt::format(", pad {}", o.pad);
  return fmt::format("materialize(#{}{})", o.value, list);
}
std::string text(const TileCopy& o) {
  std::string list;
  for (const TileCopy::CopyDim& d : o.dims) {
    const bool continues = &d != o.dims.data() && (&d)[-1].joined;
    list += fmt::format("{} {}{}{}", continues ? " &" : ",", d.range, d.level < 0 ? "" : fmt::format(".{}", d.level),
                        d.taps < 0 ? "" : fmt::format(" + {}", d.taps));
    if (d.lanes > 1) list += fmt::format(" lanes {}", d.lanes);
    if (d.unroll > 1) list += fmt::format(" unroll {}", d.unroll);
    if (d.threads > 1) list += fmt::format(" threads {} by {}", d.threads, d.stride);
  }
  if (o.panel) list += fmt::format(", panel {}", o.panel);
  if (o.pad) list += fmt::format(", pad {}", o.pad);
  if (o.swizzle_unit) list += fmt::format(", swizzle {} by {}", o.swizzle_unit, o.swizzle_rows);
  if (o.slots > 1) list += fmt::format(", slots {}{}", o.slots, o.async ? " async" : "");
  return fmt::format("tile_copy(#{}{})", o.value, list);
}

}  // namespace

Cut peel(int range, int64_t size, int64_t width, int64_t first, int64_t last) {
  Cut made{range, {}};
  const int64_t steps = size / width;
  for (int64_t step = 1; step <= steps; ++step)
    if ((step <= first || (last > 0 && step >= steps - last)) && step * width < size) made.at.push_back(step * width);
  return made;
}

std::string to_string(const Opt& opt) {
  return std::visit([](const auto& o) { return text(o); }, opt);
}
std::string to_string(const std::vector<Opt>& opts) {
  std::string all;
  for (const Opt& opt : opts) all += fmt::format("{}{}", all.empty() ? "" : " ", to_string(opt));
  return all;
}

}  // namespace sinter::codegen
