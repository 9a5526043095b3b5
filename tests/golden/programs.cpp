// Small programs, one per thing that the compiler does. Numbers are given, so that nothing depends on what ran before.
#include "programs.h"

#include <cmath>

namespace golden {
namespace {

namespace sn = sinter;

/// Numbers between -1 and 1 that differ.
sn::Tensor numbers(const sn::Shape& shape) {
  std::vector<float> values;
  for (int64_t i = 0; i < shape.numel(); ++i)
    values.push_back(static_cast<float>(std::sin(static_cast<double>(7 * i + 1))));
  return sn::from(values, shape);
}

std::vector<sn::Tensor> elementwise() {
  sn::Tensor x = numbers({5, 12}), a = numbers({5, 1});
  return {tanh(x * a + 0.5) * sigmoid(x)};
}

std::vector<sn::Tensor> softmax_rows() { return {softmax(numbers({3, 100}), 1)}; }

std::vector<sn::Tensor> linear_relu() {
  sn::Tensor x = numbers({32, 48}), w = numbers({48, 16}), b = numbers({16});
  return {relu(matmul(x, w) + b)};
}

std::vector<sn::Tensor> embedding_gradient() {
  sn::Tensor table = numbers({100, 8}).requires_grad(), tokens = sn::from({3, 1, 4, 1, 5}), g = numbers({5, 8});
  return {sn::gradient((sn::embedding(tokens, table) * g).sum(), {table})};
}

std::vector<sn::Tensor> slice_update() {
  sn::Tensor x = numbers({6, 10});
  x.at({sn::Slice{1, 4}, sn::Slice{2, 8}}) *= 2.0;
  return {x};
}

std::vector<sn::Tensor> mlp_gradient() {
  sn::Tensor x = numbers({4, 6}), target = numbers({4, 3});
  sn::Tensor w1 = numbers({6, 5}).requires_grad(), b1 = numbers({5}).requires_grad();
  sn::Tensor w2 = numbers({5, 3}).requires_grad(), b2 = numbers({3}).requires_grad();
  sn::Tensor loss = mse_loss(matmul(relu(matmul(x, w1) + b1), w2) + b2, target);
  std::vector<sn::Tensor> out = sn::gradient(loss, {w1, b1, w2, b2});
  out.insert(out.begin(), loss);
  return out;
}

/// The same lines as in examples/tour.cpp: a test compares them.
std::vector<sn::Tensor> tour() {
  // tour begins
  sn::Tensor x = sn::from({{1.0, -2.0, 0.5}, {0.0, 3.0, -1.0}, {2.0, 1.0, 1.0}, {-1.5, 0.5, 2.0}});
  sn::Tensor w = sn::from({{0.5, -1.0}, {0.25, 0.5}, {-1.0, 1.5}}).requires_grad();
  sn::Tensor y = relu(matmul(x, w) + 1.0);  // nothing is computed yet
  sn::Tensor loss = y.mean();
  loss.backward();  // a graph again, from the same graph
  // tour ends
  return {loss, w.grad()};
}

}  // namespace

const std::vector<Program>& programs() {
  static const std::vector<Program> all = {{"elementwise", elementwise},
                                           {"softmax", softmax_rows},
                                           {"linear_relu", linear_relu},
                                           {"embedding_gradient", embedding_gradient},
                                           {"slice_update", slice_update},
                                           {"mlp_gradient", mlp_gradient},
                                           {"tour", tour}};
  return all;
}

}  // namespace golden
