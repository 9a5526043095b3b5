// A generator of images learns from a discriminator that tells them from real ones: libtorch's example "dcgan"
// (Radford, Metz and Chintala, ICLR 2016). The real images are discs of random size and place, 16 x 16.
#include "port.h"

namespace sn = sinter;
namespace nn = sinter::nn;

constexpr int64_t kNoise = 32, kBatch = 16, kSize = 16;

nn::Sequential<> make_generator() {
  return nn::Sequential<>({
      nn::ConvTranspose2d(kNoise, 32, 4, {.bias = false}),  // [n, 32, 4, 4]
      nn::BatchNorm2d(32),
      nn::ReLU(),
      nn::ConvTranspose2d(32, 16, 4, {.stride = 2, .padding = 1, .bias = false}),  // [n, 16, 8, 8]
      nn::BatchNorm2d(16),
      nn::ReLU(),
      nn::ConvTranspose2d(16, 1, 4, {.stride = 2, .padding = 1, .bias = false}),  // [n, 1, 16, 16]
      nn::Tanh(),
  });
}

nn::Sequential<> make_discriminator() {
  return nn::Sequential<>({
      nn::Conv2d(1, 16, 4, {.stride = 2, .padding = 1, .bias = false}),  // [n, 16, 8, 8]
      nn::LeakyReLU(0.2),
      nn::Conv2d(16, 32, 4, {.stride = 2, .padding = 1, .bias = false}),  // [n, 32, 4, 4]
      nn::BatchNorm2d(32),
      nn::LeakyReLU(0.2),
      nn::Conv2d(32, 1, 4, {.bias = false}),  // [n, 1, 1, 1]
      nn::Sigmoid(),
  });
}

/// Discs of random radius and center, [n, 1, kSize, kSize] in [-1, 1].
sn::Tensor real_images(int64_t n) {
  const sn::Tensor radius = sn::uniform(2.5, 6.0, {n, 1, 1, 1});
  const sn::Tensor x = sn::uniform(5.0, 10.0, {n, 1, 1, 1}), y = sn::uniform(5.0, 10.0, {n, 1, 1, 1});
  const sn::Tensor at = sn::arange(kSize, sn::float32);
  const sn::Tensor distance = hypot(at - x, at.unsqueeze(-1) - y);
  return tanh(2.0 * (radius - distance));
}

/// How the images would print, one beside the other.
void print(const sn::Tensor& images) {
  for (int64_t row = 0; row < kSize; row += 2) {
    for (const sn::Tensor& image : images.unbind(0)) {
      for (const float v : image.index({0, row}).to_vector<float>()) std::putchar(v > 0.3 ? '#' : v > -0.3 ? '+' : '.');
      std::putchar(' ');
    }
    std::putchar('\n');
  }
}

int main(int argc, char** argv) {
  port::Run run(argc, argv, 1e-5);
  sn::manual_seed(0);
  auto generator = make_generator(), discriminator = make_discriminator();
  sn::optim::Adam generator_optimizer(nn::parameters(generator), {.lr = 1e-3, .beta1 = 0.5});
  sn::optim::Adam discriminator_optimizer(nn::parameters(discriminator), {.lr = 5e-4, .beta1 = 0.5});

  for (int step = 1; step <= run.steps(6, 600); ++step) {
    // The discriminator is to say 1 for real images (a little less: labels are smoothed), 0 for generated ones.
    discriminator_optimizer.zero_grad();
    const sn::Tensor real = discriminator(real_images(kBatch));
    const sn::Tensor real_loss = binary_cross_entropy(real, sn::uniform(0.8, 1.0, real.shape()));
    const sn::Tensor images = generator(sn::randn({kBatch, kNoise, 1, 1}));
    const sn::Tensor fake = discriminator(images.detach());
    const sn::Tensor fake_loss = binary_cross_entropy(fake, zeros_like(fake));
    const sn::Tensor discriminator_loss = real_loss + fake_loss;
    discriminator_loss.backward();
    discriminator_optimizer.step();

    // The generator is to make images for which it says 1.
    generator_optimizer.zero_grad();
    const sn::Tensor judged = discriminator(images);
    const sn::Tensor generator_loss = binary_cross_entropy(judged, ones_like(judged));
    generator_loss.backward();
    generator_optimizer.step();
    run.log(step, 100, {{"discriminator", discriminator_loss}, {"generator", generator_loss}});
  }

  if (!run.checking()) {
    nn::eval(generator);
    sn::no_grad guard;
    print(generator(sn::randn({4, kNoise, 1, 1})));
  }
  return run.finish();
}
