// An image as a few hundred soft, colored ellipses that lie over each other: Gaussian splats in two dimensions (Kerbl
// et al., SIGGRAPH 2023, without the third one). Places, shapes, colors and opacities follow the gradient of the image;
// each kind has its own learning rate, as in that paper.
#include "port.h"

namespace sn = sinter;
namespace nn = sinter::nn;

constexpr int64_t kSplats = 48, kSize = 24;

struct Splats {
  sn::Tensor place = sn::uniform(0.0, 1.0, {kSplats, 2}).requires_grad();       ///< in an image of size 1
  sn::Tensor log_size = sn::uniform(-2.8, -2.2, {kSplats, 2}).requires_grad();  ///< along the two axes
  sn::Tensor angle = sn::uniform(0.0, 3.0, {kSplats}).requires_grad();          ///< of the first axis
  sn::Tensor color = sn::uniform(-0.5, 0.5, {kSplats, 3}).requires_grad();      ///< log odds
  sn::Tensor opacity = sn::zeros({kSplats}).requires_grad();                    ///< log odds
  SINTER_MODULE(place, log_size, angle, color, opacity)
};

/// Centers of the pixels, [pixels, 2].
sn::Tensor pixels() {
  const sn::Tensor at = (sn::arange(kSize, sn::float32) + 0.5) / kSize;
  return sn::cartesian_prod({at, at});
}

constexpr double kMost = 0.99;  ///< of the light, that one splat holds back

/// How much of its light a pixel gets from each splat that covers it so much, [pixels, splats]: what those in front let
/// through of what it holds back. The first splat lies in front.
sn::Tensor weights(const sn::Tensor& cover) {
  const sn::Tensor passes = 1.0 - kMost * cover;
  return cumprod(passes, 1) / passes * kMost * cover;
}

/// The colors [splats, 3] through covers [pixels, splats]: [pixels, 3]. As in that paper, the gradient walks the splats
/// again and keeps nothing of them: what lies behind a splat is the pixel without what lies in front.
const auto blend = sn::custom_gradient(
    [](const sn::Tensor& cover, const sn::Tensor& color) { return matmul(weights(cover), color); },
    [](const sn::Tensor& gradient, const sn::Tensor& image, const sn::Tensor& cover, const sn::Tensor& color) {
      const sn::Tensor passes = 1.0 - kMost * cover, arrives = cumprod(passes, 1) / passes;
      const sn::Tensor weight = arrives * kMost * cover, gain = matmul(gradient, color.t());
      const sn::Tensor behind = (gradient * image).sum(1, true) - cumsum(weight * gain, 1);
      return std::vector<sn::Tensor>{kMost * (arrives * gain - behind / passes), matmul(weight.t(), gradient)};
    });

/// The colors that splats give to points, [pixels, 3].
sn::Tensor render(const Splats& s, const sn::Tensor& points) {
  const sn::Tensor offset = points.unsqueeze(1) - s.place;  // [pixels, splats, 2]
  const sn::Tensor dx = offset.select(2, 0), dy = offset.select(2, 1);
  const sn::Tensor c = cos(s.angle), d = sin(s.angle);
  const sn::Tensor along = sn::stack({c * dx + d * dy, c * dy - d * dx}, 2) / exp(s.log_size);
  const sn::Tensor cover = sigmoid(s.opacity) * exp(-0.5 * square(along).sum(2));  // [pixels, splats]
  return blend(cover, sigmoid(s.color));
}

/// A sun over a hill.
sn::Tensor target(const sn::Tensor& points) {
  const sn::Tensor y = points.select(1, 0), x = points.select(1, 1);
  const sn::Tensor sun = sigmoid(60.0 * (0.2 - hypot(x - 0.65, y - 0.35))).unsqueeze(1);
  const sn::Tensor hill = sigmoid(60.0 * (y - 0.7 - 0.15 * cos(7.0 * x))).unsqueeze(1);
  const sn::Tensor sky = sn::from({0.3, 0.5, 0.9}) * (1.0 - 0.5 * y.unsqueeze(1));
  const sn::Tensor lit = sky + sun * (sn::from({1.0, 0.8, 0.2}) - sky);
  return lit + hill * (sn::from({0.1, 0.5, 0.2}) - lit);
}

/// A letter for the strongest color of each pixel.
void print(const sn::Tensor& image) {
  const auto strongest = image.argmax(1).to_vector<int64_t>();
  for (size_t i = 0; i < strongest.size(); ++i) {
    std::putchar("RG."[strongest[i]]);
    if (i % kSize == kSize - 1) std::putchar('\n');
  }
}

int main(int argc, char** argv) {
  port::Run run(argc, argv, 1e-5);
  sn::manual_seed(0);
  Splats splats;
  sn::optim::Adam optimizer({{{splats.place}, {.lr = 2e-3}},
                             {{splats.log_size, splats.angle}, {.lr = 2e-2}},
                             {{splats.color, splats.opacity}, {.lr = 5e-2}}});
  const sn::Tensor points = pixels().realize(), wanted = target(points).realize();
  for (int step = 1; step <= run.steps(10, 300); ++step) {
    const sn::Tensor loss = mse_loss(render(splats, points), wanted);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    run.log(step, 50, {{"loss", loss}});
  }
  if (!run.checking()) {
    sn::no_grad guard;
    const sn::Tensor error = mse_loss(render(splats, points), wanted);
    std::printf("%.1f dB\n", -10 * log10(error).item());
    print(render(splats, points));
  }
  return run.finish();
}
