// Models that are built at run time. A line that begins with //> is what the statement above it prints.
#include <sinter/sinter.h>

#include <iostream>

namespace sn = sinter;

//! [member]
struct Net {
  sn::nn::AnyModule features = sn::nn::Conv2d(1, 2, 3);  // in place of `sn::nn::Conv2d features{1, 2, 3}`
  sn::nn::Linear head{8, 1};
  SINTER_MODULE(features, head)
  sn::Tensor operator()(const sn::Tensor& x) const { return head(features(x).flatten(1)); }
};
//! [member]

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

  //! [forward hook]
  Net hooked;
  const size_t seen = hooked.features.register_forward_hook(
      [](const std::vector<sn::Tensor>&, sn::Tensor& y) { std::cout << "features " << to_string(y.shape()) << '\n'; });
  hooked(sn::ones({5, 1, 4, 4}));
  //> features [5, 2, 2, 2]
  hooked.features.remove_hook(seen);
  hooked(sn::ones({5, 1, 4, 4}));
  std::cout << sn::nn::state_dict(hooked)[0].first << '\n';
  //> features.weight
  //! [forward hook]

  //! [backward hook]
  sn::nn::AnyModule twice = sn::nn::Functional([](const sn::Tensor& v) { return v * 2.0; });
  twice.register_full_backward_hook([](std::vector<sn::Tensor>& grad_inputs, const sn::Tensor& grad_output) {
    std::cout << grad_output << ' ' << grad_inputs[0] << '\n';
    grad_inputs[0] = clamp(grad_inputs[0], -1.0, 1.0);
  });
  sn::Tensor start = sn::from({3.0}).requires_grad();
  twice(start).sum().backward();
  //> [1.] [2.]
  std::cout << start.grad() << '\n';
  //> [1.]
  //! [backward hook]

  //! [list]
  sn::nn::ModuleDict heads({{"value", sn::nn::Linear(4, 1)}, {"policy", sn::nn::Linear(4, 6)}});
  std::cout << heads["policy"](sn::ones({2, 4})).shape() << ' ' << sn::nn::parameters(heads).size() << '\n';
  //> [2, 6] 4
  sn::nn::ModuleList blocks;
  for (int i = 0; i < 3; ++i) blocks.push_back(sn::nn::LayerNorm(4));
  std::cout << sn::nn::state_dict(blocks)[5].first << '\n';
  //> 2.bias
  sn::Tensor x = sn::ones({2, 4});
  for (auto& block : blocks) x = block(x);
  for (auto& [name, head] : heads) std::cout << name << ' ' << head(x).shape() << '\n';
  //> value [2, 1]
  //> policy [2, 6]
  //! [list]

  //! [several]
  sn::nn::Sequential mix{[](const sn::Tensor& x, const sn::Tensor& y) { return x * 2.0 + y; }, sn::nn::ReLU()};
  std::cout << mix(sn::from({1.0, 2.0}), sn::from({1.0, -9.0})) << '\n';
  //> [3. 0.]
  //! [several]

  //! [apply]
  sn::nn::apply(
      net,
      [](sn::nn::Linear& layer) {
        sn::nn::init::xavier_uniform_(layer.weight);
        sn::nn::init::zeros_(layer.bias);
      },
      [](const std::string& path, sn::nn::AnyModule& any) {
        if (any.is<sn::nn::Linear>()) std::cout << path << '\n';
      });
  //> 0
  //> 2
  //> head
  //! [apply]

  //! [text]
  sn::nn::Sequential<> model({sn::nn::Conv2d(3, 8, 3, {.stride = 2}), sn::nn::ReLU(), sn::nn::BatchNorm2d(8)});
  model.push_back("heads", heads);
  std::cout << sn::nn::to_string(model) << '\n';
  //> Sequential(  # 275 parameters
  //>   (0): Conv2d(weight=[8, 3, 3, 3], bias=[8], stride=2)
  //>   (1): ReLU()
  //>   (2): BatchNorm2d(weight=[8], bias=[8], running_mean=[8], running_var=[8], channels=8, eps=1e-05, momentum=0.1)
  //>   (heads): ModuleDict(  # 35 parameters
  //>     (value): Linear(weight=[1, 4], bias=[1])
  //>     (policy): Linear(weight=[6, 4], bias=[6])
  //>   )
  //> )
  //! [text]
}
