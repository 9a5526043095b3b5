// One parser per kind of Opt; many are lists of numbers.
#include "codegen/loopschedule/opt_parse.h"

#include <array>
#include <concepts>
#include <type_traits>
#include <utility>

#include "ir/text_cursor.h"

namespace sinter::codegen {
namespace {

using ir::TextCursor;

/// Parses an Opt that is a list of numbers, its members in this order.
template <class T, auto first, auto... others>
Opt read_numbers(TextCursor& c) {
  const auto read = [&c](std::integral auto& number) {
    number = c.integer<std::remove_reference_t<decltype(number)>>();
  };
  T made;
  read(made.*first);
  ((c.expect(","), read(made.*others)), ...);
  return made;
}
Opt read_cut(TextCursor& c) {
  Cut cut{c.integer<int>(), {}};
  while (c.consume(",")) cut.at.push_back(c.integer<int64_t>());
  return cut;
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
    if (c.consume("over")) {
      c.expect("#");
      made.over = c.integer<int>();
    } else if (c.consume("pad")) {
      made.pad = c.integer<int>();
    } else {
      made.ranges.push_back(c.integer<int>());
    }
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
TileCopy::CopyDim read_copy_dim(TextCursor& c) {
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
  dim.joined = c.consume("&");
  return dim;
}
Opt read_tile_copy(TextCursor& c) {
  c.expect("#");
  TileCopy copy;
  copy.value = c.integer<int>();
  while (c.consume(",")) {
    if (read_layout(c, copy)) continue;
    do copy.dims.push_back(read_copy_dim(c));
    while (copy.dims.back().joined);
  }
  return copy;
}

Opt read_unroll(TextCursor& c) {
  auto unroll = std::get<Unroll>(read_numbers<Unroll, &Unroll::range, &Unroll::count>(c));
  if (c.consume(",")) unroll.distance = c.integer<int64_t>();
  return unroll;
}

Opt read_prefetch(TextCursor& c) {
  c.expect("#");
  auto prefetch = std::get<Prefetch>(read_numbers<Prefetch, &Prefetch::load, &Prefetch::range, &Prefetch::distance>(c));
  if (c.consume(",")) {
    c.expect("loop");
    prefetch.loop = c.integer<int>();
  }
  return prefetch;
}

struct OptReader {
  std::string_view name;
  Opt (*read)(TextCursor& c);
};
constexpr std::array kOptReaders = {
    OptReader{"lanes", read_numbers<Lanes, &Lanes::range, &Lanes::count>},
    OptReader{"unroll", read_unroll},
    OptReader{"cut", read_cut},
    OptReader{"split", read_numbers<Split, &Split::range, &Split::step>},
    OptReader{"order", read_order},
    OptReader{"materialize", read_materialize},
    OptReader{"tile_copy", read_tile_copy},
    OptReader{"block", read_numbers<TaskBlock, &TaskBlock::range, &TaskBlock::size>},
    OptReader{"band", read_numbers<TaskBand, &TaskBand::range, &TaskBand::blocks>},
    OptReader{"thread_bind", read_numbers<ThreadBind, &ThreadBind::range, &ThreadBind::threads, &ThreadBind::stride>},
    OptReader{"mma", read_numbers<Mma, &Mma::rows, &Mma::columns>},
    OptReader{"nontemporal", read_numbers<NonTemporal, &NonTemporal::store>},
    OptReader{"prefetch", read_prefetch},
    OptReader{"occupancy", read_numbers<Occupancy, &Occupancy::blocks>},
    OptReader{"last_block", read_numbers<LastBlock, &LastBlock::threads>},
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
