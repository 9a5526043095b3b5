// Layers. Each is a plain struct: its members can be read, replaced and copied. Calling one with a wrong shape is a
// UsageError at the caller's line.
#pragma once

#include <cstdint>
#include <tuple>
#include <utility>

#include "sinter/call.h"
#include "sinter/nn/module.h"

namespace sinter {
inline namespace v0 {
namespace nn {

/// y = x W^T + b. x: [..., in], W: [out, in], b: [out], y: [..., out]. Both are uniform in +-1/sqrt(in), as in PyTorch.
struct Linear {
  Linear(int64_t in, int64_t out, bool bias = true, Loc where = Loc::current());
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
  Tensor weight, bias;  ///< bias may be an empty handle
  SINTER_MODULE(weight, bias)
};

/// Rows of a table. weight: [count, size], normal(0, 1). index: any integer tensor, y: [index..., size]. An index
/// outside [-count, count) throws at the first host read.
struct Embedding {
  Embedding(int64_t count, int64_t size, Loc where = Loc::current());
  Tensor operator()(const Tensor& index, Loc where = Loc::current()) const;
  Tensor weight;
  SINTER_MODULE(weight)
};

/// (x - mean) / sqrt(var + eps) * weight + bias over the last axes, whose sizes are `shape`.
struct LayerNorm {
  explicit LayerNorm(Shape shape, double eps = 1e-5, Loc where = Loc::current());
  explicit LayerNorm(int64_t size, double eps = 1e-5, Loc where = Loc::current())
      : LayerNorm(Shape{size}, eps, where) {}
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
  Tensor weight, bias;
  double eps;
  SINTER_MODULE(weight, bias)
};

/// In training, zeroes each element with probability p and scales the others by 1/(1-p). Otherwise passes x through.
struct Dropout {
  explicit Dropout(double p = 0.5, Loc where = Loc::current());
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
  double p;
  bool training = true;
  SINTER_EMPTY_MODULE()
};

/// max(x, 0).
struct ReLU {
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
  SINTER_EMPTY_MODULE()
};

/// [n, ...] to [n, product].
struct Flatten {
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
  SINTER_EMPTY_MODULE()
};

/// Layers one after the other: Sequential net{Linear(784, 128), ReLU(), Linear(128, 10)}.
template <class... Layers>
struct Sequential {
  explicit Sequential(Layers... list) : layers(std::move(list)...) {}
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const {
    CallScope call("Sequential", where);
    Tensor value = x;
    std::apply([&](const auto&... layer) { ((value = layer(value)), ...); }, layers);
    return value;
  }
  std::tuple<Layers...> layers;
  template <class F>
  void visit(F&& f) {
    visit_all(*this, f);
  }
  template <class F>
  void visit(F&& f) const {
    visit_all(*this, f);
  }

 private:
  template <class Self, class F>
  static void visit_all(Self& self, F& f) {
    [&]<size_t... i>(std::index_sequence<i...>) {
      (f(std::to_string(i).c_str(), std::get<i>(self.layers)), ...);
    }(std::index_sequence_for<Layers...>());
  }
};

}  // namespace nn
}  // namespace v0
}  // namespace sinter
