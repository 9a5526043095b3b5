// The cache folder: damage, bounds, owners, and that a warm cache needs no compiler.
#include "catch.h"
#include "runtime/base/counters.h"
#include "runtime/base/disk_cache.h"
#include "runtime/base/subprocess.h"
#include "runtime/program/host_target.h"
#include "sinter/error.h"
#include "skip.h"
#include "unit/runtime_support.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

using namespace sinter;
using namespace sinter::runtime;
using namespace runtime_test;
using Catch::Matchers::Contains;

namespace {

void spill(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

mode_t mode_of(const std::string& path) {
  struct stat info{};
  stat(path.c_str(), &info);
  return info.st_mode & 07777;
}

void set_age(const std::filesystem::path& path, int seconds) {
  timespec times[2] = {};
  clock_gettime(CLOCK_REALTIME, &times[0]);
  times[0].tv_sec -= seconds;
  times[1] = times[0];
  utimensat(AT_FDCWD, path.c_str(), times, 0);
}

/// Runs this executable on one hidden test case and returns its exit status.
int run_child(const char* test, std::string& output) {
  const Folder folder;
  const int status = cpu::run_process({"/proc/self/exe", test}, folder.path() + "/output");
  output = slurp(folder.path() + "/output");
  return status;
}

std::vector<KernelSource> some_kernels() {
  std::vector<KernelSource> kernels;
  for (int i = 0; i < 4; ++i) kernels.push_back(scale_kernel(fmt::format("k_warm_{}", i), static_cast<float>(i)));
  return kernels;
}

}  // namespace

TEST_CASE("the folder is the user's alone and keeps sources beside objects", "[runtime]") {
  const Folder folder;
  const ScopedEnv setting("SINTER_CACHE", folder.path() + "/a/b");
  forget_programs();
  const auto kernel = scale_kernel("k_mode", 1);
  compile_one(kernel);
  CHECK(mode_of(folder.path() + "/a/b") == 0700);
  CHECK(mode_of(folder.path() + "/a/b/kernels") == 0700);
  REQUIRE(folder.files(".o").size() == 1);
  CHECK(slurp(folder.files(".c").at(0)) == kernel.text);
  CHECK_THAT(folder.files(".o")[0].filename().string(), Contains("k_mode-"));
  CHECK(folder.files(".id").size() == 1);  // the compiler's name
  CHECK(folder.files("").size() == 4);     // and the count of what was stored: nothing else is left behind
}

TEST_CASE("the default folder follows XDG_CACHE_HOME and HOME", "[runtime]") {
  const Folder folder;
  const ScopedEnv none("SINTER_CACHE", std::nullopt), xdg("XDG_CACHE_HOME", folder.path()),
      home("HOME", "/nonexistent");
  CHECK(DiskCache::current()->path() == folder.path() + "/sinter/kernels");
  const ScopedEnv relative("XDG_CACHE_HOME", "relative"), own("HOME", folder.path());
  CHECK(DiskCache::current()->path() == folder.path() + "/.cache/sinter/kernels");
}

TEST_CASE("a damaged entry is a miss", "[runtime]") {
  const FreshCache cache;
  const auto kernel = scale_kernel("k_damaged", 4);
  compile_one(kernel);
  const auto path = cache.folder.files(".o").at(0);
  const std::string good = slurp(path);
  std::vector<std::string> bad = {"",
                                  "short",
                                  good.substr(0, good.size() / 2),
                                  good.substr(0, good.size() - 1),
                                  good + "x",
                                  std::string(good.size(), '\0')};
  for (size_t at : {size_t{0}, size_t{9}, size_t{20}, size_t{40}, good.size() / 2, good.size() - 1}) {
    bad.push_back(good);
    bad.back()[at] = static_cast<char>(bad.back()[at] ^ 0x10);
  }
  for (const std::string& bytes : bad) {
    forget_programs();
    spill(path, bytes);
    const uint64_t compiles = counters().compiles;
    CHECK(scales(*compile_one(kernel), 4));
    CHECK(counters().compiles == compiles + 1);
    forget_programs();
    CHECK(scales(*compile_one(kernel), 4));  // it was written anew
    CHECK(counters().compiles == compiles + 1);
  }
}

TEST_CASE("an entry under another's name is a miss", "[runtime]") {
  const Folder folder;
  DiskCache cache(folder.path());
  cache.store("k", {1, 0}, "object", "source");
  const std::filesystem::path first = folder.files(".o").at(0);
  std::filesystem::copy_file(first, first.parent_path() / fmt::format("k-{}.o", to_hex({2, 0})));
  CHECK(cache.load("k", {1, 0}) == "object");
  CHECK_FALSE(cache.load("k", {2, 0}));
}

TEST_CASE("the oldest entries go when the bound is reached", "[runtime]") {
  const Folder folder;
  const std::string object(1000, 'x');
  {
    DiskCache cache(folder.path(), 20000);
    for (uint64_t i = 0; i < 12; ++i) {
      cache.store("k", {i, 0}, object, "source");
      for (const char* ending : {".o", ".c"})
        set_age(fmt::format("{}/k-{}{}", cache.path(), to_hex({i, 0}), ending), static_cast<int>(1000 - i));
    }
    spill(cache.path() + "/.new-1-1", "left behind");
    set_age(cache.path() + "/.new-1-1", 48 * 3600);
    CHECK(cache.load("k", {3, 0}));
    for (uint64_t i = 12; i < 40; ++i) cache.store("k", {i, 0}, object, "source");
    CHECK_FALSE(cache.load("k", {0, 0}));
    CHECK(cache.load("k", {39, 0}) == object);
  }
  uint64_t bytes = 0;
  for (const auto& file : folder.files("")) bytes += std::filesystem::file_size(file);
  CHECK(bytes <= 20000 + 20000 / 16 + 2000);
  CHECK(bytes >= 10000);
  CHECK(folder.files(".new-1-1").empty());
  CHECK(folder.files(".o").size() == folder.files(".c").size());
}

TEST_CASE("the folder is looked through once for many entries, whoever stores them", "[runtime]") {
  const Folder folder;
  const std::string object(1000, 'x'), sign = folder.path() + "/kernels/.new-1-1";
  const auto store = [&](uint64_t i) {
    DiskCache(folder.path(), 64000).store("k", {i, 0}, object, "");
  };  // each as a process of its own
  store(0);
  spill(sign, "left behind");
  set_age(sign, 48 * 3600);
  for (uint64_t round = 0; round < 2; ++round) {
    for (uint64_t i = 1; i < 3; ++i) store(10 * round + i);
    CHECK(std::filesystem::exists(sign));
    store(10 * round + 3);  // 4000 bytes of objects, and their heads
    CHECK_FALSE(std::filesystem::exists(sign));
    spill(sign, "left behind");
    set_age(sign, 48 * 3600);
    store(10 * round + 4);
  }
}

TEST_CASE("a hit keeps an old entry alive", "[runtime]") {
  const Folder folder;
  DiskCache cache(folder.path());
  cache.store("k", {1, 0}, "object", "source");
  set_age(folder.files(".o").at(0), 10 * 24 * 3600);
  CHECK(cache.load("k", {1, 0}) == "object");
  struct stat info{};
  stat(folder.files(".o").at(0).c_str(), &info);
  CHECK(info.st_mtime > time(nullptr) - 3600);
}

TEST_CASE("without a usable folder everything works and one line says so", "[runtime]") {
  const Folder folder;
  spill(folder.path() + "/file", "");
  const std::string path = folder.path() + "/file/below";
  CapturedLog captured;
  const ScopedEnv setting("SINTER_CACHE", path);
  forget_programs();
  CHECK(scales(*compile_one(scale_kernel("k_nowhere", 1)), 1));
  CHECK(scales(*compile_one(scale_kernel("k_nowhere_2", 2)), 2));
  const std::string text = captured.text();
  CHECK_THAT(text, Contains(path) && Contains("SINTER_CACHE"));
  CHECK(std::count(text.begin(), text.end(), '\n') == 1);
  try {  // the source of a bad kernel still has a path
    compile_one({"k_bad", "nonsense", false});
    FAIL("compiled");
  } catch (const CompileError& error) {
    const std::string message = error.what();
    const size_t at = message.find("source: ") + 8;
    const std::string source = message.substr(at, message.find('\n', at) - at);
    CHECK(slurp(source) == "nonsense");
    unlink(source.c_str());
  }
}

TEST_CASE("a folder that disappears is no error", "[runtime]") {
  const FreshCache cache;
  compile_one(scale_kernel("k_there", 1));
  std::filesystem::remove_all(cache.folder.path() + "/kernels");
  forget_programs();
  CapturedLog captured;
  CHECK(scales(*compile_one(scale_kernel("k_there", 1)), 1));
  CHECK(scales(*compile_one(scale_kernel("k_gone", 1)), 1));
  CHECK_THAT(captured.text(), Contains("no more kernels are cached"));
}

TEST_CASE("another user's folder is refused, one that others can read is closed", "[runtime]") {
  const Folder folder;
  std::filesystem::create_directories(folder.path() + "/mine/kernels");
  chmod((folder.path() + "/mine/kernels").c_str(), 0755);
  CHECK(DiskCache(folder.path() + "/mine").usable());
  CHECK(mode_of(folder.path() + "/mine/kernels") == 0700);

  CapturedLog captured;
  std::filesystem::create_directories(folder.path() + "/elsewhere");
  std::filesystem::create_directories(folder.path() + "/linked");
  std::filesystem::create_directory_symlink(folder.path() + "/elsewhere", folder.path() + "/linked/kernels");
  CHECK_FALSE(DiskCache(folder.path() + "/linked").usable());
  if (geteuid() != 0) SKIP_TEST("not root");  // only root can give a folder away
  std::filesystem::create_directories(folder.path() + "/theirs/kernels");
  REQUIRE(chown((folder.path() + "/theirs").c_str(), 12345, 12345) == 0);
  CHECK_FALSE(DiskCache(folder.path() + "/theirs").usable());
  CHECK_THAT(captured.text(), Contains("belongs to another user"));
  std::filesystem::create_directories(folder.path() + "/half/kernels");
  REQUIRE(chown((folder.path() + "/half/kernels").c_str(), 12345, 12345) == 0);
  CHECK_FALSE(DiskCache(folder.path() + "/half").usable());
}

TEST_CASE("what others could have written is not loaded", "[runtime]") {
  const Folder folder;
  const Hash128 key{1, 2};
  const std::string kernels = folder.path() + "/kernels";
  const auto store = [&] { DiskCache(folder.path()).store("k", key, "object", "source"); };
  const auto loads = [&] { return DiskCache(folder.path()).load("k", key).has_value(); };
  store();
  CHECK(loads());
  const std::string entry = folder.files(".o").at(0).string();
  for (mode_t lax : {0620, 0602, 0666}) {
    chmod(entry.c_str(), lax);
    CHECK_FALSE(loads());
  }
  chmod(entry.c_str(), 0600);
  CHECK(loads());
  if (geteuid() == 0) {
    REQUIRE(chown(entry.c_str(), 12345, 12345) == 0);
    CHECK_FALSE(loads());
    REQUIRE(chown(entry.c_str(), 0, 0) == 0);
  } else {
    note_skipped("not root");
  }
  // A folder that was open to others goes aside with all that lies in it.
  CapturedLog captured;
  chmod(kernels.c_str(), 0777);
  CHECK_FALSE(loads());
  CHECK_THAT(captured.text(), Contains("kernels.distrusted"));
  CHECK(mode_of(kernels) == 0700);
  CHECK(std::filesystem::exists(folder.path() + "/kernels.distrusted/" + entry.substr(kernels.size() + 1)));
  store();
  CHECK(loads());
  chmod(kernels.c_str(), 0770);  // again, with the first one in the way
  DiskCache second(folder.path());
  CHECK_FALSE(second.usable());
  CHECK_THAT(captured.text(), Contains("others could write to it"));
}

TEST_CASE("entries of another process with the same number are not in the way", "[runtime]") {
  const Folder folder;
  DiskCache cache(folder.path());
  // In another container a process may have this one's number: names written aside must not be made of it.
  for (int i = 0; i < 4096; ++i)
    std::filesystem::create_directory(fmt::format("{}/kernels/.new-{}-{}", folder.path(), getpid(), i));
  cache.store("k", {1, 0}, "object", "source");
  CHECK(cache.load("k", {1, 0}) == "object");
}

TEST_CASE("child: runs kernels from a warm cache", "[.][runtime-child]") {
  const ScopedEnv debug("DEBUG", "4");
  CapturedLog captured;
  const auto programs = compile(some_kernels(), host_target());
  for (int i = 0; i < 4; ++i) CHECK(scales(*programs[static_cast<size_t>(i)], static_cast<float>(i)));
  CHECK(counters().compiles == 0);
  CHECK(counters().disk_hits == 4);
  CHECK_THAT(captured.text(), Contains(some_kernels()[3].text));
  const std::string maps = slurp("/proc/self/maps");
  CHECK_THAT(maps, !Contains("libLLVM") && !Contains("libclang") && !Contains("sinter_clang"));
  CHECK_THAT(maps, !Contains("rwx"));
}

TEST_CASE("with a warm cache no LLVM library is mapped and sources are still printed", "[runtime]") {
  const FreshCache cache;
  compile(some_kernels(), host_target());
  std::string output;
  const int status = run_child("child: runs kernels from a warm cache", output);
  INFO(output);
  CHECK(status == 0);
}
