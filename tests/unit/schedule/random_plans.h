// Plan graphs at random, from a seed.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "unit/schedule_support.h"

namespace sinter::schedule::testing {

using ir::Combine;
using ir::Ints;
using ir::Op;
using ir::Region;
using ir::UOp;

/// Random programs over small shapes: elementwise, movement, reductions, picks, versions.
class Generator {
 public:
  /// `tall`: some first axes are long enough for sums across outer ranges.
  explicit Generator(uint32_t seed, bool tall = false) : random_(seed), tall_(tall) {}

  Program make() {
    Program p;
    const int slots = pick(2, 4);
    for (int i = 0; i < slots; ++i) pool_.push_back(p.slot(shape(), kind()));
    const int params = static_cast<int>(pool_.size());
    const int ops = pick(5, 40);
    for (int i = 0; i < ops; ++i)
      if (UOp n = op(p)) pool_.push_back(n);
    std::vector<bool> taken(static_cast<size_t>(params), false);
    const int outputs = pick(1, 4);
    for (int i = 0; i < outputs; ++i) {
      UOp v =
          pool_[pool_.size() - 1 - static_cast<size_t>(pick(0, std::min<int>(6, static_cast<int>(pool_.size()) - 1)))];
      int home = -1;
      for (int s = 0; s < params; ++s)
        if (!taken[static_cast<size_t>(s)] && home < 0 && pool_[static_cast<size_t>(s)]->shape == v->shape &&
            pool_[static_cast<size_t>(s)]->dtype == v->dtype && pick(0, 1))
          home = s;
      if (home >= 0) {
        taken[static_cast<size_t>(home)] = true;
        UOp old = pool_[static_cast<size_t>(home)];
        if (pick(0, 2) == 0) {
          Region box = random_box(v->shape);
          v = p.after(old, shrink(v, box), box);
        }
      }
      p.store(v, home);
    }
    return p;
  }

 private:
  int pick(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  DType kind() {
    static constexpr DType kinds[] = {DType::F32, DType::F32, DType::F32, DType::I32, DType::F64};
    return kinds[pick(0, 4)];
  }
  Shape shape() {
    Shape s;
    const int rank = pick(1, 3);
    for (int i = 0; i < rank; ++i) s.push_back(pick(1, tall_ ? 3 : 5));
    static constexpr int64_t kTall[] = {64, 70, 96, 131};
    if (tall_ && pick(0, 3)) s[0] = kTall[pick(0, 3)];
    return s;
  }
  UOp any() {
    // Recent values more often: programs become deep.
    const int n = static_cast<int>(pool_.size());
    return pool_[static_cast<size_t>(pick(0, 1) ? pick(std::max(0, n - 5), n - 1) : pick(0, n - 1))];
  }
  Region random_box(const Shape& s) {
    Region box;
    for (const Dim& d : s) {
      const int n = static_cast<int>(d.value()), b = pick(0, n - 1);
      if (pick(0, 1))
        box.push_back({0, d});
      else
        box.push_back({b, pick(b + 1, n)});
    }
    return box;
  }
  Ints some_axes(size_t rank) {
    Ints axes;
    for (size_t i = 0; i < rank; ++i)
      if (pick(0, 1)) axes.push_back(static_cast<int64_t>(i));
    if (axes.empty()) axes.push_back(pick(0, static_cast<int>(rank) - 1));
    return axes;
  }
  /// Another value brought to the shape and type of x.
  UOp partner(UOp x) {
    UOp y = any();
    if (y->shape.numel() == x->shape.numel()) {
      y = reshape(y, x->shape);
    } else {
      Ints axes;
      for (size_t i = 0; i < y->rank(); ++i) axes.push_back(static_cast<int64_t>(i));
      if (y->rank() == x->rank()) {
        axes.clear();
        for (size_t i = 0; i < y->rank(); ++i)
          if (!(y->shape[i] == x->shape[i])) axes.push_back(static_cast<int64_t>(i));
        y = expand(sum(y, axes), x->shape, axes);
      } else {
        y = broadcast_to(reduce(Combine::Max, y, axes), x->shape);
      }
    }
    return cast(y, x->dtype);
  }

  UOp op(Program& p) {
    UOp x = any();
    const auto rank = x->rank();
    if (x->shape.numel() > (tall_ ? 1200 : 400) || rank > 5) return {};
    switch (pick(0, 23)) {
      case 0: return x + partner(x);
      case 1: return x - partner(x);
      case 2: return x * partner(x);
      case 3: return maximum(x, partner(x));
      case 4: return where(lt(x, partner(x)), x, -x);
      case 5: return is_float(x->dtype) ? alu(Op::Floor, {x * 0.5}) : alu(Op::Abs, {x});
      case 6: return cast(x, kind());
      case 7: {
        Ints order;
        for (size_t i = 0; i < rank; ++i) order.push_back(static_cast<int64_t>(i));
        std::shuffle(order.begin(), order.end(), random_);
        return rank ? permute(x, order) : UOp();
      }
      case 8: {
        std::vector<Dim> dims(x->shape.begin(), x->shape.end());
        if (rank > 1 && pick(0, 1)) {
          const auto i = static_cast<size_t>(pick(0, static_cast<int>(rank) - 2));
          dims[i] = dims[i].value() * dims[i + 1].value();
          dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        } else {
          for (size_t i = 0; i < rank; ++i)
            if (dims[i].value() % 2 == 0) {
              dims[i] = dims[i].value() / 2;
              dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(i) + pick(0, 1), Dim(2));
              break;
            }
        }
        return reshape(x, Shape(std::move(dims)));
      }
      case 9: return rank ? shrink(x, random_box(x->shape)) : UOp();
      case 10: {
        Region box;
        Shape to;
        for (const Dim& d : x->shape) {
          const int before = pick(0, 1), after = pick(0, 2);
          box.push_back({before, before + d.value()});
          to.push_back(d.value() + before + after);
        }
        return rank ? pad(x, box, to) : UOp();
      }
      case 11: return rank ? flip(x, some_axes(rank)) : UOp();
      case 12:
      case 13: {
        if (!rank) return {};
        static constexpr Combine combines[] = {Combine::Add, Combine::Add, Combine::Add, Combine::Max, Combine::Min};
        const Ints axes = some_axes(rank);
        UOp r = reduce(combines[pick(0, 4)], pick(0, 1) ? x * partner(x) : x, axes);
        return pick(0, 1) ? expand(r, x->shape, axes) : r;
      }
      case 14: {
        if (!rank) return {};
        const int64_t axis = pick(0, static_cast<int>(rank) - 1);
        UOp index = cast(partner(x), pick(0, 1) ? DType::I64 : DType::I32);
        return pick(0, 1) ? gather(x, index, axis) : scatter_add(x, index, partner(x), axis);
      }
      case 15:
      case 16: {
        if (!rank) return {};
        const int64_t axis = pick(0, static_cast<int>(rank) - 1);
        if (pick(0, 1) && axis + 1 < static_cast<int64_t>(rank)) return slide(x, axis, pick(-3, 3), pick(1, 6));
        const int64_t size = x->shape[static_cast<size_t>(axis)].value(), taps = pick(1, 3), dilation = pick(1, 2);
        if (x->shape.numel() > 600 || (taps - 1) * dilation >= size) return {};
        return window(x, axis, taps, pick(1, 3), dilation);
      }
      case 17: return contiguous(x);
      case 18:
      case 19: {  // a row against a statistic of itself
        if (!rank) return {};
        const Ints axes = some_axes(rank);
        UOp top = expand(reduce(Combine::Max, x, axes), x->shape, axes), off = x - top;
        if (pick(0, 1)) return off;
        UOp total = expand(sum(off * partner(off), axes), x->shape, axes);
        return pick(0, 1) ? off * total : off + total;
      }
      case 22:
        return rank ? scan(pick(0, 1) ? Combine::Add : Combine::Max, x, pick(0, static_cast<int>(rank) - 1)) : UOp();
      case 23: {  // several accumulators, one or two of them
        if (!rank) return {};
        const Ints axes = some_axes(rank);
        const Combine combine = is_float(x->dtype) && pick(0, 1) ? Combine::Moments : Combine::ArgMax;
        const UOp pair[] = {x, cast(partner(x), DType::I64)}, triple[] = {like(x, 1.0), x, like(x, 0.0)};
        const std::span<const UOp> values =
            combine == Combine::Moments ? std::span<const UOp>(triple) : std::span<const UOp>(pair);
        const int result = pick(0, accumulator_count(combine) - 1);
        pool_.push_back(cast(reduce(combine, values, axes, 0), x->dtype));
        UOp made = cast(reduce(combine, values, axes, result), x->dtype);
        return pick(0, 1) ? expand(made, x->shape, axes) : made;
      }
      case 20: {  // both sums of a matrix, met in it again
        if (rank < 2) return {};
        const auto last = static_cast<int64_t>(rank) - 1;
        UOp rows = expand(sum(x, {last}), x->shape, {last}), columns = sum(x, {0});
        pool_.push_back(columns);
        return pick(0, 1) ? rows + x : rows - expand(columns, x->shape, {0});
      }
      default: {  // a product of two matrices, perhaps of one value with itself
        if (rank != 2 || !is_float(x->dtype)) return {};
        UOp y = any();
        if (y->rank() != 2 || y->dtype != x->dtype) y = x;
        if (x->shape[1] == y->shape[0]) return matmul(x, y);
        return x->shape[1] == y->shape[1] ? matmul(x, transpose(y)) : UOp();
      }
    }
    (void)p;
  }

  std::mt19937 random_;
  const bool tall_;
  std::vector<UOp> pool_;
};

}  // namespace sinter::schedule::testing
