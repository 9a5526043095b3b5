// A U-Net, which says for each pixel whether it belongs to a cell: going down it learns what is there, going up where,
// with the details of each level handed across (Ronneberger, Fischer and Brox, MICCAI 2015). 32 x 32 images of discs.
#include "port.h"

namespace sn = sinter;
namespace nn = sinter::nn;

constexpr int64_t kSize = 32, kBatch = 4, kDiscs = 3;

/// Twice a convolution, a batch norm and a ReLU.
nn::Sequential<> double_conv(int64_t in, int64_t out) {
  return nn::Sequential<>({
      nn::Conv2d(in, out, 3, {.padding = 1, .bias = false}),
      nn::BatchNorm2d(out),
      nn::ReLU(),
      nn::Conv2d(out, out, 3, {.padding = 1, .bias = false}),
      nn::BatchNorm2d(out),
      nn::ReLU(),
  });
}

struct UNet {
  nn::Sequential<> down1 = double_conv(1, 8), down2 = double_conv(8, 16), bottom = double_conv(16, 32);
  nn::ConvTranspose2d up2{32, 16, 2, {.stride = 2}};
  nn::Sequential<> join2 = double_conv(32, 16);
  nn::ConvTranspose2d up1{16, 8, 2, {.stride = 2}};
  nn::Sequential<> join1 = double_conv(16, 8);
  nn::Conv2d out{8, 1, 1};
  SINTER_MODULE(down1, down2, bottom, up2, join2, up1, join1, out)

  /// Images [n, 1, h, w] to the log odds of each pixel.
  sn::Tensor operator()(const sn::Tensor& x) const {
    const sn::Tensor d1 = down1(x);                         // [n, 8, h, w]
    const sn::Tensor d2 = down2(max_pool2d(d1, 2));         // [n, 16, h/2, w/2]
    const sn::Tensor b = bottom(max_pool2d(d2, 2));         // [n, 32, h/4, w/4]
    const sn::Tensor u2 = join2(sn::cat({up2(b), d2}, 1));  // [n, 16, h/2, w/2]
    return out(join1(sn::cat({up1(u2), d1}, 1)));
  }
};

struct Batch {
  sn::Tensor image, mask;  ///< [n, 1, kSize, kSize]; the mask is 1 inside of a disc
};
/// Bright discs on a sloping background, with noise.
Batch scenes(int64_t n) {
  const sn::Tensor at = sn::arange(kSize, sn::float32);
  const sn::Tensor x = sn::uniform(4.0, 28.0, {n, kDiscs, 1, 1}), y = sn::uniform(4.0, 28.0, {n, kDiscs, 1, 1});
  const sn::Tensor radius = sn::uniform(3.0, 7.0, {n, kDiscs, 1, 1});
  const sn::Tensor inside = hypot(at - x, at.unsqueeze(-1) - y) < radius;  // [n, kDiscs, kSize, kSize]
  const sn::Tensor mask = inside.any(1, /*keepdim=*/true).to(sn::float32);
  const sn::Tensor slope = at * sn::uniform(-0.03, 0.03, {n, 1, 1, 1});
  return {0.7 * mask + slope + 0.4 * sn::randn({n, 1, kSize, kSize}), mask};
}

/// 1 - twice the common part over the sum of both.
sn::Tensor dice_loss(const sn::Tensor& scores, const sn::Tensor& mask) {
  const sn::Tensor p = sigmoid(scores);
  return 1.0 - (2.0 * (p * mask).sum() + 1.0) / (p.sum() + mask.sum() + 1.0);
}

int main(int argc, char** argv) {
  port::Run run(argc, argv, 1e-5);
  sn::manual_seed(0);
  UNet model;
  sn::optim::AdamW optimizer(nn::parameters(model), {.lr = 5e-3});
  for (int step = 1; step <= run.steps(4, 100); ++step) {
    const auto [image, mask] = scenes(kBatch);
    const sn::Tensor scores = model(image);
    const sn::Tensor cross = binary_cross_entropy_with_logits(scores, mask), dice = dice_loss(scores, mask);
    optimizer.zero_grad();
    (cross + dice).backward();
    optimizer.step();
    run.log(step, 10, {{"cross_entropy", cross}, {"dice", dice}});
  }
  if (!run.checking()) {
    nn::eval(model);
    sn::no_grad guard;
    const auto [image, mask] = scenes(20);
    const sn::Tensor found = model(image) > 0, wanted = mask > 0;
    const double both = (found & wanted).sum().item(), either = (found | wanted).sum().item();
    std::printf("intersection over union %.3f\n", both / either);
  }
  return run.finish();
}
