// Gradients that loops add to slices of one value: how many products they take, whether they are right, and what is
// left as it was.
#include "ir/tensor_graph.h"
#include "ir/walk.h"
#include "sinter/custom_gradient.h"
#include "sinter/nn/recurrent.h"
#include "unit/differences.h"

using namespace sinter;
using namespace sinter::testing;

namespace {

constexpr int64_t kSize = 13, kIn = 4, kOut = 8, kRows = 2;

struct Cut {
  int64_t begin, end;
};

/// Slices of x along `axis`, rows of which are multiplied by a weight and added up.
struct Loop {
  const char* name;
  size_t products;  ///< sums over kOut in the gradient of x
  int64_t axis;
  std::vector<Cut> cuts;
  bool own_weights = false;  ///< a weight per step

  Shape x_shape() const { return axis == 0 ? Shape{kSize, kRows, kIn} : Shape{kRows, kSize, kIn}; }
  Tensor operator()(const std::vector<Tensor>& slices) const {
    Tensor h = from(spread(kRows * kOut, 1), {kRows, kOut});
    for (size_t t = 0; t < slices.size(); ++t) {
      const Tensor w = from(spread(kIn * kOut, own_weights ? 3 + static_cast<int>(t) : 2), {kIn, kOut}).realize();
      const int64_t width = cuts[t].end - cuts[t].begin;
      const Tensor y = matmul(slices[t].reshape({width * kRows, kIn}), own_weights ? w : shared);
      const Shape split = axis == 0 ? Shape{width, kRows, kOut} : Shape{kRows, width, kOut};
      h = tanh(y.reshape(split).sum(axis) + h);
    }
    return h;
  }
  std::vector<Tensor> slices_of(const Tensor& x) const {
    std::vector<Tensor> slices;
    for (const Cut& c : cuts) slices.push_back(x.slice(axis, {c.begin, c.end}));
    return slices;
  }
  Tensor shared = from(spread(kIn * kOut, 2), {kIn, kOut}).realize();
};

size_t products(const Tensor& grad) {
  ir::GraphScope scope;
  size_t count = 0;
  for (ir::UOp n : ir::topological(tensor::node_of(grad)))
    count +=
        n->op == ir::Op::Reduce && n->src[0]->op == ir::Op::Mul && n->src[0]->shape.numel() == kOut * n->shape.numel();
  return count;
}

/// What arrives at each slice when it is a leaf of its own, placed by hand.
std::vector<double> step_by_step(const Loop& loop, const Tensor& x) {
  std::vector<Tensor> slices;
  for (const Tensor& s : loop.slices_of(x)) slices.push_back(s.detach().clone().realize().requires_grad());
  const std::vector<Tensor> grads = gradient(weighted_sum(loop(slices)), slices);
  Tensor want = zeros(x.shape(), float64);
  for (size_t t = 0; t < slices.size(); ++t) {
    std::vector<std::pair<int64_t, int64_t>> margins(3, {0, 0});
    margins[static_cast<size_t>(loop.axis)] = {loop.cuts[t].begin, kSize - loop.cuts[t].end};
    want = want + grads[t].pad(margins);
  }
  return numbers(want);
}

std::vector<Loop> all_loops() {
  return std::vector<Loop>{
      {"columns", 1, 1, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}}},
      {"columns from last to first", 1, 1, {{12, 13}, {11, 12}, {10, 11}, {9, 10}}},
      {"rows", 1, 0, {{1, 2}, {2, 3}, {3, 4}, {4, 5}}},
      {"wide slices", 1, 0, {{0, 3}, {3, 6}, {6, 9}, {9, 12}}},
      {"with gaps", 1, 1, {{1, 3}, {4, 6}, {7, 9}, {10, 12}}},
      {"with gaps, from last to first", 1, 0, {{11, 13}, {8, 10}, {5, 7}, {2, 4}}},
      {"the whole axis",
       1,
       0,
       {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}, {6, 7}, {7, 8}, {8, 9}, {9, 10}, {10, 11}, {11, 12}, {12, 13}}},
      {"three steps", 3, 0, {{0, 1}, {1, 2}, {2, 3}}},
      {"overlapping slices", 4, 0, {{0, 2}, {1, 3}, {2, 4}, {3, 5}}},
      {"one slice in all steps", 4, 0, {{2, 3}, {2, 3}, {2, 3}, {2, 3}}},
      {"unequal distances", 4, 1, {{0, 1}, {1, 2}, {3, 4}, {4, 5}}},
      {"two sizes", 4, 0, {{0, 1}, {1, 3}, {3, 4}, {4, 6}}},
      {"a weight per step", 4, 1, {{0, 1}, {1, 2}, {2, 3}, {3, 4}}, true},
  };
}

}  // namespace

TEST_CASE("products of the slices of one value are one product", "[gradient]") {
  ON_BOTH_EXECUTORS();
  for (const Loop& loop : all_loops()) {
    INFO(loop.name);
    Tensor x = from(spread(kSize * kRows * kIn, 0), loop.x_shape()).requires_grad();
    const Tensor grad = gradient(weighted_sum(loop(loop.slices_of(x))), {x})[0];
    CHECK(products(grad) == loop.products);
    CHECK(close(numbers(grad), step_by_step(loop, x), 1e-14));
    check_differences({loop.name, [&](const Tensors& t) { return loop(loop.slices_of(t[0])); }, {loop.x_shape()}});
  }
}

TEST_CASE("the gradient of what a recurrent cell reads is few products", "[gradient]") {
  constexpr int64_t steps = 40, width = 8;
  const nn::RNNCell rnn(width, width);
  const nn::GRUCell gru(width, width);
  const nn::LSTMCell lstm(width, width);
  const auto cell_loop = [&](const auto& cell) {
    return [&cell](const std::vector<Tensor>& x) {
      Tensor h = zeros({kRows, width});
      for (const Tensor& step : x) h = cell(step, h);
      return weighted_sum(h);
    };
  };
  const std::function<Tensor(const std::vector<Tensor>&)> loops[] = {
      cell_loop(rnn), cell_loop(gru), [&](const std::vector<Tensor>& x) {
        nn::LSTMCell::State state{zeros({kRows, width}), zeros({kRows, width})};
        for (const Tensor& step : x) state = lstm(step, state);
        return weighted_sum(state.first);
      }};
  for (const auto& loop : loops) {
    Tensor x = from(spread(kRows * steps * width, 0), {kRows, steps, width}).to(float32).realize();
    x.requires_grad();
    std::vector<Tensor> slices, leaves;
    for (int64_t t = 0; t < steps; ++t) {
      slices.push_back(x.index({Slice{}, t}));
      leaves.push_back(slices.back().detach().clone().realize().requires_grad());
    }
    const Tensor grad = gradient(loop(slices), {x})[0];
    {
      ir::GraphScope scope;
      size_t stacked = 0;
      for (ir::UOp n : ir::topological(tensor::node_of(grad)))
        stacked += n->op == ir::Op::Reduce && n->src[0]->op == ir::Op::Mul && n->src[0]->shape.rank() == 4;
      CHECK(stacked == 2);  // of 20 steps each
    }
    CHECK(close(numbers(grad), numbers(stack(gradient(loop(leaves), leaves), 1)), 1e-5));
  }
}

TEST_CASE("products of slices are joined in 16 bits, under vmap, checkpoint and a symbolic batch", "[gradient]") {
  const Tensor w = from(spread(64, 1), {8, 8});
  const auto loop = [&](const Tensor& x) {
    Tensor h = matmul(x[0], w.to(x.dtype()));
    for (int64_t t = 1; t < 6; ++t) h = tanh(matmul(x[t], w.to(x.dtype())) + h);
    return h;
  };
  const auto grad = [&](const Tensor& x) { return gradient(loop(x).sum(), {x})[0]; };
  const Tensor values = from(spread(6 * 2 * 8, 0), {6, 2, 8});
  const std::vector<double> want = numbers(grad(values.clone().requires_grad()));
  CHECK(close(numbers(grad(values.to(float16).realize().requires_grad()).to(float64)), want, 3e-2));

  const Var n("n", 1, 4);
  Tensor symbolic = from(spread(6 * 2 * 8, 0), {6, n(2), 8}).requires_grad();
  CHECK(close(numbers(grad(symbolic)), want, 1e-13));

  Tensor x = values.clone().requires_grad();
  CHECK(close(numbers(gradient(checkpoint(loop, x).sum(), {x})[0]), want, 1e-13));
  const auto slope = [&](const Tensor& e) {
    const Tensor leaf = e.detach().requires_grad();
    return gradient(loop(leaf).sum(), {leaf})[0];
  };
  CHECK(close(numbers(vmap(slope)(stack({values * 0.5, values}))[1]), want, 1e-13));
}
