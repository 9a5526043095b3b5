// Modules as plain structs: what a walk over their members yields.
#include "catch.h"
#include "sinter/sinter.h"

using namespace sinter;

namespace {

struct Block {
  nn::Linear inner{3, 3};
  Tensor scale = ones({3}).requires_grad();
  SINTER_MODULE(inner, scale)
};
struct Tables {
  nn::ParameterList tables{ones({2}).requires_grad(), ones({3})};
  SINTER_MODULE(tables)
};
struct Net {
  std::vector<Block> blocks{Block(), Block()};
  std::optional<nn::LayerNorm> norm;
  nn::Dropout drop{0.5};
  Tensor counts = zeros({2});
  SINTER_MODULE(blocks, norm, drop, counts)
};
std::vector<std::string> names(const nn::NamedTensors& list) {
  std::vector<std::string> out;
  for (const auto& [name, t] : list) out.push_back(name);
  return out;
}

}  // namespace

TEST_CASE("a walk names every tensor by its path", "[nn]") {
  Net net;
  CHECK(names(nn::state_dict(net)) == std::vector<std::string>{"blocks.0.inner.weight", "blocks.0.inner.bias",
                                                               "blocks.0.scale", "blocks.1.inner.weight",
                                                               "blocks.1.inner.bias", "blocks.1.scale", "counts"});
  CHECK(nn::parameters(net).size() == 6);
  net.norm.emplace(3);
  CHECK(nn::parameters(net).size() == 8);
  Tables more;
  more.tables.push_back(zeros({1}));
  CHECK(names(nn::state_dict(more)) == std::vector<std::string>{"tables.0", "tables.1", "tables.2"});
  CHECK(names(nn::named_parameters(more)) == std::vector<std::string>{"tables.0"});
}

/// By PyTorch 2.15. It counts the batches of running statistics too.
TEST_CASE("tensors of layers have PyTorch's names", "[nn]") {
  using Names = std::vector<std::string>;
  const auto of = [](const auto& layer) { return names(nn::state_dict(layer)); };
  CHECK(of(nn::EmbeddingBag(4, 3)) == Names{"weight"});
  CHECK(of(nn::ConvTranspose1d(2, 3, 2)) == Names{"weight", "bias"});
  CHECK(of(nn::ConvTranspose2d(2, 3, 2)) == Names{"weight", "bias"});
  CHECK(of(nn::ConvTranspose3d(2, 3, 2, {.bias = false})) == Names{"weight"});
  CHECK(of(nn::Conv2d(2, 3, 2, {.stride = 2, .bias = false})) == Names{"weight"});
  CHECK(of(nn::Conv1d(2, 3, 2)) == Names{"weight", "bias"});
  CHECK(of(nn::PReLU(3)) == Names{"weight"});
  CHECK(of(nn::InstanceNorm1d(2)).empty());
  CHECK(of(nn::InstanceNorm2d(2, {.affine = true})) == Names{"weight", "bias"});
  CHECK(of(nn::InstanceNorm3d(2, {.affine = true, .track_running_stats = true})) ==
        Names{"weight", "bias", "running_mean", "running_var"});
  CHECK(of(nn::GroupNorm(2, 4)) == Names{"weight", "bias"});
  CHECK(of(nn::RMSNorm(4)) == Names{"weight"});
}

TEST_CASE("a shared cell comes once and stays shared in a clone", "[nn]") {
  Net net;
  net.blocks[1].inner.weight = net.blocks[0].inner.weight;
  CHECK(nn::parameters(net).size() == 5);
  Net copy = nn::clone(net);
  CHECK(copy.blocks[0].inner.weight.cell() == copy.blocks[1].inner.weight.cell());
  CHECK_FALSE(copy.blocks[0].inner.weight.cell() == net.blocks[0].inner.weight.cell());
  CHECK(nn::parameters(copy).size() == 5);
  {
    no_grad guard;
    net.blocks[0].scale.assign(7.0);
  }
  CHECK(copy.blocks[0].scale.to_vector<float>() == std::vector<float>{1, 1, 1});
  Net alias = net;  // copies of a struct share parameters
  CHECK(alias.blocks[0].scale.to_vector<float>() == std::vector<float>{7, 7, 7});
}

TEST_CASE("train and eval reach every member", "[nn]") {
  Net net;
  nn::eval(net);
  CHECK_FALSE(net.drop.training);
  Tensor x = ones({4});
  CHECK(net.drop(x).to_vector<float>() == x.to_vector<float>());
  nn::train(net);
  CHECK(net.drop.training);
}

TEST_CASE("dropout keeps the mean and zeroes the stated share", "[nn]") {
  manual_seed(3);
  nn::Dropout drop(0.25);
  std::vector<float> y = drop(ones({40000})).to_vector<float>();
  double zeros = 0, sum = 0;
  for (float v : y) {
    CHECK_FALSE((v != 0.0f && std::abs(v - 1.0f / 0.75f) > 1e-6f));
    zeros += v == 0.0f;
    sum += v;
  }
  CHECK(std::abs(zeros / 40000 - 0.25) < 0.015);
  CHECK(std::abs(sum / 40000 - 1.0) < 0.02);
}

TEST_CASE("sequential applies its layers in order", "[nn]") {
  nn::Sequential net(nn::Flatten(), nn::Linear(6, 4), nn::ReLU(), nn::Linear(4, 2));
  CHECK(net(ones({5, 2, 3})).shape() == Shape{5, 2});
  CHECK(names(nn::state_dict(net)) == std::vector<std::string>{"1.weight", "1.bias", "3.weight", "3.bias"});
  const auto& l = std::get<1>(net.layers);
  Tensor x = ones({1, 6});
  CHECK((l(x) == matmul(x, l.weight.transpose()) + l.bias).all().item<bool>());
}

TEST_CASE("functions without state are layers without tensors", "[nn]") {
  nn::Sequential net(
      nn::Linear(3, 2), [](const Tensor& x) { return tanh(x); }, +[](const Tensor& x) { return x * 2.0; });
  CHECK(names(nn::state_dict(net)) == std::vector<std::string>{"0.weight", "0.bias"});
  CHECK(net(ones({1, 3})).shape() == Shape{1, 2});
  nn::train(net);
}

namespace {

struct Shared {
  std::shared_ptr<nn::Linear> first = std::make_shared<nn::Linear>(2, 2), second = first, none;
  std::vector<std::shared_ptr<Block>> blocks{std::make_shared<Block>()};
  Tensor tied = first->weight;
  SINTER_MODULE(first, second, none, blocks, tied)
};

}  // namespace

TEST_CASE("a clone has its own of what shared pointers hold", "[nn]") {
  Shared original;
  const auto first = original.first;
  const Tensor weight = first->weight, scale = original.blocks[0]->scale;
  Shared copy = nn::clone(original);
  CHECK(original.first == first);
  CHECK(original.first->weight.cell() == weight.cell());
  CHECK(original.blocks[0]->scale.cell() == scale.cell());
  CHECK(copy.first != first);
  CHECK(copy.first == copy.second);  // what was one object is one object
  CHECK_FALSE(copy.none);
  CHECK(copy.tied.cell() == copy.first->weight.cell());
  CHECK_FALSE(copy.tied.cell() == weight.cell());
  CHECK_FALSE(copy.blocks[0]->scale.cell() == scale.cell());
  CHECK(copy.first->weight.to_vector<float>() == weight.to_vector<float>());
  CHECK(nn::parameters(copy).size() == nn::parameters(original).size());
}

TEST_CASE("a module that is moved is the one that its optimiser trains", "[nn]") {
  Net net;
  const std::vector<Tensor> before = nn::parameters(net);
  optim::SGD opt(before, {.lr = 0.1});
  nn::to(net, Device::cpu());
  const std::vector<Tensor> after = nn::parameters(net);
  REQUIRE(after.size() == before.size());
  for (size_t i = 0; i < after.size(); ++i) CHECK(after[i].cell() == before[i].cell());
  const std::vector<float> scale = net.blocks[0].scale.to_vector<float>();
  (net.blocks[0].scale * 2.0).sum().backward();
  opt.step();
  CHECK(net.blocks[0].scale.to_vector<float>() != scale);
  CHECK_THROWS_AS(nn::to(net, Device::cuda(1000)), UsageError);
  CHECK(net.blocks[0].scale.cell() == before[2].cell());
}

TEST_CASE("dropping everything leaves a gradient of zeros", "[nn]") {
  Tensor x = ones({3}).requires_grad();
  Tensor y = nn::Dropout(1.0)(x);
  CHECK(y.to_vector<float>() == std::vector<float>{0, 0, 0});
  y.sum().backward();
  CHECK(x.grad().to_vector<float>() == std::vector<float>{0, 0, 0});
}

TEST_CASE("initial values lie where the formulas say", "[nn]") {
  manual_seed(1);
  Tensor w = nn::init::xavier_uniform({300, 200});
  const double bound = std::sqrt(6.0 / 500);
  CHECK(w.max().item() <= bound);
  CHECK(w.min().item() >= -bound);
  CHECK(std::abs(w.std().item() - bound / std::sqrt(3.0)) < 0.02 * bound);
  CHECK(std::abs(nn::init::kaiming_normal({300, 200}).std().item() - std::sqrt(2.0 / 200)) < 0.002);
  CHECK(std::abs(nn::init::xavier_normal({300, 200}, 3.0).std().item() - 3 * std::sqrt(2.0 / 500)) < 0.005);
  Tensor k = nn::init::kaiming_uniform({300, 200});
  const double most = std::sqrt(6.0 / 200);
  CHECK(k.max().item() <= most);
  CHECK(k.min().item() >= -most);
  CHECK(std::abs(k.std().item() - most / std::sqrt(3.0)) < 0.02 * most);
  CHECK_THROWS_AS(nn::init::kaiming_normal({3}), UsageError);
  manual_seed(1);
  CHECK(nn::init::xavier_uniform({300, 200}).to_vector<float>() == w.to_vector<float>());
}

TEST_CASE("LayerNorm and Embedding compute what their headers say", "[nn]") {
  nn::LayerNorm norm(4, 0.5);
  {
    no_grad guard;
    norm.weight.assign(from({1.0, 2.0, 1.0, 1.0}));
    norm.bias.assign(from({0.0, 0.0, 0.0, 3.0}));
  }
  const std::vector<double> x{1, 2, 3, 6};  // mean 3, variance 3.5
  const std::vector<float> y = norm(from(std::vector<float>(x.begin(), x.end()), {1, 4})).to_vector<float>();
  for (size_t i = 0; i < 4; ++i)
    CHECK(y[i] == Approx((x[i] - 3) / 2 * (i == 1 ? 2 : 1) + (i == 3 ? 3 : 0)).margin(1e-6));

  nn::Embedding table(3, 2);
  const std::vector<float> rows = table.weight.to_vector<float>();
  const Tensor picked = table(from({{2, 0}, {-1, 1}}));
  CHECK(picked.shape() == Shape{2, 2, 2});
  CHECK(picked.to_vector<float>() ==
        std::vector<float>{rows[4], rows[5], rows[0], rows[1], rows[4], rows[5], rows[2], rows[3]});
}

TEST_CASE("the row of padding of an Embedding begins as zeros and gets no gradient", "[nn]") {
  nn::Embedding table(3, 2, {.padding_idx = -2});
  CHECK(table.padding_idx == 1);
  CHECK(table.weight[1].to_vector<float>() == std::vector<float>{0, 0});
  const Tensor sum = table(from({{2, 1}, {-1, -2}})).sum();
  CHECK(gradient(sum, {table.weight})[0].to_vector<float>() == std::vector<float>{0, 0, 0, 0, 2, 2});

  nn::EmbeddingBag bag(3, 2, {.mode = nn::BagMode::Sum, .padding_idx = 1});
  CHECK(bag.weight[1].to_vector<float>() == std::vector<float>{0, 0});
  CHECK(gradient(bag(from({2, 1, -2}), from({0, 1})).sum(), {bag.weight})[0].to_vector<float>() ==
        std::vector<float>{0, 0, 0, 0, 1, 1});
}

TEST_CASE("an index of a narrow type finds the row of padding", "[nn]") {
  nn::Embedding small(5, 3, {.padding_idx = 1}), large(300, 1, {.padding_idx = 200});
  nn::EmbeddingBag bag(5, 3, {.mode = nn::BagMode::Sum, .padding_idx = 1});
  const auto counts = [](const Tensor& sum, const Tensor& weight) {
    return gradient(sum, {weight})[0].sum(1).to_vector<float>();
  };
  for (const DType type : {uint8, int8, int16, uint16, uint32, uint64, int32}) {
    INFO(name_of(type));
    const Tensor index = from({1, 2, 1, 4}).to(type);
    CHECK(counts(small(index).sum(), small.weight) == std::vector<float>{0, 0, 3, 0, 3});
    CHECK(counts(bag(index, from({0, 2})).sum(), bag.weight) == std::vector<float>{0, 0, 3, 0, 3});
    CHECK(counts(bag(index.reshape({2, 2})).sum(), bag.weight) == std::vector<float>{0, 0, 3, 0, 3});
    CHECK(counts(large(index).sum(), large.weight)[2] == 1);
  }
  CHECK(counts(large(from({200, 7}).to(uint8)).sum(), large.weight)[200] == 0);
  CHECK(counts(large(from({-100, 7}).to(int8)).sum(), large.weight)[200] == 0);
  const Tensor huge = from(std::vector<uint64_t>{~uint64_t{0}, 1});  // the first one as int64 would be the last row
  CHECK_THROWS_WITH(small(huge).to_vector<float>(), Catch::Contains("out of range for 5 elements"));
  CHECK_THROWS_WITH(bag(huge, from({0})).to_vector<float>(), Catch::Contains("out of range for 5 elements"));
}

TEST_CASE("an element before the first offset is in no bag, and that is an error", "[nn]") {
  for (const nn::BagMode mode : {nn::BagMode::Sum, nn::BagMode::Mean, nn::BagMode::Max}) {
    const nn::EmbeddingBag bag(5, 3, {.mode = mode});
    const Tensor words = from({0, 1, 2}), some = from(std::vector<int64_t>{0, 1, 2}, {Var("words", 1, 8)(3)});
    for (const Tensor& index : {words, some, words.to(uint8)}) {
      CHECK_THROWS_WITH(bag(index, from({1, 2})).to_vector<float>(),
                        Catch::Contains("out of range") && Catch::Contains("in EmbeddingBag at"));
      CHECK_NOTHROW(bag(index, from({0, 2})).to_vector<float>());
    }
    CHECK_THROWS_WITH(bag(ones({3}), from({0, 2})), Catch::Contains("float32 [3]") && Catch::Contains("integer"));
  }
}

TEST_CASE("a load that is not strict leaves alone what only one side has", "[nn]") {
  nn::Sequential target(nn::Linear(2, 2), nn::Linear(2, 2));
  const std::vector<float> second = std::get<1>(target.layers).weight.to_vector<float>();
  nn::NamedTensors state{{"0.weight", full({2, 2}, 5.0)}, {"somebody.else", ones({9})}};
  CHECK_THROWS_AS(nn::load(target, state), UsageError);
  nn::load(target, state, {.strict = false});
  CHECK(std::get<0>(target.layers).weight.to_vector<float>() == std::vector<float>(4, 5));
  CHECK(std::get<1>(target.layers).weight.to_vector<float>() == second);
  state.push_back({"1.weight", ones({3, 2})});
  CHECK_THROWS_WITH(nn::load(target, state, {.strict = false}), Catch::Contains("1.weight"));
}

TEST_CASE("load of values that are targets too is a permutation", "[nn]") {
  Tensor live = from({1.0, 2.0}), average = from({3.0, 4.0});
  nn::load({{"w", live}, {"average", average}}, {{"w", average}, {"average", live}});
  CHECK(live.to_vector<float>() == std::vector<float>{3, 4});
  CHECK(average.to_vector<float>() == std::vector<float>{1, 2});
}

TEST_CASE("a byte that is neither 0 nor 1 is a true bool", "[nn]") {
  const uint8_t bytes[] = {0, 1, 2, 255};
  CHECK(from_bytes(bytes, sizeof bytes, boolean, {4}).to_bytes() ==
        std::vector<std::byte>{std::byte{0}, std::byte{1}, std::byte{1}, std::byte{1}});
}
