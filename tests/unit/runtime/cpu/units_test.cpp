// Which kernels share a translation unit, and that units are compiled side by side.
#include "catch.h"
#include "runtime/base/counters.h"
#include "runtime/base/system_limits.h"
#include "runtime/cpu/translation_units.h"
#include "runtime/program/host_target.h"
#include "sinter/sinter.h"
#include "unit/runtime_support.h"

#include <sys/stat.h>

#include <algorithm>
#include <fstream>

using namespace sinter;
using namespace sinter::runtime;
using namespace runtime_test;

namespace {

/// Hands on, and keeps what it was given.
class Recorder final : public cpu::Compiler {
 public:
  std::string id(const Target& target) const override { return compiler_->id(target); }
  Dialect dialect() const override { return compiler_->dialect(); }
  bool makes_libraries() const override { return false; }
  CompileResult compile(const std::string& text, const Target& target) const override {
    {
      const std::lock_guard lock(mutex_);
      units_.push_back(text);
    }
    return compiler_->compile(text, target);
  }
  const std::vector<std::string>& units() const { return units_; }

 private:
  const ScopedEnv cc_{"SINTER_CC", "gcc"};  // which instruments nothing in any build
  const std::shared_ptr<const cpu::Compiler> compiler_ = cpu::current_compiler(host_target());
  mutable std::mutex mutex_;
  mutable std::vector<std::string> units_;
};

/// So many kernels, with texts of about so many bytes.
std::vector<KernelSource> kernels(size_t count, size_t bytes) {
  std::vector<KernelSource> made;
  for (size_t i = 0; i < count; ++i) {
    made.push_back(scale_kernel(fmt::format("k_unit_{}_{}", bytes, i), static_cast<float>(i)));
    if (made.back().text.size() < bytes)
      made.back().text += "// " + std::string(bytes - made.back().text.size(), 'x') + "\n";
  }
  return made;
}

/// The units that they become. Each kernel stands in one of them, and none is longer than another by more than a
/// kernel.
std::vector<std::string> units_of(const std::vector<KernelSource>& kernels, int threads) {
  const Recorder compiler;
  Target target = host_target();
  target.threads = threads;
  std::vector<const KernelSource*> list;
  size_t largest = 0;
  for (const KernelSource& k : kernels) list.push_back(&k), largest = std::max(largest, k.text.size());
  for (const CompileResult& result : cpu::build(list, compiler, target)) CHECK((result.ok && !result.object.empty()));
  std::vector<std::string> units = compiler.units();
  for (const KernelSource& k : kernels)
    CHECK(std::count_if(units.begin(), units.end(),
                        [&](const std::string& u) { return u.find(k.text) != std::string::npos; }) == 1);
  std::sort(units.begin(), units.end(), [](const std::string& a, const std::string& b) { return a.size() < b.size(); });
  CHECK(units.back().size() - units.front().size() <= largest + kernels.size());
  return units;
}

}  // namespace

TEST_CASE("kernels share as many translation units as there are threads, or units of 64 KiB", "[runtime]") {
  CHECK(units_of(kernels(20, 0), 1).size() ==
        static_cast<size_t>(std::min(2, usable_cpus())));  // its threads are idle meanwhile
  CHECK(units_of(kernels(20, 0), 2).size() == 2);
  CHECK(units_of(kernels(20, 0), 4).size() == 4);
  CHECK(units_of(kernels(3, 0), 8).size() == 3);
  CHECK(units_of(kernels(40, 0), 40).size() == 16);
  CHECK(units_of(kernels(20, 16 << 10), 2).size() == 5);
  std::vector<KernelSource> uneven = kernels(10, 1 << 10);
  uneven.push_back(kernels(1, 40 << 10)[0]);
  const std::vector<std::string> units = units_of(uneven, 2);
  REQUIRE(units.size() == 2);
  CHECK(units[1].size() == uneven.back().text.size() + 1);  // all others together are shorter
}

TEST_CASE("the kernels of a plan that no cache holds are compiled in two units, side by side", "[runtime]") {
  const FreshCache cache;
  const Folder folder;
  // Each compiler waits for the other one: one that is left alone for long says so.
  const std::string script = folder.path() + "/waiting-gcc";
  std::ofstream(script) << fmt::format(R"(#!/bin/sh
: > {0}/$$.begun
for i in $(seq 1000); do
  [ $(ls {0}/*.begun | wc -l) -ge 2 ] && exec gcc "$@"
  sleep 0.01
done
: > {0}/$$.alone
exec gcc "$@"
)",
                                       folder.path());
  chmod(script.c_str(), 0700);
  const ScopedEnv threads("SINTER_THREADS", "2");
  const Tensor x = rand({31, 40}).realize(), y = rand({40, 23}).realize(), z = rand({3, 5, 7}).realize();
  const ScopedEnv cc("SINTER_CC", script);
  debug::clear_plans();
  const uint64_t before = counters().compiles;
  realize(matmul(x, y), softmax(x, 1), cumsum(z, 2), x.sum(0), y.max(), z.transpose(0, 2) + 1);
  debug::clear_plans();
  CHECK(counters().compiles - before >= 4);
  CHECK(folder.files(".begun").size() == 2);
  CHECK(folder.files(".alone").empty());
}
