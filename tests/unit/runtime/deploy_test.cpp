// A program on a machine without a compiler: what the cache folder holds runs, and what it lacks is an error that says
// what to ship. Each case runs in a process of its own that finds neither the Clang plugin, nor cc, nor NVRTC.
#include <sys/resource.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "catch.h"
#include "runtime/base/files.h"
#include "runtime/base/plugin.h"
#include "runtime/base/sanitizer.h"
#include "runtime/base/subprocess.h"
#include "runtime/cpu/clang_plugin.h"
#include "runtime/cuda/nvrtc.h"
#include "runtime/program/host_target.h"
#include "sinter/cuda.h"
#include "sinter/sinter.h"
#include "skip.h"
#include "unit/host_machine.h"
#include "unit/runtime_support.h"

using namespace sinter;
using namespace runtime_test;
using Catch::Matchers::Contains;

namespace {

/// What a server runs: a network, a sum of rows, a step of training, a jitted function.
std::vector<float> serve() {
  std::vector<float> out;
  const auto keep = [&](const Tensor& t) {
    const std::vector<float> values = t.to_vector<float>();
    out.insert(out.end(), values.begin(), values.end());
  };
  std::vector<float> numbers(64 * 48);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i % 13) * 0.25f - 1.5f;
  const Tensor x = from(numbers.data(), {64, 48});
  Tensor w = (from(numbers.data(), {48, 64}) * 0.125f).contiguous().realize().requires_grad();
  keep(softmax(matmul(x, w), 1).sum(0));
  const Tensor y = matmul(x, w), loss = (y * y).mean();
  loss.backward();
  keep(loss);
  keep(w.grad().sum(1));
  auto scaled = jit([](const Tensor& t) { return tanh(t * 2.0f + 1.0f).sum(1); });
  for (int i = 0; i < 3; ++i) keep(scaled(x));
  return out;
}

/// A program that serve() does not run.
float another() { return cumsum(ones({3, 17}) * 2.0f, 1).contiguous().sum().item<float>(); }

/// As a new process finds it.
void forget() {
  debug::clear_plans();
  runtime::forget_programs();
}

/// Runs a hidden test case of a program; its output stands beside a failure.
void check_child(std::vector<std::string> words, const std::string& name) {
  const Folder folder;
  words.push_back(name);
  const int status = runtime::cpu::run_process(words, folder.path() + "/output");
  INFO(slurp(folder.path() + "/output"));
  CHECK(status == 0);
}

/// Runs serve() in a process that has a compiler, which leaves what it gave beside the cache.
void fill() { check_child({"/proc/self/exe"}, "child: fills the cache"); }

/// Leaves beside the cache in which folder the Clang plugin lies; nothing if there is none.
void tell_plugin() {
  const unsigned char ret = 0xc3;
  runtime::cpu::disassemble(&ret, 1, runtime::host_target());  // opens it
  const std::string maps = slurp("/proc/self/maps");
  const size_t end = maps.find("/libsinter_clang.so");
  const size_t begin = end == maps.npos ? 0 : maps.rfind(' ', end) + 1;
  REQUIRE(runtime::write_file(std::string(std::getenv("SINTER_CACHE")) + "/plugin",
                              end == maps.npos ? "" : maps.substr(begin, end - begin)));
}

/// This program where nothing finds the Clang plugin that filled the cache: a copy beside which none lies, and whose
/// run path leads nowhere.
std::string program_without_plugin(const std::string& folder) {
  std::string program = slurp("/proc/self/exe");
  const std::string path = slurp(std::string(std::getenv("SINTER_CACHE")) + "/plugin");
  for (size_t at = 0; !path.empty() && (at = program.find(path, at)) != program.npos; at += path.size())
    program.replace(at, path.size(), "/nowhere" + std::string(path.size() - std::strlen("/nowhere"), '_'));
  std::string copy = folder + "/program";
  REQUIRE(runtime::write_file(copy, program));
  std::filesystem::permissions(copy, std::filesystem::perms::owner_all);
  return copy;
}

/// Lays the simulated GPU, which is no compiler, into a folder.
void lay_simulator(const std::string& folder) {
  const std::vector<std::string> found = runtime::plugin_files("libsinter_cudasim.so");
  REQUIRE_FALSE(found.empty());
  std::filesystem::create_symlink(std::filesystem::canonical(found[0]), folder + "/libsinter_cudasim.so");
}

/// A machine without compilers, as the environment and a copy of this program make one.
struct Deployed {
  Folder folder;
  std::string program = program_without_plugin(folder.path());
  ScopedEnv cc{"SINTER_CC", std::nullopt};
  ScopedEnv path{"PATH", folder.path()};
  ScopedEnv nvrtc{"SINTER_NVRTC_LIB", "/nowhere/libnvrtc.so.12"};
  ScopedEnv loader{"LD_LIBRARY_PATH", std::nullopt};

  /// Runs a hidden test case there; `before` it, words of a command that starts it.
  void check(const std::string& name, std::vector<std::string> before = {}) const {
    before.push_back(program);
    check_child(before, name);
  }
};

/// Something here compiles for a simulated GPU.
bool simulates() { return runtime::cpu::plugin_compiler() || runtime::cuda::find_nvrtc().table.has_value(); }

/// Why compilers cannot be hidden from a program, or "". Where the plugin is installed for all programs nothing can
/// hide it; and programs of a sanitizer take minutes to copy and to start.
std::string shows_compilers() {
  if (runtime::kSanitizer != runtime::Sanitizer::None) return "a sanitizer's build";
  return std::filesystem::exists("/usr/local/lib/libsinter_clang.so") ? "the Clang plugin is installed on this machine"
                                                                      : "";
}

void check_served() {
  const std::string want = slurp(std::string(std::getenv("SINTER_CACHE")) + "/want");
  const uint64_t compiles = debug::counters().compiles, partitions = debug::counters().partition_runs;
  const std::vector<float> values = serve();
  REQUIRE(values.size() * sizeof(float) == want.size());
  CHECK(std::memcmp(values.data(), want.data(), want.size()) == 0);
  CHECK(debug::counters().compiles == compiles);
  CHECK(debug::counters().partition_runs == partitions);
}

/// The text of the error that a program meets.
std::string refusal(float (*program)()) {
  try {
    program();
  } catch (const BackendError& error) { return error.what(); }
  FAIL("it ran");
  return "";
}

float serve_all() { return serve()[0]; }

}  // namespace

TEST_CASE("child: fills the cache", "[.][deploy-child]") {
  const std::string folder = std::getenv("SINTER_CACHE");
  const std::vector<float> values = serve();
  const auto* bytes = reinterpret_cast<const char*>(values.data());
  REQUIRE(runtime::write_file(folder + "/want", {bytes, values.size() * sizeof(float)}));
  tell_plugin();
}

TEST_CASE("child: fills the cache for plain CPUs", "[.][deploy-child]") {
  runtime::Target plain = runtime::host_target();
  runtime::set_isa(plain, "x86-64");
  {
    const HostMachine machine(plain);
    CHECK(serve().size() > 1);
  }
  tell_plugin();
}

TEST_CASE("child: serves from the cache without a compiler", "[.][deploy-child]") {
  REQUIRE_FALSE(runtime::cpu::plugin_compiler());
  const std::string folder = std::getenv("SINTER_CACHE");
  check_served();
  for (int i = 0; i < 2; ++i) {  // a miss harms nothing that is there
    CHECK_THAT(refusal(another), Contains("no compiler for kernels is here") &&
                                     Contains(folder + "/kernels\" does not hold ") && Contains("as this machine is") &&
                                     Contains("SINTER_THREADS") && Contains("install"));
    forget();
    check_served();
  }
}

TEST_CASE("deployed with a full cache and no compiler, a program runs, and a miss says what to ship",
          "[runtime][deploy]") {
  if (const std::string reason = shows_compilers(); !reason.empty()) SKIP_TEST(reason);
  const std::string device = GENERATE("cpu", "cuda-sim");
  const ScopedEnv cc("SINTER_CC", std::nullopt), where("SINTER_DEVICE", device);
  INFO(device);
  if (device == "cuda-sim" && !simulates()) SKIP_TEST("no compiler of CUDA text");
  const FreshCache cache;
  fill();
  const Deployed machine;
  if (device == "cuda-sim") lay_simulator(machine.folder.path());
  machine.check("child: serves from the cache without a compiler");
}

TEST_CASE("the last compiler that filled a cache is the one that is found", "[runtime][deploy]") {
  if (const std::string reason = shows_compilers(); !reason.empty()) SKIP_TEST(reason);
  const std::string first = runtime_test::gcc();
  if (first.empty()) SKIP_TEST("no gcc");
  const FreshCache cache;
  {
    const ScopedEnv cc("SINTER_CC", first);
    fill();
    ScopedEnv none("SINTER_CC", std::nullopt);
    Deployed().check("child: serves from the cache without a compiler");
  }
  if (!runtime::cpu::plugin_compiler()) SKIP_TEST("no Clang plugin");
  const ScopedEnv cc("SINTER_CC", std::nullopt);
  for (int runs = 0; runs < 2; ++runs) {  // also one that finds all there
    fill();
    Deployed().check("child: serves from the cache without a compiler");
    const ScopedEnv other("SINTER_CC", first);
    fill();
  }
}

TEST_CASE("child: serves from the cache where the plugin does not open", "[.][deploy-child]") {
  std::ifstream file("/proc/self/statm");
  uint64_t pages = 0;
  file >> pages;
  const rlimit limit{pages * 4096 + (160ul << 20), pages * 4096 + (160ul << 20)};
  REQUIRE(setrlimit(RLIMIT_AS, &limit) == 0);  // LLVM's libraries do not fit
  const CapturedLog captured;
  CHECK_THAT(refusal(another), Contains("does not hold"));
  check_served();
}

TEST_CASE("deployed with a plugin that does not open, a program runs from its cache", "[runtime][deploy]") {
  const ScopedEnv cc("SINTER_CC", std::nullopt);
  if (runtime::kSanitizer != runtime::Sanitizer::None) SKIP_TEST("a sanitizer's build");
  if (!runtime::cpu::plugin_compiler()) SKIP_TEST("no Clang plugin");
  const FreshCache cache;
  fill();
  const Folder folder;
  const ScopedEnv path("PATH", folder.path());
  const int status = runtime::cpu::run_process(
      {"/proc/self/exe", "child: serves from the cache where the plugin does not open"}, folder.path() + "/output");
  INFO(slurp(folder.path() + "/output"));
  CHECK(status == 0);
}

TEST_CASE("child: is refused the cache of another machine", "[.][deploy-child]") {
  REQUIRE_FALSE(runtime::cpu::plugin_compiler());
  CHECK_THAT(refusal(serve_all), Contains("holds kernels for x86-64, and not for this machine, x86-64-v") &&
                                     Contains("SINTER_THREADS") && Contains("install"));
}

TEST_CASE("deployed with the cache of another kind of CPU, a program is refused and runs none of it",
          "[runtime][deploy]") {
  if (const std::string reason = shows_compilers(); !reason.empty()) SKIP_TEST(reason);
  const ScopedEnv cc("SINTER_CC", std::nullopt);
  if (runtime::host_target().isa == "x86-64") SKIP_TEST("no CPU but a plain one");
  const FreshCache cache;
  check_child({"/proc/self/exe"}, "child: fills the cache for plain CPUs");
  Deployed().check("child: is refused the cache of another machine");
}

TEST_CASE("child: is refused, and told both machines", "[.][deploy-child]") {
  REQUIRE_FALSE(runtime::cpu::plugin_compiler());
  CHECK_THAT(refusal(another), Contains("the cache was filled by ") && Contains("threads=5 ") &&
                                   Contains("this machine is ") && Contains("threads=3 "));
}

TEST_CASE("deployed with another number of threads, a miss names both", "[runtime][deploy]") {
  if (const std::string reason = shows_compilers(); !reason.empty()) SKIP_TEST(reason);
  const ScopedEnv cc("SINTER_CC", std::nullopt);
  const FreshCache cache;
  {
    const ScopedEnv threads("SINTER_THREADS", "5");
    fill();
  }
  const ScopedEnv threads("SINTER_THREADS", "3");
  Deployed().check("child: is refused, and told both machines");
}

TEST_CASE("deployed with a folder that cannot be written, a program runs from its cache", "[runtime][deploy]") {
  if (const std::string reason = shows_compilers(); !reason.empty()) SKIP_TEST(reason);
  const ScopedEnv cc("SINTER_CC", std::nullopt);
  const auto unshare = runtime::cpu::find_executable("unshare"), shell = runtime::cpu::find_executable("sh");
  const FreshCache cache;
  const std::string folder = cache.folder.path();
  fill();
  std::filesystem::permissions(folder + "/kernels", std::filesystem::perms(0755));  // as copies come out
  const std::string mount = fmt::format(
      "PATH=/usr/sbin:/usr/bin:/sbin:/bin; mount --bind {0} {0} && mount -o remount,bind,ro {0} || exit 0; "
      "touch {0}/new 2>/dev/null && exit 1; PATH={0}; exec \"$@\"",
      folder);
  const Folder output;
  if (!unshare || !shell ||
      runtime::cpu::run_process({*unshare, "--mount", "--map-root-user", *shell, "-c", "exit 0"},
                                output.path() + "/output") != 0)
    SKIP_TEST("no mount namespaces");
  Deployed().check("child: serves from the cache without a compiler",
                   {*unshare, "--mount", "--map-root-user", *shell, "-c", mount, "sh"});
}

TEST_CASE("child: is refused where there is no cache", "[.][deploy-child]") {
  REQUIRE_FALSE(runtime::cpu::plugin_compiler());
  const CapturedLog captured;
  CHECK_THAT(refusal(serve_all), Contains(std::getenv("CHILD_REFUSAL")) && Contains("SINTER_CACHE"));
}

TEST_CASE("deployed without a usable cache, a program is told why", "[runtime][deploy]") {
  if (const std::string reason = shows_compilers(); !reason.empty()) SKIP_TEST(reason);
  const ScopedEnv cc("SINTER_CC", std::nullopt);
  const FreshCache cache;
  fill();
  const Deployed machine;
  const auto refused = [&](const std::string& folder, const std::string& text) {
    const ScopedEnv where("SINTER_CACHE", folder), said("CHILD_REFUSAL", text);
    INFO(folder);
    machine.check("child: is refused where there is no cache");
  };
  refused("/proc/nowhere", "/proc/nowhere/kernels\" cannot be used: No such file");
  refused(machine.folder.path() + "/new", "holds kernels for none, and not for this machine");
  // The name of the compiler is damaged, or lost.
  const auto names = cache.folder.files(".id");
  REQUIRE(names.size() == 1);
  std::ofstream(names[0], std::ios::trunc) << "sinter1";
  refused(cache.folder.path(), "holds kernels for none, and not for this machine");
  std::filesystem::remove(names[0]);
  refused(cache.folder.path(), "holds kernels for none, and not for this machine");
}

TEST_CASE("deployed with the cache of a GPU and no NVRTC, a GPU is available", "[runtime][deploy]") {
  if (const std::string reason = shows_compilers(); !reason.empty()) SKIP_TEST(reason);
  const ScopedEnv cc("SINTER_CC", std::nullopt), where("SINTER_DEVICE", "cuda-sim");
  if (!simulates()) SKIP_TEST("no compiler of CUDA text");
  const FreshCache cache;
  fill();
  const Deployed machine;
  lay_simulator(machine.folder.path());
  machine.check("child: finds a GPU by its cache");
}

TEST_CASE("child: finds a GPU by its cache", "[.][deploy-child]") {
  REQUIRE_FALSE(runtime::cpu::plugin_compiler());
  CHECK(cuda::is_available());
  const Folder empty;
  const ScopedEnv none("SINTER_CACHE", empty.path());
  CHECK_FALSE(cuda::is_available());
  CHECK_THAT(cuda::unavailable_reason(), Contains("/nowhere/libnvrtc.so.12"));
}

TEST_CASE("without its plugin the simulated GPU is an error that says where it was looked for", "[runtime][deploy]") {
  if (const std::string reason = shows_compilers(); !reason.empty()) SKIP_TEST(reason);
  if (!runtime::cpu::plugin_compiler()) SKIP_TEST("no Clang plugin");
  const ScopedEnv cc("SINTER_CC", std::nullopt), where("SINTER_DEVICE", "cuda-sim");
  const FreshCache cache;
  tell_plugin();
  const Deployed machine;
  machine.check("child: has no simulated GPU");
  REQUIRE(runtime::write_file(machine.folder.path() + "/libsinter_cudasim.so", "no library"));
  machine.check("child: has a damaged simulated GPU");
}

TEST_CASE("child: has no simulated GPU", "[.][deploy-child]") {
  CHECK_FALSE(cuda::is_available());
  CHECK_THAT(cuda::unavailable_reason(),
             Contains("SINTER_DEVICE=cuda-sim needs libsinter_cudasim.so, and it is not beside this "
                      "program, in its ../lib, where the loader searches, or in /"));
}

TEST_CASE("child: has a damaged simulated GPU", "[.][deploy-child]") {
  CHECK_FALSE(cuda::is_available());
  CHECK_THAT(cuda::unavailable_reason(), Contains("libsinter_cudasim.so of this build") && Contains("file too short"));
}
