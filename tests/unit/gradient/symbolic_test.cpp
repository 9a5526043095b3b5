// Every gradient rule on axes of a symbolic size: the numbers are those of fixed sizes, to the second order, by both
// executors.
#include <functional>
#include <set>

#include "gradient/adjoint.h"
#include "gradient/reverse.h"
#include "ir/build.h"
#include "ir/lapack_call.h"
#include "unit/tensor_support.h"

using namespace sinter;
using namespace sinter::testing;
using ir::Combine;
using ir::Op;
using ir::UOp;

namespace {

using Sources = std::vector<UOp>;
struct Case {
  std::string name;
  std::function<UOp(const Sources& x, const Dim& n)> f;  ///< of three sources [n, 2]
};

UOp index(std::vector<int64_t> values, const Shape& shape) { return tensor::node_of(from(values, shape)); }

std::vector<Case> cases() {
  std::vector<Case> out;
  for (int i = 0; i < ir::kOpCount; ++i) {
    const Op op = static_cast<Op>(i);
    const ir::OpInfo& row = ir::info(op);
    if (row.cls != ir::OpClass::Alu || row.result != ir::ResultType::Same || !autodiff::rule_of(op) || op == Op::Where)
      continue;
    out.push_back({std::string(row.name), [op, arity = row.arity](const Sources& x, const Dim&) {
                     return ir::alu(op, Sources(x.begin(), x.begin() + arity));
                   }});
  }
  auto add = [&](std::string name, std::function<UOp(const Sources& x, const Dim& n)> f) {
    out.push_back({std::move(name), std::move(f)});
  };
  add("Where", [](const Sources& x, const Dim&) { return ir::where(ir::lt(x[0], x[1]), x[0] * x[2], x[1]); });
  add("Cast", [](const Sources& x, const Dim&) { return ir::cast(ir::cast(x[0] * x[1], DType::F32), DType::F64); });
  add("Reshape", [](const Sources& x, const Dim& n) { return ir::reshape(x[0], {n, 1, 2}); });
  add("Permute", [](const Sources& x, const Dim&) { return ir::permute(x[0], {1, 0}); });
  add("Expand", [](const Sources& x, const Dim& n) { return ir::expand(x[0], {n, n, 2}, {0}); });
  add("Expand to it", [](const Sources& x, const Dim& n) {
    return ir::expand(ir::reduce(Combine::Add, x[0] * x[1], {0}), {n, 2}, {0});
  });
  add("Shrink", [](const Sources& x, const Dim& n) { return ir::shrink(x[0], {{0, n}, {1, 2}}); });
  add("Pad", [](const Sources& x, const Dim& n) { return ir::pad(x[0], {{0, n}, {1, 3}}, {n, 4}); });
  add("Window", [](const Sources& x, const Dim& n) { return ir::slide(ir::expand(x[0], {n, 2, 3}, {2}), 1, 1, 2); });
  add("Flip", [](const Sources& x, const Dim&) { return ir::flip(x[0], {0, 1}); });
  for (Combine combine : {Combine::Add, Combine::Mul, Combine::Max, Combine::Min})
    for (const ir::Ints& axes : {ir::Ints{0}, ir::Ints{1}, ir::Ints{0, 1}})
      add("Reduce", [=](const Sources& x, const Dim&) { return ir::reduce(combine, x[0] * x[1], axes); });
  add("Gather", [](const Sources& x, const Dim&) { return ir::gather(x[0], index({-1, 0, 2, -3}, {2, 2}), 0); });
  add("Gather of one", [](const Sources& x, const Dim&) { return ir::gather(x[0], index({-1, 1}, {1, 2}), 0); });
  add("Scan",
      [](const Sources& x, const Dim&) { return ir::scan(Combine::Add, x[0] * ir::scan(Combine::Add, x[1], 1), 0); });
  add("Gather along another axis", [](const Sources& x, const Dim& n) {
    return ir::gather(x[0], ir::broadcast_to(index({-1}, {1, 1}), {n, 1}), 1);
  });
  for (const ir::ScatterMode mode :
       {ir::ScatterMode::Add, ir::ScatterMode::Set, ir::ScatterMode::Mul, ir::ScatterMode::Max, ir::ScatterMode::Min})
    add("Scatter", [mode](const Sources& x, const Dim&) {
      const UOp rows = ir::expand(ir::reduce(Combine::Add, x[1], {0}), {2, 2}, {0});
      return ir::scatter(x[0], index({-1, 0, 2, -3}, {2, 2}), rows, 0, mode);
    });
  add("Lapack", [](const Sources& x, const Dim& n) {  // on the host, as its callers have it
    const auto rows = [&](UOp s) { return ir::reshape(ir::copy(s, Device::cpu()), {n, 1, 2}); };
    return ir::copy(ir::lapack({ir::LapackRoutine::LeastSquares}, {rows(x[0]), rows(x[1])}).rows, x[0]->device);
  });
  add("Leaf, After, Barrier, Contiguous, Copy, Tf32", [](const Sources& x, const Dim& n) {
    ir::TensorGraph& g = ir::TensorGraph::get();
    auto node = [&](Op op, Sources src, ir::Attr attr = {}) {
      return g.make({op, DType::F64, x[0]->shape, std::move(src), std::move(attr)});
    };
    UOp leaf = node(Op::Leaf, {x[0] * x[1]});
    UOp part = node(Op::After, {leaf, ir::shrink(x[2] * x[1], {{0, n}, {0, 1}})}, ir::Region{{0, n}, {1, 2}});
    return node(Op::Copy, {ir::barrier(ir::contiguous(node(Op::After, {ir::tf32(part * x[0])})), x[1])});
  });
  return out;
}

UOp total(UOp x) {
  ir::Ints axes;
  for (size_t i = 0; i < x->rank(); ++i) axes.push_back(static_cast<int64_t>(i));
  return ir::reshape(ir::reduce(Combine::Add, x, axes), {});
}

/// Gradients of the case's squares by its three sources, and the gradients of those, where the first axis is `n`.
std::vector<Tensor> derivatives(const Case& c, const Dim& n, std::set<Op>& covered) {
  const ir::GraphScope scope;
  std::vector<Tensor> leaves;
  Sources x;
  for (double shift : {0.0, 0.35, 0.8}) {
    std::vector<double> values;
    for (int i = 0; i < 6; ++i) values.push_back(0.6 + 0.13 * i * (i % 2 ? 1 : -0.4) + shift);
    leaves.push_back(from(values, {n, 2}).requires_grad());
    x.push_back(tensor::node_of(leaves.back()));
  }
  UOp y = c.f(x, n);
  UOp loss = total(y * y) + total(x[0] * x[1] * x[2]);
  for (UOp carrier : autodiff::gradient_nodes(loss)) covered.insert(carrier->op);
  std::vector<UOp> first = autodiff::gradient(loss, ir::like(loss, 1.0), x);
  UOp squares = total(first[0] * first[0]) + total(first[1] * first[1]) + total(first[2] * first[2]);
  std::vector<UOp> second = autodiff::gradient(squares, ir::like(squares, 1.0), x);
  std::vector<Tensor> out;
  for (const auto* list : {&first, &second})
    for (UOp g : *list) out.push_back(tensor::wrap(g));
  return out;
}

}  // namespace

TEST_CASE("every rule differentiates along symbolic sizes as along fixed ones", "[gradient]") {
  const Var n("n", 1, 5);
  std::set<Op> covered;
  for (const Case& c : cases()) {
    INFO(c.name);
    const std::vector<Tensor> fixed = derivatives(c, 3, covered), symbolic = derivatives(c, n(3), covered);
    for (size_t i = 0; i < fixed.size(); ++i) {
      INFO("derivative " << i);
      const std::vector<double> want = numbers(fixed[i]);
      CHECK(symbolic[i].shape() == Shape{n(3), 2});
      CHECK(close(numbers(symbolic[i]), want, 1e-12));
      CHECK(close(symbolic[i].to_vector<double>(), want, 1e-12));
    }
  }
  for (int i = 0; i < ir::kOpCount; ++i) {
    INFO(ir::info(static_cast<Op>(i)).name);
    if (autodiff::rule_of(static_cast<Op>(i))) CHECK(covered.contains(static_cast<Op>(i)));
  }
}

TEST_CASE("losses and the last of a symbolic axis have gradients", "[gradient]") {
  const Var n("n", 1, 8);
  auto of = [](const Tensor& y, const Tensor& x) { return gradient(y, {x})[0].to_vector<double>(); };
  Tensor x = from(std::vector<double>{1, 2, 3}, {n(3)}).requires_grad();
  Tensor z = from(std::vector<double>{1, 2, 3, 4, 5}, {n(5)}).requires_grad();
  CHECK(of(gather(x, 0, from({-1})).sum(), x) == list({0, 0, 1}));
  CHECK(of(x[from({-1, 0})].sum(), x) == list({1, 0, 1}));
  const Tensor both = gather(x, 0, from({-1})).sum() + gather(z, 0, from({-1})).sum();  // one variable, two values
  CHECK(of(both, x) == list({0, 0, 1}));
  CHECK(of(both, z) == list({0, 0, 0, 0, 1}));
  Tensor fixed = from(std::vector<double>{1, 2, 3}, {3}).requires_grad();
  CHECK(close(of(cross_entropy(x, Tensor(2)), x), of(cross_entropy(fixed, Tensor(2)), fixed), 1e-12));
}
