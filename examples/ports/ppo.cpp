// Proximal policy optimization (Schulman et al., 2017) of an actor and a critic that balance a pole on a cart: the task
// of Barto, Sutton and Anderson (1983) that Gym calls CartPole-v1, and many libtorch programs learn.
#include <array>
#include <cmath>

#include "port.h"

namespace sn = sinter;
namespace nn = sinter::nn;
using sn::distributions::Categorical;

constexpr int kCarts = 8, kSteps = 32, kEpochs = 4, kMaxLength = 500;
constexpr double kDiscount = 0.99, kLambda = 0.95, kClip = 0.2;

/// A cart that is pushed to the left (0) or the right (1). An episode ends when the pole leans too far.
struct Cart {
  Cart() { reset(); }
  void reset() {
    const auto start = sn::uniform(-0.05, 0.05, {4}).to_vector<float>();
    x = start[0], speed = start[1], angle = start[2], turn = start[3], length = 0;
  }
  /// Whether the episode is over.
  bool push(int64_t action) {
    const double force = action == 1 ? 10.0 : -10.0, c = std::cos(angle), s = std::sin(angle);
    const double pull = (force + 0.05 * turn * turn * s) / 1.1;
    const double turning = (9.8 * s - c * pull) / (0.5 * (4.0 / 3.0 - 0.1 * c * c / 1.1));
    const double moving = pull - 0.05 * turning * c / 1.1;
    x += 0.02 * speed, speed += 0.02 * moving, angle += 0.02 * turn, turn += 0.02 * turning;
    return ++length == kMaxLength || std::abs(x) > 2.4 || std::abs(angle) > 0.2095;
  }
  double x, speed, angle, turn;
  int length;
};

struct ActorCritic {
  nn::Sequential<> actor = mlp(2), critic = mlp(1);
  SINTER_MODULE(actor, critic)

  static nn::Sequential<> mlp(int64_t out) {
    return nn::Sequential<>({nn::Linear(4, 32), nn::Tanh(), nn::Linear(32, 32), nn::Tanh(), nn::Linear(32, out)});
  }
  /// States [.., 4] to the distribution of actions and the value of each state.
  std::pair<Categorical, sn::Tensor> operator()(const sn::Tensor& state) const {
    return {Categorical({.logits = actor(state)}), critic(state).squeeze(-1)};
  }
};

/// What happened in kSteps steps of all carts: [kSteps, kCarts, ..].
struct Rollout {
  std::vector<sn::Tensor> states, actions, log_probs, values;
  std::vector<std::array<bool, kCarts>> done;
};

sn::Tensor observe(const std::vector<Cart>& carts) {
  std::vector<float> seen;
  for (const Cart& cart : carts)
    for (const double v : {cart.x, cart.speed, cart.angle, cart.turn}) seen.push_back(static_cast<float>(v));
  return sn::from(seen, {kCarts, 4});
}

/// `length` becomes the mean of the episodes that ended, if any did.
Rollout play(const ActorCritic& model, std::vector<Cart>& carts, double& length) {
  sn::no_grad guard;
  Rollout r;
  int ended = 0, steps = 0;
  for (int t = 0; t < kSteps; ++t) {
    const sn::Tensor state = observe(carts);
    const auto [policy, value] = model(state);
    const sn::Tensor action = policy.sample(), log_prob = policy.log_prob(action);
    const auto pushes = action.to_vector<int64_t>();
    auto& done = r.done.emplace_back();
    for (int i = 0; i < kCarts; ++i) {
      if (!(done[i] = carts[i].push(pushes[i]))) continue;
      steps += carts[i].length, ++ended;
      carts[i].reset();
    }
    r.states.push_back(state), r.actions.push_back(action);
    r.log_probs.push_back(log_prob), r.values.push_back(value);
  }
  if (ended) length = static_cast<double>(steps) / ended;
  return r;
}

/// Generalized advantage estimates of the actions, [kSteps, kCarts]. Each step's reward is 1. `last`: the values of the
/// states after the rollout, [kCarts].
sn::Tensor advantages(const Rollout& r, const sn::Tensor& last) {
  std::vector<float> values = stack(r.values).to_vector<float>(), result(kSteps * kCarts);
  for (const float v : last.to_vector<float>()) values.push_back(v);
  for (int i = 0; i < kCarts; ++i) {
    double sum = 0;
    for (int t = kSteps - 1; t >= 0; --t) {
      const double goes_on = r.done[t][i] ? 0 : 1;
      const double delta = 1 + kDiscount * goes_on * values[(t + 1) * kCarts + i] - values[t * kCarts + i];
      sum = delta + kDiscount * kLambda * goes_on * sum;
      result[t * kCarts + i] = static_cast<float>(sum);
    }
  }
  return sn::from(result, {kSteps, kCarts});
}

int main(int argc, char** argv) {
  port::Run run(argc, argv, 1e-3);
  sn::manual_seed(0);
  ActorCritic model;
  sn::optim::Adam optimizer(nn::parameters(model), {.lr = 3e-3});
  std::vector<Cart> carts(kCarts);
  double length = 0;
  for (int step = 1; step <= run.steps(5, 100); ++step) {
    const Rollout r = play(model, carts, length);
    const sn::Tensor last = model(observe(carts)).second.detach();
    const sn::Tensor states = stack(r.states), actions = stack(r.actions), before = stack(r.log_probs);
    const sn::Tensor raw = advantages(r, last), wanted = raw + stack(r.values);
    const sn::Tensor advantage = (raw - raw.mean()) / (raw.std() + 1e-8);
    sn::Tensor value_loss, entropy;
    for (int epoch = 0; epoch < kEpochs; ++epoch) {
      const auto [policy, value] = model(states);
      const sn::Tensor ratio = exp(policy.log_prob(actions) - before);
      const sn::Tensor clipped = clamp(ratio, 1 - kClip, 1 + kClip);
      const sn::Tensor policy_loss = -minimum(ratio * advantage, clipped * advantage).mean();
      value_loss = mse_loss(value, wanted), entropy = policy.entropy().mean();
      optimizer.zero_grad();
      (policy_loss + 0.5 * value_loss - 0.01 * entropy).backward();
      nn::clip_grad_norm_(nn::parameters(model), 0.5);
      optimizer.step();
    }
    run.log(step, 10, {{"value_loss", value_loss}, {"entropy", entropy}, {"length", sn::Tensor(length)}});
  }
  return run.finish();
}
