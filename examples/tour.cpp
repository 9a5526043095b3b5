// Fifteen lines to look at:  DEBUG=4 ./dev tour   shows the C that they become; docs/tour.md walks through every pass.
#include <sinter/sinter.h>

#include <iostream>

int main() {
  namespace sn = sinter;
  sn::Tensor x = sn::from({{1.0, -2.0, 0.5}, {0.0, 3.0, -1.0}, {2.0, 1.0, 1.0}, {-1.5, 0.5, 2.0}});
  sn::Tensor w = sn::from({{0.5, -1.0}, {0.25, 0.5}, {-1.0, 1.5}}).requires_grad();
  sn::Tensor y = relu(matmul(x, w) + 1.0);  // nothing is computed yet
  sn::Tensor loss = y.mean();
  loss.backward();  // a graph again, from the same graph

  sn::realize(loss, w.grad());  // fused into kernels, compiled, run
  std::cout << loss << '\n' << w.grad() << '\n';
}
