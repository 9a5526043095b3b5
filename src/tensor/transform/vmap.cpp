// Calls the function with stand-ins for an element, and rebuilds what it made for all elements.
#include <fmt/core.h>

#include "batching/batch.h"
#include "ir/walk.h"
#include "sinter/create.h"
#include "sinter/transforms.h"
#include "tensor/core/axes.h"
#include "tensor/core/operands.h"

namespace sinter {
inline namespace v0 {
namespace transforms {
namespace {

using batching::BatchedInput;
using ir::UOp;
using tensor::Observer;
using tensor::usage_error;

/// Refuses what a function of stand-ins must not do, and tells the rest to who watches already.
class BatchObserver : public Observer {
 public:
  explicit BatchObserver(std::vector<Tensor> elements) : elements_(std::move(elements)), outer_(current_) {
    current_ = this;
  }
  ~BatchObserver() override { current_ = outer_; }
  BatchObserver(const BatchObserver&) = delete;
  BatchObserver& operator=(const BatchObserver&) = delete;

  void on_make(const std::shared_ptr<Cell>& cell) override {
    if (outer_) outer_->on_make(cell);
  }
  void on_use(const std::shared_ptr<Cell>& cell) override {
    if (outer_) outer_->on_use(cell);
  }
  void on_assign(const std::shared_ptr<Cell>& cell) override {
    if (outer_) outer_->on_assign(cell);
  }
  void on_gradient(const std::shared_ptr<Cell>& cell) override {
    if (outer_) outer_->on_gradient(cell);
  }
  void on_change(const std::shared_ptr<Cell>& cell, std::string_view what) override {
    if (outer_) outer_->on_change(cell, what);
  }
  void on_draw(Generator&, const Shape&, uint64_t, UOp, UOp) override {
    usage_error(
        "random numbers drawn inside the function would be the same for all elements; draw them outside, for the "
        "whole batch, and pass them as an argument");
  }
  void on_seed() override {
    if (outer_) outer_->on_seed();
  }
  void on_read(std::span<const UOp> asked) override {
    for (UOp n : ir::topological(asked))
      for (const Tensor& e : elements_)
        if (n == tensor::node_of(e))
          usage_error(
              "reads a value that depends on an element of the batch, which has none; use where() instead of an "
              "if, and read after vmap()");
    if (outer_) outer_->on_read(asked);
  }
  void on_plan(const plan::PlanInstance& plan, size_t plans) override {
    if (outer_) outer_->on_plan(plan, plans);
  }

 private:
  const std::vector<Tensor> elements_;
  Observer* const outer_;
};

/// An argument with its batch in front, and what stands for one element.
struct Argument {
  Tensor all, element;
};

Argument argument_of(const Tensor& x, int64_t axis, Loc where) {
  const Tensor all = x.movedim(axis, 0, where);
  Shape shape;
  for (size_t i = 1; i < all.shape().rank(); ++i) shape.push_back(all.shape()[i]);
  // Nothing else is this number, and it is not taken for one, which would be made anew on another device.
  Tensor element = number(0, x.dtype(), x.device()).expand(shape, where).contiguous(where);
  if (x.needs_grad()) element.requires_grad();
  return {all, element};
}

std::optional<int64_t> axis_of(const VmapOptions& options, size_t i) {
  return i < options.in_axes.size() ? options.in_axes[i] : std::optional<int64_t>(0);
}

}  // namespace

Tensor vmap(const TensorFunction& f, const std::vector<Tensor>& x, const VmapOptions& options, Loc where) {
  const tensor::OuterCall call("vmap", where);
  if (options.in_axes.size() > x.size())
    usage_error(
        fmt::format("{} axes are given for {} arguments; give at most one for each", options.in_axes.size(), x.size()));
  std::vector<Tensor> given = x, elements, batches;
  std::optional<Dim> count;
  for (size_t i = 0; i < x.size(); ++i) {
    const std::optional<int64_t> axis = axis_of(options, i);
    if (!axis) continue;
    const Argument a = argument_of(x[i], *axis, where);
    const Dim size = a.all.shape()[0];
    if (count && !(*count == size))
      usage_error(
          fmt::format("argument {} has {} elements along its axis {}, and one before it {}; all batches have one "
                      "size",
                      i, to_string(size), *axis, to_string(*count)));
    count = size;
    given[i] = a.element;
    elements.push_back(a.element);
    batches.push_back(a.all);
  }
  if (!count) usage_error(fmt::format("none of the {} arguments has a batch; give one an axis", x.size()));
  Tensor value;
  {
    const BatchObserver observer(elements);
    value = f(given);
  }
  const tensor::Call build("vmap", where);
  std::vector<BatchedInput> pairs;
  for (size_t i = 0; i < elements.size(); ++i)
    pairs.push_back({tensor::node_of(elements[i]), tensor::node_of(batches[i])});
  const UOp root = tensor::node_of(value);
  const Tensor all = tensor::wrap(batching::batched({&root, 1}, pairs, *count)[0]);
  return all.movedim(0, options.out_axis, where);
}

}  // namespace transforms
}  // namespace v0
}  // namespace sinter
