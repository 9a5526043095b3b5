// Modules built at run time: what they do, and that all functions of models reach into them.
#include <unistd.h>

#include <filesystem>

#include "catch.h"
#include "sinter/sinter.h"

using namespace sinter;
using Catch::Matchers::Contains;

namespace {

std::vector<std::string> names_of(const nn::NamedTensors& tensors) {
  std::vector<std::string> names;
  for (const auto& [name, t] : tensors) names.push_back(name);
  return names;
}

/// A module that has others of all kinds.
struct Model {
  nn::Sequential<> trunk;
  nn::ModuleDict heads;
  nn::ModuleList list;
  nn::AnyModule empty;
  nn::Linear last{2, 2};
  SINTER_MODULE(trunk, heads, list, empty, last)
};

Model made() {
  Model m;
  m.trunk.push_back(nn::Linear(3, 4));
  m.trunk.push_back("drop", nn::Dropout(1.0));
  m.trunk.push_back(nn::Functional([](const Tensor& x) { return relu(x); }));
  m.heads.insert("a", nn::Sequential(nn::Linear(4, 2), nn::BatchNorm2d(2)));
  m.list.push_back(nn::LSTMCell(2, 2));
  return m;
}

/// Adds its two inputs.
struct Sum {
  Tensor operator()(const Tensor& a, const Tensor& b) const { return a + b; }
  SINTER_EMPTY_MODULE()
};

/// A model whose layer lies behind a pointer.
struct Shared {
  std::shared_ptr<nn::Linear> layer = std::make_shared<nn::Linear>(2, 2);
  Tensor operator()(const Tensor& x) const { return (*layer)(x); }
  SINTER_MODULE(layer)
};

}  // namespace

TEST_CASE("tensors of modules built at run time have PyTorch's names", "[nn]") {
  const Model m = made();
  CHECK(names_of(nn::state_dict(m)) ==
        std::vector<std::string>{"trunk.0.weight", "trunk.0.bias", "heads.a.0.weight", "heads.a.0.bias",
                                 "heads.a.1.weight", "heads.a.1.bias", "heads.a.1.running_mean",
                                 "heads.a.1.running_var", "list.0.weight_ih", "list.0.weight_hh", "list.0.bias_ih",
                                 "list.0.bias_hh", "last.weight", "last.bias"});
  CHECK(nn::parameters(m).size() == 12);
  nn::AnyModule any = nn::Linear(2, 3);
  CHECK(names_of(nn::state_dict(any)) == std::vector<std::string>{"weight", "bias"});
  CHECK(m.trunk.names() == std::vector<std::string>{"0", "drop", "2"});
}

TEST_CASE("a copy of a model built at run time shares tensors, a clone does not", "[nn]") {
  Model m = made();
  const Tensor x = ones({2, 3});
  CHECK(m.trunk(x).sum().item() == 0);  // Dropout(1)
  nn::eval(m);
  const Tensor y = m.trunk(x);
  Model copy = m, separate = nn::clone(m);
  nn::train(copy);  // its own flags
  CHECK((m.trunk(x) == y).all().item<bool>());
  CHECK(copy.trunk(x).sum().item() == 0);
  {
    const no_grad guard;
    for (Tensor p : nn::parameters(m)) p.assign(p * 0.0);
  }
  CHECK(copy.trunk[0].get<nn::Linear>().weight.sum().item() == 0);
  CHECK((separate.trunk(x) == y).all().item<bool>());
  CHECK(nn::parameters(separate).size() == 12);

  nn::AnyModule shared = Shared();
  nn::AnyModule other = nn::clone(shared);
  CHECK(shared.get<Shared>().layer != other.get<Shared>().layer);
  CHECK(shared.get<Shared>().layer->weight.cell() != other.get<Shared>().layer->weight.cell());
}

TEST_CASE("a model built at run time is saved, loaded, and trained", "[nn]") {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("sinter-containers-" + std::to_string(getpid()));
  Model a = made(), b = made();
  nn::save(a, file);
  nn::load(b, file);
  std::filesystem::remove(file);
  nn::eval(a);
  nn::eval(b);
  const Tensor x = randn({2, 3});
  CHECK((a.trunk(x) == b.trunk(x)).all().item<bool>());

  nn::Sequential net;
  net.push_back(nn::Linear(3, 3));
  net.push_back([](const Tensor& t) { return tanh(t); });
  optim::SGD opt(nn::parameters(net), {.lr = 0.1});
  const double before = square(net(x)).sum().item();
  for (int i = 0; i < 5; ++i) {
    square(net(x)).sum().backward();
    opt.step();
  }
  CHECK(square(net(x)).sum().item() < before);
}

TEST_CASE("hooks see and replace what goes in and out", "[nn]") {
  nn::AnyModule layer = nn::Sequential(nn::ReLU());
  std::string seen;
  const size_t before = layer.register_forward_pre_hook([&](std::vector<Tensor>& x) {
    seen += "pre ";
    x[0] = x[0] + 1.0;
  });
  const size_t after = layer.register_forward_hook([&](const std::vector<Tensor>& x, Tensor& y) {
    seen += "post ";
    y = y * 10.0 + x[0];
  });
  CHECK(layer(Tensor(1.0)).item() == 22);
  CHECK(seen == "pre post ");
  nn::AnyModule copy = layer;
  layer.remove_hook(before);
  CHECK(layer(Tensor(1.0)).item() == 11);
  CHECK(copy(Tensor(1.0)).item() == 22);
  layer.remove_hook(after);
  CHECK(layer(Tensor(-1.0)).item() == 0);
  CHECK_THROWS_WITH(layer.remove_hook(7), Contains("hook 7") && Contains("among 0"));
  CHECK(layer.register_forward_hook([](const std::vector<Tensor>&, Tensor&) {}) > after);
}

TEST_CASE("modules built at run time refuse what they cannot do", "[nn]") {
  nn::AnyModule sum = Sum(), none;
  CHECK(sum(Tensor(1.0), Tensor(2.0)).item() == 3);
  CHECK_THROWS_WITH(sum(Tensor(1.0)), Contains("Sum") && Contains("1 tensors"));
  CHECK_THROWS_WITH(none(Tensor(1.0)), Contains("empty"));
  CHECK_THROWS_WITH(sum.get<nn::Linear>(), Contains("Sum") && Contains("Linear"));
  CHECK(sum.is<Sum>());
  CHECK_FALSE(none.is<Sum>());
  nn::Sequential net;
  net.push_back(nn::Linear(3, 4));
  CHECK_THROWS_WITH(net(ones({2, 5})), Contains("Sequential") && Contains("[2, 5]") && Contains("[3]"));
  CHECK_THROWS_WITH(net[1], Contains("module 1 among 1"));
  CHECK_THROWS_WITH(net.push_back("a.b", nn::ReLU()), Contains("a.b"));
  CHECK_THROWS_WITH(net.push_back("0", nn::ReLU()), Contains("a module 0 already"));
  CHECK(net[-1].is<nn::Linear>());
  CHECK((nn::Sequential<>()(ones({1}))).item() == 1);
  nn::ModuleDict dict({{"a", nn::ReLU()}});
  CHECK(dict.contains("a"));
  CHECK_THROWS_WITH(dict["b"], Contains("module b among 1"));
  CHECK_THROWS_WITH(nn::Functional(nullptr), Contains("empty"));
}

namespace {

/// A model that uses its containers in a const function, as layers do.
struct Stack {
  nn::ModuleList list{{nn::Linear(2, 2), nn::ReLU()}};
  nn::ModuleDict dict{{{"first", nn::ReLU()}, {"last", nn::Linear(2, 1)}}};
  nn::Sequential<> net{std::vector<nn::AnyModule>{nn::ReLU()}};
  Tensor operator()(Tensor x) const {
    x = net[0](list[-1](list[0](x)));
    return dict["last"](dict["first"](x));
  }
  Tensor by_loops(Tensor x) const {
    for (const auto& layer : list) x = layer(x);
    for (auto& layer : net) x = layer(x);
    for (const auto& [name, layer] : dict) x = layer(x);
    return x;
  }
  SINTER_MODULE(list, dict, net)
};

}  // namespace

TEST_CASE("modules built at run time are used in const functions and walked by loops", "[nn]") {
  const Stack stack;
  const Tensor x = randn({3, 2}), want = stack(x);
  CHECK(want.shape() == Shape{3, 1});
  CHECK((stack.by_loops(x) == want).all().item<bool>());
  CHECK_THROWS_WITH(stack.list[2], Contains("ModuleList") && Contains("module 2 among 2"));
  CHECK_THROWS_WITH(stack.dict["b"], Contains("ModuleDict") && Contains("module b among 2"));

  Stack changed = stack;
  for (auto& layer : changed.list) layer = nn::ReLU();
  std::string names;
  for (auto& [name, layer] : changed.dict) {
    STATIC_REQUIRE(std::is_same_v<decltype(name), const std::string>);
    names += name + ' ';
    if (name == "last") layer = nn::Identity();
  }
  CHECK(names == "first last ");
  CHECK((changed(x) == relu(x)).all().item<bool>());
  CHECK((stack(x) == want).all().item<bool>());  // a copy has modules of its own
  CHECK(std::distance(stack.list.begin(), stack.list.end()) == 2);
  CHECK(stack.list.begin()->is<nn::Linear>());
  const nn::ModuleList none;
  CHECK(none.begin() == none.end());
}

TEST_CASE("an error in a Sequential names the layer", "[nn]") {
  const auto text = [](const auto& net) {
    try {
      net(ones({2, 4}));
    } catch (const UsageError& e) {
      CHECK(std::string(e.where().file_name()) == __FILE__);
      return std::string(e.what());
    }
    return std::string();
  };
  nn::Sequential<> net({nn::Linear(4, 4), nn::ReLU(), nn::Linear(5, 2)});
  net.push_back("last", nn::Linear(2, 2));
  CHECK_THAT(text(net),
             Contains("the input of Linear has shape [2, 4]") && Contains(", in layer 2 of Sequential\n  at "));
  CHECK_THAT(text(nn::Sequential<>({nn::ReLU(), net})),
             Contains(", in layer 2 of Sequential, in layer 1 of Sequential"));
  const nn::Sequential known{nn::Linear(4, 4), nn::Linear(5, 2)};
  CHECK_THAT(text(known), Contains(", in layer 1 of Sequential\n  at "));
  CHECK_THAT(text(nn::Sequential{nn::ReLU(), known}), Contains(", in layer 1 of Sequential, in layer 1 of Sequential"));
  nn::Sequential<> named;
  named.push_back("body", nn::Functional([](const Tensor& x) { return x + ones({7}); }));
  CHECK_THAT(text(named), Contains("[7] do not broadcast") && Contains(", in layer body of Sequential"));
}
