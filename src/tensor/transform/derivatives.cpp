// Gradients, products with Jacobians and Jacobians, of the gradient of a graph.
#include <algorithm>
#include <optional>

#include "gradient/reverse.h"
#include "ir/contains.h"
#include "sinter/create.h"
#include "sinter/elementwise.h"
#include "sinter/gradient.h"
#include "sinter/transforms.h"
#include "tensor/core/cell_version.h"
#include "tensor/core/nested_observer.h"
#include "tensor/core/operands.h"
#include "tensor/core/user_call.h"
#include "tensor/transform/graph_copy.h"

namespace sinter::inline v0::transforms {
namespace {

using namespace tensor;

/// Lists the tensors from outside of a function that it writes to.
class WriteObserver final : public NestedObserver {
 public:
  void on_assign(const std::shared_ptr<Cell>& cell) override {
    if (is_foreign(cell) && !contains(written, cell)) written.push_back(cell);
    NestedObserver::on_assign(cell);
  }
  std::vector<std::shared_ptr<Cell>> written;
};

/// f at x, where a leaf of its own stands for each argument to differentiate by: neither another use of the argument
/// nor an enclosing transform's history takes part. f and what is made of its value record history in any scope.
class Evaluated {
 public:
  Evaluated(const TensorFunction& f, std::vector<Tensor> x, const Argnums& argnums) {
    if (argnums.empty()) usage_error("there are 0 arguments to differentiate by; name one or more");
    for (size_t i = 0; i < argnums.size(); ++i) {
      const int64_t argument = argnums[i];
      if (argument < 0 || argument >= static_cast<int64_t>(x.size()))
        usage_error("argument {} of {} does not exist; the first is 0", argument, x.size());
      if (std::count(argnums.begin(), argnums.end(), argument) > 1)
        usage_error("argument {} is named twice; name each once", argument);
      Tensor& by = x[static_cast<size_t>(argument)];
      if (!is_float(by.dtype()))
        usage_error("argument {} is {}, and only floats can be differentiated by; convert it with to(float32)",
                    argument, name_of(by.dtype()));
      given_.push_back(by);
      const GraphScope scope;
      leaves.push_back(wrap(new_leaf(node_of(by))));
    }
    WriteObserver observer;
    for (size_t i = 0; i < leaves.size(); ++i) x[static_cast<size_t>(argnums[i])] = another_handle(leaves[i]);
    value = call_program_in_scope([&] { return f(x); });
    written_ = std::move(observer.written);
    if (!is_float(value.dtype()))
      usage_error("the function's value is {}, and only floats can be differentiated", name_of(value.dtype()));
  }

  /// What is made of the leaves, made of the arguments instead, with the history of the scope that is open. What f
  /// wrote to tensors from outside is as well, without a history.
  std::vector<Tensor> of_arguments(const std::vector<Tensor>& made) const {
    const GraphScope scope;
    GraphCopy copy;
    for (size_t i = 0; i < leaves.size(); ++i) copy.replace(node_of(leaves[i]), node_of(given_[i]));
    for (const std::shared_ptr<Cell>& cell : written_)
      install(cell, next_version(*cell, detach(copy.run({node_of(cell)})[0])));
    const std::vector<UOp> nodes = copy.run(mapped(made, [](const Tensor& t) { return node_of(t); }));
    return mapped(nodes, [](UOp n) { return wrap(grad_enabled() ? n : detach(n)); });
  }

  Tensor value;
  std::vector<Tensor> leaves;

 private:
  std::vector<Tensor> given_;
  std::vector<std::shared_ptr<Cell>> written_;
};

/// The gradients of y by each x, which are 0 where y does not depend on x.
std::vector<Tensor> gradients(const Tensor& y, const std::vector<Tensor>& xs, const Tensor& seed, Loc where) {
  std::vector<Tensor> used;
  {
    const GraphScope scope;
    const std::vector<UOp> nodes = autodiff::gradient_nodes(node_of(y));
    used = filtered(xs, [&](const Tensor& x) { return contains(nodes, node_of(x)); });
  }
  const std::vector<Tensor> found = gradient(y, used, seed, where);
  size_t next = 0;
  return mapped(xs, [&](const Tensor& x) {
    const bool is_used = next < used.size() && used[next].cell() == x.cell();
    return is_used ? found[next++] : zeros_like(Arg(x, where));
  });
}

/// seed -> seed J is linear, and its gradient along a tangent is J tangent: the seed and, of each argument, seed J.
struct Transposed {
  Tensor seed;
  std::vector<Tensor> products;
  Transposed(const Evaluated& e, Loc where) : seed(zeros_like(Arg(e.value, where)).requires_grad()) {
    products = gradients(e.value, e.leaves, seed, where);
  }
  /// J of argument i times the tangent.
  Tensor pushed_forward(size_t i, const Tensor& tangent, Loc where) const {
    return gradients(products[i], {seed}, tangent, where)[0];
  }
};

/// Refuses a tensor whose elements are not counted yet.
void require_count(const Tensor& x, const char* what) {
  if (x.shape().symbolic())
    usage_error("{} has shape {}, and a Jacobian has a row for each element; give it a size that is known", what,
                to_string(x.shape()));
}

/// The value's shape, then the argument's.
Shape jacobian_shape(const Tensor& value, const Tensor& argument) {
  Shape shape = value.shape();
  for (const Dim& d : argument.shape()) shape.push_back(d);
  return shape;
}

/// As many tensors like x as it has elements, each 1 at one of them.
Tensor unit_vectors(const Tensor& x, Loc where) {
  const int64_t count = x.numel();
  Shape shape{count};
  for (const Dim& d : x.shape()) shape.push_back(d);
  return eye(count, -1, x.dtype(), x.device(), where).reshape(shape);
}

/// f(x), then what `make` makes of it, as values of the arguments.
template <class Make>
std::vector<Tensor> value_and(const TensorFunction& f, const std::vector<Tensor>& x, const Argnums& argnums,
                              Make make) {
  std::optional<Evaluated> e;
  std::vector<Tensor> made;
  {
    const enable_grad history;
    e.emplace(f, x, argnums);
    made = make(*e);
  }
  made.insert(made.begin(), e->value);
  return e->of_arguments(made);
}

/// What follows the value.
std::vector<Tensor> others(const std::vector<Tensor>& made) { return {made.begin() + 1, made.end()}; }

}  // namespace

std::vector<Tensor> grad(const TensorFunction& f, const std::vector<Tensor>& x, const Argnums& argnums, Loc where) {
  const OuterCall call("grad", where);
  return value_and_grad(f, x, argnums, where).others;
}

ValueAndEach value_and_grad(const TensorFunction& f, const std::vector<Tensor>& x, const Argnums& argnums, Loc where) {
  const OuterCall call("value_and_grad", where);
  const std::vector<Tensor> made = value_and(f, x, argnums, [&](const Evaluated& e) {
    if (e.value.rank() != 0)
      usage_error("the function's value has shape {}, and a gradient is of a scalar; sum it, or take jacrev() or vjp()",
                  to_string(e.value.shape()));
    return gradients(e.value, e.leaves, {}, where);
  });
  return {made[0], others(made)};
}

ValueAndEach vjp(const TensorFunction& f, const std::vector<Tensor>& x, const Tensor& seed, const Argnums& argnums,
                 Loc where) {
  const OuterCall call("vjp", where);
  const std::vector<Tensor> made =
      value_and(f, x, argnums, [&](const Evaluated& e) { return gradients(e.value, e.leaves, seed, where); });
  return {made[0], others(made)};
}

ValueAnd jvp(const TensorFunction& f, const std::vector<Tensor>& x, const std::vector<Tensor>& tangents,
             const Argnums& argnums, Loc where) {
  const OuterCall call("jvp", where);
  const std::vector<Tensor> made = value_and(f, x, argnums, [&](const Evaluated& e) {
    if (tangents.size() != e.leaves.size())
      usage_error("{} tangents are given for {} arguments; give one for each", tangents.size(), e.leaves.size());
    for (size_t i = 0; i < tangents.size(); ++i) {
      const Tensor &tangent = tangents[i], &argument = e.leaves[i];
      if (tangent.shape() != argument.shape() || tangent.dtype() != argument.dtype())
        usage_error("the tangent is {} {} and the argument {} {}; they must agree", name_of(tangent.dtype()),
                    to_string(tangent.shape()), name_of(argument.dtype()), to_string(argument.shape()));
    }
    const Transposed transposed(e, where);
    Tensor moved = transposed.pushed_forward(0, tangents[0], where);
    for (size_t i = 1; i < tangents.size(); ++i) moved = moved + transposed.pushed_forward(i, tangents[i], where);
    return std::vector<Tensor>{moved};
  });
  return {made[0], made[1]};
}

std::vector<Tensor> jacrev(const TensorFunction& f, const std::vector<Tensor>& x, const Argnums& argnums, Loc where) {
  const OuterCall call("jacrev", where);
  return others(value_and(f, x, argnums, [&](const Evaluated& e) {
    require_count(e.value, "the function's value");
    const ListFunction rows = [&](const std::vector<Tensor>& seed) {
      return gradients(e.value, e.leaves, seed[0], where);
    };
    std::vector<Tensor> made = vmap(rows, {unit_vectors(e.value, where)}, {}, where);
    for (size_t i = 0; i < made.size(); ++i) made[i] = made[i].reshape(jacobian_shape(e.value, e.leaves[i]));
    return made;
  }));
}

std::vector<Tensor> jacfwd(const TensorFunction& f, const std::vector<Tensor>& x, const Argnums& argnums, Loc where) {
  const OuterCall call("jacfwd", where);
  return others(value_and(f, x, argnums, [&](const Evaluated& e) {
    const Transposed transposed(e, where);
    std::vector<Tensor> made;
    for (size_t i = 0; i < e.leaves.size(); ++i) {
      const Tensor& argument = e.leaves[i];
      require_count(argument, "the argument");
      const TensorFunction column = [&](const std::vector<Tensor>& tangent) {
        return transposed.pushed_forward(i, tangent[0], where);
      };
      made.push_back(vmap(column, {unit_vectors(argument, where)}, {.out_dims = -1}, where)
                         .reshape(jacobian_shape(e.value, argument)));
    }
    return made;
  }));
}

}  // namespace sinter::inline v0::transforms
