// Environment variables, the log, hashes and the target.
#include "runtime/base/env.h"
#include "catch.h"
#include "codegen/pass_check.h"
#include "repository.h"
#include "runtime/base/hash.h"
#include "runtime/base/log.h"
#include "runtime/base/subprocess.h"
#include "runtime/base/system_limits.h"
#include "runtime/cpu/compiler.h"
#include "runtime/cpu/host_allocator.h"
#include "runtime/cpu/thread_pool.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/nvrtc.h"
#include "runtime/program/host_target.h"
#include "sinter/debug.h"
#include "sinter/error.h"
#include "sinter/sinter.h"
#include "unit/codegen_support.h"
#include "unit/runtime_support.h"

#include <fstream>
#include <functional>
#include <map>
#include <sstream>

using namespace sinter;
using namespace sinter::runtime;
using namespace runtime_test;
using Catch::Matchers::Contains;

TEST_CASE("environment variables become values", "[runtime]") {
  const ScopedEnv debug("DEBUG", "3"), threads("SINTER_THREADS", "5"), noopt("SINTER_NOOPT", "1"),
      check("SINTER_CHECK", "0"), device("SINTER_DEVICE", "cuda:1"), data("SINTER_DATA", "/there"),
      memory("SINTER_MEMORY_LIMIT", "3M");
  CHECK(env().debug == 3);
  CHECK(env().threads == 5);
  CHECK(env().noopt);
  CHECK_FALSE(env().check);
  CHECK(env().device == "cuda:1");
  CHECK(env().data == "/there");
  CHECK(env().memory_bytes == 3u << 20);
  const ScopedEnv percent("SINTER_MEMORY_LIMIT", "12.5%");
  CHECK(env().memory_limit(64 << 20) == 8 << 20);
  CHECK(env().memory_bytes == 0);
  CHECK(host_target().threads == 5);
  CHECK(host_target().parallel_units == 20);
}

TEST_CASE("a bad or unknown variable is a UsageError with name, value and what is allowed", "[runtime]") {
  const std::pair<const char*, const char*> bad[] = {{"DEBUG", "8"},
                                                     {"DEBUG", "-1"},
                                                     {"DEBUG", "yes"},
                                                     {"DEBUG", "2x"},
                                                     {"DEBUG", ""},
                                                     {"SINTER_THREADS", "0"},
                                                     {"SINTER_THREADS", "two"},
                                                     {"SINTER_BEAM", "65"},
                                                     {"SINTER_NOOPT", "true"},
                                                     {"SINTER_CHECK", "2"},
                                                     {"SINTER_DEVICE", "gpu"},
                                                     {"SINTER_DEVICE", "cuda:"},
                                                     {"SINTER_DEVICE", "cuda:-1"},
                                                     {"SINTER_DEVICE", "cuda:256"},
                                                     {"SINTER_CC", ""},
                                                     {"SINTER_MEMORY_LIMIT", "0"},
                                                     {"SINTER_MEMORY_LIMIT", "G"},
                                                     {"SINTER_MEMORY_LIMIT", "101%"},
                                                     {"SINTER_MEMORY_LIMIT", "nan%"},
                                                     {"SINTER_MEMORY_LIMIT", "99999999999G"},
                                                     {"SINTER_CACHE", ""},
                                                     {"SINTER_DEBUGG", "1"}};
  for (const auto& [name, value] : bad) {
    INFO(name << "=" << value);
    const ScopedEnv setting(name, value);
    for (int again = 0; again < 2; ++again) {  // not remembered: every use throws
      try {
        env();
        FAIL("accepted");
      } catch (const UsageError& error) {
        CHECK_THAT(error.what(), Contains(name) && Contains(value));
        CHECK_THAT(error.what(), Contains("unset it"));
      }
    }
  }
  CHECK_NOTHROW(env());
}

TEST_CASE("child: makes tensors on a simulated GPU", "[.][runtime-child]") {
  CHECK(default_device() == Device::cuda());
  CHECK(ones({2}).device() == Device::cuda());
  CHECK(runtime::cuda::find_driver().simulated);
}

TEST_CASE("each variable of the table does what it says", "[runtime]") {
  const Folder folder;
  debug::set_executor(debug::Executor::Compiled);
  const auto launches = [] {
    const Tensor x = ones({8, 64}).contiguous().realize();
    debug::clear_plans();
    debug::reset_counters();
    CHECK((x * 2.0f + 1.0f).to_vector<float>() == std::vector<float>(8 * 64, 3.0f));
    return debug::counters().launches;
  };
  const std::map<std::string_view, std::function<void()>> effects = {
      {"DEBUG",
       [&] {
         const ScopedEnv setting("DEBUG", "1");
         CapturedLog captured;
         launches();
         CHECK_THAT(captured.text(), Contains("plan: "));
       }},
      {"SINTER_NOTICES",
       [] {
         CapturedLog captured;
         log(0, "said");
         const ScopedEnv setting("SINTER_NOTICES", "0");
         log(0, "left out");
         CHECK(captured.text() == "said\n");
       }},
      {"SINTER_CACHE",
       [&] {
         const ScopedEnv setting("SINTER_CACHE", folder.path());
         forget_programs();
         compile_one(scale_kernel("k_env_cache", 1));
         CHECK(folder.files(".o").size() == 1);
       }},
      {"SINTER_DEVICE",
       [&] {  // a process asks once
         const ScopedEnv setting("SINTER_DEVICE", "cuda-sim");
         const int status =
             cpu::run_process({"/proc/self/exe", "child: makes tensors on a simulated GPU"}, folder.path() + "/output");
         INFO(slurp(folder.path() + "/output"));
         CHECK(status == 0);
       }},
      {"SINTER_THREADS",
       [] {
         const ScopedEnv setting("SINTER_THREADS", "3");
         CHECK(cpu::thread_pool().threads() == 3);
         CHECK(host_target().threads == 3);
       }},
      {"SINTER_NOOPT",
       [&] {
         const ScopedEnv level("DEBUG", "4");
         CapturedLog captured;
         CHECK(launches() == 1);
         CHECK_THAT(captured.text(), Contains("// kernel") && Contains("vector_size"));
         const ScopedEnv setting("SINTER_NOOPT", "1");
         CapturedLog plain;
         CHECK(launches() == 2);
         CHECK_THAT(plain.text(), Contains("// kernel") && !Contains("vector_size"));
       }},
      {"SINTER_CHECK",
       [] {  // a pass that changes a value is refused
         codegen_test::KernelHarness bench;
         ir::UOp out = bench.buffer(Array(DType::F32, {4}), {4}), i = bench.outer(4), x = ir::cast(i, DType::F32);
         bench.kernel.sink = ir::sink(bench.g(), {bench.put(out, {i}, x)});
         const ir::UOp wrong = ir::sink(bench.g(), {bench.put(out, {i}, x + 1.0)});
         CHECK_NOTHROW(codegen::PassCheck(bench.kernel).require_same_stores(wrong, "a pass"));
         const ScopedEnv setting("SINTER_CHECK", "1");
         CHECK_THROWS_AS(codegen::PassCheck(bench.kernel).require_same_stores(wrong, "a pass"), InternalError);
       }},
      {"SINTER_BEAM",
       [&] {
         const FreshCache cache;  // what an earlier run has found is not searched for again
         const ScopedEnv level("DEBUG", "2"), beam("SINTER_BEAM", "1");
         CapturedLog captured;
         CHECK(launches() == 1);  // those for a time alone are none of the program's
         CHECK_THAT(captured.text(), Contains("search: e_8_64"));
       }},
      {"SINTER_CC",
       [] {
         const ScopedEnv setting("SINTER_CC", "gcc");
         CHECK_THAT(cpu::current_compiler(host_target())->id(host_target()), Contains("gcc"));
       }},
      {"SINTER_MEMORY_LIMIT",
       [] {
         const ScopedEnv setting("SINTER_MEMORY_LIMIT", "3M");
         CHECK(cpu::memory_stats().limit == 3u << 20);
       }},
      {"SINTER_DATA",
       [&] {
         const ScopedEnv setting("SINTER_DATA", folder.path());
         CHECK(env().data == folder.path());  // the readers' own tests show what they make of it
       }},
      {"SINTER_LAPACK",
       [] {  // a process opens it once: tests/unit/tensor/ops/linalg_test.cpp starts one without it
         const ScopedEnv setting("SINTER_LAPACK", "/nowhere/liblapack.so");
         CHECK(env().lapack == "/nowhere/liblapack.so");
       }},
      {"SINTER_CUDA_LIB",
       [] {
         const ScopedEnv setting("SINTER_CUDA_LIB", "/nowhere/libcuda.so.1");
         CHECK_THAT(runtime::cuda::find_driver().reason, Contains("/nowhere/libcuda.so.1"));
       }},
      {"SINTER_NVRTC_LIB",
       [] {
         const ScopedEnv setting("SINTER_NVRTC_LIB", "/nowhere/libnvrtc.so");
         CHECK_THAT(runtime::cuda::find_nvrtc().reason, Contains("/nowhere/libnvrtc.so"));
       }},
  };
  for (const EnvVar& variable : env_table()) {
    INFO(variable.name);
    CHECK_FALSE(variable.meaning.empty());
    CHECK_FALSE(variable.allowed.empty());
    CHECK_FALSE(variable.default_text.empty());
    const auto effect = effects.find(variable.name);
    REQUIRE(effect != effects.end());
    effect->second();
  }
  CHECK(effects.size() == env_table().size());
}

TEST_CASE("the log writes whole lines of the wanted levels", "[runtime]") {
  const ScopedEnv debug("DEBUG", "2");
  CapturedLog captured;
  log(0, "always");
  log(2, "two\n");
  log(3, "three");
  CHECK(captured.text() == "always\ntwo\n");
  CHECK(logging(2));
  CHECK_FALSE(logging(3));
}

TEST_CASE("a hash depends on each field and where it ends", "[runtime]") {
  CHECK(hash_bytes("") != hash_bytes(std::string_view("\0", 1)));
  CHECK(HashBuilder().add("ab").add("c").hash() != HashBuilder().add("a").add("bc").hash());
  CHECK(HashBuilder().add(1).add("x").hash() != HashBuilder().add("x").add(1).hash());
  CHECK(to_hex(Hash128{0x1234, 0xabc}) == "0000000000000abc0000000000001234");
}

TEST_CASE("targets name what they are", "[runtime]") {
  const Target host = host_target(), fixed = reference_target();
  CHECK(fixed.vector_bytes == 64);
  CHECK((fixed.threads == 2 && fixed.parallel_units == 8));
  CHECK((fixed.l1 == 48 << 10 && fixed.l2 == 1 << 20));
  CHECK(host.threads >= 1);
  CHECK(host.l1 > 0);
  CHECK(host.l2 > 0);
  Target changed = fixed;
  CHECK(changed.key() == fixed.key());
  changed.l2 += 1;
  CHECK(changed.key() != fixed.key());
  CHECK(usable_cpus() >= 1);
  CHECK(usable_memory() > 1 << 20);
}

TEST_CASE("docs/environment.md holds the table of variables", "[runtime]") {
  std::string table = "| variable | values | default | meaning |\n|---|---|---|---|\n";
  for (const EnvVar& v : env_table())
    table += fmt::format("| `{}` | {} | {} | {} |\n", v.name, v.allowed, v.default_text, v.meaning);
  std::ifstream file(repository_path("docs/environment.md"));
  std::ostringstream text;
  text << file.rdbuf();
  CHECK_THAT(text.str(), Contains(table));
}
