// Random kernels in every form that the scheduler may hand over, and random Opts for them.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <random>
#include <set>
#include <vector>

#include "codegen/kernel/ranges.h"
#include "codegen/loopschedule/loop_schedule.h"
#include "codegen/nest/loop_tree.h"
#include "ir/walk.h"
#include "unit/codegen/copies_apart.h"
#include "unit/codegen/random_tiles.h"
#include "unit/codegen_support.h"

namespace codegen_test {

/// What an environment variable says, or a number of one's own.
inline unsigned number(const char* name, unsigned otherwise) {
  const char* text = std::getenv(name);
  return text ? static_cast<unsigned>(std::atoi(text)) : otherwise;
}

class KernelGenerator {
 public:
  /// `short_floats`: some buffers and values are 16-bit floats.
  explicit KernelGenerator(unsigned seed, bool short_floats = false) : seed_(seed), short_floats_(short_floats) {}

  /// One to three stores over outer ranges and rows; what they read and write is laid out at random. Ranges are as long
  /// as the interpreter's time permits.
  KernelHarness make() {
    for (;; longest_ /= 2) {
      outer_ = rows_ = reduced_ = values_ = {};
      rng_.seed(seed_), types_.seed(seed_), stages_.seed(seed_);
      KernelHarness b = draw();
      if (steps(b) <= kMaxSteps || longest_ == 1) return b;
    }
  }

  /// About half of these are legal. `gpu`: threads may share ranges.
  std::vector<Opt> opts(const codegen::Kernel& kernel, bool gpu = false) {
    const codegen::LoopSchedule plain = codegen::make_loop_schedule(kernel, {});
    std::vector<Opt> list;
    std::vector<codegen::LoopOrder::Loop> loops;
    bool lanes = pick(0, 1);
    const bool threads = gpu;
    int stride = 1;  // of the next digit
    int copies = 1;  // of one statement at most: they are compile time
    for (const codegen::LoopAxis& a : plain.axes) {
      const int id = codegen::range_id(a.range);
      int64_t width = 1;
      if (lanes && pick(0, 2) == 0) {
        list.push_back(codegen::Lanes{id, 2 << pick(0, 3)});
        width *= std::get<codegen::Lanes>(list.back()).count;
        lanes = pick(0, 3) == 0;
      }
      if (pick(0, 3) == 0 && copies <= 8) {
        list.push_back(codegen::Unroll{id, pick(2, 5)});
        width *= std::get<codegen::Unroll>(list.back()).count;
        copies *= std::get<codegen::Unroll>(list.back()).count;
      }
      if (gpu && pick(0, 1)) {
        const int threads = any(std::vector<int>{2, 2, 4, 4, 8, 16, 32, 3});
        const bool shared = pick(0, 3) == 0;  // digits that another range has too
        list.push_back(codegen::ThreadBind{id, threads, shared ? 1 : stride});
        width *= threads;
        if (!shared) stride *= threads;
        if (stride > 256) gpu = false;
      }
      loops.push_back({id, 0});
      if (pick(0, 4) == 0) {
        width *= pick(1, 3);
        list.push_back(codegen::Split{id, width});
        loops.push_back({id, 1});
      }
      if (a.outer() && pick(0, 1)) list.push_back(codegen::TaskBlock{id, pick(0, 2) ? width * pick(1, 3) : 64});
      if (pick_stage(0, 2) == 0) add_cut(a, list);
    }
    if (pick(0, 1)) list.push_back(order(std::move(loops)));
    for (int i = pick(0, 2); i > 0; --i) add_row(kernel, plain, list);
    for (int i = (pick_stage(0, 3) + 1) / 2; i > 0; --i) TileGenerator(stages_).add(kernel, threads, list);
    for (size_t store = 0; !threads && store < kernel.sink->src.size(); ++store) {
      list.push_back(codegen::NonTemporal{static_cast<int>(store)});
      if (pick(0, 3) == 0 || !codegen::is_legal(kernel, list)) list.pop_back();  // few are whole vectors
    }
    if (!threads && pick(0, 5) == 0 && !plain.axes.empty()) add_prefetch(kernel, any(plain.axes), list);
    if (threads && pick_stage(0, 3) == 0) {
      list.push_back(codegen::Occupancy{pick_stage(1, 2)});
      if (!codegen::is_legal(kernel, list)) list.pop_back();
    }
    for (const codegen::LoopAxis& a : plain.axes)
      if (a.outer() && pick_stage(0, 3)) put_copies_apart(kernel, a, pick_stage(2, 4), list);
    const int band = pick_stage(0, 3);
    if (static_cast<size_t>(band) < kernel.outer.size()) list.push_back(codegen::TaskBand{band, pick_stage(2, 5)});
    return list;
  }

 private:
  static constexpr double kMaxSteps = 5e6;  ///< about a second

  KernelHarness draw() {
    KernelHarness b;
    const int rank = pick(0, 3);
    for (int i = 0; i < rank; ++i) outer_.push_back(b.outer(size()));
    next_id_ = 10;
    for (int i = pick(0, 2); i > 0; --i) rows_.push_back(b.inner(size(), next_id_++));
    const int stores = pick(1, 3);
    std::vector<UOp> list;
    for (int s = 0; s < stores; ++s) list.push_back(make_store(b, s == 0));
    b.stores(std::move(list));
    if (pick(0, 5) == 0) make_finish(b);
    return b;
  }

  /// How many elements the interpreter takes: of each REDUCE in the loops around it down to the innermost that it
  /// changes with.
  static double steps(const KernelHarness& b) {
    double all = 0;
    codegen::FreeRanges ranges;
    for (UOp sink : {b.kernel.sink, b.kernel.epilogue_sink})
      if (sink)
        for (UOp store : sink->src) {
          std::vector<UOp> loops;
          for (UOp n : topological(sink))
            if (n->op == Op::Range && codegen::range_kind(n) == AxisKind::Outer) loops.push_back(n);
          for (UOp n : codegen::body_of(store))
            if (n->op == Op::Range && codegen::range_kind(n) != AxisKind::Outer) loops.push_back(n);
          all += steps(store, loops, ranges);
        }
    return all;
  }
  static double steps(UOp statement, const std::vector<UOp>& loops, codegen::FreeRanges& ranges) {
    double all = 1;
    for (int64_t n : shape(loops)) all *= static_cast<double>(n);
    for (UOp n : codegen::body_of(statement)) {
      if (n->op != Op::Reduce || n == statement) continue;
      std::vector<UOp> inside = loops;
      while (!inside.empty() && !ranges.depends(n, inside.back())) inside.pop_back();
      std::copy_if(n->src.begin(), n->src.end(), std::back_inserter(inside), [](UOp r) { return r->op == Op::Range; });
      all += steps(n, inside, ranges);
    }
    return all;
  }

  int pick(int lo, int hi) { return std::uniform_int_distribution<int>(lo, hi)(rng_); }
  unsigned seed() { return static_cast<unsigned>(rng_()); }
  int64_t size() {
    return std::min(longest_, std::vector<int64_t>{1, 2, 3, 5, 8, 16, 17, 33}[static_cast<size_t>(pick(0, 7))]);
  }
  static std::vector<int64_t> shape(const std::vector<UOp>& index) {
    std::vector<int64_t> s;
    for (UOp i : index) s.push_back(i->src[0]->scalar().as_int());
    return s;
  }
  template <class T>
  T any(const std::vector<T>& list) {
    return list[static_cast<size_t>(pick(0, static_cast<int>(list.size()) - 1))];
  }

  /// Of a buffer; all else is float32.
  DType stored_type() {
    const unsigned drawn = short_floats_ ? static_cast<unsigned>(types_() % 6) : 5;
    return drawn == 0 ? DType::F16 : drawn == 1 ? DType::BF16 : DType::F32;
  }

  UOp make_store(KernelHarness& b, bool all) {
    std::vector<UOp> index;
    for (UOp o : outer_)
      if (all || pick(0, 3)) index.push_back(o);
    for (UOp r : rows_)
      if (pick(0, 2)) index.push_back(r);
    if (pick(0, 3) == 0) index.push_back(b.inner(size(), next_id_++));
    std::shuffle(index.begin(), index.end(), rng_);
    UOp value = expression(b, index, pick(1, 5), 3);
    const bool add = pick(0, 5) == 0;
    const DType type = add ? DType::F32 : stored_type();
    UOp target = b.buffer(random_array(type, shape(index), seed()));
    value = cast(value, type);
    if (pick(0, 2) == 0) value = value + b.at(target, index);  // in place
    UOp gate = index.empty() || pick(0, 3) ? UOp() : lt(index[0], b.index(pick(0, 4)));
    return b.put(target, index, value, add, gate);
  }

  /// Sums what the first store wrote.
  void make_finish(KernelHarness& b) {
    UOp from = b.kernel.sink->src[0]->src[0];
    std::vector<UOp> index, closed, kept;
    for (const Dim& d : from->shape.dims()) {
      UOp r = b.inner(d, next_id_++);
      index.push_back(r);
      (pick(0, 1) || (&d == &from->shape.dims().back() && closed.empty()) ? closed : kept).push_back(r);
    }
    UOp x = b.at(from, index);
    if (closed.empty()) return;
    std::vector<UOp> order = kept;
    // A REDUCE's ranges come after those it depends on.
    for (UOp& r : closed) {
      UOp later = b.inner(r->src[0]->scalar().as_int(), next_id_++);
      std::replace(index.begin(), index.end(), r, later);
      r = later;
    }
    x = to_compute_type(b.at(from, index));
    UOp out = b.buffer(Array(DType::F32, shape(kept)));
    b.kernel.epilogue_sink = sink(b.g(), {b.put(out, kept, b.reduce(Combine::Add, {x}, closed) * 2.0)});
  }

  /// A value that depends on some of `open`: loads in any layout, arithmetic, reductions in reductions.
  UOp expression(KernelHarness& b, const std::vector<UOp>& open, int size, int nesting) {
    if (!values_.empty() && pick(0, 2) == 0) {  // one that another store or loop uses too
      UOp v = any(values_);
      if (closed_under(v, open)) return v;
    }
    UOp made = fresh(b, open, size, nesting);
    values_.push_back(made);
    return made;
  }
  UOp fresh(KernelHarness& b, const std::vector<UOp>& open, int size, int nesting) {
    if (size <= 1) return leaf(b, open);
    const int kind = pick(0, 8);
    if (kind <= 2 && nesting > 0) return reduction(b, open, size - 1, nesting - 1);
    UOp x = expression(b, open, size / 2, nesting), y = expression(b, open, size - size / 2, nesting);
    switch (kind) {
      case 3: return x + y;
      case 4: return x * y;
      case 5: return maximum(x, y);
      case 6: return where(lt(x, y), x - y, y * 0.5);
      case 7: return cast(lt(x, y), DType::F32) + cast(cast(x * 7.0, DType::I32), DType::F32);
      default: {
        const DType type = stored_type();
        if (type == DType::F32) return fma(x, y, x);
        return cast(cast(x, type) * cast(y, type) - cast(x, type), DType::F32);
      }
    }
  }
  /// Whether v depends on no inner range but those open here.
  bool closed_under(UOp v, const std::vector<UOp>& open) {
    codegen::FreeRanges ranges;
    codegen::RangeSet others = ranges.free(v);
    for (UOp r : open) others.reset(ranges.number(r));
    return !others.any();
  }

  UOp leaf(KernelHarness& b, const std::vector<UOp>& open) {
    if (open.size() > 1 && pick_stage(0, 7) == 0) return window(b, open);
    std::vector<UOp> index, plain;
    for (UOp o : open)
      if (pick(0, 3)) plain.push_back(o);
    std::shuffle(plain.begin(), plain.end(), rng_);
    std::vector<int64_t> dims = shape(plain);
    UOp gate;
    for (size_t d = 0; d < plain.size(); ++d) switch (pick(0, 9)) {
        case 0: index.push_back(b.index(dims[d] - 1) - plain[d]); break;  // mirrored
        case 1: {                                                         // padded by one on the left
          UOp inside = le(b.index(1), plain[d]);
          gate = gate ? gate & inside : inside;
          index.push_back(plain[d] - b.index(1));
          break;
        }
        case 2: index.push_back(mod(plain[d] * b.index(3), b.index(dims[d]))); break;
        case 3: index.push_back(idiv(plain[d], b.index(2))); break;
        default: index.push_back(plain[d]);
      }
    const DType type = stored_type();
    UOp p = b.buffer(random_array(type, dims, seed()));
    return to_compute_type(gate ? b.at(p, index, gate, constant(b.g(), type, 0.25)) : b.at(p, index));
  }

  /// A buffer at a sum of two ranges, sometimes with a border.
  UOp window(KernelHarness& b, std::vector<UOp> open) {
    std::shuffle(open.begin(), open.end(), stages_);
    const auto size = codegen::max_trip_count;
    const int64_t step = pick_stage(1, 3), border = pick_stage(0, 2);
    UOp at = open[0] * b.index(step) + open[1];
    const int64_t positions = step * (size(open[0]) - 1) + size(open[1]),
                  elements = std::max<int64_t>(positions - 2 * border, 1);
    const DType type = stored_type();
    UOp p = b.buffer(random_array(type, {elements}, static_cast<unsigned>(stages_())));
    if (elements == positions) return to_compute_type(b.at(p, {at}));
    UOp inside = le(b.index(border), at) & lt(at, b.index(elements + border));
    return to_compute_type(b.at(p, {at - b.index(border)}, inside, constant(b.g(), type, 0.25)));
  }

  UOp reduction(KernelHarness& b, const std::vector<UOp>& open, int size_left, int nesting) {
    std::vector<UOp> ranges, inside = open, shared;
    for (const std::vector<UOp>& list : {rows_, reduced_}) shared.insert(shared.end(), list.begin(), list.end());
    if (!shared.empty() && pick(0, 3)) ranges.push_back(any(shared));
    if (ranges.empty() || pick(0, 2) == 0) ranges.push_back(b.over(size(), next_id_++));
    for (UOp r : ranges) {
      std::erase(inside, r);
      inside.push_back(r);
      reduced_.push_back(r);
    }
    // Below the id of a range on which it depends, a REDUCE is carried, as a chain.
    bool carried = false;
    for (UOp r : inside)
      carried |= codegen::range_kind(r) == AxisKind::Inner && codegen::range_id(r) > codegen::range_id(ranges[0]) &&
                 !(ranges.back() == r);
    ReductionTree tree{1 << pick(0, 4),
                       pick(0, 2) ? 0 : std::vector<int64_t>{1, 4, 7, 16}[static_cast<size_t>(pick(0, 3))]};
    if (carried || pick(0, 1)) tree = {};
    const Combine combine = any(std::vector<Combine>{Combine::Add, Combine::Add, Combine::Max, Combine::Min,
                                                     Combine::Dot, Combine::ArgMax, Combine::Moments, Combine::ExpSum});
    UOp x = expression(b, inside, size_left, nesting);
    std::vector<UOp> values{x};
    if (combine == Combine::Dot || combine == Combine::ExpSum) values.push_back(leaf(b, inside));
    if (combine == Combine::ArgMax) values.push_back(cast(ranges.back(), DType::I64));
    if (combine == Combine::Moments) values = {like(x, 1.0), x, like(x, 0.0)};
    if (combine == Combine::Dot && pick_stage(0, 1)) return gated_product(b, values, inside, ranges, tree);
    const int result = pick(0, accumulator_count(combine) - 1);
    UOp made = b.reduce(combine, values, ranges, tree, result);
    if (result > 0 && pick(0, 1))
      made = cast(made, DType::F32) - cast(b.reduce(combine, values, ranges, tree), DType::F32);
    return cast(made, DType::F32);
  }

  /// Both factors are 0 under one gate, one of them as a LOAD. Some products underflow, and sums beside it use the same
  /// values.
  UOp gated_product(KernelHarness& b, std::vector<UOp> values, const std::vector<UOp>& inside,
                    const std::vector<UOp>& ranges, ReductionTree tree) {
    UOp r = inside[static_cast<size_t>(pick_stage(0, static_cast<int>(inside.size()) - 1))];
    const int64_t n = r->src[0]->scalar().as_int();
    UOp gate = pick_stage(0, 1) ? le(b.index(1), r) : lt(r, b.index(n - 1));
    UOp zero = constant(b.g(), DType::F32, 0), plain = values[0];
    UOp at = r;
    int64_t elements = n + 1;
    if (pick_stage(0, 1)) {  // a window: the load has a place only where the gate is open
      UOp q = inside[static_cast<size_t>(pick_stage(0, static_cast<int>(inside.size()) - 1))];
      at = r * b.index(pick_stage(-2, 3)) + q * b.index(pick_stage(-2, 2)) + b.index(pick_stage(-1, 3));
      elements = pick_stage(1, 6);
      UOp here = le(b.index(0), at) & lt(at, b.index(elements));
      gate = pick_stage(0, 1) ? here : gate & here;
    }
    UOp load = b.at(b.buffer(random_array(DType::F32, {elements}, static_cast<unsigned>(stages_()))), {at}, gate, zero);
    values = {where(gate, plain, zero), load};
    if (pick_stage(0, 1)) values = {where(gate, plain * 1e-30, zero), b.at(b.buffer(tiny(elements)), {at}, gate, zero)};
    UOp made = b.reduce(Combine::Dot, values, ranges, tree);
    if (pick_stage(0, 1)) made = made + b.reduce(Combine::Add, {plain}, ranges, tree);
    return made;
  }
  Array tiny(int64_t n) {
    Array a = random_array(DType::F32, {n}, static_cast<unsigned>(stages_()));
    for (int64_t i = 0; i < n; ++i) reinterpret_cast<float*>(a.data.data())[i] *= 1e-30f;
    return a;
  }

  codegen::LoopOrder order(std::vector<codegen::LoopOrder::Loop> loops) {
    std::shuffle(loops.begin(), loops.end(), rng_);
    if (pick(0, 1)) loops.resize(loops.size() - static_cast<size_t>(pick(0, static_cast<int>(loops.size()))));
    for (size_t i = 0; i < loops.size(); ++i)  // levels of one range from the outermost
      for (size_t k = 0; k < i; ++k)
        if (loops[k].range == loops[i].range && loops[k].level > loops[i].level) std::swap(loops[k], loops[i]);
    return {std::move(loops)};
  }

  /// A few of the steps of a loop are where it is cut, if threads do not share it.
  void add_cut(const codegen::LoopAxis& a, std::vector<Opt>& list) {
    codegen::Cut cut{codegen::range_id(a.range), {}};
    const auto count = [&]<class T>(T kind) {
      const T* found = codegen::find_opt<T>(std::as_const(list), cut.range);
      return int64_t{found ? found->count : kind.count};
    };
    const int64_t width = count(codegen::Lanes{}) * count(codegen::Unroll{});
    if (codegen::find_opt<codegen::ThreadBind>(std::as_const(list), cut.range)) return;
    for (int64_t at = width; at < a.size && cut.at.size() < 4; at += width)
      if (pick_stage(0, 2) == 0) cut.at.push_back(at);
    if (!cut.at.empty()) list.emplace_back(std::move(cut));
  }

  void add_row(const codegen::Kernel& kernel, const codegen::LoopSchedule& plain, std::vector<Opt>& list) {
    const std::vector<UOp> nodes = topological(kernel.sink);
    codegen::FreeRanges ranges;
    std::vector<codegen::Materialize> candidates;
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (!(is_alu(nodes[i]->op) || nodes[i]->op == Op::Reduce) || !is_float(nodes[i]->dtype)) continue;
      codegen::Materialize row{static_cast<int>(i), {}};
      for (const codegen::LoopAxis& a : plain.axes)
        if (!a.outer() && a.size > 1 && ranges.depends(nodes[i], a.range))
          row.ranges.push_back(codegen::range_id(a.range));
      if (!row.ranges.empty()) candidates.push_back(row);
    }
    if (candidates.empty()) return;
    codegen::Materialize row = any(candidates);
    row.pad = row.value % 3 ? 0 : row.value % 17;
    list.push_back(row);
    for (codegen::Materialize& later : candidates)  // the first that may take its tile
      if (later.value > row.value && later.ranges == row.ranges) {
        later.over = row.value;
        later.pad = row.pad;
        if (codegen::is_legal(kernel, {row, later})) return list.push_back(later);
      }
  }

  int pick_stage(int lo, int hi) { return std::uniform_int_distribution<int>(lo, hi)(stages_); }
  void add_prefetch(const codegen::Kernel& kernel, const codegen::LoopAxis& along, std::vector<Opt>& list) {
    const std::vector<UOp> nodes = topological(kernel.sink);
    codegen::FreeRanges ranges;
    std::vector<int> loads;
    for (size_t i = 0; i < nodes.size(); ++i)
      if (nodes[i]->op == Op::Load && ranges.depends(nodes[i], along.range)) loads.push_back(static_cast<int>(i));
    if (!loads.empty())
      list.push_back(codegen::Prefetch{any(loads), codegen::range_id(along.range), pick(1, 100), pick_stage(-1, 2)});
  }

  const unsigned seed_;
  const bool short_floats_;
  int64_t longest_ = 33;
  std::mt19937 rng_, types_, stages_;  ///< of all else; of element types; of Stages
  std::vector<UOp> outer_, rows_, reduced_, values_;
  int next_id_ = 10;
};

}  // namespace codegen_test
