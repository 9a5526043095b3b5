// Gradients that the program defines. A line that begins with //> is what the statement above it prints.
#include <sinter/sinter.h>

#include <iostream>

namespace sn = sinter;

int main() {
  //! [custom]
  // Rounds, and passes the gradient on as if it did not.
  const auto quantize = sn::custom_gradient([](const sn::Tensor& x) { return sn::round(x); },
                                            [](const sn::Tensor& g, const sn::Tensor&) { return g; });
  sn::Tensor x = sn::from({0.2, 1.7}).requires_grad();
  std::cout << quantize(x) << ' ' << sn::gradient((quantize(x) * 3.0).sum(), {x})[0] << '\n';
  //> [0. 2.] [3. 3.]

  sn::Tensor w = sn::eye(2).requires_grad();
  const auto layer = [&](const sn::Tensor& v) { return sn::tanh(sn::matmul(v, w)); };
  sn::Tensor y = sn::checkpoint(layer, x);  // keeps no tanh for the gradient, and computes it again
  std::cout << sn::gradient(y.sum(), {w})[0].shape() << '\n';
  //> [2, 2]
  //! [custom]

  //! [hook]
  sn::RemovableHandle hook = x.register_hook([](const sn::Tensor& g) { return sn::clamp(g, -1.0, 1.0); });
  std::cout << sn::gradient((x * 5.0).sum(), {x})[0] << '\n';
  //> [1. 1.]
  hook.remove();
  //! [hook]
}
