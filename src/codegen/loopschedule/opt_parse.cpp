// A reader per kind of Opt.
#include "codegen/loopschedule/opt_parse.h"

#include <array>
#include <utility>

#include "ir/text_cursor.h"

namespace sinter::codegen {
namespace {

using ir::Cursor;

template <class T = int>
T next(Cursor& c) {
  c.expect(",");
  return c.integer<T>();
}

Opt read_lanes(Cursor& c) {
  const int range = c.integer<int>();
  return Lanes{range, next(c)};
}
Opt read_unroll(Cursor& c) {
  const int range = c.integer<int>();
  return Unroll{range, next(c)};
}
Opt read_peel(Cursor& c) {
  const int range = c.integer<int>(), first = next(c);
  return Peel{range, first, next(c)};
}
Opt read_split(Cursor& c) {
  const int range = c.integer<int>();
  return Split{range, next<int64_t>(c)};
}
Opt read_order(Cursor& c) {
  Order order;
  while (!c.sees(")")) {
    if (!order.loops.empty()) c.expect(",");
    Order::Loop loop{c.integer<int>(), 0};
    if (c.take(".")) loop.level = c.integer<int>();
    order.loops.push_back(loop);
  }
  return order;
}
Opt read_row(Cursor& c) {
  c.expect("#");
  Row row{c.integer<int>(), {}};
  while (c.take(",")) row.ranges.push_back(c.integer<int>());
  return row;
}
/// What follows the dims.
bool read_layout(Cursor& c, Stage& stage) {
  if (c.take("panel")) return stage.panel = c.integer<int>(), true;
  if (c.take("pad")) return stage.pad = c.integer<int>(), true;
  if (c.take("slots")) return stage.slots = c.integer<int>(), true;
  if (!c.take("swizzle")) return false;
  stage.unit = c.integer<int>();
  c.expect("by");
  stage.rows = c.integer<int>();
  return true;
}
Opt read_stage(Cursor& c) {
  c.expect("#");
  Stage stage;
  stage.value = c.integer<int>();
  while (c.take(",")) {
    if (read_layout(c, stage)) continue;
    Stage::Dim dim{c.integer<int>()};
    if (c.take(".")) dim.level = c.integer<int>();
    if (c.take("lanes")) dim.lanes = c.integer<int>();
    if (c.take("unroll")) dim.unroll = c.integer<int>();
    if (c.take("threads")) {
      dim.threads = c.integer<int>();
      c.expect("by");
      dim.stride = c.integer<int>();
    }
    stage.dims.push_back(dim);
  }
  return stage;
}
Opt read_block(Cursor& c) {
  const int range = c.integer<int>();
  return Block{range, next<int64_t>(c)};
}
Opt read_local(Cursor& c) {
  const int range = c.integer<int>(), threads = next(c);
  return Local{range, threads, next(c)};
}

Opt read_nt(Cursor& c) { return Nt{c.integer<int>()}; }
Opt read_prefetch(Cursor& c) {
  c.expect("#");
  const int load = c.integer<int>(), range = next(c);
  Prefetch prefetch{load, range, next<int64_t>(c)};
  if (c.take(",")) {
    c.expect("loop");
    prefetch.loop = c.integer<int>();
  }
  return prefetch;
}

struct Kind {
  std::string_view name;
  Opt (*read)(Cursor& c);
};
constexpr std::array kKinds = {
    Kind{"lanes", read_lanes}, Kind{"unroll", read_unroll}, Kind{"peel", read_peel},         Kind{"split", read_split},
    Kind{"order", read_order}, Kind{"row", read_row},       Kind{"stage", read_stage},       Kind{"block", read_block},
    Kind{"local", read_local}, Kind{"nt", read_nt},         Kind{"prefetch", read_prefetch},
};

Opt read(Cursor& c) {
  for (const Kind& kind : kKinds) {
    const size_t before = c.at;
    if (c.take(kind.name) && c.take("(")) {
      Opt opt = kind.read(c);
      c.expect(")");
      return opt;
    }
    c.at = before;
  }
  std::string names;
  for (const Kind& kind : kKinds) names += (names.empty() ? "" : ", ") + std::string(kind.name);
  c.fail("expected one of " + names + ", then \"(\"");
}

template <size_t... kind>
std::string defaults(std::index_sequence<kind...>) {
  return to_string(std::vector<Opt>{Opt(std::in_place_index<kind>)...});
}

}  // namespace

std::vector<Opt> parse_opts(std::string_view text) {
  Cursor c{text, "Opts"};
  std::vector<Opt> opts;
  while (!c.done()) opts.push_back(read(c));
  return opts;
}

std::string opt_vocabulary() { return defaults(std::make_index_sequence<std::variant_size_v<Opt>>()); }

}  // namespace sinter::codegen
