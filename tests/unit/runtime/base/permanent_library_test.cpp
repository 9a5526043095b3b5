// Static objects of a library that stays open register no destructor. The libraries are compiled here, as old and new
// linkers lay them out: slots that stay writable, and slots in pages that the loader makes read-only.
#include "runtime/base/permanent_library.h"

#include <dlfcn.h>

#include <fstream>
#include <string>
#include <vector>

#include "catch.h"
#include "runtime/base/subprocess.h"
#include "skip.h"
#include "unit/runtime_support.h"

using namespace sinter;
using namespace runtime_test;

namespace {

/// Registers a destructor that counts, as a static object inside a function does. The variable lies behind the offset
/// table, in the page in which what is read-only ends.
constexpr const char* kSource = R"(
extern int __cxa_atexit(void (*)(void*), void*, void*);
extern void* __dso_handle;
int variable = 1;
static void count(void* n) { ++*(int*)n; }
void NAME(int* n) { __cxa_atexit(count, n, __dso_handle); ++variable; }
)";

/// A library with the function `name`, that needs those in `needs`.
std::string build_library(const Folder& folder, const std::string& name, const std::string& linking,
                          const std::vector<std::string>& needs = {}) {
  const std::string source = folder.path() + "/" + name + ".c", file = folder.path() + "/lib" + name + ".so";
  std::ofstream(source) << kSource;
  std::vector<std::string> command{*runtime::cpu::find_executable(gcc()),
                                   "-shared",
                                   "-fPIC",
                                   "-DNAME=" + name,
                                   source,
                                   "-o",
                                   file,
                                   "-Wl,-z," + linking,
                                   "-Wl,--no-as-needed",
                                   "-Wl,-rpath," + folder.path()};
  command.insert(command.end(), needs.begin(), needs.end());
  REQUIRE(runtime::cpu::run_process(command, folder.path() + "/errors") == 0);
  return file;
}

/// How many destructors ran that the function registered, when the library is closed.
int destroyed(void* library, const char* function, void* closed) {
  int count = 0;
  const auto call = reinterpret_cast<void (*)(int*)>(dlsym(library, function));
  REQUIRE(call);
  call(&count);
  dlclose(closed);
  return count;
}

}  // namespace

TEST_CASE("a library that stays open registers no destructor, nor does what it brings along", "[runtime]") {
  if (gcc().empty()) SKIP_TEST("no gcc");
  const std::string linking = GENERATE("now", "lazy", "norelro");
  INFO(linking);
  const Folder folder;
  const std::string below = build_library(folder, "below", linking);
  const std::string known = build_library(folder, "known", linking);
  const std::string above = build_library(folder, "above", linking, {below, known});
  const std::string other = build_library(folder, "other", linking);

  void* before = dlopen(known.c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE(before);
  void* library = runtime::open_permanent_library(above);
  REQUIRE(library);
  void* beside = dlopen(other.c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE(beside);
  CHECK(destroyed(beside, "other", beside) == 1);
  void* needed = dlopen(below.c_str(), RTLD_NOW | RTLD_NOLOAD);
  REQUIRE(needed);
  dlclose(needed);
  int of_known = 0, of_below = 0;
  reinterpret_cast<void (*)(int*)>(dlsym(before, "known"))(&of_known);
  reinterpret_cast<void (*)(int*)>(dlsym(library, "below"))(&of_below);
  CHECK(destroyed(library, "above", library) == 0);
  CHECK(of_below == 0);
  dlclose(before);
  CHECK(of_known == 1);
}
