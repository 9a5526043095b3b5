// A physics-informed neural network: no data, only an equation. It solves -(u_xx + u_yy) = f on the unit square with
// u = 0 at its edge (Raissi, Perdikaris and Karniadakis, 2019). The second derivatives are the trace of the network's
// Hessian at each point: transforms of a function of one point, for all points at once.
#include <numbers>

#include "port.h"

namespace sn = sinter;
namespace nn = sinter::nn;

constexpr int64_t kInside = 64, kEdge = 32, kHidden = 24;
constexpr double kPi = std::numbers::pi;

struct Network {
  nn::Linear fc1{2, kHidden}, fc2{kHidden, kHidden}, fc3{kHidden, 1};
  SINTER_MODULE(fc1, fc2, fc3)
  /// u at points [.., 2].
  sn::Tensor operator()(const sn::Tensor& p) const { return fc3(tanh(fc2(tanh(fc1(p))))).squeeze(-1); }
};

/// The solution, and the right side that belongs to it.
sn::Tensor exact(const sn::Tensor& p) { return sin(kPi * p).prod(-1); }
sn::Tensor source(const sn::Tensor& p) { return 2 * kPi * kPi * exact(p); }

/// Random points on the edge of the square.
sn::Tensor edge_points(int64_t n) {
  const sn::Tensor along = sn::rand({n, 1}), side = sn::randint(0, 2, {n, 1}).to(sn::float32);
  const sn::Tensor vertical = sn::randint(0, 2, {n, 1}) == 1;
  return where(vertical, sn::cat({side, along}, 1), sn::cat({along, side}, 1));
}

int main(int argc, char** argv) {
  port::Run run(argc, argv, 1e-5);
  sn::manual_seed(0);
  Network u;
  const auto at_point = [&](const sn::Tensor& p) { return u(p); };  // [2] to a scalar
  const auto laplacian = [&](const sn::Tensor& p) { return trace(sn::hessian(at_point)(p)); };

  sn::optim::Adam optimizer(nn::parameters(u), {.lr = 5e-3});
  for (int step = 1; step <= run.steps(10, 1500); ++step) {
    const sn::Tensor inside = sn::rand({kInside, 2}), edge = edge_points(kEdge);
    const sn::Tensor equation = square(sn::vmap(laplacian)(inside) + source(inside)).mean();
    const sn::Tensor boundary = square(u(edge)).mean();
    optimizer.zero_grad();
    (equation + 100.0 * boundary).backward();
    optimizer.step();
    run.log(step, 150, {{"equation", equation}, {"boundary", boundary}});
  }
  if (!run.checking()) {
    sn::no_grad guard;
    const sn::Tensor p = sn::rand({1000, 2});
    std::printf("mean error %.4f\n", abs(u(p) - exact(p)).mean().item());
  }
  return run.finish();
}
