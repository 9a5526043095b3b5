// A variational autoencoder of images of 28 x 28, numbers in [0, 1]. Kingma and Welling, ICLR 2014.
#pragma once

#include <sinter/sinter.h>

#include <vector>

namespace bench {

struct Vae {
  static constexpr int64_t kLatent = 20;
  struct Code {
    sinter::Tensor mean, log_variance;  ///< [n, latent]
  };

  Code encode(const sinter::Tensor& x) const {
    const std::vector<sinter::Tensor> halves = code(relu(conv2(relu(conv1(x)))).flatten(1)).chunk(2, 1);
    return {halves[0], halves[1]};
  }
  /// Logits of the pixels.
  sinter::Tensor decode(const sinter::Tensor& z) const {
    const sinter::Tensor h = relu(spread(z)).reshape({-1, 64, 7, 7});
    return conv4(twice(relu(conv3(twice(h)))));
  }
  sinter::Tensor operator()(const sinter::Tensor& x) const { return decode(encode(x).mean); }

  /// The bound of the likelihood, per pixel.
  sinter::Tensor loss(const sinter::Tensor& x) const {
    const auto [mean, log_variance] = encode(x);
    const sinter::Tensor z = training ? mean + exp(0.5 * log_variance) * sinter::randn(mean.shape()) : mean;
    const sinter::Tensor divergence = -0.5 * (1 + log_variance - square(mean) - exp(log_variance)).sum();
    return (binary_cross_entropy_with_logits(decode(z), x, sinter::Reduction::Sum) + divergence) / x.numel();
  }

  /// Each pixel four times.
  static sinter::Tensor twice(const sinter::Tensor& x) {
    const int64_t n = x.size(0), channels = x.size(1), height = x.size(2), width = x.size(3);
    return x.reshape({n, channels, height, 1, width, 1})
        .expand({n, channels, height, 2, width, 2})
        .reshape({n, channels, 2 * height, 2 * width});
  }

  sinter::nn::Conv2d conv1{1, 32, 3, {.stride = 2, .padding = 1}}, conv2{32, 64, 3, {.stride = 2, .padding = 1}};
  sinter::nn::Linear code{64 * 7 * 7, 2 * kLatent}, spread{kLatent, 64 * 7 * 7};
  sinter::nn::Conv2d conv3{64, 32, 3, {.padding = 1}}, conv4{32, 1, 3, {.padding = 1}};
  bool training = true;
  SINTER_MODULE(conv1, conv2, code, spread, conv3, conv4)
};

}  // namespace bench
