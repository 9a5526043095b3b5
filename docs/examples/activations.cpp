// Activations. A line that begins with //> is what the statement above it prints.
#include <sinter/nn/activation_layers.h>
#include <sinter/sinter.h>

#include <iostream>

namespace sn = sinter;

int main() {
  //! [activations]
  sn::Tensor x = sn::from({-4.0, -1.0, 0.0, 2.0});
  std::cout << leaky_relu(x, 0.25) << '\n' << hardswish(x) << '\n' << glu(x) << '\n';
  //> [-1.   -0.25  0.    2.  ]
  //> [-0.         -0.33333334  0.          1.6666666 ]
  //> [-2.       -0.880797]
  std::cout << gumbel_softmax(x, 1.0, true).sum() << '\n';  // a one-hot vector
  //> 1.0
  sn::nn::Sequential net{sn::nn::Linear(4, 8), sn::nn::PReLU(8), sn::nn::Linear(8, 2), sn::nn::LogSoftmax(-1)};
  std::cout << to_string(net(sn::ones({3, 4})).shape()) << '\n';
  //> [3, 2]
  //! [activations]
}
