// From CUDA text to programs: NVRTC and where it is looked for, images, lints, the cache.
#include "catch.h"

#include <fmt/core.h>

#include <cstring>

#include "ptxas_lint.h"
#include "runtime/base/counters.h"
#include "runtime/base/disk_cache.h"
#include "runtime/cuda/compile_cuda.h"
#include "runtime/program/program.h"
#include "sinter/error.h"
#include "skip.h"
#include "unit/cuda_fake.h"
#include "unit/runtime_support.h"

using namespace sinter;
using namespace cuda_test;
using namespace runtime_test;
using Catch::Matchers::Contains;
using runtime::CompileResult;
using runtime::KernelSource;

namespace {

constexpr const char* kScale =
    "extern \"C\" __global__ void k(unsigned* error, float* x, long long n) {\n"
    "  __shared__ float part[128];\n"
    "  long long i = blockIdx.x * 128ll + threadIdx.x;\n"
    "  part[threadIdx.x] = i < n ? x[i] : 0.0f;\n"
    "  __syncthreads();\n"
    "  if (i < n) x[i] = part[127 - threadIdx.x] * 2.0f + 1.0f;\n"
    "}\n";

/// Whether something compiles for the devices of the driver that is installed.
bool can_compile() { return compiler_of(find_driver()).reason.empty(); }

/// The head of a CUBIN.
std::string cubin(unsigned char abi, uint32_t flags) {
  std::string bytes(100, '\0');
  std::memcpy(bytes.data(), "\177ELF\2\1\1", 7);
  bytes[8] = static_cast<char>(abi);
  const uint16_t machine = 190;
  std::memcpy(bytes.data() + 18, &machine, sizeof machine);
  std::memcpy(bytes.data() + 48, &flags, sizeof flags);
  return bytes;
}

KernelSource source(const std::string& name, const std::string& text) {
  KernelSource k{.name = name, .text = text};
  k.threads = 128;
  return k;
}

}  // namespace

TEST_CASE("without NVRTC the reason says where it was looked for", "[cuda]") {
  {
    const ScopedEnv place("SINTER_NVRTC_LIB", "/nowhere/libnvrtc.so.12");
    CHECK_THAT(find_nvrtc().reason,
               Contains("SINTER_NVRTC_LIB=/nowhere/libnvrtc.so.12 cannot be used") && Contains("No such file"));
  }
  {
    const ScopedEnv place("SINTER_NVRTC_LIB", "libc.so.6");
    CHECK_THAT(find_nvrtc().reason, Contains("SINTER_NVRTC_LIB=libc.so.6"));
  }
  const ScopedEnv none("SINTER_NVRTC_LIB", std::nullopt);
  const NvrtcLibrary& older = find_nvrtc(12);
  if (older.table)
    CHECK(older.major == 12);
  else
    CHECK_THAT(older.reason, Contains("libnvrtc.so.12") && Contains("/usr/local/cuda/lib64") &&
                                 Contains("/usr/local/nvidia/lib64") && Contains("SINTER_NVRTC_LIB"));
}

TEST_CASE("an image says which architecture it is for", "[cuda]") {
  CHECK(runs_on_sm(cubin(7, 0x005a0d5a), 90));
  CHECK_FALSE(runs_on_sm(cubin(7, 0x005a0d5a), 80));
  CHECK(runs_on_sm(cubin(7, 0x00500550), 80));
  CHECK(runs_on_sm(cubin(7, 0x00500550), 86));  // of the same generation
  CHECK_FALSE(runs_on_sm(cubin(7, 0x00560556), 80));
  CHECK(runs_on_sm(cubin(8, 0x06006402), 100));
  CHECK(runs_on_sm(cubin(8, 0x06007802), 120));
  CHECK_FALSE(runs_on_sm(cubin(8, 0x06007802), 100));
  const std::string ptx = fmt::format(".version 8.0\n.target sm_90a\n.address_size 64\n{}", std::string(60, '\n'));
  CHECK(runs_on_sm(ptx, 90));
  CHECK_FALSE(runs_on_sm(ptx, 100));
  CHECK_FALSE(runs_on_sm("", 90));
  CHECK_FALSE(runs_on_sm(std::string(100, 'x'), 90));
}

TEST_CASE("what ptxas says becomes numbers", "[cuda]") {
  const Lint lint = lint_of(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'k' for 'sm_90a'\n"
      "ptxas info    : Function properties for k\n"
      "ptxas         .     16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads\n"
      "ptxas info    : Used 32 registers, used 1 barriers, 4096 bytes smem, 368 bytes cmem[0]\n"
      "ptxas info    : Compile time = 2.164 ms\n"
      "ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized\n"
      "ptxas info    : Compiling entry function 'k_finish' for 'sm_90a'\n"
      "ptxas info    : Function properties for k_finish\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 8 registers, used 0 barriers");
  REQUIRE(lint.kernels.size() == 2);
  CHECK(lint.kernels[0] == KernelLint{"k", "sm_90a", 32, 16, 8, 12, 4096});
  CHECK(lint.kernels[1] == KernelLint{"k_finish", "sm_90a", 8, 0, 0, 0, 0});
  REQUIRE(lint.warnings.size() == 1);
  CHECK_THAT(lint.warnings[0], Contains("C7510"));
  CHECK(lint_of("").kernels.empty());
}

TEST_CASE("NVRTC compiles for each architecture, and the image says so", "[cuda]") {
  const NvrtcLibrary& found = find_nvrtc();
  if (!found.table) SKIP_TEST("no NVRTC");
  for (const int sm : {75, 80, 86, 89, 90, 100, 103, 120, 121}) {
    if (sm / 10 > found.archs.back() / 10) continue;
    INFO("sm_" << sm);
    const CompileResult made = compile(found, "k", kScale, sm, ImageFormat::Cubin);
    INFO(made.log);
    REQUIRE(made.ok);
    CHECK(runs_on_sm(made.object, sm));
    CHECK_FALSE(runs_on_sm(made.object, sm == 120 ? 80 : 120));
    const Lint lint = lint_of(made.log);
    REQUIRE(lint.kernels.size() == 1);
    CHECK(lint.kernels[0].name == "k");
    CHECK(lint.kernels[0].arch == architecture(found, sm, ImageFormat::Cubin));
    CHECK(lint.kernels[0].registers > 0);
    CHECK(lint.kernels[0].shared == 512);
    CHECK(lint.kernels[0].spill_stores == 0);
    CHECK(lint.warnings.empty());
  }
  CHECK_THAT(architecture(found, 90, ImageFormat::Cubin), Contains("sm_90a"));
  CHECK(architecture(found, 80, ImageFormat::Ptx) == "compute_80");
  CHECK_THROWS_AS(architecture(found, 30, ImageFormat::Cubin), BackendError);
  const CompileResult ptx = compile(found, "k", kScale, 90, ImageFormat::Ptx);
  REQUIRE(ptx.ok);
  CHECK(runs_on_sm(ptx.object, 90));
  CHECK_THAT(ptx.object, Contains(".entry k") && Contains(".loc"));
  CHECK_THAT(ptx.object, !Contains("fma.rn.f32"));  // a * b + c stays two roundings
  // More registers than there are: spilled, and said so.
  const std::string greedy =
      "extern \"C\" __global__ void __launch_bounds__(1024) k(float* p) { float v[200];\n"
      "#pragma unroll\n for (int i = 0; i < 200; ++i) v[i] = p[i * 1024 + threadIdx.x];\n"
      "#pragma unroll\n for (int i = 0; i < 200; ++i) p[i] = v[199 - i] + v[i / 2]; }";
  const Lint spilled = lint_of(compile(found, "k", greedy, 90, ImageFormat::Cubin).log);
  REQUIRE(spilled.kernels.size() == 1);
  CHECK(spilled.kernels[0].spill_stores > 0);
}

TEST_CASE("programs for GPUs are compiled once, and those of another architecture are misses", "[cuda]") {
  FakeDriver driver;
  if (!can_compile()) SKIP_TEST("no compiler of CUDA text");
  const Folder folder;
  const ScopedEnv cache("SINTER_CACHE", folder.path());
  const auto compiles = [&](int sm) {
    runtime::forget_programs();
    driver->sm = sm;
    driver.look_again();
    const uint64_t before = runtime::counters().compiles;
    const std::vector<KernelSource> kernels = {source("k", kScale), source("k", kScale)};
    const auto programs = runtime::compile(kernels, Context::get(0)->target());
    CHECK(programs[0] == programs[1]);
    REQUIRE(programs[0]->image());
    CHECK(runs_on_sm(programs[0]->image()->bytes(), sm));
    return runtime::counters().compiles - before;
  };
  CHECK(compiles(90) == 1);
  CHECK(compiles(90) == 0);
  CHECK(compiles(80) == 1);
  CHECK(compiles(90) == 0);
  CHECK(compiles(80) == 0);

  // What lies under the key of the one is of the other, whoever put it there.
  const KernelSource kernel = source("k", kScale);
  const auto at = [&](int sm) {
    driver->sm = sm;
    driver.look_again();
    return runtime::compile({&kernel, 1}, Context::get(0)->target())[0]->key();
  };
  const runtime::Hash128 key = at(90), other = at(80);
  const auto disk = runtime::DiskCache::current();
  disk->store("k", key, *disk->load("k", other), kScale);
  CHECK(compiles(90) == 1);
  CHECK(compiles(90) == 0);
}

TEST_CASE("a text for GPUs that is wrong is a CompileError with the log and the kept source", "[cuda]") {
  FakeDriver driver;
  if (!can_compile()) SKIP_TEST("no compiler of CUDA text");
  const Folder folder;
  const ScopedEnv cache("SINTER_CACHE", folder.path());
  const std::vector<KernelSource> kernels = {
      source("k_good", "extern \"C\" __global__ void k_good() {}"),
      source("k_bad", "extern \"C\" __global__ void k_bad() { no_such_name(); }")};
  try {
    runtime::compile(kernels, Context::get(0)->target());
    FAIL("compiled");
  } catch (const CompileError& error) {
    CHECK_THAT(error.what(), Contains("kernel k_bad does not compile") && Contains("no_such_name") &&
                                 Contains("compiler: ") && Contains(folder.path()));
  }
  const uint64_t before = runtime::counters().compiles;
  runtime::compile(std::span(kernels).first(1), Context::get(0)->target());
  CHECK(runtime::counters().compiles == before);  // the good one was kept
}

TEST_CASE("DEBUG=4 prints CUDA text, DEBUG=7 its PTX", "[cuda]") {
  FakeDriver driver;
  if (!can_compile()) SKIP_TEST("no compiler of CUDA text");
  const Folder folder;
  const ScopedEnv cache("SINTER_CACHE", folder.path()), level("DEBUG", "7");
  CapturedLog captured;
  const std::vector<KernelSource> kernels = {source("k", kScale)};
  runtime::compile(kernels, Context::get(0)->target());
  CHECK_THAT(captured.text(), Contains("// kernel k") && Contains("__syncthreads()") && Contains("bar.sync"));
}
