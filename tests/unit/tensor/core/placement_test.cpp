// Devices in the tensor API, on a driver over host memory: where tensors are made, what may meet, copies, and what a
// realize() makes of a program that spans devices. The interpreter computes, so that no kernel is needed.
#include "catch.h"

#include <filesystem>
#include <functional>
#include <utility>

#include "planted_faults.h"
#include "sinter/data.h"
#include "sinter/sinter.h"
#include "unit/cuda_fake.h"
#include "unit/runtime_support.h"
#include "unit/tensor_support.h"

using namespace sinter;
using Catch::Matchers::Contains;
using cuda_test::FakeDriver;
using Floats = std::vector<float>;

namespace {

const Device kGpu = Device::cuda(), kOther = Device::cuda(1);

/// Two GPUs, and nothing left on them, in the graph or in memory at the end.
struct Devices {
  FakeDriver driver;
  const testing::ScopedExecutor interpreted{debug::Executor::Interpreter};
  const debug::Counters before = debug::counters();
  const testing::PlantedFaults faults;

  Devices() {
    driver->devices = 2;
    driver.look_again();
    faults->check_plans = true;
  }
  ~Devices() {
    set_default_device(Device::cpu());
    const debug::Counters after = debug::counters();
    CHECK(after.live_nodes == before.live_nodes);
    CHECK(after.live_buffers == before.live_buffers);
  }
};

template <class E = UsageError>
std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const E& e) { return e.what(); }
  return "nothing was thrown";
}

Floats read(const Tensor& t) { return t.to_vector<float>(); }
uint64_t plans() { return debug::counters().plans; }

struct Mlp {
  nn::Linear l1{3, 4}, l2{4, 2};
  SINTER_MODULE(l1, l2)
  Tensor operator()(const Tensor& x) const { return l2(relu(l1(x))); }
};

/// The losses of some steps, with the data on the model's device.
Floats losses(Mlp& model, optim::Optimizer& opt, Device device) {
  const Tensor x = from(Floats{1, 2, 3, -1, 0, 2, 4, 1, 1, 0, -2, 1}, {4, 3}, device);
  const Tensor y = from(std::vector<int64_t>{0, 1, 1, 0}, device);
  Floats out;
  for (int step = 0; step < 4; ++step) {
    Tensor loss = cross_entropy(model(x), y);
    opt.zero_grad();
    loss.backward();
    opt.step();
    out.push_back(loss.item<float>());
  }
  return out;
}

}  // namespace

TEST_CASE("devices have names", "[device]") {
  CHECK(Device::parse("cpu") == Device::cpu());
  CHECK(Device::parse("cuda") == Device::cuda(0));
  CHECK(Device::parse("cuda:12") == Device::cuda(12));
  CHECK(to_string(Device::parse("cuda:12")) == "cuda:12");
  CHECK(Device::cuda(1) != Device::cuda(0));
  CHECK(Device::cuda(0) != Device::cpu());
  for (const char* text : {"", "gpu", "cuda:", "cuda:x", "cuda:1x", "cuda:-1", "cuda:99999999999", "cpu:0", "CUDA"})
    CHECK_THAT(error_of([&] { Device::parse(text); }), Contains(std::string("\"") + text + "\"") && Contains("cuda:"));
}

TEST_CASE("a device that does not exist is named with what there is", "[device]") {
  Devices devices;
  const Tensor x = ones({2}, float32, Device::cpu());
  for (const std::function<void()>& call : std::vector<std::function<void()>>{
           [] { zeros({2}, float32, Device::cuda(7)); }, [] { from(Floats{1}, Device::cuda(7)); },
           [] { rand({2}, {.device = Device::cuda(7)}); }, [] { arange(3, int64, Device::cuda(7)); },
           [] { number(1.0, float32, Device::cuda(7)); }, [&] { x.cuda(7); }, [&] { x.to(Device::cuda(7)); },
           [] { set_default_device(Device::cuda(7)); }})
    CHECK_THAT(error_of(call), Contains("cuda:7") && Contains("this machine has 2") && Contains("cuda:1"));
  CHECK_THAT(error_of([&] { x.cuda(-1); }), Contains("cuda:-1"));
  CHECK_THAT(error_of([&] { x.to(Device(Device::Kind::Cpu, 1)); }), Contains("cpu:1") && Contains("Device::cpu()"));
  devices.driver->init = runtime::cuda::CudaResult::NoDevice;
  devices.driver.look_again();
  CHECK_THAT(error_of([&] { x.cuda(); }), Contains("cuda:0") && Contains("finds no device"));
  CHECK(read(x) == Floats{1, 1});
}

TEST_CASE("calls that name no device use the default one", "[device]") {
  const Devices devices;
  CHECK(default_device() == Device::cpu());
  set_default_device(kOther);
  const std::vector<std::pair<const char*, Tensor>> made = {{"zeros", zeros({2})},
                                                            {"ones", ones({2})},
                                                            {"full", full({2}, 3)},
                                                            {"arange", arange(3)},
                                                            {"arange", arange(1.0, 2.0)},
                                                            {"linspace", linspace(0, 1, 3)},
                                                            {"linspace", linspace(0, 1, 1)},
                                                            {"eye", eye(2)},
                                                            {"number", number(1.0)},
                                                            {"Tensor", Tensor(2.0)},
                                                            {"rand", rand({2})},
                                                            {"randn", randn({2})},
                                                            {"randint", randint(0, 3, {2})},
                                                            {"bernoulli", bernoulli(0.5, {2})},
                                                            {"from", from(Floats{1, 2})},
                                                            {"from", from({{1, 2}, {3, 4}})},
                                                            {"where", where(true, 1, 0)}};
  for (const auto& [name, t] : made) {
    INFO(name);
    CHECK(t.device() == kOther);
    t.realize();
  }
  const Tensor here = ones({3}, float32, Device::cpu());
  for (const Tensor& t : {zeros_like(here), ones_like(here), full_like(here, 2), nn::Dropout(0.5)(here), here + 1,
                          here.argmax(), here.mean()})
    CHECK(t.device() == Device::cpu());
  for (const Tensor& t : nn::parameters(Mlp())) CHECK(t.device() == kOther);
  const data::Dataset set({1, 2, 3, 4}, {0, 1}, 1, 2, 0.0, 1.0);
  for (auto [x, y] : set.batches(2)) {
    CHECK(x.device() == kOther);
    CHECK(y.device() == kOther);
  }
}

TEST_CASE("two tensors on different devices do not meet", "[device]") {
  const Devices devices;
  Tensor a = ones({2, 2}, float32, Device::cpu());
  const Tensor b = ones({2, 2}, float32, kGpu), v = ones({2}, float32, kGpu);
  const Tensor index = from(std::vector<int64_t>{0, 1}, kGpu), plane = ones({1, 1, 4, 4}, float32, Device::cpu());
  const auto text = error_of([&] { a + v; });
  CHECK_THAT(text, Contains("[2, 2]") && Contains("[2]") && Contains("cpu") && Contains("cuda:0") &&
                       Contains(".cuda(0)") && Contains(".cpu()") && Contains("operator+"));
  const std::vector<std::pair<const char*, std::function<void()>>> calls = {
      {"maximum", [&] { maximum(a, b); }},
      {"where", [&] { where(a > 0, b, 0.0); }},
      {"clamp", [&] { clamp(a, v, 2.0); }},
      {"matmul", [&] { matmul(a, v); }},
      {"dot", [&] { dot(a[0], v); }},
      {"einsum", [&] { einsum("ij,jk->ik", {a, b}); }},
      {"cat", [&] { cat({a, b}); }},
      {"stack", [&] { stack({a, b}); }},
      {"broadcast", [&] { broadcast({a, b}); }},
      {"index", [&] { a.index({index}); }},
      {"gather", [&] { gather(a, 1, index.reshape({1, 2})); }},
      {"take_along_dim", [&] { take_along_dim(a, index.reshape({1, 2}), 1); }},
      {"scatter_add", [&] { scatter_add(a[0], 0, index, 1.0); }},
      {"scatter_add", [&] { scatter_add(v, 0, index, a[0]); }},
      {"index_select", [&] { index_select(a, 0, index); }},
      {"embedding", [&] { embedding(index, a); }},
      {"conv2d", [&] { conv2d(plane, ones({1, 1, 2, 2}, float32, kGpu)); }},
      {"conv2d", [&] { conv2d(plane, ones({1, 1, 2, 2}, float32, Device::cpu()), ones({1}, float32, kGpu)); }},
      {"layer_norm", [&] { layer_norm(a, {2}, v); }},
      {"cross_entropy", [&] { cross_entropy(a, index); }},
      {"cross_entropy", [&] { cross_entropy(a, b); }},
      {"nll_loss", [&] { nll_loss(a, index); }},
      {"mse_loss", [&] { mse_loss(a, b); }},
      {"attention", [&] { scaled_dot_product_attention(a, b, b); }},
      {"attention", [&] { scaled_dot_product_attention(a, a, a, {.attn_mask = b > 0}); }},
      {"full", [&] { full({2}, v[0].contiguous(), float32, Device::cpu()); }},
      {"assign", [&] { a.assign(b); }},
      {"at", [&] { a.at({0}) = v; }},
      {"set_grad", [&] { a.set_grad(b); }},
      {"gradient",
       [&] {
         const Tensor p = ones({2, 2}, float32, Device::cpu()).requires_grad();
         gradient(p * 2, std::vector{p}, b);
       }},
  };
  for (const auto& [name, call] : calls) {
    INFO(name);
    CHECK_THAT(error_of(call), Contains("cpu") && Contains("cuda:0") && Contains("move one of them"));
  }
  CHECK(read(a) == Floats{1, 1, 1, 1});
}

TEST_CASE("numbers stand on any device", "[device]") {
  const Devices devices;
  const Tensor x = from(Floats{1, 2}, kGpu);
  CHECK(read(x + 1) == Floats{2, 3});
  CHECK(read(2.0 - x) == Floats{1, 0});
  CHECK(read(Tensor(2.0) * x) == Floats{2, 4});
  CHECK(read(x * number(0.5)) == Floats{0.5, 1});
  CHECK(read(x * Tensor(3)) == Floats{3, 6});
  CHECK(read(clamp(x, 1.5, number(1.75))) == Floats{1.5, 1.75});
  CHECK(read(where(x > 1, Tensor(7.0), x)) == Floats{1, 7});
  CHECK(read(x.pad({{1, 0}}, 5)) == Floats{5, 1, 2});
  CHECK((Tensor(2.0) * x).device() == kGpu);
  Tensor y = x.clone();
  y.assign(Tensor(4.0));
  CHECK(read(y) == Floats{4, 4});
  CHECK(y.device() == kGpu);
  // As seeds and gradients too.
  Tensor w = from(Floats{1, 2}, kGpu).requires_grad();
  (w * w).sum().backward(Tensor(2.0));
  CHECK(read(w.grad()) == Floats{4, 8});
  const Tensor of_w = gradient((w * w).sum(), std::vector{w}, Tensor(3.0))[0];
  CHECK(read(of_w) == Floats{6, 12});
  CHECK(of_w.device() == kGpu);
  Tensor scale = from(Floats{5}, kGpu).reshape({}).contiguous().requires_grad();
  scale.set_grad(Tensor(2.0));
  CHECK(scale.grad().device() == kGpu);
  CHECK(scale.grad().item() == 2);
  // What is repeated is a constant of that device, and needs no copy.
  const uint64_t before = plans();
  CHECK(read(zeros({2}, float32, Device::cpu()).cuda() + x) == Floats{1, 2});
  CHECK(plans() == before + 1);
  // A value that was computed is a tensor, whatever its shape.
  const Tensor sum = from(Floats{1, 2}, Device::cpu()).sum();
  CHECK_THAT(error_of([&] { x* sum; }), Contains("move one of them"));
}

TEST_CASE("copies go between all devices", "[device]") {
  const Devices devices;
  const Tensor host = from(Floats{1, 2, 3, 4, 5, 6}, {2, 3}, Device::cpu());
  const Tensor gpu = host.cuda();
  CHECK(gpu.device() == kGpu);
  CHECK(gpu.cpu().device() == Device::cpu());
  CHECK(read(gpu) == read(host));
  CHECK(read(gpu.cpu()) == read(host));
  CHECK(read(gpu.cuda(1).cuda(0).cpu().cuda(1)) == read(host));
  CHECK(read(gpu.transpose()[1].cpu()) == Floats{2, 5});
  CHECK(read((host * 2).cuda() + gpu) == Floats{3, 6, 9, 12, 15, 18});
  CHECK(read(((host + 1).cuda() * 2).cpu() - host) == Floats{3, 4, 5, 6, 7, 8});
  CHECK(host.cuda(0).to(kGpu).device() == kGpu);
  CHECK(from(std::vector<bool>{true, false}, Device::cpu()).cuda().to_vector<bool>() == std::vector<bool>{true, false});
  CHECK(from(std::vector<double>{0.1}, kGpu).item<double>() == 0.1);
  CHECK(from(std::vector<int64_t>{-7}, kGpu).cpu().item() == -7);
  CHECK(read(zeros({0, 3}, float32, Device::cpu()).contiguous().cuda()).empty());
  CHECK(gpu.to_string() == host.to_string());
  const Var n("n", 1, 8);
  for (int64_t size : {3, 5}) {
    const Tensor some = from(Floats(static_cast<size_t>(size), 2.0f).data(), {n(size)}, Device::cpu());
    CHECK(read(some.cuda().sum()) == Floats{2.0f * static_cast<float>(size)});
  }
}

TEST_CASE("a realize that spans devices is a plan for each, and copies", "[device]") {
  const Devices devices;
  const Tensor x = from(Floats{1, 2}, Device::cpu());
  uint64_t before = plans();
  Tensor a = x + 1, b = (a * 2).cuda(), c = b * 3, d = c.cpu() + a, e = from(Floats{5}, kOther) * 2;
  realize(a, d, e);
  // x on the CPU, its copy, c, its copy; then d and e side by side.
  CHECK(plans() == before + 6);
  CHECK(read(d) == Floats{14, 21});
  CHECK(read(e) == Floats{10});
  CHECK(read(a) == Floats{2, 3});
  before = plans();
  CHECK(read(b) == Floats{4, 6});
  CHECK(plans() == before);
  // Two copies of one value are one.
  const Tensor y = x * 7;
  before = plans();
  CHECK(read(y.cuda() + y.cuda()) == Floats{14, 28});
  CHECK(plans() == before + 3);
  // What is copied lies where it is a reshape of: the copy is all.
  before = plans();
  CHECK(read(x.reshape({2, 1}).detach().cuda()) == Floats{1, 2});
  CHECK(plans() == before + 1);
}

TEST_CASE("equal programs on two devices are two plans", "[device]") {
  const Devices devices;
  const auto misses = [](Device device) {
    const uint64_t before = debug::counters().plan_misses;
    read(from(Floats{1, 2}, device) * 5 - 1);
    return debug::counters().plan_misses - before;
  };
  debug::clear_plans();
  CHECK(misses(Device::cpu()) == 1);
  CHECK(misses(kGpu) == 1);
  CHECK(misses(kOther) == 1);
  CHECK(misses(kGpu) == 0);
}

TEST_CASE("a copy has the value of its moment", "[device]") {
  const Devices devices;
  Tensor a = from(Floats{1, 2}, Device::cpu());
  const Tensor before = a.cuda();
  a += 1;
  const Tensor after = a.cuda();
  a += 1;
  CHECK(read(after) == Floats{2, 3});
  CHECK(read(before) == Floats{1, 2});
  CHECK(read(a) == Floats{3, 4});
  Tensor g = after.clone();
  g.at({0}) = 9;
  CHECK(read(g.cpu()) == Floats{9, 3});
  g.assign(a.cuda());
  CHECK(read(g) == Floats{3, 4});
}

TEST_CASE("gradients pass copies", "[device]") {
  const Devices devices;
  Tensor p = from(Floats{1, 2}, Device::cpu()).requires_grad(), q = from(Floats{3, 4}, kGpu).requires_grad();
  Tensor loss = ((p * p).cuda() * q).cpu().sum();
  loss.backward();
  CHECK(p.grad().device() == Device::cpu());
  CHECK(q.grad().device() == kGpu);
  CHECK(read(p.grad()) == Floats{6, 16});
  CHECK(read(q.grad()) == Floats{1, 4});
  CHECK(loss.item<float>() == 19);
  // Of the second order, through a parameter that was never read.
  const Tensor x = from(Floats{2}, Device::cpu()).requires_grad();
  const Tensor y = (x * x * x).cuda().sum();
  const Tensor first = gradient(y, std::vector{x})[0];
  CHECK(read(gradient(first.sum(), std::vector{x})[0]) == Floats{12});
}

TEST_CASE("a model trains on a device as on the CPU", "[device]") {
  const Devices devices;
  const auto make = [](Mlp& m) {
    return std::make_unique<optim::Adam>(nn::parameters(m), optim::Adam::Options{.lr = 0.05});
  };
  manual_seed(3);
  Mlp host, late = nn::clone(host), made = nn::clone(host);
  auto host_opt = make(host), late_opt = make(late);
  const Floats expected = losses(host, *host_opt, Device::cpu());
  CHECK(expected[3] < expected[0]);
  nn::to(made, kGpu);
  auto made_opt = make(made);
  CHECK(losses(made, *made_opt, kGpu) == expected);
  // Moved behind the optimiser's back: its parameters and its state come along.
  const std::vector<Tensor> before = nn::parameters(late);
  nn::to(late, kOther);
  CHECK(losses(late, *late_opt, kOther) == expected);
  CHECK(before[0].device() == kOther);
  CHECK(read(before[0]) == read(made.l1.weight));
  for (const auto& [name, t] : late_opt->state_dict())
    CHECK(t.device() == (name == "lr" || name == "steps" ? Device::cpu() : kOther));

  Tensor x = ones({1, 3}, float32, kOther);
  late(x).sum().backward();
  nn::to(late, Device::cpu());
  CHECK(late.l1.weight.grad().device() == Device::cpu());
  nn::clip_grad_norm(nn::parameters(late), 0.5);
  late_opt->step();
  CHECK(late.l1.weight.device() == Device::cpu());
}

TEST_CASE("a step of parameters on two devices stores both", "[device]") {
  const Devices devices;
  Tensor p = from(Floats{1, 2}, Device::cpu()).requires_grad(), q = from(Floats{3, 4}, kGpu).requires_grad();
  optim::SGD opt({p, q}, {.lr = 0.5});
  std::vector<uint64_t> steps;
  for (int i = 0; i < 3; ++i) {
    Tensor loss = (p.cuda() * q).sum();
    loss.backward();
    nn::clip_grad_norm({p, q}, 1e9);
    const uint64_t before = plans();
    opt.step();
    steps.push_back(plans() - before);
  }
  CHECK(read(p) == Floats{-3.125, -3});
  CHECK(read(q) == Floats{3.625, 3.75});
  CHECK(steps[1] == steps[2]);
}

TEST_CASE("what is not on the host is saved, loaded and printed", "[device]") {
  const Devices devices;
  Mlp model;
  nn::to(model, kGpu);
  const std::filesystem::path path = std::filesystem::temp_directory_path() / "sinter_device_test.safetensors";
  nn::save(model, path);
  Mlp other;
  nn::to(other, kOther);
  nn::load(other, path);
  CHECK(other.l1.weight.device() == kOther);
  CHECK(read(other.l1.weight) == read(model.l1.weight));
  for (const auto& [name, t] : nn::load_file(path)) CHECK(t.device() == Device::cpu());
  for (const auto& [name, t] : nn::load_file(path, kGpu)) CHECK(t.device() == kGpu);
  std::filesystem::remove(path);
}

TEST_CASE("out of memory on a device leaves every tensor as it was", "[device]") {
  Devices devices;
  const Tensor x = ones({1 << 20}, float32, Device::cpu()).contiguous(), small = from(Floats{1}, kGpu);
  devices.driver->memory = 2 << 20;
  Tensor y = x.cuda();
  const std::string text = error_of<OutOfMemory>([&] { y.realize(); });
  CHECK_THAT(text, Contains("out of memory on cuda:0"));
  CHECK(read(small + 1) == Floats{2});
  devices.driver->memory = 64 << 20;
  CHECK(y.sum().item<float>() == 1 << 20);
}
