// What the tests of the table share: walks over its rows, what a call gives, and what PyTorch made of it.
#pragma once

#include <cstdlib>
#include <map>

#include "repository.h"
#include "surface/row.h"
#include "unit/differences.h"

namespace surface {

/// Whether kernels compute every type and every odd size, as ./dev test wants; else some of them, in turn.
inline bool compiles_all() { return std::getenv("SURFACE_ALL") != nullptr; }

/// Calls `body` with each row.
template <class Body>
void for_each_row(Body body) {
  for (const Family* family : Family::all())
    for (const Row& row : family->rows()) {
      INFO(family->name() << ": " << row.name);
      body(*family, row);
    }
}

inline std::vector<double> read(const Tensor& t, sinter::debug::Executor executor) {
  const sinter::testing::ScopedExecutor executing(executor);
  return sinter::testing::numbers(t);
}

/// Equal, but for what float arithmetic in another order leaves.
inline bool agree(DType dtype, const std::vector<double>& got, const std::vector<double>& want) {
  const double unit = dtype == sinter::float16    ? 1e-3
                      : dtype == sinter::bfloat16 ? 1e-2
                      : dtype == sinter::float64  ? 1e-13
                                                  : 1e-6;
  return is_float(dtype) ? sinter::testing::close(got, want, 4 * unit) : sinter::testing::same(got, want);
}

/// What PyTorch made of the rows of a family (tests/reference/record_surface.py).
class Recorded {
 public:
  explicit Recorded(const Family& family) {
    const std::string path = repository_path("tests/reference/surface_" + family.name() + ".safetensors");
    for (auto& [name, t] : sinter::nn::load_file(path)) tensors_[name] = t;
  }
  std::vector<double> at(const std::string& key) const {
    INFO(key << ": not recorded; run tests/reference/record_surface.py");
    REQUIRE(tensors_.contains(key));
    return sinter::testing::numbers(tensors_.at(key).to(sinter::float64));
  }
  Shape shape(const std::string& key) const { return tensors_.at(key).shape(); }

 private:
  std::map<std::string, Tensor> tensors_;
};

/// The inputs that are differentiated; they take the places of those given.
inline Tensors leaves_among(const Row& row, const std::vector<Input>& inputs, Tensors& given) {
  Tensors leaves;
  if (row.gradients == Gradients::None) return leaves;
  for (size_t k = 0; k < given.size(); ++k)
    if (inputs[k].kind == Input::Kind::Numbers) leaves.push_back(given[k].requires_grad());
  return leaves;
}

/// The sum of float results, each element times a factor of its own. It depends on all leaves, also on those that the
/// results do not need.
inline Tensor weighted(const Tensors& made, const Tensors& leaves) {
  Tensor total;
  const auto add = [&](const Tensor& term) { total = total.cell() ? total + term : term; };
  for (const Tensor& t : made)
    if (is_float(t.dtype()))
      add((t * sinter::from(sinter::testing::spread(t.numel(), 7), t.shape()).to(t.dtype())).sum());
  for (const Tensor& leaf : leaves) add(leaf.sum() * 0.0);
  return total;
}

}  // namespace surface
