// The CUDA runtime on the simulated device: kernels are compiled from text and run, by NVRTC or Clang.
#include "catch.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include <numeric>

#include "runtime/base/build_id.h"
#include "runtime/base/plugin.h"
#include "runtime/cuda/compile_cuda.h"
#include "runtime/cuda/context.h"
#include "runtime/cuda/simulator.h"
#include "runtime/exec/launch_graph.h"
#include "runtime/program/program.h"
#include "sinter/sinter.h"
#include "skip.h"
#include "unit/runtime_support.h"

using namespace sinter::runtime::cuda;
using namespace runtime_test;
using Catch::Matchers::Contains;
using sinter::BackendError;
using sinter::OutOfMemory;
using sinter::UsageError;
using sinter::runtime::KernelSource;
using sinter::runtime::Program;

namespace {

/// Simulated devices as this process's GPUs, with nothing left on them from before.
class Simulated {
 public:
  explicit Simulated(const sim::Settings& settings = {}) {
    sim::configure(settings);
    sim::clear_reports();
    sinter::debug::clear_plans();  // which keep graphs of the device
    sinter::runtime::forget_programs();
    inject_driver(&simulated_driver());
  }
  ~Simulated() {
    sinter::runtime::forget_programs();
    forget_devices();
    inject_driver(nullptr);
    sim::configure({});
    sim::clear_reports();
  }
  Simulated(const Simulated&) = delete;
  Simulated& operator=(const Simulated&) = delete;
};

/// Whether something here compiles CUDA text.
bool can_compile() { return compiler_of(find_driver()).reason.empty(); }

KernelSource source(const std::string& name, const std::string& body, int threads = 128, int64_t shared = 0) {
  KernelSource k{.name = name,
                 .text = fmt::format(
                     "extern \"C\" __global__ void {}(unsigned* error, float* x, long long n) {{\n{}}}\n", name, body)};
  k.threads = threads;
  k.shared = shared;
  return k;
}

/// x[i] = x[i] * 2 + 1, by way of shared memory that is asked for at the launch.
KernelSource scale(const std::string& name = "scale") {
  return source(name,
                "  extern __shared__ float part[];\n"
                "  long long i = blockIdx.x * 128ll + threadIdx.x;\n"
                "  part[127 - threadIdx.x] = i < n ? x[i] : 0.0f;\n"
                "  __syncthreads();\n"
                "  if (i < n) x[i] = part[127 - threadIdx.x] * 2.0f + 1.0f;\n",
                128, 60 << 10);
}

std::shared_ptr<const Program> program(const KernelSource& kernel) {
  return sinter::runtime::compile({&kernel, 1}, Context::get(0)->target())[0];
}

/// The error word, zero, then numbers on a device.
struct Numbers {
  Numbers(std::shared_ptr<Context> gpu, std::vector<float> values) : context(std::move(gpu)), host(std::move(values)) {
    error = context->allocator().allocate(4);
    memory = context->allocator().allocate(bytes());
    context->fill(error, 0, 4);
    context->copy_to_device(memory, host.data(), bytes());
  }
  ~Numbers() {
    context->allocator().deallocate(error, 4);
    context->allocator().deallocate(memory, bytes());
  }
  Numbers(const Numbers&) = delete;
  Numbers& operator=(const Numbers&) = delete;
  size_t bytes() const { return host.size() * sizeof(float); }
  std::vector<uint64_t> parameters() const { return {error, memory, host.size()}; }
  std::vector<float> read() {
    context->copy_to_host(host.data(), memory, bytes());
    return host;
  }
  std::shared_ptr<Context> context;
  std::vector<float> host;
  DevicePointer error = 0, memory = 0;
};

std::vector<float> first_numbers(size_t count) {
  std::vector<float> x(count);
  std::iota(x.begin(), x.end(), 0.0f);
  return x;
}

std::string failure(const std::function<void()>& call) {
  try {
    call();
  } catch (const BackendError& error) { return error.what(); }
  return "nothing failed";
}

}  // namespace

TEST_CASE("SINTER_DEVICE=cuda-sim is a GPU that is simulated", "[cuda][cuda-sim]") {
  const ScopedEnv device("SINTER_DEVICE", "cuda-sim");
  CHECK(find_driver().table == &simulated_driver());
  CHECK(find_driver().simulated);
  CHECK(find_driver().version >= 12000);
  CHECK(sinter::cuda::device_count() == 1);
  const sinter::cuda::Properties p = sinter::cuda::properties();
  CHECK(p.compute_capability == 90);
  CHECK(p.multiprocessors == 132);
  CHECK(p.shared_memory_per_block == 227 << 10);
  forget_devices();
}

TEST_CASE("the plugin of the simulated GPU serves no other build", "[cuda][cuda-sim]") {
  simulated_driver();
  void* library = nullptr;
  for (const std::string& file : sinter::runtime::plugin_files("libsinter_cudasim.so"))
    if ((library = dlopen(file.c_str(), RTLD_NOW | RTLD_NOLOAD))) break;
  REQUIRE(library);
  const auto open = reinterpret_cast<sim::OpenSimulator>(dlsym(library, "sinter_cudasim"));
  REQUIRE(open);
  CHECK(open("0123456789abcdef0123456789abcdef") == nullptr);
  const sim::SimulatorApi* api = open(sinter::runtime::build_id());
  REQUIRE(api);
  CHECK(api->driver == &simulated_driver());
  dlclose(library);
}

TEST_CASE("text is compiled, launched on a simulated device, and computes", "[cuda][cuda-sim]") {
  const Simulated simulated;
  if (!can_compile()) SKIP_TEST("no compiler of CUDA text");
  const FreshCache cache;
  const auto context = Context::get(0);
  const auto made = program(scale());
  Numbers x(context, first_numbers(1000));
  const DeviceKernel& kernel = made->image()->load_on(*context).main;
  CHECK(kernel.shared == 60 << 10);
  context->launch(kernel, 8, x.parameters());
  std::vector<float> expected = first_numbers(1000);
  for (float& v : expected) v = v * 2 + 1;
  CHECK(x.read() == expected);

  // The same as a graph, on memory that takes turns.
  Numbers y(context, first_numbers(1000));
  LaunchGraph list(context);
  for (int run = 0; run < 6; ++run) {
    Numbers& z = run % 2 ? x : y;
    list.begin();
    list.add(kernel, 8, z.parameters());
    list.barrier();
    list.add(kernel, 8, z.parameters());
    list.run();
  }
  CHECK(list.graphs() == 2);
  expected = first_numbers(1000);
  for (int i = 0; i < 6; ++i)
    for (float& v : expected) v = v * 2 + 1;
  CHECK(y.read() == expected);
}

TEST_CASE("several simulated devices run the same program and copy to one another", "[cuda][cuda-sim]") {
  const Simulated simulated({.devices = 2});
  if (!can_compile()) SKIP_TEST("no compiler of CUDA text");
  const FreshCache cache;
  const auto a = Context::get(0), b = Context::get(1);
  CHECK_THROWS_AS(Context::get(2), UsageError);
  const auto made = program(scale());
  Numbers x(a, first_numbers(300)), y(b, std::vector<float>(300));
  a->launch(made->image()->load_on(*a).main, 3, x.parameters());
  b->copy_from(*a, y.memory, x.memory, x.bytes());
  b->launch(made->image()->load_on(*b).main, 3, y.parameters());
  std::vector<float> expected = first_numbers(300);
  for (float& v : expected) v = (v * 2 + 1) * 2 + 1;
  CHECK(y.read() == expected);
}

TEST_CASE("a fault on a simulated device names the kernel, and every later call says so", "[cuda][cuda-sim]") {
  const Simulated simulated;
  if (!can_compile()) SKIP_TEST("no compiler of CUDA text");
  const FreshCache cache;
  const auto context = Context::get(0);
  const auto wild = program(source("wild", "  x[n + 100000000] = 1.0f;\n"));
  const auto good = program(scale());
  Numbers x(context, first_numbers(10));
  context->launch(good->image()->load_on(*context).main, 1, x.parameters());
  context->launch(wild->image()->load_on(*context).main, 1, x.parameters());
  const std::string text = failure([&] { context->synchronize(); });
  CHECK_THAT(text, Contains("cuda:0") && Contains("CUDA_ERROR_ILLEGAL_ADDRESS") && Contains("wild") &&
                       !Contains("scale") && Contains("context of the device is lost"));
  for (int again = 0; again < 3; ++again) {
    CHECK_THAT(failure([&] { x.read(); }), Contains("cuda:0 cannot be used any more") && Contains("wild"));
    CHECK_THAT(failure([&] { context->launch(good->image()->load_on(*context).main, 1, x.parameters()); }),
               Contains("cannot be used any more"));
  }
}

TEST_CASE("a simulated device out of memory is relieved of what is cached, then says who holds the rest",
          "[cuda][cuda-sim]") {
  const Simulated simulated({.memory = 64 << 20});
  DeviceAllocator& pool = Context::get(0)->allocator();
  for (int i = 1; i <= 5; ++i) {  // of sizes that do not fit one another
    const size_t bytes = static_cast<size_t>(i) << 20;
    pool.deallocate(pool.allocate(bytes), bytes);
  }
  CHECK(pool.stats().cached == 15 << 20);
  const DevicePointer large = pool.allocate(55 << 20);
  CHECK(pool.stats().cached == 0);
  CHECK_THAT(failure([&] { pool.allocate(10 << 20); }),
             Contains("out of memory on cuda:0: 10485760 bytes (10.0 MiB) asked for") && Contains("live in 1 blocks"));
  pool.deallocate(large, 55 << 20);
  pool.deallocate(pool.allocate(50 << 20), 50 << 20);
}

TEST_CASE("a kernel that wants more shared memory than a block has is refused with both numbers", "[cuda][cuda-sim]") {
  const Simulated simulated;
  if (!can_compile()) SKIP_TEST("no compiler of CUDA text");
  const FreshCache cache;
  KernelSource greedy = scale("greedy");
  greedy.shared = 300000;
  const auto made = program(greedy);
  CHECK_THAT(failure([&] { made->image()->load_on(*Context::get(0)); }),
             Contains("kernel greedy needs 300000 bytes of shared memory") && Contains("has 232448"));
}

TEST_CASE("ten thousand allocations and launches leave nothing on a simulated device", "[cuda][cuda-sim]") {
  {
    const Simulated simulated({.check = false});
    if (!can_compile()) SKIP_TEST("no compiler of CUDA text");
    const FreshCache cache;
    const auto context = Context::get(0);
    const auto made = program(source("touch", "  x[threadIdx.x] = 1.0f;\n", 32));
    uint64_t held = 0;
    for (int i = 0; i < 10000; ++i) {
      const size_t bytes = 128 + static_cast<size_t>(i * 7919 % 4096);
      const DevicePointer p = context->allocator().allocate(bytes);
      context->launch(made->image()->load_on(*context).main, 1, std::vector<uint64_t>{0, p, 0});
      context->allocator().deallocate(p, bytes);
      if (i % 100 == 0) context->synchronize();
      if (i == 5000) held = context->allocator().stats().cached;
    }
    CHECK(context->allocator().stats().live == 0);
    CHECK(context->allocator().stats().cached == held);
  }
  CHECK(sim::leaks() == "");
}

TEST_CASE("a graph that holds more than half of a GPU's memory is realised by itself", "[cuda][cuda-sim]") {
  const Simulated simulated({.memory = 16 << 20, .check = false});
  if (!can_compile()) SKIP_TEST("no compiler of CUDA text");
  const sinter::Device gpu = sinter::Device::cuda();
  constexpr int64_t kBlock = 1 << 17;  // half a MiB of float32
  sinter::Tensor sum = sinter::zeros({kBlock}, sinter::DType::F32).to(gpu).realize();
  const auto limit = Context::get(0)->allocator().limit();
  for (int i = 0; i < 60; ++i) {  // 30 MiB of blocks, which only the pending sum holds
    const sinter::Tensor block = sinter::ones({kBlock}, sinter::DType::F32).contiguous().to(gpu).realize();
    sum = sum + block;
    CHECK(Context::get(0)->allocator().live() < limit * 3 / 4);
  }
  CHECK(sum.to_vector<float>() == std::vector<float>(kBlock, 60.0f));
}

TEST_CASE("N7 a GPU keeps denormals", "[cuda][cuda-sim]") {
  using namespace sinter;
  {
    const Simulated simulated;
    if (!can_compile()) SKIP_TEST("no compiler of CUDA text");
    debug::set_executor(debug::Executor::Compiled);
    debug::clear_plans();  // of another driver's devices
    const Tensor x = from(std::vector<float>{2e-38f, -3e-38f}, Device::cpu());
    const auto product = [&] { return (x.cuda() * 0.01).to_vector<float>(); };
    const std::vector<float> kept = product();
    set_flush_denormal(true);
    const std::vector<float> got = product(), host = (x * 0.01).to_vector<float>();
    set_flush_denormal(false);
    CHECK(kept == std::vector<float>{2e-38f * 0.01f, -3e-38f * 0.01f});
    CHECK(got == kept);
    CHECK(host == std::vector<float>{0, 0});
  }
  debug::clear_plans();
}

TEST_CASE("ten thousand steps of training leave nothing on a simulated device", "[cuda][cuda-sim]") {
  {
    const Simulated simulated({.check = false});
    if (!can_compile()) SKIP_TEST("no compiler of CUDA text");
    const FreshCache cache;
    sinter::debug::set_executor(sinter::debug::Executor::Compiled);
    sinter::debug::clear_plans();  // of another driver's devices
    {
      const sinter::Device gpu = sinter::Device::cuda();
      sinter::Tensor w = sinter::zeros({4}, sinter::DType::F32).to(gpu).realize().requires_grad();
      const sinter::Tensor x = sinter::ones({4}, sinter::DType::F32).contiguous().to(gpu).realize();
      sinter::optim::SGD optimiser({w}, {.lr = 1e-3});
      DeviceMemoryStats early;
      for (int step = 0; step < 10000; ++step) {
        optimiser.zero_grad();
        square(w - x).sum().backward();
        optimiser.step();
        if (step == 100) early = Context::get(0)->allocator().stats();
      }
      const DeviceMemoryStats late = Context::get(0)->allocator().stats();
      CHECK(late.live == early.live);
      CHECK(late.cached == early.cached);
      CHECK(late.peak == early.peak);
      for (const float v : w.to_vector<float>()) CHECK(v == Approx(1.0f).margin(1e-4));
    }
    sinter::debug::clear_plans();
  }
  CHECK(sim::leaks() == "");
}
