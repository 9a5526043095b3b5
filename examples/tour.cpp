// Fifteen lines to look at:  DEBUG=4 ./dev tour   shows the C that they become; docs/tour.md walks through every pass.
#include <sinter/sinter.h>

#include <iostream>

int main() {
  namespace sn = sinter;
  sn::manual_seed(0);
  sn::Tensor x = sn::randn({4, 3}), w = sn::randn({3, 2}).requires_grad();
  sn::Tensor y = relu(matmul(x, w) + 1.0);      // nothing is computed yet
  sn::Tensor loss = y.mean();
  loss.backward();                              // a graph again, from the same graph
  sn::realize(loss, w.grad());                  // fused into kernels, compiled, run
  std::cout << loss << '\n' << w.grad() << '\n';
}
