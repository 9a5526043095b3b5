// What the tests of the tensor API share: the value of a tensor by the interpreter and by generated code, and
// comparisons that know NaN and -0.
#pragma once

#include <cmath>
#include <cstring>
#include <span>
#include <vector>

#include "catch.h"
#include "interp/interpreter.h"
#include "runtime/exec/buffer.h"
#include "sinter/sinter.h"
#include "tensor/core/cell.h"

namespace sinter::testing {

/// Who computes what a test reads; the default again at the end.
struct ScopedExecutor {
  explicit ScopedExecutor(debug::Executor executor) { debug::set_executor(executor); }
  ~ScopedExecutor() { debug::set_executor(debug::Executor::Compiled); }
  ScopedExecutor(const ScopedExecutor&) = delete;
  ScopedExecutor& operator=(const ScopedExecutor&) = delete;
};
/// Runs the test once per executor.
#define ON_BOTH_EXECUTORS() \
  const sinter::testing::ScopedExecutor executing_(GENERATE(debug::Executor::Interpreter, debug::Executor::Compiled))

/// The tensor's value, by the interpreter straight from the nodes, or computed in a plan. `error`, which the
/// interpreter sets, receives the bits of indices out of range.
inline runtime::Array value_of(const Tensor& t, uint32_t* error = nullptr) {
  if (debug::executor() == debug::Executor::Compiled && !error) t.realize();
  ir::GraphScope scope;
  runtime::GraphInputs inputs;
  inputs.read = [](ir::UOp n) {
    std::vector<int64_t> shape;
    for (const Dim& d : n->shape) shape.push_back(d.value());
    return runtime::Array::read(n->dtype, shape, static_cast<const runtime::Buffer&>(*n->storage()));
  };
  ir::UOp root = tensor::node_of(t);
  return runtime::interpret({&root, 1}, inputs, {}, error)[0];
}

/// All elements as doubles, whatever the type.
inline std::vector<double> numbers(const Tensor& t) {
  runtime::Array a = value_of(t);
  std::vector<double> out;
  for (int64_t i = 0; i < a.numel(); ++i) out.push_back(a.at(i).as_double());
  return out;
}
inline std::vector<double> list(std::initializer_list<double> values) { return values; }

/// Equal bits, but for which NaN it is.
inline bool same(double a, double b) {
  return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}
inline bool same(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (!same(a[i], b[i])) return false;
  return true;
}
inline bool close(const std::vector<double>& a, const std::vector<double>& b, double tolerance = 1e-6) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (!same(a[i], b[i]) && !(std::abs(a[i] - b[i]) <= tolerance * std::max(1.0, std::abs(b[i])))) return false;
  return true;
}

}  // namespace sinter::testing
