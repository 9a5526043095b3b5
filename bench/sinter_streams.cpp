// What memory bounds: each element is read once and hardly computed with.
#include "sinter_cases.h"

namespace sn = sinter;

namespace bench {
namespace {

/// chain:N: tanh(x a + b) sigmoid(x) + c.
BenchCase chain(const Arguments& arguments) {
  const sn::Tensor x = input({arguments.sizes(1).at(0)}, 1);
  return evaluate([=] { return tanh(x * 1.5 + 0.25) * sigmoid(x) + -0.5; });
}

/// softmax:MxN and layernorm:MxN, along rows.
BenchCase softmax_rows(const Arguments& arguments) {
  const auto s = arguments.sizes(1);
  const sn::Tensor x = input({s.at(0), s.at(1)}, 1);
  return evaluate([=] { return softmax(x); });
}
BenchCase layer_norm_rows(const Arguments& arguments) {
  const auto s = arguments.sizes(1);
  const sn::Tensor x = input({s.at(0), s.at(1)}, 1), weight = input({s[1]}, 2), bias = input({s[1]}, 3);
  return evaluate([=] { return layer_norm(x, {s[1]}, weight, bias); });
}

/// total:N: the sum of all.
BenchCase total(const Arguments& arguments) {
  const sn::Tensor x = input({arguments.sizes(1).at(0)}, 1);
  return evaluate([=] { return x.sum(); });
}

/// columns:MxN: the sum of each column.
BenchCase column_sums(const Arguments& arguments) {
  const auto s = arguments.sizes(1);
  const sn::Tensor x = input({s.at(0), s.at(1)}, 1);
  return evaluate([=] { return x.sum(0); });
}

/// transpose:MxN.
BenchCase transposed(const Arguments& arguments) {
  const auto s = arguments.sizes(1);
  const sn::Tensor x = input({s.at(0), s.at(1)}, 1);
  return evaluate([=] { return x.transpose().contiguous(); });
}

}  // namespace

std::map<std::string, CaseFamily> streams() {
  return {{"chain", {chain}}, {"softmax", {softmax_rows}}, {"layernorm", {layer_norm_rows}},
          {"total", {total}}, {"columns", {column_sums}},  {"transpose", {transposed}}};
}

}  // namespace bench
