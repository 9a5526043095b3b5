// ResNet-18 in its form for 32 x 32 images (He, Zhang, Ren and Sun, CVPR 2016; the many programs named
// "pytorch-cifar"): a 3 x 3 stem, four stages of two blocks. Here a stage has an eighth of the channels, and images are
// textures.
#include <numbers>

#include "port.h"

namespace sn = sinter;
namespace nn = sinter::nn;

constexpr int64_t kClasses = 10, kBatch = 8, kSize = 16, kWidth = 8;

/// Two convolutions and a shortcut, which is a convolution where the shape changes.
struct BasicBlock {
  BasicBlock(int64_t in, int64_t out, int64_t stride)
      : conv1(in, out, 3, {.stride = stride, .padding = 1, .bias = false}),
        bn1(out),
        conv2(out, out, 3, {.padding = 1, .bias = false}),
        bn2(out) {
    if (stride == 1 && in == out) return;
    shortcut.push_back(nn::Conv2d(in, out, 1, {.stride = stride, .bias = false}));
    shortcut.push_back(nn::BatchNorm2d(out));
  }
  nn::Conv2d conv1;
  nn::BatchNorm2d bn1;
  nn::Conv2d conv2;
  nn::BatchNorm2d bn2;
  nn::Sequential<> shortcut;
  SINTER_MODULE(conv1, bn1, conv2, bn2, shortcut)

  sn::Tensor operator()(const sn::Tensor& x) const { return relu(bn2(conv2(relu(bn1(conv1(x))))) + shortcut(x)); }
};

struct ResNet18 {
  nn::Conv2d conv1{3, kWidth, 3, {.padding = 1, .bias = false}};
  nn::BatchNorm2d bn1{kWidth};
  nn::Sequential<> layer1 = stage(kWidth, kWidth, 1), layer2 = stage(kWidth, 2 * kWidth, 2),
                   layer3 = stage(2 * kWidth, 4 * kWidth, 2), layer4 = stage(4 * kWidth, 8 * kWidth, 2);
  nn::Linear linear{8 * kWidth, kClasses};
  SINTER_MODULE(conv1, bn1, layer1, layer2, layer3, layer4, linear)

  static nn::Sequential<> stage(int64_t in, int64_t out, int64_t stride) {
    return nn::Sequential<>({BasicBlock(in, out, stride), BasicBlock(out, out, 1)});
  }
  /// [n, 3, h, w] to [n, kClasses].
  sn::Tensor operator()(const sn::Tensor& x) const {
    const sn::Tensor h = layer4(layer3(layer2(layer1(relu(bn1(conv1(x)))))));
    return linear(adaptive_avg_pool2d(h, 1).flatten(1));
  }
};

struct Batch {
  sn::Tensor x, y;  ///< [n, 3, kSize, kSize], int64 [n]
};
/// Stripes whose direction is the class, of random phase and color, with noise.
Batch textures(int64_t n) {
  const sn::Tensor y = sn::randint(0, kClasses, {n});
  const sn::Tensor angle = (y.to(sn::float32) * (std::numbers::pi / kClasses)).reshape({n, 1, 1, 1});
  const sn::Tensor phase = sn::uniform(0.0, 6.0, {n, 1, 1, 1}), color = sn::uniform(0.5, 1.5, {n, 3, 1, 1});
  const sn::Tensor at = sn::arange(kSize, sn::float32);
  const sn::Tensor stripes = sin(cos(angle) * at + sin(angle) * at.unsqueeze(-1) + phase);
  return {color * stripes + 0.3 * sn::randn({n, 3, kSize, kSize}), y};
}

int main(int argc, char** argv) {
  port::Run run(argc, argv, 1e-5);
  sn::manual_seed(0);
  ResNet18 model;
  sn::optim::SGD optimizer(nn::parameters(model), {.lr = 0.05, .momentum = 0.9, .weight_decay = 5e-4});
  const int steps = run.steps(4, 200);
  sn::optim::LRScheduler schedule(optimizer, sn::optim::CosineAnnealingLR{steps});
  for (int step = 1; step <= steps; ++step) {
    const Batch batch = textures(kBatch);
    const sn::Tensor loss = cross_entropy(model(batch.x), batch.y);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    schedule.step();
    run.log(step, 20, {{"loss", loss}});
  }
  if (!run.checking()) {
    nn::eval(model);
    sn::no_grad guard;
    const Batch test = textures(200);
    std::printf("right answers %.1f %%\n", 100 * (model(test.x).argmax(1) == test.y).to(sn::float32).mean().item());
  }
  return run.finish();
}
