// Calls the function with stand-ins for an element, and rebuilds what it made for all elements.
#include "tensor/transform/vmap.h"
#include "batching/batch.h"
#include "ir/walk.h"
#include "sinter/transforms.h"
#include "tensor/core/axes.h"
#include "tensor/core/cell_version.h"
#include "tensor/core/operands.h"
#include "tensor/core/user_call.h"

namespace sinter {
namespace tensor {
namespace {

/// What stands for one element of a batch: nothing else is this node, and it is not taken for a number, which would be
/// made anew on another device.
UOp stand_in(UOp all) {
  Shape shape;
  Ints axes;
  for (size_t i = 1; i < all->rank(); ++i) {
    axes.push_back(static_cast<int64_t>(i) - 1);
    shape.push_back(all->shape[i]);
  }
  const UOp number = launch_argument(Scalar::of(all->dtype, 0), all->dtype, all->device);
  return contiguous(expand(number, shape, axes));
}

/// A rule for one element, applied to all.
class BatchedRule final : public UserRule {
 public:
  BatchedRule(std::shared_ptr<const UserRule> rule, UOp node, const Dim& count)
      : rule_(std::move(rule)), node_(node), count_(count) {}

  std::vector<UOp> gradients(const Call& call) const override {
    std::vector<batching::BatchedInput> pairs;
    std::vector<Tensor> elements;
    const auto element = [&](UOp all) {
      if (!all) return UOp();
      pairs.push_back({leaf_like(all), all});
      elements.push_back(wrap(pairs.back().element));
      return pairs.back().element;
    };
    const auto elements_of = [&](const std::vector<UOp>& all) {
      return mapped(all, [&](UOp n) { return element(n); });
    };
    const Call one{node_.get(), elements_of(call.gradients), elements_of(call.values), elements_of(call.arguments),
                   call.wanted};
    std::vector<UOp> made;
    {
      const BatchObserver observer(elements);
      made = rule_->gradients(one);
    }
    std::vector<UOp> some = filtered(made, [&](UOp g) { return g; });
    const std::vector<UOp> all = batching::batched(some, pairs, count_);
    size_t next = 0;
    for (UOp& g : made)
      if (g) g = all[next++];
    return made;
  }
  std::shared_ptr<const UserRule> batched(UOp node, const Dim& count) const override {
    return batched_rule(std::make_shared<BatchedRule>(*this), node, count);
  }

 private:
  /// An element's stand-in that requires grad if the batch does.
  static UOp leaf_like(UOp all) {
    const UOp one = stand_in(all);
    return all->state.requires_grad ? new_leaf(one) : one;
  }

  const std::shared_ptr<const UserRule> rule_;
  const NodeRef node_;  ///< of one element
  const Dim count_;
};

}  // namespace

void BatchObserver::on_assign(const std::shared_ptr<Cell>& cell) {
  if (is_foreign(cell))
    usage_error(
        "writes to a tensor from outside of the function, which has one value and not one for each element; "
        "return what it should be, and assign it after vmap()");
  NestedObserver::on_assign(cell);
}
void BatchObserver::on_draw(Generator&, const Shape&, uint64_t, UOp, UOp) {
  usage_error(
      "random numbers drawn inside the function would be the same for all elements; draw them outside, for the "
      "whole batch, and pass them as an argument");
}
void BatchObserver::on_step(std::shared_ptr<HostStep>, std::span<const UOp>) {
  usage_error("makes the step of an optimizer inside the function, where parameters have no values; step after vmap()");
}
void BatchObserver::on_read(std::span<const UOp> asked) {
  for (UOp n : topological(asked))
    for (const Tensor& e : elements_)
      if (n == node_of(e))
        usage_error(
            "reads a value that depends on an element of the batch, which has none; use where() instead of an "
            "if, and read after vmap()");
  NestedObserver::on_read(asked);
}

std::shared_ptr<const UserRule> batched_rule(std::shared_ptr<const UserRule> rule, UOp node, const Dim& count) {
  return std::make_shared<BatchedRule>(std::move(rule), node, count);
}

}  // namespace tensor

inline namespace v0 {
namespace transforms {
namespace {

using namespace tensor;
using batching::BatchedInput;

/// An argument with its batch in front, and what stands for one element. The function has handles of its own, so that
/// what it writes to them changes neither.
struct Argument {
  Tensor all, element;
};

Argument argument_of(const Tensor& x, int64_t axis, Loc where) {
  const Tensor all = x.movedim(axis, 0, where);
  const GraphScope scope;
  Tensor element = wrap(stand_in(node_of(all)));
  if (x.needs_grad()) element.requires_grad();
  return {all, element};
}

std::optional<int64_t> axis_of(const VmapOptions& options, size_t i) {
  return i < options.in_dims.size() ? options.in_dims[i] : std::optional<int64_t>(0);
}

}  // namespace

std::vector<Tensor> vmap(const ListFunction& f, const std::vector<Tensor>& x, const VmapOptions& options, Loc where) {
  const OuterCall call("vmap", where);
  if (options.in_dims.size() > x.size())
    usage_error("{} axes are given for {} arguments; give at most one for each", options.in_dims.size(), x.size());
  std::vector<Tensor> given = x, elements, batches;
  std::vector<size_t> places;  ///< of the elements among the arguments
  std::optional<Dim> count;
  for (size_t i = 0; i < x.size(); ++i) {
    const std::optional<int64_t> axis = axis_of(options, i);
    if (!axis) continue;
    const Argument a = argument_of(x[i], *axis, where);
    const Dim size = a.all.shape()[0];
    if (count && !(*count == size))
      usage_error("argument {} has {} elements along its axis {}, and one before it {}; all batches have one size", i,
                  to_string(size), *axis, to_string(*count));
    count = size;
    elements.push_back(a.element);
    batches.push_back(a.all);
    places.push_back(i);
  }
  if (!count) usage_error("none of the {} arguments has a batch; give one an axis", x.size());
  std::vector<Tensor> values;
  {
    const BatchObserver observer(elements);
    for (size_t i = 0; i < places.size(); ++i) given[places[i]] = another_handle(elements[i]);
    values = call_program_in_scope([&] { return f(given); });
  }
  const Call build("vmap", where);
  std::vector<BatchedInput> pairs;
  for (size_t i = 0; i < elements.size(); ++i) pairs.push_back({node_of(elements[i]), node_of(batches[i])});
  std::vector<UOp> roots = mapped(values, [&](const Tensor& value) { return node_of(value); });
  const std::vector<UOp> all = batching::batched(roots, pairs, *count);
  for (size_t i = 0; i < values.size(); ++i) values[i] = wrap(all[i]).movedim(0, options.out_dims, where);
  return values;
}

Tensor vmap(const TensorFunction& f, const std::vector<Tensor>& x, const VmapOptions& options, Loc where) {
  const ListFunction list = [&f](const std::vector<Tensor>& given) { return std::vector<Tensor>{f(given)}; };
  return vmap(list, x, options, where)[0];
}

}  // namespace transforms
}  // namespace v0
}  // namespace sinter
