// What a process of its own is needed for: a compiler that is not there or does not open, programs that compile while
// it ends, on little stack, or where files may not grow.
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "catch.h"
#include "runtime/base/files.h"
#include "runtime/base/sanitizer.h"
#include "runtime/base/subprocess.h"
#include "runtime/cpu/clang_plugin.h"
#include "runtime/cuda/nvrtc.h"
#include "runtime/program/host_target.h"
#include "sinter/sinter.h"
#include "skip.h"
#include "unit/runtime_support.h"
#include "unit/schedule_support.h"

using namespace sinter;
using namespace runtime_test;
using Catch::Matchers::Contains;

namespace {

/// Runs a hidden test case of a copy or of this program; its output stands beside a failure.
void check_child(const std::string& program, const std::string& name) {
  const Folder folder;
  const int status = runtime::cpu::run_process({program, name}, folder.path() + "/output");
  INFO(runtime::read_file(folder.path() + "/output").value_or(""));
  CHECK(status == 0);
}

/// Runs when objects are gone that were made after it was registered: all that a first compilation leaves.
FreshCache* emptied = nullptr;
void compile_at_exit() {
  const float value = (tanh(ones({3, 6}) * 0.0f) + 2.0f).sum().item<float>();
  delete emptied;
  if (value != 36) std::_Exit(3);
}

}  // namespace

TEST_CASE("child: realises where the plugin does not open", "[.][runtime-child]") {
  const FreshCache cache;
  const auto plugin = runtime::cpu::plugin_compiler();
  std::ifstream file("/proc/self/statm");
  uint64_t pages = 0;
  file >> pages;
  const rlimit limit{pages * 4096 + (160ul << 20), pages * 4096 + (160ul << 20)};
  REQUIRE(setrlimit(RLIMIT_AS, &limit) == 0);  // LLVM's libraries do not fit
  CapturedLog captured;
  CHECK((ones({3, 4}) * 2.0f).contiguous().sum().item() == 24);
  CHECK_THAT(captured.text(), Contains("the Clang plugin cannot be used"));
  CHECK(runtime::host_target().dialect == runtime::Dialect::Gcc);
  CHECK((ones({3, 5}) * 2.0f).contiguous().sum().item() == 30);
}

TEST_CASE("a program runs at the first call although the plugin does not open and cc is gcc", "[runtime]") {
  const ScopedEnv cc("SINTER_CC", std::nullopt);
  if (runtime::kSanitizer != runtime::Sanitizer::None) SKIP_TEST("a sanitizer's build");
  if (!runtime::cpu::plugin_compiler()) SKIP_TEST("no Clang plugin");
  const auto gcc = runtime::cpu::find_executable(runtime_test::gcc());
  if (!gcc) SKIP_TEST("no gcc");
  const Folder bin;  // cc must be gcc here
  std::filesystem::create_symlink(*gcc, bin.path() + "/cc");
  const ScopedEnv path("PATH", bin.path() + ":" + std::getenv("PATH"));
  check_child("/proc/self/exe", "child: realises where the plugin does not open");
}

TEST_CASE("child: realises where no plugin is found", "[.][runtime-child]") {
  const FreshCache cache;
  if (runtime::cpu::plugin_compiler()) SKIP_TEST("the Clang plugin is installed on this machine");
  CapturedLog captured;
  CHECK((ones({3, 4}) * 2.0f).contiguous().sum().item() == 24);
  CHECK((ones({3, 5}) * 2.0f).contiguous().sum().item() == 30);
  const std::string text = captured.text(), notice = "no libsinter_clang.so beside this program";
  CHECK_THAT(text, Contains(notice) && Contains("SINTER_CC=cc"));
  CHECK(text.find(notice) == text.rfind(notice));
}

TEST_CASE("a program that stands without its plugin runs, and says once that kernels are slower", "[runtime]") {
  const ScopedEnv cc("SINTER_CC", std::nullopt);
  if (runtime::kSanitizer != runtime::Sanitizer::None) SKIP_TEST("a sanitizer's build");
  if (!runtime::cpu::plugin_compiler()) SKIP_TEST("no Clang plugin");
  const Folder folder;
  std::filesystem::copy_file("/proc/self/exe", folder.path() + "/program");
  check_child(folder.path() + "/program", "child: realises where no plugin is found");
}

TEST_CASE("child: compiles before and after main", "[.][runtime-child]") {
  std::atexit(compile_at_exit);
  emptied = new FreshCache;
  CHECK((ones({3, 5}) * 2.0f).contiguous().sum().item() == 30);
}

TEST_CASE("a program compiles while its static objects are destroyed", "[runtime]") {
  check_child("/proc/self/exe", "child: compiles before and after main");
}

namespace {

/// A program that no cache holds, whatever ran before.
float compile_one(int64_t number) { return (ones({3, 7 + number}) * 2.0f).contiguous().sum().item<float>(); }

/// Compiles until the process is gone.
void compile_for_ever(int64_t first) {
  std::thread([first] {
    for (int64_t i = first;; i += 2) compile_one(i);
  }).detach();
}

std::chrono::milliseconds delay() { return std::chrono::milliseconds(std::atoi(std::getenv("CHILD_DELAY"))); }

/// Ends the process with an error after a minute, as one that hangs.
void end_in_a_minute() { alarm(60); }

/// Its destructor runs while other threads compile.
struct Sleeper {
  ~Sleeper() {
    if (awake) std::this_thread::sleep_for(delay());
  }
  bool awake = false;
} sleeper;

/// Its destructor waits for a thread that compiles.
struct Joiner {
  ~Joiner() {
    stop = true;
    if (thread.joinable()) thread.join();
  }
  std::atomic<bool> stop{false};
  std::thread thread;
} joiner;

}  // namespace

TEST_CASE("child: returns from main while threads compile", "[.][runtime-child]") {
  end_in_a_minute();
  for (int64_t t = 0; t < 2; ++t) compile_for_ever(t);
  std::this_thread::sleep_for(delay());
}

TEST_CASE("child: a static object's destructor lasts while threads compile", "[.][runtime-child]") {
  end_in_a_minute();
  sleeper.awake = true;
  for (int64_t t = 0; t < 2; ++t) compile_for_ever(t);
}

TEST_CASE("child: a static object's destructor joins a thread that compiles", "[.][runtime-child]") {
  end_in_a_minute();
  joiner.thread = std::thread([] {
    for (int64_t i = 0; i < 2 || !joiner.stop; ++i) compile_one(i);
  });
  std::this_thread::sleep_for(delay());
}

TEST_CASE("child: calls quick_exit while threads compile", "[.][runtime-child]") {
  for (int64_t t = 0; t < 2; ++t) compile_for_ever(t);
  std::this_thread::sleep_for(delay());
  std::quick_exit(0);
}

TEST_CASE("child: another thread than main's calls exit while threads compile", "[.][runtime-child]") {
  end_in_a_minute();
  constexpr unsigned char kReturn = 0xc3;  // while the libraries are loaded is another matter: see ProcessExitGuard
  REQUIRE(!runtime::cpu::disassemble(&kReturn, 1, runtime::host_target()).empty());
  if (std::string_view(std::getenv("SINTER_DEVICE")) == "cuda-sim") runtime::cuda::find_nvrtc();
  for (int64_t t = 0; t < 2; ++t) compile_for_ever(t);
  std::thread([] {
    std::this_thread::sleep_for(delay());
    std::exit(0);
  }).join();
}

namespace {

/// On a thread that has called exit(). Were it taken for another, each guard would wait two seconds.
void compile_ten_at_exit() {
  for (int64_t i = 0; i < 10; ++i) compile_one(1000 + i);
}

}  // namespace

TEST_CASE("child: exit is called by another thread when main's has ended", "[.][runtime-child]") {
  std::atexit(compile_ten_at_exit);  // before what the first compile registers, so it runs after that
  int status = -1;
  std::thread([&] {
    compile_one(0);
    const pid_t child = fork();  // in which this is main's thread
    if (child != 0) {
      waitpid(child, &status, 0);
      return;
    }
    alarm(20);
    std::thread([main_thread = pthread_self()] {
      pthread_join(main_thread, nullptr);
      std::exit(0);
    }).detach();
    pthread_exit(nullptr);
  }).join();
  CHECK(status == 0);
  std::_Exit(status == 0 ? 0 : 1);
}

TEST_CASE("a process ends after pthread_exit in main", "[runtime]") {
  if (runtime::kSanitizer != runtime::Sanitizer::None) SKIP_TEST("a sanitizer's build");
  const FreshCache cache;
  check_child("/proc/self/exe", "child: exit is called by another thread when main's has ended");
}

TEST_CASE("a process ends while other threads compile", "[runtime]") {
  const ScopedEnv cc("SINTER_CC", std::nullopt);
  if (runtime::kSanitizer != runtime::Sanitizer::None) SKIP_TEST("a sanitizer's build");
  if (!runtime::cpu::plugin_compiler()) SKIP_TEST("no Clang plugin");
  const std::string device = GENERATE("cpu", "cuda-sim");
  const std::string name = GENERATE("child: returns from main while threads compile",
                                    "child: a static object's destructor lasts while threads compile",
                                    "child: a static object's destructor joins a thread that compiles",
                                    "child: calls quick_exit while threads compile",
                                    "child: another thread than main's calls exit while threads compile");
  const bool joins = name.find("joins") != name.npos;  // one that waits for the end in vain
  if (device == "cuda-sim" && joins) return;           // its kernels have no other compiler
  const ScopedEnv where("SINTER_DEVICE", device);
  for (const int milliseconds : {1, 10, 20, 30, 40, 50, 60, 80, 100, 150, 250}) {
    if (joins && milliseconds % 50) continue;
    const FreshCache cache;
    const ScopedEnv wait("CHILD_DELAY", std::to_string(milliseconds));
    INFO(device << ", after " << milliseconds << " ms");
    check_child("/proc/self/exe", name);
  }
}

TEST_CASE("child: compiles on a thread with 128 KiB of stack", "[.][runtime-child]") {
  pthread_attr_t small;
  pthread_attr_init(&small);
  REQUIRE(pthread_attr_setstacksize(&small, 128 << 10) == 0);
  float values[2] = {};
  const auto work = [](void* out) -> void* {
    auto* values = static_cast<float*>(out);
    values[0] = compile_one(0);
    values[1] = matmul(softmax(full({64, 64}, 0.5), 1), tanh(full({64, 64}, 0.0)) + 1.0).sum().item<float>();
    return nullptr;
  };
  pthread_t thread;
  REQUIRE(pthread_create(&thread, &small, work, values) == 0);
  pthread_join(thread, nullptr);
  CHECK(values[0] == 42);
  CHECK(std::abs(values[1] - 4096) < 0.1f);
}

TEST_CASE("the first compile runs on a thread with 128 KiB of stack", "[runtime]") {
  if (runtime::kSanitizer != runtime::Sanitizer::None) SKIP_TEST("a sanitizer's build");  // whose frames are larger
  const std::string device = GENERATE("cpu", "cuda-sim");
  const FreshCache cache;
  const ScopedEnv where("SINTER_DEVICE", device);
  INFO(device);
  check_child("/proc/self/exe", "child: compiles on a thread with 128 KiB of stack");
}

TEST_CASE("child: compiles where files may not grow", "[.][runtime-child]") {
  const rlimit limit{64, 64};
  REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  CapturedLog captured;
  CHECK(compile_one(0) == 42);
  CHECK(compile_one(1) == 48);
  CHECK_THAT(captured.text(), Contains("no more kernels are cached") && Contains("File too large"));
}

TEST_CASE("a program runs without its cache where files may not grow", "[runtime]") {
  const ScopedEnv cc("SINTER_CC", std::nullopt);  // which writes files itself
  if (runtime::kSanitizer != runtime::Sanitizer::None) SKIP_TEST("a sanitizer's build");
  if (!runtime::cpu::plugin_compiler()) SKIP_TEST("no Clang plugin");
  const FreshCache cache;
  const Folder folder;
  CHECK(runtime::cpu::run_process({"/proc/self/exe", "child: compiles where files may not grow"}, "/dev/null") == 0);
}
