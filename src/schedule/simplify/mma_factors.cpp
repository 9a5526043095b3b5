// Movements are moved below the cast that widens a factor, or the mark of one that may be rounded.
#include "schedule/simplify/mma_factors.h"

#include <algorithm>

#include "ir/build.h"
#include "ir/contains.h"
#include "ir/mma_step.h"

namespace sinter::schedule {
namespace {

constexpr int kFirstMachine = 90;  ///< compute capability whose arithmetic of floats ir/mma_step.h is
constexpr int kFirstOfBytes = 80;  ///< that has steps of 32 bytes, and asynchronous copies
// Parts of long sums: with fewer tiles of results multiprocessors would be idle.
constexpr int64_t kTile = int64_t{128} * 128, kFewTiles = 48, kManyTiles = 192;
constexpr int64_t kShortestPart = 1024;  ///< elements
constexpr int64_t kLongestMma = 8192;    ///< elements of a chain: each step rounds toward zero, and the errors add up

/// The axis along which steps go: the longest that is a multiple of a step; if there is none, the longest. -1 if all
/// are shorter than a step.
int64_t step_axis(const Shape& shape, const ir::Ints& axes, int64_t step) {
  const auto size = [&](int64_t a) { return shape[a].value(); };
  int64_t best = -1;
  for (int64_t a : axes) {
    if (shape[a].symbolic() || size(a) < step) continue;
    const auto whole = [&](int64_t axis) { return size(axis) % step == 0; };
    if (best < 0 || std::pair(whole(a), size(a)) >= std::pair(whole(best), size(best))) best = a;
  }
  return best;
}

/// Elements in a block, whole values of an axis with all axes inside it, about kLongestMma; 0 for one chain. Blocks end
/// where the axes inside the outermost one end.
int64_t block_of(const Shape& shape, const ir::Ints& axes, int64_t step) {
  int64_t inside = 1;
  for (size_t i = axes.size(); i-- > 0;) {
    const Dim& dim = shape[axes[i]];
    if (!dim.symbolic() && inside * dim.value() <= kLongestMma) {
      inside *= dim.value();
      continue;
    }
    const int64_t unit = i + 1 == axes.size() ? step : 1;
    int64_t part = std::max(kLongestMma / inside / unit * unit, unit);
    if (i == 0) return dim.symbolic() || part < dim.value() ? part * inside : 0;
    while (part > 0 && dim.value() % part) part -= unit;
    if (part > 0 && part < dim.value()) return part * inside;
    inside *= dim.value();  // a long chain: nothing divides it
  }
  return 0;
}

/// Into how many parts sums along an axis are cut, each of `inside` times a share of its values; 1: none. They follow
/// from the shape alone.
int64_t parts_of(int64_t size, int64_t inside, int64_t results, int64_t unit) {
  const int64_t tiles = results / kTile + 1;
  int64_t best = 1;
  if (tiles > kFewTiles) return best;
  for (int64_t parts = 2; parts * tiles <= kManyTiles && size * inside / parts >= kShortestPart; ++parts)
    if (size % parts == 0 && size / parts % unit == 0) best = parts;
  return best;
}

/// Makes parts of the outermost sum results of their own.
void cut_into_parts(MmaFactors& factors, int64_t step) {
  const Shape& shape = factors.values[0]->shape;
  int64_t inside = 1, results = 1;
  for (size_t a = 0; a < shape.rank(); ++a) {
    const bool summed = ir::contains(factors.axes, static_cast<int64_t>(a));
    if (!summed)
      results *= shape[a].bound();
    else if (static_cast<int64_t>(a) != factors.axes[0])
      inside *= shape[a].bound();
  }
  const int64_t axis = factors.axes[0];
  const Dim size = shape[axis];
  if (size.symbolic()) return;
  const int64_t parts = parts_of(size.value(), inside, results, factors.axes.size() == 1 ? step : 1);
  if (parts == 1) return;
  Shape cut;
  for (size_t a = 0; a < shape.rank(); ++a) {
    if (static_cast<int64_t>(a) == axis) cut.push_back(parts);
    cut.push_back(static_cast<int64_t>(a) == axis ? Dim(size.value() / parts) : shape[a]);
  }
  for (UOp& v : factors.values) v = ir::reshape(v, cut);
  for (int64_t& a : factors.axes) a += a >= axis;
  factors.parts = axis;  // the results before it keep their places
  for (int64_t a : factors.axes) factors.parts -= a < axis;
}

/// Moves an axis to where `last` is.
UOp move_axis(UOp value, int64_t axis, int64_t last) {
  ir::Ints order;
  for (int64_t a = 0; a < static_cast<int64_t>(value->rank()); ++a)
    if (a != axis) order.push_back(a);
  order.insert(order.begin() + last, axis);
  return ir::permute(value, order);
}

/// Both factors as tensor cores take them: 16-bit floats of one type, bytes, or float32 that they may round to tf32;
/// none if they are nothing of these.
std::optional<std::vector<UOp>> operands_of(const std::vector<UOp>& values) {
  const UOp a = narrow_source(values[0]), b = narrow_source(values[1]);
  if (a && b && (a->dtype == b->dtype || is_integer(values[0]->dtype))) return std::vector{a, b};
  const UOp x = ir::tf32_source(values[0]), y = ir::tf32_source(values[1]);
  if (!x || !y) return {};
  return std::vector{ir::with_movements_of(values[0], x), ir::with_movements_of(values[1], y)};
}

}  // namespace

bool has_mma_steps(const runtime::Target& target) { return target.cuda() && target.sm >= kFirstMachine; }

UOp narrow_source(UOp n) {
  UOp narrow = ir::widened_source(ir::below_movements(n));
  if (narrow && narrow->op == Op::Cast)  // of a value that was widened and is rounded again
    if (const UOp same = ir::widened_source(narrow->src[0]); same && same->dtype == narrow->dtype) narrow = same;
  return narrow ? ir::with_movements_of(n, narrow) : UOp();
}

std::optional<MmaFactors> mma_factors(const std::vector<UOp>& values, const ir::Ints& axes,
                                      const std::vector<int64_t>& reuse, const runtime::Target& target) {
  const bool exact = is_integer(values[0]->dtype);
  if (!target.cuda() || target.sm < (exact ? kFirstOfBytes : kFirstMachine) || axes.empty()) return {};
  // Each element of a factor is part of a whole tile.
  if (std::ranges::min(reuse) < ir::kMmaTileColumns || std::ranges::max(reuse) < ir::kMmaTileRows) return {};
  std::optional<std::vector<UOp>> operands = operands_of(values);
  if (!operands) return {};
  MmaFactors made{std::move(*operands), axes, {}};
  const auto step = static_cast<int64_t>(ir::mma_step_length(made.values[0]->dtype));
  const int64_t along = step_axis(values[0]->shape, axes, step), last = axes.back();
  if (along < 0) return {};
  for (int64_t a : axes)  // blocks end where axes do, whose sizes must be known
    if (a != axes[0] && values[0]->shape[a].symbolic()) return {};
  if (along != last) {
    for (UOp& v : made.values) v = move_axis(v, along, last);
    made.axes = {};
    for (int64_t a : axes)
      if (a != along) made.axes.push_back(a > along ? a - 1 : a);
    made.axes.push_back(last);
  }
  cut_into_parts(made, step);
  made.tree.mma = true;
  if (!exact) made.tree.block = block_of(made.values[0]->shape, made.axes, step);
  return made;
}

}  // namespace sinter::schedule
