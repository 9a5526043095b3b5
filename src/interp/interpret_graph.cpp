// The interpreter of tensor graphs and plan graphs: nodes in topological order, each value dropped after its last use.
#include <fmt/core.h>

#include <memory>

#include "interp/interpreter.h"
#include "interp/op_classes.h"
#include "ir/walk.h"
#include "sinter/error.h"

namespace sinter::runtime {
namespace {

using ir::Op;
using ir::UOp;

[[noreturn]] void refuse(UOp n, std::string_view why) {
  throw InternalError(
      fmt::format("interpreting {} {}{}: {}", ir::info(n->op).name, name_of(n->dtype), to_string(n->shape), why));
}

class GraphInterpreter {
 public:
  GraphInterpreter(std::span<const UOp> roots, const GraphInputs& inputs, InterpretOptions options)
      : inputs_(inputs), options_(options), order_(ir::topological(roots, [&](UOp n) { return !stored(n); })) {
    // Reading storage may walk the graph again, so positions are recorded first.
    sources_.resize(order_.size());
    uses_.assign(order_.size(), 0);
    for (size_t i = 0; i < order_.size(); ++i) {
      if (stored(order_[i])) continue;
      for (UOp s : order_[i]->src) {
        sources_[i].push_back(s->position);
        ++uses_[s->position];
      }
    }
    for (UOp r : roots) {
      roots_.push_back(r->position);
      ++uses_[r->position];
    }
    skip_products();
    values_.resize(order_.size());
  }

  std::vector<Array> run() {
    for (size_t i = 0; i < order_.size(); ++i) {
      if (uses_[i] == 0 || skipped_[i]) continue;
      values_[i] = std::make_unique<StridedView>(value(i));
      for (uint32_t s : sources_[i]) release_use(s);
    }
    return ir::mapped(roots_, [&](uint32_t r) { return values_[r]->copy(); });
  }
  /// Bits of the error word.
  uint32_t errors() const { return (index_error_ ? kIndexError : 0) | (matrix_error_ ? kMatrixError : 0); }

 private:
  bool stored(UOp n) const { return n->storage() && inputs_.read; }

  /// A product with a sum as its only consumer is not materialized: attention or matmul would need memory for every
  /// pair.
  void skip_products() {
    skipped_.assign(order_.size(), false);
    for (size_t i = 0; i < order_.size(); ++i) {
      if (order_[i]->op != Op::Reduce || stored(order_[i]) || order_[i]->reduction().combine != ir::Combine::Add)
        continue;
      const uint32_t s = sources_[i][0];
      skipped_[s] = order_[s]->op == Op::Mul && uses_[s] == 1 && is_float(order_[s]->dtype) && !stored(order_[s]);
    }
  }
  void release_use(uint32_t i) {
    if (--uses_[i]) return;
    values_[i].reset();
    if (skipped_[i])
      for (uint32_t s : sources_[i]) release_use(s);  // one level deep: these are never skipped
  }

  int64_t size(const Dim& d) const {
    if (!d.symbolic()) return d.value();
    auto bound = inputs_.vars.find(d.var().name());
    return bound == inputs_.vars.end() ? d.value() : bound->second;
  }
  std::vector<int64_t> sizes(const Shape& shape) const {
    return ir::mapped(shape, [&](const Dim& d) { return size(d); });
  }
  const StridedView& source(size_t i, size_t k) const { return *values_[sources_[i][k]]; }

  StridedView scalar(UOp n, ir::Scalar value) const {
    Array a(n->dtype, {});
    a.set(0, value);
    return StridedView::of(std::move(a));
  }

  /// Begin of the box of a Shrink, Pad or After: the attribute's begin plus the arguments from source `first` on.
  std::vector<int64_t> begin_of(size_t i, size_t first, const std::vector<int64_t>& inner,
                                const std::vector<int64_t>& outer) const {
    UOp n = order_[i];
    std::vector<int64_t> begin;
    for (size_t d = 0; d < n->region().size(); ++d) {
      begin.push_back(size(n->region()[d].begin));
      if (sources_[i].size() > first) begin[d] += source(i, first + d).copy().at(0).as_int();
      if (begin[d] < 0 || begin[d] + inner[d] > outer[d])
        refuse(n, fmt::format("axis {}: [{}, {}) lies outside 0..{}", d, begin[d], begin[d] + inner[d], outer[d]));
    }
    return begin;
  }

  StridedView leaf(UOp n) const {
    switch (n->op) {
      case Op::Const:
      case Op::Num: return scalar(n, n->scalar());
      case Op::Var: return scalar(n, ir::Scalar::of(n->dtype, bound_value(n)));
      case Op::Arange: {
        Array a(n->dtype, sizes(n->shape));
        for (int64_t i = 0; i < a.numel(); ++i) a.set(i, ir::Scalar::of(n->dtype, i));
        return StridedView::of(std::move(a));
      }
      case Op::Param: {
        const auto slot = static_cast<size_t>(n->integer());
        if (slot >= inputs_.params.size()) refuse(n, fmt::format("no slot {}", slot));
        const Array& a = inputs_.params[slot];
        if (a.dtype != n->dtype || a.shape != sizes(n->shape))
          refuse(n, fmt::format("slot {} holds another type or shape", slot));
        return StridedView::borrow(a);
      }
      case Op::Arg:
        if (static_cast<size_t>(n->integer()) >= inputs_.args.size())
          refuse(n, fmt::format("no argument {}", n->integer()));
        return scalar(n, inputs_.args[n->integer()]);
      default: refuse(n, "it has no storage");
    }
  }
  /// A Var of a tensor graph carries its value. One of a plan does not: the value comes from the inputs, or from a
  /// symbolic size in the graph.
  int64_t bound_value(UOp n) const {
    if (const auto* size = std::get_if<ir::Region>(&n->attr)) return this->size((*size)[0].end);
    const sinter::Var& var = n->get<sinter::Var>();
    if (auto bound = inputs_.vars.find(var.name()); bound != inputs_.vars.end()) return bound->second;
    for (UOp m : order_)
      for (const Dim& d : m->shape)
        if (d.symbolic() && d.var() == var) return d.value();
    refuse(n, "no value for variable " + var.name());
  }

  StridedView value(size_t i) {
    UOp n = order_[i];
    if (stored(n)) return StridedView::of(inputs_.read(n));
    switch (ir::info(n->op).cls) {
      case ir::OpClass::Leaf: return leaf(n);
      case ir::OpClass::Alu: return alu(i);
      case ir::OpClass::Movement: return movement(i);
      case ir::OpClass::Reduce: return reduction(i);
      case ir::OpClass::Pick: return pick(i);
      case ir::OpClass::State: return state(i);
      default: refuse(n, "an op of kernels");
    }
  }

  StridedView alu(size_t i) const {
    UOp n = order_[i];
    if (n->op == Op::Check) refuse(n, "an op of kernels");
    std::vector<StridedView> src;
    for (size_t k = 0; k < sources_[i].size(); ++k) src.push_back(source(i, k));
    return StridedView::of(elementwise(n->op, n->dtype, src.back().dtype, src));
  }

  StridedView movement(size_t i) const {
    UOp n = order_[i];
    const StridedView& x = source(i, 0);
    const std::vector<int64_t> shape = sizes(n->shape);
    switch (n->op) {
      case Op::Reshape: return x.reshape(shape);
      case Op::Permute: return x.permute(n->ints());
      case Op::Expand: return x.expand(shape, n->ints());
      case Op::Shrink: return x.slice(begin_of(i, 1, shape, x.shape), shape);
      case Op::Flip: return x.flip(n->ints());
      case Op::Window: {
        const auto axis = static_cast<size_t>(n->get<ir::WindowAttr>().axis);
        return x.window(axis, n->get<ir::WindowAttr>().step, shape[axis]);
      }
      case Op::Pad: {
        Array out(n->dtype, shape);
        copy_into(out, begin_of(i, 1, x.shape, shape), x);
        return StridedView::of(std::move(out));
      }
      default: refuse(n, "no movement");
    }
  }

  StridedView reduction(size_t i) const {
    UOp n = order_[i];
    const uint32_t s = sources_[i][0];
    ReductionSpec r{n->reduction(), skipped_[s] && n->op == Op::Reduce, options_.exact_tree};
    const size_t of = r.product ? s : i;
    std::vector<const StridedView*> values;
    for (size_t k = 0; k < sources_[of].size(); ++k) values.push_back(&source(of, k));
    if (n->op == Op::Scan) return StridedView::of(scan_view(r, values));
    return StridedView::of(reduce_view(r, values));
  }

  StridedView pick(size_t i) {
    UOp n = order_[i];
    if (n->op == Op::Gather)
      return StridedView::of(gather_view(source(i, 0), source(i, 1), n->integer(), index_error_));
    if (n->op == Op::Sort)
      return StridedView::of(
          sort_view(source(i, 0), n->ints()[0], sizes(n->shape).back(), n->ints()[1] != 0, ir::gives_values(n)));
    if (n->op == Op::Lapack) {
      std::vector<const StridedView*> values;
      for (size_t k = 0; k < sources_[i].size(); ++k) values.push_back(&source(i, k));
      return StridedView::of(lapack_view(ir::lapack_call_of(n), values, sizes(n->shape), matrix_error_));
    }
    return StridedView::of(scatter_view(source(i, 0), source(i, 1), source(i, 2), n->scatter(), index_error_));
  }

  StridedView state(size_t i) const {
    UOp n = order_[i];
    if (n->op == Op::Custom) return source(i, static_cast<size_t>(n->integer()));
    if (n->op != Op::After || !std::holds_alternative<ir::Region>(n->attr)) return source(i, 0);
    Array out = source(i, 0).copy();
    const StridedView& v = source(i, 1);
    copy_into(out, begin_of(i, 2, v.shape, out.shape), v);
    return StridedView::of(std::move(out));
  }

  const GraphInputs& inputs_;
  const InterpretOptions options_;
  const std::vector<UOp> order_;
  std::vector<std::vector<uint32_t>> sources_;
  std::vector<uint32_t> uses_, roots_;
  std::vector<bool> skipped_;
  std::vector<std::unique_ptr<StridedView>> values_;
  bool index_error_ = false, matrix_error_ = false;
};

}  // namespace

std::vector<Array> interpret(std::span<const UOp> roots, const GraphInputs& inputs, InterpretOptions options,
                             uint32_t* error) {
  GraphInterpreter run(roots, inputs, options);
  std::vector<Array> out = run.run();
  if (error) *error |= run.errors();
  return out;
}

}  // namespace sinter::runtime
