// Distributions as objects. A line that begins with //> is what the statement above it prints.
#include <sinter/sinter.h>

#include <iostream>

namespace sn = sinter;

int main() {
  //! [policy]
  sn::Tensor logits = sn::from({{0.0, 0.0}, {0.0, 100.0}}).requires_grad();
  const sn::distributions::Categorical policy({.logits = logits});
  const sn::Tensor action = policy.sample();
  std::cout << action[1] << ' ' << policy.log_prob(action)[1] << ' ' << policy.entropy()[0] << '\n';
  //> 1 0.0 0.6931472
  const sn::Tensor reward = sn::from({1.0, -1.0});
  (-policy.log_prob(action) * reward).sum().backward();  // REINFORCE
  std::cout << abs(logits.grad()[0]) << '\n';
  //> [0.5 0.5]
  //! [policy]
}
