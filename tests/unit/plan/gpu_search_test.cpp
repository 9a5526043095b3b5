// A search on a GPU, on the simulated one: its times mean nothing, and no test looks at them.
#include <atomic>
#include <set>

#include "cases.h"
#include "codegen/tune/gpu/tuner.h"
#include "planted_faults.h"
#include "runtime/base/counters.h"
#include "runtime/cuda/compile_cuda.h"
#include "runtime/cuda/context.h"
#include "runtime/cuda/simulator.h"
#include "runtime/exec/buffer.h"
#include "sinter/sinter.h"
#include "skip.h"
#include "unit/codegen_support.h"

using namespace codegen_test;
namespace gpu = runtime::cuda;

namespace {

/// The simulated GPU behind a driver that the test may have refuse what it is asked for, with a cache folder of its own
/// and a search at DEBUG=2.
class SearchedGpu {
 public:
  SearchedGpu() {
    debug::clear_plans();
    table() = gpu::simulated_driver();
    refused_launches().clear();
    modules_to_refuse() = 0;
    table().launch_kernel = [](gpu::FunctionHandle function, unsigned x, unsigned y, unsigned z, unsigned a, unsigned b,
                               unsigned c, unsigned shared, gpu::StreamHandle stream, void** parameters, void** extra) {
      if (refuse_first_ && refused_launches().empty()) refused_launches().insert(function);
      if (refused_launches().contains(function)) return gpu::CudaResult::LaunchOutOfResources;
      return gpu::simulated_driver().launch_kernel(function, x, y, z, a, b, c, shared, stream, parameters, extra);
    };
    table().module_load_data_ex = [](gpu::ModuleHandle* module, const void* image, unsigned count,
                                     gpu::JitOption* options, void** values) {
      if (modules_to_refuse() > 0) return --modules_to_refuse(), gpu::CudaResult::InvalidPtx;
      return gpu::simulated_driver().module_load_data_ex(module, image, count, options, values);
    };
    gpu::inject_driver(&table());
  }
  ~SearchedGpu() {
    refuse_first_ = false;
    debug::clear_plans();
    runtime::forget_programs();
    gpu::forget_devices();
    gpu::inject_driver(nullptr);
  }
  SearchedGpu(const SearchedGpu&) = delete;
  SearchedGpu& operator=(const SearchedGpu&) = delete;

  /// Whether something here compiles for it.
  static bool can_compile() { return gpu::compiler_of(gpu::find_driver()).reason.empty(); }
  /// From now on the first kernel that is launched asks for too much, and no launch of it succeeds.
  static void refuse_first_launched() { refuse_first_ = true; }
  /// The next modules are rejected.
  static void refuse_modules(int count) { modules_to_refuse() = count; }

 private:
  static gpu::DriverApi& table() {
    static gpu::DriverApi driver;
    return driver;
  }
  static std::set<gpu::FunctionHandle>& refused_launches() {
    static std::set<gpu::FunctionHandle> functions;
    return functions;
  }
  static int& modules_to_refuse() {
    static int count = 0;
    return count;
  }
  static inline bool refuse_first_ = false;

  const runtime_test::FreshCache cache_;
  const runtime_test::ScopedEnv debug_{"DEBUG", "2"};
};

/// What a computation gives under SINTER_BEAM, and what was logged.
struct Searched {
  std::vector<float> values;
  std::string log;
  uint64_t compiles = 0;

  int searches() const { return count(log, " us instead of "); }
  int decided_before() const { return count(log, "decided before: "); }
  int left_out() const { return count(log, ": left out "); }
};

template <class Compute>
Searched run(const char* beam, Compute compute) {
  const runtime_test::ScopedEnv setting("SINTER_BEAM", beam);
  debug::clear_plans();
  runtime_test::CapturedLog log;
  const uint64_t before = runtime::counters().compiles;
  Searched out{compute().template to_vector<float>(), log.text()};
  out.compiles = runtime::counters().compiles - before;
  return out;
}

Tensor numbers(const Shape& shape) {
  int64_t count = 1;
  for (const Dim& d : shape) count *= d.value();
  std::vector<float> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) values[i] = 0.25f * static_cast<float>(i % 13) - 1.0f;
  return from(values, shape).to(Device::cuda(0)).realize();
}

}  // namespace

TEST_CASE("a search on a GPU changes no bit, and what it decides is kept", "[search][cuda-sim]") {
  const SearchedGpu device;
  if (!device.can_compile()) SKIP_TEST("nothing compiles CUDA text");
  const Tensor x = numbers({24, 40});
  const auto compute = [&] { return x.transpose(0, 1) / (x * x).sum(0).reshape({40, 1}); };
  const Searched plain = run("0", compute);
  CHECK(count(plain.log, "search: ") == 0);
  const Searched first = run("1", compute);
  INFO(first.log);
  CHECK(first.values == plain.values);
  CHECK(first.searches() >= 1);
  CHECK(count(first.log, "timed 0 lists") == 0);
  CHECK(first.left_out() == 0);
  // The plan is in the cache folder.
  const Searched stored = run("1", compute);
  CHECK(count(stored.log, "search: ") == 0);
  CHECK(stored.compiles == 0);
  // So are the decisions, for another plan or build of one: nothing is timed, nor compiled.
  const auto without_plans = [&] {
    const testing::PlantedFaults faults;
    faults->skip_stored_plans = true;
    return run("1", compute);
  };
  runtime::forget_programs();
  const Searched again = without_plans();
  INFO(again.log);
  CHECK(again.values == plain.values);
  CHECK(again.searches() == 0);
  CHECK(again.decided_before() == first.searches() + first.decided_before());
  CHECK(again.compiles == 0);
  CHECK(run("2", compute).searches() == first.searches());  // a wider search is another question
}

TEST_CASE("of equal kernels on a GPU one is timed", "[search][cuda-sim]") {
  const SearchedGpu device;
  if (!device.can_compile()) SKIP_TEST("nothing compiles CUDA text");
  const Tensor x = numbers({32, 32}), y = numbers({32, 32});
  const auto compute = [&] { return matmul(matmul(matmul(x, y).contiguous(), y).contiguous(), y); };
  const Searched plain = run("0", compute), searched = run("1", compute);
  INFO(searched.log);
  CHECK(searched.values == plain.values);
  CHECK(count(searched.log, "plan: 3 launches") == 1);
  CHECK(searched.searches() == 1);
  const Searched other = run("1", [&] { return matmul(y, x); });  // another plan
  INFO(other.log);
  CHECK(other.searches() == 0);
  CHECK(other.decided_before() == 1);
}

TEST_CASE("a search leaves out what a GPU refuses", "[search][cuda-sim]") {
  const SearchedGpu device;
  if (!device.can_compile()) SKIP_TEST("nothing compiles CUDA text");
  const Tensor x = numbers({32, 32}), y = numbers({32, 32});
  const auto compute = [&] { return matmul(x, y); };
  const Searched plain = run("0", compute);
  SECTION("a launch that asks for too much, of the list that would be taken without a search") {
    device.refuse_first_launched();
    const Searched searched = run("1", compute);
    INFO(searched.log);
    CHECK(searched.values == plain.values);
    CHECK(searched.searches() == 1);
    CHECK(searched.left_out() == 1);
    CHECK(count(searched.log, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES") == 1);
  }
  SECTION("modules") {
    device.refuse_modules(2);
    const Searched searched = run("1", compute);
    INFO(searched.log);
    CHECK(searched.values == plain.values);
    CHECK(searched.searches() == 1);
    CHECK(searched.left_out() == 2);
  }
  SECTION("all: nothing is decided, and the next search is a new one") {
    device.refuse_modules(8);  // as many as are tried
    const Searched none = run("1", compute);
    INFO(none.log);
    CHECK(none.values == plain.values);
    CHECK(none.searches() == 0);
    CHECK(count(none.log, "the heuristic's Opts: ") == 1);
    CHECK(run("1", compute).searches() == 1);
  }
}

TEST_CASE("a kernel that has no candidates on a GPU is searched for all the same", "[search][cuda-sim]") {
  const SearchedGpu device;
  if (!device.can_compile()) SKIP_TEST("nothing compiles CUDA text");
  KernelHarness b;  // one number: no range to share
  UOp x = b.buffer(random_array(DType::F32, {1}, 1)), y = b.buffer(Array(DType::F32, {1}));
  b.stores({b.put(y, {b.index(0)}, b.at(x, {b.index(0)}))});
  const runtime::Target target = gpu::Context::get(0)->target();
  const codegen::NormalizedKernel normalized = codegen::normalize(b.kernel, target);
  CHECK(codegen::rank_candidates(normalized.main, target).empty());
  CHECK(codegen::best_for_gpu(normalized.main, target, 8) == std::vector<std::vector<Opt>>{{}});

  const Tensor scalar = numbers({1}).reshape({}).realize();
  const auto compute = [&] { return scalar * scalar + 1.0f; };
  const Searched plain = run("0", compute), searched = run("1", compute);
  INFO(searched.log);
  CHECK(searched.values == plain.values);
  CHECK(searched.searches() == 1);
}
