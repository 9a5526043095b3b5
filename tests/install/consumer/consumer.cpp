// Uses what the installed library has: tensors, gradients, layers, an optimiser, data. Prints the result, and the path
// of the Clang plugin if this process opened it. With an argument it prints 6.
#include <sinter/data.h>
#include <sinter/sinter.h>

#include <fstream>
#include <iostream>
#include <string>

namespace sn = sinter;

int main(int argc, char**) {
  if (argc > 1) {  // a small program, on whichever device SINTER_DEVICE names
    std::cout << (sn::ones({3}) + 1.0).sum().item() << '\n';
    return 0;
  }
  sn::nn::Linear layer(784, 10);
  sn::optim::SGD optimizer(sn::nn::parameters(layer), {.lr = 0.1});
  const sn::data::Mnist mnist = sn::data::mnist();
  double first = 0, last = 0;
  int step = 0;
  for (auto [x, y] : mnist.train.batches(100)) {
    sn::Tensor loss = cross_entropy(layer(x), y);
    loss.backward();
    optimizer.step();
    last = loss.item();
    if (step == 0) first = last;
    if (++step == 20) break;
  }
  std::cout << (last < first / 2 ? "learned" : "failed to learn") << '\n';
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find("libsinter_clang.so") != std::string::npos) {
      std::cout << "plugin " << line.substr(line.find('/')) << '\n';
      break;
    }
}
