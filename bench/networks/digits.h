// Networks for images of digits, 28 x 28: a perceptron that SGD trains, and a convolutional net that Adam trains.
#pragma once

#include <sinter/sinter.h>

namespace bench {

struct Mlp {
  static constexpr int64_t kBatch = 256;
  using Optimizer = sinter::optim::SGD;
  sinter::nn::Linear l1{784, 128}, l2{128, 10};
  SINTER_MODULE(l1, l2)
  sinter::Tensor operator()(const sinter::Tensor& x) const { return l2(relu(l1(x))); }
};

struct ConvNet {
  static constexpr int64_t kBatch = 128;
  using Optimizer = sinter::optim::Adam;
  sinter::nn::Conv2d c1{1, 32, 5}, c2{32, 32, 5}, c3{32, 64, 3}, c4{64, 64, 3};
  sinter::nn::Linear out{576, 10};
  SINTER_MODULE(c1, c2, c3, c4, out)
  sinter::Tensor operator()(const sinter::Tensor& x) const {
    sinter::Tensor h = max_pool2d(relu(c2(relu(c1(x.reshape({-1, 1, 28, 28}))))), 2);
    return out(max_pool2d(relu(c4(relu(c3(h)))), 2).flatten(1));
  }
};

}  // namespace bench
