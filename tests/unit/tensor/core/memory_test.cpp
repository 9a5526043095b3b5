// What memory::report() says lives, and where it comes from.
#include <algorithm>
#include <memory>
#include <optional>

#include "catch.h"
#include "runtime/exec/buffer.h"
#include "sinter/debug.h"
#include "sinter/sinter.h"

using namespace sinter;
using Catch::Matchers::Contains;

namespace {

/// What was made by `call` at that line of this file; zeros when nothing lives.
memory::Origin made_by(const std::string& call, uint32_t line) {
  for (const memory::Origin& o : memory::report().origins)
    if (o.call == call && o.line == line && o.file == __FILE__) return o;
  return {};
}

}  // namespace

TEST_CASE("a report names the call that made what lives", "[memory]") {
  const uint32_t line = __LINE__ + 1;
  std::optional<Tensor> x = from(std::vector<float>(300), {3, 100});
  memory::Origin o = made_by("from", line);
  CHECK(o.bytes == 1200);
  CHECK(o.buffers == 1);
  CHECK(o.tensors == 1);
  CHECK(o.nodes == 1);
  CHECK_THAT(o.function, Contains("CATCH2_INTERNAL_TEST") || Contains("C_A_T_C_H"));
  const Tensor alias = *x, second = x->detach();
  CHECK(made_by("from", line).tensors == 2);
  x.reset();
  CHECK(made_by("from", line).tensors == 2);
}

TEST_CASE("what nothing holds any more is in no report", "[memory]") {
  const uint32_t line = __LINE__ + 1;
  auto make = [] { return exp(from(std::vector<float>(64))).realize(); };
  const memory::Report before = memory::report();
  {
    const Tensor y = make();
    CHECK(made_by("exp", line).bytes == 256);
    CHECK(made_by("exp", line).nodes == 1);
    CHECK(made_by("from", line).nodes == 0);  // what exp() was made from has gone
    CHECK(memory::report().bytes == before.bytes + 256);
  }
  CHECK(made_by("exp", line).nodes == 0);
  const memory::Report after = memory::report();
  CHECK(after.bytes == before.bytes);
  CHECK(after.nodes == before.nodes);
  CHECK(after.tensors == before.tensors);
}

TEST_CASE("a graph that is held is seen before anything is computed", "[memory]") {
  const Tensor x = zeros({8});
  std::vector<Tensor> held;
  const uint32_t line = __LINE__ + 1;
  for (int i = 0; i < 10; ++i) held.push_back(x + static_cast<double>(i + 1));
  const memory::Origin o = made_by("operator+", line);
  CHECK(o.tensors == 10);
  CHECK(o.nodes >= 10);
  CHECK(o.bytes == 0);
}

TEST_CASE("new versions count where the tensor was made", "[memory]") {
  const uint32_t made = __LINE__ + 1;
  Tensor w = zeros({100}).contiguous().realize();
  w += 1.0;
  w.at({Slice{0, 3}}) = 5.0;
  w.realize();
  CHECK(made_by("contiguous", made).bytes == 400);
  const Tensor old = w * 1.0;  // needs the version before: the next one moves
  w += old;
  realize(w, old);
  CHECK(made_by("contiguous", made).bytes == 400);
  CHECK(made_by("operator+=", made + 1).bytes == 0);
}

TEST_CASE("layers and optimisers own their parameters and state through training", "[memory]") {
  manual_seed(2);
  const uint32_t layer_line = __LINE__ + 1;
  nn::Linear layer(10, 4);
  const uint32_t optimizer_line = __LINE__ + 1;
  optim::Adam optimizer(nn::parameters(layer), {});
  for (int step = 0; step < 3; ++step) {
    Tensor loss = square(layer(zeros({2, 10}) + 1.0)).mean();
    loss.backward();
    optimizer.step();
  }
  const uint64_t bytes = (10 * 4 + 4) * sizeof(float);
  CHECK(made_by("Linear", layer_line).bytes == bytes);
  CHECK(made_by("Linear", layer_line).tensors == 2);
  CHECK(made_by("Adam", optimizer_line).bytes == 2 * bytes);
}

TEST_CASE("sums agree with the counters, and the allocator's figures with each other", "[memory]") {
  const Tensor big = zeros({1 << 16}).contiguous().realize();
  const memory::Report r = memory::report();
  const debug::Counters c = debug::counters();
  CHECK(r.nodes == c.live_nodes);
  CHECK(r.buffers == c.live_buffers);
  REQUIRE(!r.devices.empty());
  const memory::DeviceUse& cpu = r.devices[0];
  CHECK(cpu.device == Device::cpu());
  CHECK(cpu.allocated == c.live_bytes);
  CHECK(r.bytes <= cpu.allocated);
  CHECK(cpu.allocated <= cpu.peak);
  CHECK(cpu.peak <= cpu.limit);
  uint64_t bytes = 0, nodes = 0, tensors = 0;
  for (const memory::Origin& o : r.origins) bytes += o.bytes, nodes += o.nodes, tensors += o.tensors;
  CHECK(bytes == r.bytes);
  CHECK(nodes == r.nodes);
  CHECK(tensors == r.tensors);
  CHECK(std::is_sorted(r.origins.begin(), r.origins.end(),
                       [](const auto& a, const auto& b) { return a.bytes > b.bytes; }));
}

TEST_CASE("the pool is reported and can be given back", "[memory]") {
  zeros({1 << 16}).contiguous().realize();
  CHECK(memory::report().devices[0].pooled >= 4u << 16);
  memory::release_pool();
  CHECK(memory::report().devices[0].pooled == 0);
}

TEST_CASE("the text has a line of sums, one per device, and one per origin", "[memory]") {
  memory::Report r;
  r.bytes = 3 << 20, r.buffers = 2, r.tensors = 3, r.nodes = 4;
  r.devices = {{Device::cpu(), 3 << 20, 5 << 20, 0, 1ull << 30}, {Device::cuda(1), 1 << 20, 1 << 20, 917, 2ull << 30}};
  r.origins = {{"Linear", "/a/b/net.cpp", 12, "main", 3 << 20, 2, 2, 2}, {"", "", 0, "", 0, 0, 1, 2}};
  CHECK(memory::to_string(r) ==
        "3.0 MiB in 2 buffers, 3 tensors, 4 nodes\n"
        "cpu: allocated 3.0 MiB, peak 5.0 MiB, pooled 0 B, limit 1.0 GiB\n"
        "cuda:1: allocated 1.0 MiB, peak 1.0 MiB, pooled 917 B, limit 2.0 GiB\n"
        "       bytes  buffers  tensors    nodes  made by\n"
        "     3.0 MiB        2        2        2  Linear at net.cpp:12\n"
        "         0 B        0        1        2  outside of calls\n");
}
