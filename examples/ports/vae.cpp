// A variational autoencoder: images become a normal distribution over a few numbers, of which other images like them
// can be drawn (Kingma and Welling, ICLR 2014; PyTorch's example "vae"). The images are ellipses, 16 x 16.
#include "port.h"

namespace sn = sinter;
namespace nn = sinter::nn;
using sn::distributions::Normal;

constexpr int64_t kSize = 16, kPixels = kSize * kSize, kHidden = 64, kLatent = 4, kBatch = 32;

struct Vae {
  nn::Linear fc1{kPixels, kHidden}, mean{kHidden, kLatent}, log_variance{kHidden, kLatent};
  nn::Linear fc3{kLatent, kHidden}, fc4{kHidden, kPixels};
  SINTER_MODULE(fc1, mean, log_variance, fc3, fc4)

  /// Images [n, kPixels] to the distribution of their codes [n, kLatent].
  Normal encode(const sn::Tensor& x) const {
    const sn::Tensor h = relu(fc1(x));
    return {mean(h), exp(0.5 * log_variance(h))};
  }
  /// Codes to the log odds of white pixels.
  sn::Tensor decode(const sn::Tensor& z) const { return fc4(relu(fc3(z))); }
};

/// Ellipses of random center and width, [n, kPixels] in [0, 1].
sn::Tensor images(int64_t n) {
  const sn::Tensor x = sn::uniform(5.0, 10.0, {n, 1, 1}), y = sn::uniform(5.0, 10.0, {n, 1, 1});
  const sn::Tensor width = sn::uniform(2.0, 5.0, {n, 1, 1});
  const sn::Tensor at = sn::arange(kSize, sn::float32);
  const sn::Tensor distance = hypot((at - x) / width, (at.unsqueeze(-1) - y) / (7.0 - width));
  return sigmoid(8.0 * (1.0 - distance)).reshape({n, kPixels});
}

/// Minus the evidence lower bound, per image: how badly the code describes it, and how far its distribution is from the
/// standard normal one.
sn::Tensor loss_of(const Vae& model, const sn::Tensor& x) {
  const Normal code = model.encode(x);
  const sn::Tensor made = model.decode(code.rsample());
  const sn::Tensor reconstruction = binary_cross_entropy_with_logits(made, x, sn::Reduction::Sum);
  return (reconstruction + kl_divergence(code, Normal(0.0, 1.0)).sum()) / kBatch;
}

int main(int argc, char** argv) {
  port::Run run(argc, argv, 1e-5);
  sn::manual_seed(0);
  Vae model;
  sn::optim::Adam optimizer(nn::parameters(model), {.lr = 3e-3});
  for (int step = 1; step <= run.steps(10, 1000); ++step) {
    const sn::Tensor loss = loss_of(model, images(kBatch));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    run.log(step, 100, {{"loss", loss}});
  }
  if (!run.checking()) {  // codes on a line, and what they stand for
    sn::no_grad guard;
    const sn::Tensor z = sn::linspace(-1.5, 1.5, 6).unsqueeze(1).expand({6, kLatent});
    const sn::Tensor made = sigmoid(model.decode(z)).reshape({6, kSize, kSize});
    for (int64_t row = 0; row < kSize; row += 2) {
      for (const float v : made.select(1, row).flatten().to_vector<float>()) std::putchar(" .:-=+*#%@"[int(v * 9.99)]);
      std::putchar('\n');
    }
  }
  return run.finish();
}
