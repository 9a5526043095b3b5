// Models that are built at run time. A line that begins with //> is what the statement above it prints.
#include <sinter/sinter.h>

#include <iostream>

namespace sn = sinter;

int main() {
  //! [sequential]
  sn::nn::Sequential net;
  for (int64_t size = 8; size > 2; size /= 2) {
    net.push_back(sn::nn::Linear(size, size / 2));
    net.push_back([](const sn::Tensor& x) { return relu(x); });
  }
  net.push_back("head", sn::nn::Linear(2, 1));
  for (const auto& [name, p] : sn::nn::named_parameters(net)) std::cout << name << ' ' << to_string(p.shape()) << '\n';
  //> 0.weight [4, 8]
  //> 0.bias [4]
  //> 2.weight [2, 4]
  //> 2.bias [2]
  //> head.weight [1, 2]
  //> head.bias [1]
  std::cout << net(sn::ones({5, 8})).shape() << '\n';
  //> [5, 1]
  //! [sequential]

  //! [any]
  net[-1].get<sn::nn::Linear>().weight.requires_grad(false);
  net[0].register_forward_hook([](const std::vector<sn::Tensor>& x, sn::Tensor& y) {
    std::cout << to_string(x[0].shape()) << " to " << to_string(y.shape()) << '\n';
    y = y * 2;
  });
  net(sn::ones({5, 8}));
  //> [5, 8] to [5, 4]
  //! [any]

  //! [list]
  sn::nn::ModuleDict heads({{"value", sn::nn::Linear(4, 1)}, {"policy", sn::nn::Linear(4, 6)}});
  std::cout << heads["policy"](sn::ones({2, 4})).shape() << ' ' << sn::nn::parameters(heads).size() << '\n';
  //> [2, 6] 4
  sn::nn::ModuleList blocks;
  for (int i = 0; i < 3; ++i) blocks.push_back(sn::nn::LayerNorm(4));
  std::cout << sn::nn::state_dict(blocks)[5].first << '\n';
  //> 2.bias
  //! [list]
}
