// What a process of its own is needed for: a compiler that is not there or does not open, and programs that compile
// while it ends.
#include <sys/resource.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "catch.h"
#include "runtime/cpu/plugin.h"
#include "runtime/cpu/process.h"
#include "runtime/files.h"
#include "runtime/sanitizer.h"
#include "runtime/target.h"
#include "schedule_support.h"
#include "sinter/sinter.h"
#include "unit/runtime_support.h"

using namespace sinter;
using namespace runtime_test;
using Catch::Matchers::Contains;

namespace {

/// Runs a hidden test case of a copy or of this program; its output stands beside a failure.
void check_child(const std::string& program, const std::string& name) {
  const Folder folder;
  const int status = runtime::cpu::run_program({program, name}, folder.path() + "/output");
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
  const Setting cc("SINTER_CC", std::nullopt);
  if (runtime::kSanitizer != runtime::Sanitizer::None || !runtime::cpu::plugin_compiler()) return;
  const auto gcc = runtime::cpu::find_executable(runtime_test::gcc());
  if (!gcc) {
    WARN("SKIP: no gcc");
    return;
  }
  const Folder bin;  // cc must be gcc here
  std::filesystem::create_symlink(*gcc, bin.path() + "/cc");
  const Setting path("PATH", bin.path() + ":" + std::getenv("PATH"));
  check_child("/proc/self/exe", "child: realises where the plugin does not open");
}

TEST_CASE("child: realises where no plugin is found", "[.][runtime-child]") {
  const FreshCache cache;
  if (runtime::cpu::plugin_compiler()) return;  // installed on this machine
  CapturedLog captured;
  CHECK((ones({3, 4}) * 2.0f).contiguous().sum().item() == 24);
  CHECK((ones({3, 5}) * 2.0f).contiguous().sum().item() == 30);
  const std::string text = captured.text(), notice = "no libsinter_clang.so beside this program";
  CHECK_THAT(text, Contains(notice) && Contains("SINTER_CC=cc"));
  CHECK(text.find(notice) == text.rfind(notice));
}

TEST_CASE("a program that stands without its plugin runs, and says once that kernels are slower", "[runtime]") {
  const Setting cc("SINTER_CC", std::nullopt);
  if (runtime::kSanitizer != runtime::Sanitizer::None || !runtime::cpu::plugin_compiler()) return;
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
