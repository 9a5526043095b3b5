// What DEBUG prints, level by level (docs/environment.md), and that its numbers are those of the work done.
#include <fmt/core.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "catch.h"
#include "runtime/base/fault_injection.h"
#include "runtime/base/sanitizer.h"
#include "runtime/cpu/roofline_cache.h"
#include "sinter/sinter.h"
#include "skip.h"
#include "unit/runtime_support.h"

using namespace sinter;
using runtime_test::CapturedLog;
using runtime_test::ScopedEnv;

namespace {

/// What building and running a program prints.
template <class Run>
std::string printed(const char* level, Run run) {
  const runtime_test::FreshCache cache;
  debug::clear_plans();
  const ScopedEnv debug_level("DEBUG", level);
  CapturedLog log;
  run();
  return log.text();
}

int lines_with(const std::string& text, const std::string& what) {
  int n = 0;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) n += line.find(what) != std::string::npos;
  return n;
}

/// The one launch that a text of DEBUG=2 shows.
struct Launch {
  double us = 0, bytes = 0, flops = 0, gbs = 0, gflops = 0, percent = 0, priced = 0;
  char of[20] = "";
  int threads = 0;
};
Launch launch(const std::string& text) {
  char name[200];
  long tasks = 0;
  Launch l;
  INFO(text);
  REQUIRE(std::sscanf(text.c_str() + text.find("  "),
                      " %199s %ld tasks %lf us %lf MB %lf MFLOP %lf GB/s %lf GFLOP/s %lf %% of %19[a-z], %d", name,
                      &tasks, &l.us, &l.bytes, &l.flops, &l.gbs, &l.gflops, &l.percent, l.of, &l.threads) == 10);
  const size_t priced = text.find(", priced at ");
  REQUIRE(priced != std::string::npos);
  l.priced = std::stod(text.substr(priced + 12));
  l.bytes *= 1e6, l.flops *= 1e6;
  return l;
}
/// The print has four decimals of a million.
Approx near(double value) { return Approx(value).epsilon(0).margin(51); }

}  // namespace

TEST_CASE("each DEBUG level adds what the table of variables says", "[runtime][debug]") {
  const auto program = [] {
    Tensor a = rand({64, 96}), b = rand({96, 64});
    Tensor c = (exp(matmul(a, b)) / 8.0).sum(1);
    c.realize();
    (c + 1.0).realize();
  };
  const char* marks[] = {"plan: ", " GFLOP/s", "partition: ", "// kernel ", "-- plan", " -> ", "\tret"};
  for (int level = 0; level <= 7; ++level) {
    const std::string text = printed(std::to_string(level).c_str(), program);
    INFO("DEBUG=" << level << "\n" << text.substr(0, 3000));
    for (int l = 1; l <= 7; ++l) {
      INFO("what level " << l << " prints: " << marks[l - 1]);
      CHECK((lines_with(text, marks[l - 1]) > 0) == (l <= level));
    }
    if (level == 1) CHECK(lines_with(text, "plan: ") == lines_with(text, ""));
    if (level == 7) CHECK(lines_with(text, "; r_64_64") > 0);       // each listing begins with the kernel's name
    if (level >= 3) CHECK(lines_with(text, "after schedule") > 0);  // the options that kernels were given
  }
}

TEST_CASE("DEBUG=2 counts arithmetic on floats, and bytes once", "[runtime][debug]") {
  Tensor a = rand({200, 300}).realize(), b = rand({300, 100}).realize();
  Launch r = launch(printed("2", [&] { matmul(a, b).realize(); }));
  CHECK(r.flops == near(2.0 * 200 * 300 * 100));
  CHECK(r.bytes == near(4.0 * (200 * 300 + 300 * 100 + 200 * 100)));

  Tensor x = rand({1 << 20}).realize();  // two operations on floats: choosing and comparing are none
  const auto chosen = [&] {              // in a function: what handles hold at realize() would be stored too
    return where(x > 0.5, x * 2.0 + 1.0, x);
  };
  r = launch(printed("2", [&] { chosen().realize(); }));
  CHECK(r.flops == near(2.0 * (1 << 20)));
  CHECK(r.bytes == near(8.0 * (1 << 20)));

  Tensor i = arange(1 << 20).realize();
  const auto whole = [&] { return i * 3 + 1; };
  r = launch(printed("2", [&] { whole().realize(); }));
  CHECK(r.flops == 0);
  CHECK(r.bytes == near(16.0 * (1 << 20)));

  const Var n("n", 1, 4096);  // the size of this call, not the bound
  Tensor s = from(std::vector<float>(512 * 512, 1), {n(512), 512}).realize();
  const auto sums = [&] { return (s * s + 1.0).sum(1); };
  r = launch(printed("2", [&] { sums().realize(); }));
  CHECK(r.flops == near(3.0 * 512 * 512));
  CHECK(r.bytes == near(4.0 * (512 * 512 + 512)));
}

TEST_CASE("DEBUG=2 holds launches against the machine's roofs", "[runtime][debug]") {
  const ScopedEnv threads("SINTER_THREADS", "2");
  runtime::cpu::clear_roofline_cache();
  Tensor a = rand({256, 256}).realize(), b = rand({256, 256}).realize();
  const std::string first = printed("2", [&] { matmul(a, b).realize(); });
  INFO(first);
  double flops = 0, copy = 0, read = 0;
  int of = 0;
  REQUIRE(std::sscanf(first.c_str(), "roofs of %d threads: %lf GFLOP/s, copy %lf GB/s, read %lf GB/s", &of, &flops,
                      &copy, &read) == 4);
  CHECK(of == 2);
  const Launch product = launch(first);
  CHECK(product.threads == 2);
  const auto held_against_the_nearer = [&](const Launch& l) {
    const double math = l.flops / l.us * 1e-3 / flops * 100, memory = l.bytes / l.us * 1e-3 / copy * 100;
    CHECK(std::string(l.of) == (math > memory ? "math" : "memory"));
    CHECK(l.percent == Approx(std::max(math, memory)).epsilon(0.02).margin(0.1));
  };
  held_against_the_nearer(product);

  const auto sum = [&] { return a + b; };
  const std::string second = printed("2", [&] { sum().realize(); });  // the roofs are known, and said, already
  CHECK(second.find("roofs") == std::string::npos);
  const Launch stream = launch(second);
  held_against_the_nearer(stream);

  const auto little = [&] { return a[0] + b[0]; };
  const int enough = runtime::kSanitizer == runtime::Sanitizer::Thread ? 2 : 1;  // every launch is shared out under it
  const Launch least = launch(printed("2", [&] { little().realize(); }));
  CHECK(least.threads == enough);
  CHECK(product.priced > 10 * stream.priced);
  CHECK(stream.priced > 10 * least.priced);
}

TEST_CASE("DEBUG=2 holds launches of a GPU against what its clocks permit", "[codegen][debug]") {
  const ScopedEnv device("SINTER_DEVICE", "cuda-sim");
  const auto product = [](DType type) {
    Tensor a = ones({256, 256}, type, Device::cuda()).contiguous().realize();
    Tensor b = (a * 2).realize();
    return printed("2", [&] { matmul(a, b).realize(); });
  };
  // Twice 256 / 12 FLOPs a byte are more than float32 needs to keep an H100 busy; tensor cores need far more.
  const std::string of_float32 = product(float32), of_bfloat16 = product(bfloat16);
  INFO(of_float32 << of_bfloat16);
  CHECK(lines_with(of_float32, " % of math, priced at") == 1);
  CHECK(lines_with(of_bfloat16, " % of memory, priced at") == 1);
}

TEST_CASE("DEBUG=1 names a kernel above 5 ms below 5 % of its roof, with the user's line", "[runtime][debug]") {
  // A chain of divisions of int64, none of which counts as arithmetic on floats: long, on little memory.
  Tensor x = (arange(1 << 18) * 7919 + 1).realize(), y = (arange(1 << 18) % 89 + 11).realize();
  uint32_t slow_line = 0;
  const auto slow = [&] {
    Tensor z = x;
    slow_line = __LINE__ + 1;
    for (int i = 0; i < 60; ++i) z = z % y + x;
    return z;
  };
  Tensor big = ones({1 << 24}).contiguous().realize();
  const auto fast = [&] { return big + 1.0; };  // takes longer than 5 ms as well, at memory's rate

  const std::string text = printed("1", [&] { slow().realize(); });
  INFO(text);
  CHECK(lines_with(text, "slow: ") == 1);
  CHECK(lines_with(text, "plan: ") == 1);
  char kernel[200], of[20];
  double ms = 0, percent = 0;
  int threads = 0;
  const size_t at = text.find("slow: ");
  REQUIRE(at != std::string::npos);
  REQUIRE(std::sscanf(text.c_str() + at, "slow: %199s took %lf ms, %lf %% of %19[a-z], %d thread", kernel, &ms,
                      &percent, of, &threads) == 5);
  CHECK(ms > 5);
  CHECK(percent < 5);
  CHECK(std::string(of) == "memory");
  const std::string line = text.substr(at, text.find('\n', at) - at);
  CHECK_THAT(line, Catch::Matchers::EndsWith(fmt::format("{}:{}", __FILE__, slow_line)));

  // The same numbers as DEBUG=2's, which stands before it.
  const std::string both = printed("2", [&] { slow().realize(); });
  INFO(both);
  REQUIRE(lines_with(both, "slow: ") == 1);
  CHECK(lines_with(both, " GFLOP/s ") == 1);

  int runs = 0;  // beside other programs one may be slow
  while (runs < 20 && lines_with(printed("1", [&] { fast().realize(); }), "slow: ") != 0) ++runs;
  CHECK(runs < 20);
  CHECK(printed("0", [&] { slow().realize(); }).empty());
}

TEST_CASE("DEBUG=1 names the call of a slow kernel in a program of many, from the cache folder too",
          "[runtime][debug]") {
  const runtime_test::FreshCache cache;
  Tensor x = (arange(1 << 18) * 7919 + 1).realize(), y = (arange(1 << 18) % 89 + 11).realize();
  Tensor a = rand({64, 64}).realize();
  uint32_t line = 0;
  const auto program = [&] {
    Tensor product = matmul(a, a).sum();
    Tensor z = x;
    line = __LINE__ + 1;
    for (int i = 0; i < 60; ++i) z = z % y + x;
    realize_all(std::vector<Tensor>{product, z});
  };
  for (int run = 0; run < 2; ++run) {
    debug::clear_plans();
    runtime::forget_programs();
    const ScopedEnv level("DEBUG", "1");
    CapturedLog log;
    program();
    INFO(log.text());
    CHECK(lines_with(log.text(), "slow: ") == 1);
    CHECK(lines_with(log.text(), fmt::format("{}:{}", __FILE__, line)) == 1);
  }
}

TEST_CASE("a machine's roofs are measured once and kept in the cache folder", "[runtime][debug]") {
  const runtime_test::FreshCache cache;
  runtime::cpu::clear_roofline_cache();
  const auto same = [](const runtime::cpu::Roofline& a, const runtime::cpu::Roofline& b) {
    return a.flops == b.flops && a.copy == b.copy && a.read == b.read;
  };
  const runtime::cpu::Roofline measured = runtime::cpu::cached_roofline(1);
  const auto files = cache.folder.files(".o");
  REQUIRE(files.size() == 1);
  runtime::cpu::clear_roofline_cache();
  CHECK(same(runtime::cpu::cached_roofline(1), measured));

  runtime::cpu::clear_roofline_cache();
  {  // an entry whose checksum is wrong
    std::fstream file(files[0], std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-1, std::ios::end);
    file.put('\x7f');
  }
  const runtime::cpu::Roofline again = runtime::cpu::cached_roofline(1);
  CHECK(again.read < 1e15);
  runtime::cpu::clear_roofline_cache();
  CHECK(same(runtime::cpu::cached_roofline(1), again));
  CHECK(cache.folder.files(".o").size() == 1);
}

TEST_CASE("DEBUG=2 says no limit where the roofs cannot be measured, and the program runs", "[runtime][debug]") {
  if (runtime::kSanitizer != runtime::Sanitizer::None)
    SKIP_TEST("a sanitizer's build");  // they take address space as they like
  const runtime_test::FreshCache cache;
  Tensor x = full({64}, 1.0f).contiguous().realize();
  const auto next = [&] { x += 1.0f, x.realize(); };
  next();  // nothing is left to be compiled
  runtime::cpu::clear_roofline_cache();
  const ScopedEnv level("DEBUG", "2");
  CapturedLog log;
  rlimit before{};
  getrlimit(RLIMIT_AS, &before);
  std::ifstream statm("/proc/self/statm");
  uint64_t pages = 0;
  statm >> pages;
  const rlimit tight{pages * static_cast<uint64_t>(getpagesize()) + (64 << 20),
                     before.rlim_max};  // the loops want 256 MiB
  REQUIRE(setrlimit(RLIMIT_AS, &tight) == 0);
  CHECK_NOTHROW(next());
  REQUIRE(setrlimit(RLIMIT_AS, &before) == 0);
  const std::string text = log.text();
  INFO(text);
  CHECK(lines_with(text, " GFLOP/s") == 1);
  CHECK(lines_with(text, " % of ") == 0);
  CHECK(lines_with(text, "no roofs: ") == 1);
  CHECK(x.to_vector<float>() == std::vector<float>(64, 3.0f));
}

TEST_CASE("launches of a plan that fails are not counted, whoever runs it", "[runtime][debug]") {
  const debug::Executor executor = debug::executor();
  for (const debug::Executor runs : {debug::Executor::Unfused, debug::Executor::Interpreter}) {
    debug::set_executor(runs);
    const Tensor x = full({8}, 2.0f).contiguous().realize();
    const auto launches = [&] {
      const uint64_t before = debug::counters().launches;
      const Tensor y = exp(x), z = log(y.sum());
      try {
        realize_all(std::vector<Tensor>{y, z});
      } catch (const BackendError&) {}
      return debug::counters().launches - before;
    };
    CHECK(launches() > 1);
    runtime::fault_injection().fail_at_launch = 1;
    CHECK(launches() == 0);
    CHECK(runtime::fault_injection().fail_at_launch == -1);
  }
  debug::set_executor(executor);
}
