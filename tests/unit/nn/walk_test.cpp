// Walks over the modules of a model: apply(), to_string(), conversion to another type, and models of several inputs.
#include "catch.h"
#include "sinter/sinter.h"

using namespace sinter;
using Catch::Matchers::Contains;

namespace {

struct Block {
  nn::Conv2d conv{3, 4, 3};
  nn::BatchNorm2d norm{4};
  SINTER_MODULE(conv, norm)
};
/// Modules in all kinds of members; one object is held twice.
struct Model {
  std::vector<Block> blocks{Block(), Block()};
  nn::Sequential<nn::Linear, nn::ReLU> head{nn::Linear(4, 3), nn::ReLU()};
  nn::Sequential<> tail;
  nn::ModuleList list;
  std::shared_ptr<nn::Linear> one = std::make_shared<nn::Linear>(2, 2), other = one;
  std::optional<nn::Linear> none;
  Tensor scale = ones({3}).requires_grad();
  SINTER_MODULE(blocks, head, tail, list, one, other, none, scale)
  Model() {
    tail.push_back(nn::Linear(3, 2, false));
    tail.push_back(Block());
    list.push_back(nn::Sequential(nn::Dropout(0.25), nn::LSTM(2, 3, {.num_layers = 2})));
  }
};

struct Scaled {
  Tensor operator()(const Tensor& x, const Tensor& y, double factor = 1) const { return x + y * factor; }
  SINTER_EMPTY_MODULE()
};

}  // namespace

TEST_CASE("apply reaches every module of a type, once", "[nn]") {
  Model m;
  std::vector<std::string> linear, conv, whole;
  nn::apply(
      m, [&](const std::string& path, nn::Linear&) { linear.push_back(path); },
      [&](const std::string& path, nn::Conv2d& c) {
        conv.push_back(path);
        c.options.dilation = 2;
        nn::init::constant_(c.weight, 0.5);
      },
      [&](const std::string& path, Model& self) {
        whole.push_back(path);
        CHECK(&self == &m);
      });
  CHECK(linear == std::vector<std::string>{"head.0", "tail.0", "one"});
  CHECK(conv == std::vector<std::string>{"blocks.0.conv", "blocks.1.conv", "tail.1.conv"});
  CHECK(whole == std::vector<std::string>{""});
  const Block& last = m.tail[1].get<Block>();
  CHECK(last.conv.options.dilation.numbers() == std::vector<int64_t>{2});
  CHECK(last.conv.weight.sum().item() == Approx(0.5 * 108));
  CHECK(last.conv.weight.needs_grad());

  nn::apply(m, [](nn::BatchNorm2d& norm) {
    norm.weight.requires_grad(false);
    norm.training = false;
  });
  CHECK_FALSE(last.norm.training);
  int frozen = 0;
  const Model& seen = m;
  nn::apply(seen, [&](const nn::BatchNorm2d& norm) { frozen += !norm.weight.needs_grad(); });
  CHECK(frozen == 3);
}

TEST_CASE("apply can put another module into an AnyModule", "[nn]") {
  nn::Sequential<> net({nn::Linear(2, 2), nn::Sequential<>({nn::Dropout(1.0)})});
  nn::apply(net, [](nn::AnyModule& any) {
    if (any.is<nn::Dropout>()) any = nn::Identity();
  });
  int found = 0;
  nn::apply(net, [&](nn::Identity&) { ++found; });
  CHECK(found == 1);
  nn::AnyModule whole = nn::Linear(2, 2);
  nn::apply(whole, [&](nn::Linear& l) { nn::init::zeros_(l.weight); });
  CHECK(whole.get<nn::Linear>().weight.sum().item() == 0);
}

TEST_CASE("a model prints as a tree of its modules", "[nn]") {
  CHECK(nn::to_string(nn::Linear(2, 3)) == "Linear(weight=[3, 2], bias=[3])  # 9 parameters");
  const auto line = [](const auto& layer) {
    const std::string all = nn::to_string(layer);
    return all.substr(0, all.find("  # 0 parameters"));
  };
  CHECK(line(nn::MaxPool2d(3)) == "MaxPool2d(kernel=3, stride=3)");
  CHECK(line(nn::MaxPool2d({3, 2}, {.stride = {0, 1}, .padding = 1})) ==
        "MaxPool2d(kernel=[3, 2], stride=[3, 1], padding=1)");
  CHECK(line(nn::AvgPool2d({3, 2})) == "AvgPool2d(kernel=[3, 2], stride=[3, 2])");
  CHECK(line(nn::Flatten()) == "Flatten()");
  CHECK(line(nn::Flatten(0, 2)) == "Flatten(start=0, end=2)");
  CHECK(line(nn::Unflatten(1, {2, 3})) == "Unflatten(axis=1, sizes=[2, 3])");
  CHECK(line(nn::Unfold(2)) == "Unfold(kernel=2, stride=1)");
  CHECK(line(nn::Upsample({.scale_factor = 2, .mode = ResampleMode::Bilinear, .align_corners = true})) ==
        "Upsample(scale_factor=2, mode=bilinear, align_corners=true)");
  CHECK(line(nn::Upsample({.size = {4, 6}})) == "Upsample(size=[4, 6], mode=nearest)");
  CHECK(line(nn::AdaptiveAvgPool2d({7, std::nullopt})) == "AdaptiveAvgPool2d(size=[7, as it is])");
  CHECK(line(nn::AdaptiveMaxPool1d(1)) == "AdaptiveMaxPool1d(size=1)");
  CHECK(line(nn::GELU(Gelu::Tanh)) == "GELU(form=tanh)");
  Model m;
  m.blocks.pop_back();
  m.blocks[0].conv = nn::Conv2d(3, 4, {3, 1}, {.stride = {2, 1}, .padding = "same", .groups = 1, .bias = false});
  nn::to(m.blocks[0].norm, float64);
  CHECK(nn::to_string(m) ==
        R"(Model(  # 374 parameters
  scale=[3]
  (blocks.0): Block(  # 44 parameters
    (conv): Conv2d(weight=[4, 3, 3, 1], stride=[2, 1], padding=same)
    (norm): BatchNorm2d(weight=float64 [4], bias=float64 [4], running_mean=float64 [4], running_var=float64 [4], channels=4, eps=1e-05, momentum=0.1)
  )
  (head): Sequential(  # 15 parameters
    (0): Linear(weight=[3, 4], bias=[3])
    (1): ReLU()
  )
  (tail): Sequential(  # 126 parameters
    (0): Linear(weight=[2, 3])
    (1): Block(  # 120 parameters
      (conv): Conv2d(weight=[4, 3, 3, 3], bias=[4], stride=1)
      (norm): BatchNorm2d(weight=[4], bias=[4], running_mean=[4], running_var=[4], channels=4, eps=1e-05, momentum=0.1)
    )
  )
  (list): ModuleList(  # 180 parameters
    (0): Sequential(  # 180 parameters
      (0): Dropout(p=0.25)
      (1): LSTM(weight_ih_l0=[12, 2], weight_hh_l0=[12, 3], bias_ih_l0=[12], bias_hh_l0=[12], weight_ih_l1=[12, 3], weight_hh_l1=[12, 3], bias_ih_l1=[12], bias_hh_l1=[12], num_layers=2)
    )
  )
  (one): Linear(weight=[2, 2], bias=[2])
  (other): Linear(weight=[2, 2], bias=[2])
))");
  nn::AnyModule any = nn::Sequential(nn::MaxPool2d(2, {.stride = 2}), nn::ConstantPad1d({{1, 2}}, 3.0),
                                     nn::Embedding(4, 2, {.padding_idx = 1}), nn::RMSNorm(2));
  CHECK(nn::to_string(any) == R"(Sequential(  # 10 parameters
  (0): MaxPool2d(kernel=2, stride=2)
  (1): ConstantPad1d(widths=[[1, 2]], value=3)
  (2): Embedding(weight=[4, 2], padding_idx=1)
  (3): RMSNorm(weight=[2])
))");
}

TEST_CASE("a model converts to another type and trains on", "[nn]") {
  manual_seed(5);
  nn::Sequential net(nn::Linear(3, 4), nn::BatchNorm1d(4), nn::Linear(4, 1));
  Tensor counts = from({1, 2});
  const std::vector<Tensor> before = nn::parameters(net);
  const Tensor x = randn({8, 3});
  optim::Adam opt(before, {.lr = 0.05});
  const auto step = [&] {
    const Tensor loss = square(net(x.to(before[0].dtype())) - 1.0).mean();
    loss.backward();
    opt.step();
    CHECK(loss.dtype() == before[0].dtype());
    return loss.item();
  };
  const double first = step();
  for (const DType type : {float64, bfloat16, float32}) {
    nn::to(net, type);
    for (const auto& [name, t] : nn::state_dict(net)) CHECK(t.dtype() == type);
    const std::vector<Tensor> after = nn::parameters(net);
    for (size_t i = 0; i < after.size(); ++i) {
      CHECK(after[i].cell() == before[i].cell());
      CHECK(after[i].needs_grad());
    }
    step();
    CHECK(opt.state_dict()[2].second.dtype() == type);
  }
  CHECK(step() < first);
  // a gradient goes along
  square(net(x)).mean().backward();
  nn::to(net, Device::cpu(), float64);
  CHECK(before[0].grad().dtype() == float64);
  opt.step();
  CHECK_FALSE(before[0].has_grad());
  CHECK_THROWS_WITH(nn::to(net, int64), Contains("int64") && Contains("float32"));
  CHECK_THROWS_AS(nn::to(net, Device::cuda(1000), float32), UsageError);
  CHECK(before[0].dtype() == float64);
}

TEST_CASE("integers of a model stay integers", "[nn]") {
  nn::AveragedModel<nn::Linear> average(nn::Linear(2, 2), {});
  nn::to(average, float64);
  CHECK(average.n_averaged.dtype() == int64);
  CHECK(average.module.weight.dtype() == float64);
}

TEST_CASE("a jitted step follows a model to another type", "[nn]") {
  nn::Linear layer(2, 1);
  optim::SGD opt(nn::parameters(layer), {.lr = 0.1, .momentum = 0.9});
  auto step = jit([&](const Tensor& x) {
    const Tensor loss = square(layer(x.to(layer.weight.dtype())) - 1.0).mean();
    loss.backward();
    opt.step();
    return loss;
  });
  const Tensor x = ones({4, 2});
  double last = 0;
  for (int i = 0; i < 8; ++i) {
    if (i == 4) nn::to(layer, float64);
    const Tensor loss = step(x);
    CHECK(loss.dtype() == (i < 4 ? float32 : float64));
    last = loss.item();
  }
  CHECK(last == last);
  CHECK(opt.state_dict()[1].second.to_vector<int64_t>() == std::vector<int64_t>{8, 8});
}

TEST_CASE("the first layer of a Sequential takes all arguments", "[nn]") {
  const Tensor x = from({1.0, 2.0}), y = from({-3.0, 1.0});
  nn::Sequential known{Scaled(), nn::ReLU()};
  CHECK(known(x, y, 2.0).to_vector<float>() == std::vector<float>{0, 4});
  CHECK(known(x, y).to_vector<float>() == std::vector<float>{0, 3});
  nn::Sequential net;
  CHECK_THROWS_WITH(net(x, y), Contains("2 tensors") && Contains("0 layers"));
  net.push_back(Scaled());
  net.push_back(nn::ReLU());
  CHECK(net(x, y).to_vector<float>() == std::vector<float>{0, 3});
  CHECK_THROWS_WITH(net(x), Contains("Scaled") && Contains("1 tensors"));
  CHECK_THROWS_WITH(net(x, ones({3})), Contains("Sequential") && Contains("[2]") && Contains("walk_test.cpp"));
  CHECK_THROWS_WITH(known(x, ones({3})), Contains("Sequential") && Contains("[3]") && Contains("walk_test.cpp"));
  nn::AnyModule any = known;
  CHECK(any(x, y).to_vector<float>() == std::vector<float>{0, 3});
}

TEST_CASE("extend appends the layers of another Sequential", "[nn]") {
  nn::Sequential<> net({nn::Linear(2, 2)}), more({nn::ReLU()});
  more.push_back("last", nn::Linear(2, 1));
  net.extend(more);
  CHECK(net.names() == std::vector<std::string>{"0", "1", "last"});
  CHECK(net[2].get<nn::Linear>().weight.cell() == more[1].get<nn::Linear>().weight.cell());
  CHECK(net(ones({3, 2})).shape() == Shape{3, 1});
  CHECK_THROWS_WITH(net.extend(more), Contains("last"));
  CHECK(net.size() == 3);
  nn::Sequential<> twice({nn::ReLU(), nn::Tanh()});
  twice.extend(twice);
  CHECK(twice.names() == std::vector<std::string>{"0", "1", "2", "3"});
}

TEST_CASE("parameters become a vector and come back", "[nn]") {
  nn::Linear layer(2, 3);
  const std::vector<Tensor> parameters = nn::parameters(layer);
  const Tensor vector = nn::parameters_to_vector(parameters);
  CHECK(vector.shape() == Shape{9});
  CHECK(vector.slice(0, {6}).to_vector<float>() == layer.bias.to_vector<float>());
  CHECK(gradient((vector * vector).sum(), {layer.bias})[0].to_vector<float>() == (layer.bias * 2).to_vector<float>());
  nn::vector_to_parameters(arange(9, float32), parameters);
  CHECK(layer.weight.to_vector<float>() == std::vector<float>{0, 1, 2, 3, 4, 5});
  CHECK(layer.bias.to_vector<float>() == std::vector<float>{6, 7, 8});
  CHECK(layer.bias.needs_grad());
  CHECK_THROWS_WITH(nn::vector_to_parameters(ones({8}), parameters), Contains("[8]") && Contains("9"));
  CHECK_THROWS_WITH(nn::parameters_to_vector({}), Contains("0 tensors"));

  layer(ones({1, 2})).sum().backward();
  nn::zero_grad(layer);
  CHECK_FALSE(layer.weight.has_grad());
  nn::BatchNorm2d norm(2);
  const nn::NamedTensors buffers = nn::named_buffers(norm);
  REQUIRE(buffers.size() == 2);
  CHECK(buffers[0].first == "running_mean");
}
