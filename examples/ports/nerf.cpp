// A neural radiance field: a network learns, from the colors of rays alone, what light comes from each point of a scene
// (Mildenhall et al., ECCV 2020; "tiny-nerf"). The scene is three soft balls, whose rays are rendered by the same
// formula as the network's.
#include <numbers>

#include "port.h"

namespace sn = sinter;
namespace nn = sinter::nn;

constexpr int64_t kRays = 64, kSamples = 24, kFrequencies = 4, kHidden = 64;
constexpr double kNear = 1.0, kFar = 5.0;

/// What is at points [.., 3]: density [..] and color [.., 3].
struct Light {
  sn::Tensor density, color;
};

/// Red, green and blue balls.
Light scene(const sn::Tensor& points) {
  const sn::Tensor centers = sn::from({{-0.6, 0.0, 0.3}, {0.5, 0.4, 0.0}, {0.1, -0.5, -0.5}});  // [3, 3]
  const sn::Tensor distance = square(points.unsqueeze(-2) - centers).sum(-1);                   // [.., 3]
  const sn::Tensor each = 6.0 * exp(-12.0 * distance);
  const sn::Tensor total = each.sum(-1);
  return {total, each / (total.unsqueeze(-1) + 1e-6)};
}

/// x and the sines and cosines of x, 2 x, 4 x, ...: [.., 3] to [.., 3 + 6 kFrequencies].
sn::Tensor positional_encoding(const sn::Tensor& x) {
  const sn::Tensor angles = (x.unsqueeze(-1) * exp2(sn::arange(kFrequencies, sn::float32))).flatten(-2);
  return sn::cat({x, sin(angles), cos(angles)}, -1);
}

struct Nerf {
  nn::Linear fc1{3 + 6 * kFrequencies, kHidden}, fc2{kHidden, kHidden}, density{kHidden, 1}, color{kHidden, 3};
  SINTER_MODULE(fc1, fc2, density, color)
  Light operator()(const sn::Tensor& points) const {
    const sn::Tensor h = relu(fc2(relu(fc1(positional_encoding(points)))));
    return {softplus(density(h)).squeeze(-1), sigmoid(color(h))};
  }
};

struct Rays {
  sn::Tensor origin, direction;  ///< [n, 3]; directions have length 1
};
/// From a circle around the scene to somewhere in it.
Rays random_rays(int64_t n) {
  const sn::Tensor angle = sn::uniform(0.0, 2 * std::numbers::pi, {n});
  const sn::Tensor origin = sn::stack({3.0 * cos(angle), zeros_like(angle), 3.0 * sin(angle)}, -1);
  const sn::Tensor target = sn::uniform(-1.0, 1.0, {n, 3});
  return {origin, normalize(target - origin, 2.0, -1)};
}

/// The color of each ray, [n, 3]: the light of its points, each dimmed by what lies before it. `jitter` in [0, 1) moves
/// the points, [n, kSamples].
template <class Field>
sn::Tensor render(const Field& field, const Rays& rays, const sn::Tensor& jitter) {
  const double width = (kFar - kNear) / kSamples;
  const sn::Tensor t = kNear + width * (sn::arange(kSamples, sn::float32) + jitter);
  const sn::Tensor points = rays.origin.unsqueeze(1) + rays.direction.unsqueeze(1) * t.unsqueeze(-1);
  const Light light = field(points);
  const sn::Tensor passes = exp(-light.density * width);   // through the surroundings of a point
  const sn::Tensor reaches = cumprod(passes, 1) / passes;  // the point
  const sn::Tensor weight = reaches * (1.0 - passes);
  return (weight.unsqueeze(-1) * light.color).sum(1);
}

/// What a camera in front of the scene sees: a letter for the strongest color.
void print(const Nerf& field) {
  constexpr int64_t kRows = 12, kColumns = 24;
  const auto grid = sn::meshgrid({sn::linspace(1.0, -1.0, kRows), sn::linspace(-1.0, 1.0, kColumns)});
  const sn::Tensor y = grid[0].flatten(), x = grid[1].flatten();
  const sn::Tensor origin = sn::from({0.0, 0.0, 3.0}).expand({kRows * kColumns, 3});
  const Rays rays{origin, normalize(sn::stack({x, y, zeros_like(x)}, -1) - origin, 2.0, -1)};
  const auto [brightest, which] = render(field, rays, sn::full({1, 1}, 0.5)).max(1);
  const auto light = brightest.to_vector<float>();
  const auto color = which.to_vector<int64_t>();
  for (size_t i = 0; i < light.size(); ++i) {
    std::putchar(light[i] < 0.15 ? '.' : "rgb"[color[i]]);
    if (i % kColumns == kColumns - 1) std::putchar('\n');
  }
}

int main(int argc, char** argv) {
  port::Run run(argc, argv, 1e-5);
  sn::manual_seed(0);
  Nerf model;
  sn::optim::Adam optimizer(nn::parameters(model), {.lr = 5e-3});
  for (int step = 1; step <= run.steps(10, 400); ++step) {
    const Rays rays = random_rays(kRays);
    const sn::Tensor jitter = sn::rand({kRays, kSamples});
    const sn::Tensor loss = mse_loss(render(model, rays, jitter), render(scene, rays, jitter));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    run.log(step, 50, {{"loss", loss}});
  }
  if (!run.checking()) {
    sn::no_grad guard;
    print(model);
  }
  return run.finish();
}
