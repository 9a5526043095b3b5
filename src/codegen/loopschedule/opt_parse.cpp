// One parser per kind of Opt.
#include "codegen/loopschedule/opt_parse.h"

#include <array>
#include <utility>

#include "ir/text_cursor.h"

namespace sinter::codegen {
namespace {

using ir::TextCursor;

template <class T = int>
T next(TextCursor& c) {
  c.expect(",");
  return c.integer<T>();
}

Opt read_lanes(TextCursor& c) {
  const int range = c.integer<int>();
  return Lanes{range, next(c)};
}
Opt read_unroll(TextCursor& c) {
  const int range = c.integer<int>();
  return Unroll{range, next(c)};
}
Opt read_cut(TextCursor& c) {
  Cut cut{c.integer<int>(), {}};
  while (c.consume(",")) cut.at.push_back(c.integer<int64_t>());
  return cut;
}
Opt read_split(TextCursor& c) {
  const int range = c.integer<int>();
  return Split{range, next<int64_t>(c)};
}
Opt read_order(TextCursor& c) {
  LoopOrder order;
  while (!c.peek(")")) {
    if (!order.loops.empty()) c.expect(",");
    LoopOrder::Loop loop{c.integer<int>(), 0};
    if (c.consume(".")) loop.level = c.integer<int>();
    order.loops.push_back(loop);
  }
  return order;
}
Opt read_materialize(TextCursor& c) {
  c.expect("#");
  Materialize made{c.integer<int>(), {}};
  while (c.consume(",")) {
    if (!c.consume("over")) {
      made.ranges.push_back(c.integer<int>());
      continue;
    }
    c.expect("#");
    made.over = c.integer<int>();
  }
  return made;
}
/// Parses one layout attribute, which follow the dims. False if the next word is none.
bool read_layout(TextCursor& c, TileCopy& copy) {
  if (c.consume("panel")) return copy.panel = c.integer<int>(), true;
  if (c.consume("pad")) return copy.pad = c.integer<int>(), true;
  if (c.consume("slots")) {
    copy.slots = c.integer<int>();
    copy.async = c.consume("async");
    return true;
  }
  if (!c.consume("swizzle")) return false;
  copy.swizzle_unit = c.integer<int>();
  c.expect("by");
  copy.swizzle_rows = c.integer<int>();
  return true;
}
Opt read_tile_copy(TextCursor& c) {
  c.expect("#");
  TileCopy copy;
  copy.value = c.integer<int>();
  while (c.consume(",")) {
    if (read_layout(c, copy)) continue;
    TileCopy::CopyDim dim{c.integer<int>()};
    if (c.consume(".")) dim.level = c.integer<int>();
    if (c.consume("+")) dim.taps = c.integer<int>();
    if (c.consume("lanes")) dim.lanes = c.integer<int>();
    if (c.consume("unroll")) dim.unroll = c.integer<int>();
    if (c.consume("threads")) {
      dim.threads = c.integer<int>();
      c.expect("by");
      dim.stride = c.integer<int>();
    }
    copy.dims.push_back(dim);
  }
  return copy;
}
Opt read_block(TextCursor& c) {
  const int range = c.integer<int>();
  return TaskBlock{range, next<int64_t>(c)};
}
Opt read_thread_bind(TextCursor& c) {
  const int range = c.integer<int>(), threads = next(c);
  return ThreadBind{range, threads, next(c)};
}
Opt read_mma(TextCursor& c) {
  const int rows = c.integer<int>();
  return Mma{rows, next(c)};
}

Opt read_nontemporal(TextCursor& c) { return NonTemporal{c.integer<int>()}; }
Opt read_prefetch(TextCursor& c) {
  c.expect("#");
  const int load = c.integer<int>(), range = next(c);
  Prefetch prefetch{load, range, next<int64_t>(c)};
  if (c.consume(",")) {
    c.expect("loop");
    prefetch.loop = c.integer<int>();
  }
  return prefetch;
}

Opt read_occupancy(TextCursor& c) { return Occupancy{c.integer<int>()}; }
Opt read_last_block(TextCursor& c) { return LastBlock{c.integer<int>()}; }

struct OptReader {
  std::string_view name;
  Opt (*read)(TextCursor& c);
};
constexpr std::array kOptReaders = {
    OptReader{"lanes", read_lanes},
    OptReader{"unroll", read_unroll},
    OptReader{"cut", read_cut},
    OptReader{"split", read_split},
    OptReader{"order", read_order},
    OptReader{"materialize", read_materialize},
    OptReader{"tile_copy", read_tile_copy},
    OptReader{"block", read_block},
    OptReader{"thread_bind", read_thread_bind},
    OptReader{"mma", read_mma},
    OptReader{"nontemporal", read_nontemporal},
    OptReader{"prefetch", read_prefetch},
    OptReader{"occupancy", read_occupancy},
    OptReader{"last_block", read_last_block},
};

Opt read(TextCursor& c) {
  for (const OptReader& kind : kOptReaders) {
    const size_t before = c.at;
    if (c.consume(kind.name) && c.consume("(")) {
      Opt opt = kind.read(c);
      c.expect(")");
      return opt;
    }
    c.at = before;
  }
  std::string names;
  for (const OptReader& kind : kOptReaders) names += (names.empty() ? "" : ", ") + std::string(kind.name);
  c.fail("expected one of " + names + ", then \"(\"");
}

template <size_t... kind>
std::string defaults(std::index_sequence<kind...>) {
  return to_string(std::vector<Opt>{Opt(std::in_place_index<kind>)...});
}

}  // namespace

std::vector<Opt> parse_opts(std::string_view text) {
  TextCursor c{text, "Opts"};
  std::vector<Opt> opts;
  while (!c.at_end()) opts.push_back(read(c));
  return opts;
}

std::string opt_vocabulary() { return defaults(std::make_index_sequence<std::variant_size_v<Opt>>()); }

}  // namespace sinter::codegen
