// From C text to running code: the plugin, SINTER_CC, shared translation units, errors, threads.
#include "catch.h"
#include "runtime/base/counters.h"
#include "runtime/base/disk_cache.h"
#include "runtime/base/sanitizer.h"
#include "runtime/base/subprocess.h"
#include "runtime/cpu/clang_plugin.h"
#include "runtime/cpu/compiler.h"
#include "runtime/program/host_target.h"
#include "sinter/error.h"
#include "skip.h"
#include "unit/runtime_support.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>

using namespace sinter;
using namespace sinter::runtime;
using namespace runtime_test;
using Catch::Matchers::Contains;

namespace {

std::string slurp(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The message of the CompileError that compiling `text` as kernel `name` gives.
std::string compile_error(const std::string& name, const std::string& text) {
  try {
    compile_one({name, text, false});
  } catch (const CompileError& error) { return error.what(); }
  return "compiled";
}

/// The source path that a CompileError names.
std::string named_source(const std::string& message) {
  const size_t at = message.find("source: ") + 8;
  return message.substr(at, message.find('\n', at) - at);
}

/// Ignores a signal for a scope.
class Ignored {
 public:
  explicit Ignored(int number) : number_(number), before_(signal(number, SIG_IGN)) {}
  ~Ignored() { signal(number_, before_); }
  Ignored(const Ignored&) = delete;
  Ignored& operator=(const Ignored&) = delete;

 private:
  int number_;
  void (*before_)(int);
};

}  // namespace

TEST_CASE("a kernel compiles, runs and is found again", "[runtime]") {
  const FreshCache cache;
  const uint64_t compiles = counters().compiles, disk = counters().disk_hits, memory = counters().memory_hits;
  const auto program = compile_one(scale_kernel("k_scale", 3));
  CHECK(scales(*program, 3));
  CHECK(program->epilogue() == nullptr);
  CHECK(counters().compiles == compiles + 1);
  CHECK(compile_one(scale_kernel("k_scale", 3)) == program);
  CHECK(counters().memory_hits == memory + 1);
  forget_programs();
  const auto again = compile_one(scale_kernel("k_scale", 3));
  CHECK(scales(*again, 3));
  CHECK(scales(*program, 3));  // the first stays valid
  CHECK(counters().disk_hits == disk + 1);
  CHECK(counters().compiles == compiles + 1);
  CHECK(again->key() == program->key());
}

TEST_CASE("a finish phase is a second entry point", "[runtime]") {
  const FreshCache cache;
  const KernelSource kernel{"k_two", R"(
int k_two(void* const* bufs, const long* vars, long begin, long end) { ((long*)bufs[1])[0] += end - begin; return 2; }
int k_two_finish(void* const* bufs, const long* vars, long b, long e) { ((long*)bufs[1])[0] *= vars[0]; return 4; }
)",
                            true};
  for (int from_disk = 0; from_disk < 2; ++from_disk) {
    const auto program = compile_one(kernel);
    int64_t value = 0;
    void* bufs[] = {nullptr, &value};
    const int64_t vars[] = {10};
    CHECK(program->entry()(bufs, vars, 3, 8) == 2);
    REQUIRE(program->epilogue());
    CHECK(program->epilogue()(bufs, vars, 0, 0) == 4);
    CHECK(value == 50);
    forget_programs();
  }
}

TEST_CASE("many kernels share translation units and stay apart", "[runtime]") {
  const FreshCache cache;
  std::vector<KernelSource> kernels;
  for (int i = 0; i < 20; ++i) kernels.push_back(scale_kernel(fmt::format("k_many_{}", i), static_cast<float>(i)));
  kernels.push_back(kernels[4]);  // an equal one
  for (int from_disk = 0; from_disk < 2; ++from_disk) {
    const auto programs = compile(kernels, host_target());
    REQUIRE(programs.size() == 21);
    for (int i = 0; i < 20; ++i) CHECK(scales(*programs[static_cast<size_t>(i)], static_cast<float>(i)));
    CHECK(programs[20] == programs[4]);
    CHECK(cached_program_count() == 20);
    forget_programs();
  }
  CHECK(cache.folder.files(".o").size() == 20);
  CHECK(cache.folder.files(".c").size() == 20);
}

TEST_CASE("texts that collide are compiled one by one", "[runtime]") {
  const FreshCache cache;
  std::vector<KernelSource> kernels;
  for (int i = 0; i < 6; ++i)
    kernels.push_back({fmt::format("k_collide_{}", i),
                       fmt::format("static long helper(long x) {{ return x + {0}; }}\n"
                                   "int k_collide_{0}(void* const* b, const long* v, long begin, long end) "
                                   "{{ return (int)helper(begin + end); }}",
                                   i),
                       false});
  const auto programs = compile(kernels, host_target());
  for (int i = 0; i < 6; ++i) CHECK(programs[static_cast<size_t>(i)]->entry()(nullptr, nullptr, 100, 200) == 300 + i);
}

TEST_CASE("block moves are bound to libc", "[runtime]") {
  const FreshCache cache;
  const auto program = compile_one({"k_copy", R"(
int k_copy(void* const* bufs, const long* vars, long begin, long end) {
  __builtin_memcpy((char*)bufs[1] + begin, (const char*)bufs[2] + begin, end - begin);
  __builtin_memset((char*)bufs[1] + end, 9, vars[0]);
  __builtin_memmove((char*)bufs[1] + end + 2, (char*)bufs[1] + end - 2, vars[0]);
  return 0;
})",
                                    false});
  unsigned char out[16] = {}, in[16];
  for (unsigned char i = 0; i < 16; ++i) in[i] = static_cast<unsigned char>(i + 1);
  void* bufs[] = {nullptr, out, in};
  const int64_t vars[] = {4};
  CHECK(program->entry()(bufs, vars, 2, 8) == 0);
  const unsigned char wanted[16] = {0, 0, 3, 4, 5, 6, 7, 8, 9, 9, 7, 8, 9, 9, 0, 0};
  CHECK(std::memcmp(out, wanted, 16) == 0);
}

TEST_CASE("floats are not contracted, integers wrap, fma is one rounding", "[runtime]") {
  const FreshCache cache;
  const auto program = compile_one({"k_float", R"(
int k_float(void* const* bufs, const long* vars, long begin, long end) {
  float* f = bufs[1]; int* i = bufs[2];
  f[3] = f[0] * f[1] + f[2];
  f[4] = __builtin_fmaf(f[0], f[1], f[2]);
  f[5] = f[6] + 0.0f;
  return i[0] + 1 > i[0];
})",
                                    false});
  const float a = 1.0f + 0x1p-12f;
  float f[8] = {a, a, -1.0f, 0, 0, 0, -0.0f, 0};
  int32_t i[1] = {INT32_MAX};
  void* bufs[] = {nullptr, f, i};
  CHECK(program->entry()(bufs, nullptr, 0, 1) == 0);
  CHECK(f[3] == 0x1p-11f);
  CHECK(f[4] == 0x1p-11f + 0x1p-24f);
  CHECK_FALSE(std::signbit(f[5]));
}

TEST_CASE("vectors of the target's width stay whole", "[runtime]") {
  const int bytes = host_target().vector_bytes;
  if (!cpu::plugin_compiler()) SKIP_TEST("no Clang plugin");
  if (bytes < 32) SKIP_TEST("vectors that have no halves");
  const FreshCache cache;
  const ScopedEnv debug("DEBUG", "7");
  const ScopedEnv plugin("SINTER_CC", std::nullopt);
  CapturedLog captured;
  compile_one({"k_vector", fmt::format("typedef float vec __attribute__((vector_size({}), aligned(4)));", bytes) + R"(
int k_vector(void* const* bufs, const long* vars, long begin, long end) {
  for (long i = begin; i < end; ++i) ((vec*)bufs[1])[i] += ((vec*)bufs[2])[i] * ((vec*)bufs[3])[i];
  return 0;
})",
               false});
  CHECK_THAT(captured.text(), Contains(bytes == 64 ? "zmm" : "ymm"));
  CHECK_THAT(captured.text(), !Contains(bytes == 64 ? "ymm" : "xmm"));
}

TEST_CASE("malformed sources are a CompileError with the source's path and the log", "[runtime]") {
  const FreshCache cache;
  const std::string bodies[] = {
      "x = 1;",                                     // unknown name
      "return __builtin_no_such_thing(1);",         // unknown builtin
      "_Static_assert(1 == 2, \"no\"); return 0;",  //
      "__asm__ volatile(\"no_such_instruction %eax\"); return 0;",
      "return 0; }}}",                            //
      "return " + std::string(3000, '(') + "1;",  // deep, and never closed
      "extern double lgamma(double); ((double*)b[1])[0] = lgamma(((double*)b[1])[1]); return 0;",  // not to be bound
  };
  // Instrumented kernels are linked and loaded by the system, which binds anything.
  const bool own_loader = !cpu::current_compiler(host_target())->makes_libraries();
  int number = 0;
  for (const std::string& body : bodies) {
    if (!own_loader && body.find("lgamma") != std::string::npos) continue;
    const std::string name = fmt::format("k_bad_{}", number++);
    const std::string text =
        fmt::format("int {}(void* const* b, const long* v, long begin, long end) {{ {} }}", name, body);
    const std::string message = compile_error(name, text);
    INFO(message.substr(0, 2000));
    CHECK_THAT(message, Contains("kernel " + name + " does not compile") && Contains("compiler: "));
    CHECK(slurp(named_source(message)) == text);
    CHECK(message.size() > named_source(message).size() + 100);
  }
  CHECK_THAT(compile_error("k_none", "int k_other(void) { return 0; }"), Contains("no function k_none"));
  CHECK_THAT(compile_error("k_include", "#include <no_such_header.h>\n"), Contains("no_such_header.h"));
  if (own_loader)
    CHECK_THAT(compile_error("k_state",
                             "static long n; int k_state(void* const* b, const long* v, long begin, long end) "
                             "{ return (int)(n += begin); }"),
               Contains("writable data"));
  CHECK_THAT(compile_error("k_zero", std::string("int \0 k_zero(void) {}", 20)), Contains("k_zero"));
  CHECK(scales(*compile_one(scale_kernel("k_after", 1)), 1));
}

TEST_CASE("a fatal error of LLVM is a CompileError too", "[runtime]") {
  if (kSanitizer == Sanitizer::Address)
    SKIP_TEST("a sanitizer's build");  // unwinding through LLVM leaks what the compile held
  const FreshCache cache;
  const ScopedEnv cc("SINTER_CC", std::nullopt);
  if (!cpu::plugin_compiler()) SKIP_TEST("no Clang plugin");
  const std::string text =
      "register unsigned long frame __asm__(\"rbp\");\n"
      "int k_fatal(void* const* b, const long* v, long begin, long end) { return (int)frame; }";
  for (int again = 0; again < 3; ++again)
    CHECK_THAT(compile_error("k_fatal", text), Contains("error in the back end: "));
  CHECK(scales(*compile_one(scale_kernel("k_after_fatal", 1)), 1));
}

TEST_CASE("a bad kernel does not keep the good ones of its unit from compiling", "[runtime]") {
  const FreshCache cache;
  std::vector<KernelSource> kernels;
  for (int i = 0; i < 6; ++i) kernels.push_back(scale_kernel(fmt::format("k_mix_{}", i), static_cast<float>(i)));
  kernels[3].text += "this is no C";
  CHECK_THROWS_WITH(compile(kernels, host_target()), Contains("k_mix_3"));
  const uint64_t compiles = counters().compiles;
  for (int i = 0; i < 6; ++i)
    if (i != 3) CHECK(scales(*compile_one(kernels[static_cast<size_t>(i)]), static_cast<float>(i)));
  CHECK(counters().compiles == compiles);
}

TEST_CASE("threads compile at once, malformed sources among them", "[runtime]") {
  const FreshCache cache;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([t, &wrong] {
      for (int i = 0; i < 6; ++i) {
        const bool shared = i % 3 == 0, bad = i % 3 == 1;  // some are the same in all threads
        KernelSource kernel = scale_kernel(shared ? fmt::format("k_all_{}", i) : fmt::format("k_thread_{}_{}", t, i),
                                           static_cast<float>(i));
        if (bad) kernel.text += i % 2 ? "int broken(" : "void f(void) { __asm__(\"bogus\"); }";
        try {
          if (!scales(*compile_one(kernel), static_cast<float>(i)) || bad) ++wrong;
        } catch (const CompileError&) {
          if (!bad) ++wrong;
        }
      }
    });
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);
}

TEST_CASE("SINTER_CC names another compiler", "[runtime]") {
  const std::string gcc = runtime_test::gcc(), clang = runtime_test::clang();
  if (gcc.empty()) SKIP_TEST("no gcc");
  if (clang.empty()) SKIP_TEST("no clang");
  for (const std::string& command : {gcc, clang, *cpu::find_executable(gcc) + " -O3 -DX=1"}) {
    const FreshCache cache;
    const ScopedEnv cc("SINTER_CC", command);
    INFO(command);
    CHECK(host_target().dialect == (command != clang ? Dialect::Gcc : Dialect::Clang));
    std::vector<KernelSource> kernels;
    for (int i = 0; i < 3; ++i) kernels.push_back(scale_kernel(fmt::format("k_cc_{}", i), static_cast<float>(i)));
    for (int from_disk = 0; from_disk < 2; ++from_disk) {
      const auto programs = compile(kernels, host_target());
      for (int i = 0; i < 3; ++i) CHECK(scales(*programs[static_cast<size_t>(i)], static_cast<float>(i)));
      forget_programs();
    }
    CHECK_THAT(compile_error("k_cc_bad", "int k_cc_bad(void* const* b { return 0; }"),
               Contains("error:") && (Contains("gcc") || Contains("clang")));
  }
  // The plugin's and other compilers' entries are apart: the compiler is in the key.
  const FreshCache cache;
  const auto key = [](const std::string& command) {
    const ScopedEnv cc("SINTER_CC", command);
    return compile_one(scale_kernel("k_cc_key", 1))->key();
  };
  CHECK(key(gcc) != key(clang));
  CHECK(key(gcc) != key(gcc + " -O1"));
}

TEST_CASE("a program that is started has no signal blocked, and those that compilers need are not ignored",
          "[runtime]") {
  const Folder folder;
  const auto grep = cpu::find_executable("grep");
  REQUIRE(grep);
  const Ignored pipe(SIGPIPE);
  const auto bits = [&](const char* which) {  // of the program's line in /proc
    cpu::run_process({*grep, which, "/proc/self/status"}, folder.path() + "/output");
    const std::string line = slurp(folder.path() + "/output");
    INFO(line);
    REQUIRE(line.size() > 8);
    return std::stoull(line.substr(8), nullptr, 16);
  };
  const auto bit = [](int number) { return 1ull << (number - 1); };
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // as threads of our own have it
  CHECK(bits("SigBlk") == 0);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  const Ignored child(SIGCHLD);
  CHECK((bits("SigIgn") & (bit(SIGPIPE) | bit(SIGCHLD))) == 0);
}

TEST_CASE("SINTER_CC compiles where the program ignores SIGCHLD", "[runtime]") {
  if (runtime_test::gcc().empty()) SKIP_TEST("no gcc");
  const FreshCache cache;
  const ScopedEnv cc("SINTER_CC", runtime_test::gcc());
  const Ignored child(SIGCHLD);
  CHECK(scales(*compile_one(scale_kernel("k_ignored", 1)), 1));
  CHECK_THAT(compile_error("k_ignored_bad", "int k_ignored_bad(void* const* b { return 0; }"), Contains("error:"));
}

TEST_CASE("a SINTER_CC that is no program is a UsageError", "[runtime]") {
  const FreshCache cache;
  for (const char* command : {"no-such-compiler", "/no/such/cc -O2", "/etc/passwd", " "}) {
    const ScopedEnv cc("SINTER_CC", command);
    CHECK_THROWS_AS(compile_one(scale_kernel("k_none", 1)), UsageError);
    CHECK_THROWS_WITH(compile_one(scale_kernel("k_none", 1)), Contains(command) && Contains("SINTER_CC"));
  }
}

TEST_CASE("with -fsanitize= kernels are shared libraries", "[runtime]") {
  if (runtime_test::clang().empty()) SKIP_TEST("no clang");
  const FreshCache cache;
  const ScopedEnv cc("SINTER_CC", runtime_test::clang() + " -fsanitize=undefined -fsanitize-trap=undefined");
  for (int from_disk = 0; from_disk < 2; ++from_disk) {
    const KernelSource kernels[] = {scale_kernel("k_san_0", 2), scale_kernel("k_san_1", 5)};
    const auto programs = compile(kernels, host_target());
    CHECK(scales(*programs[0], 2));
    CHECK(scales(*programs[1], 5));
    forget_programs();
  }
}

TEST_CASE("DEBUG=4 logs sources, from memory and disk as well", "[runtime]") {
  const FreshCache cache;
  const ScopedEnv debug("DEBUG", "4");
  const auto kernel = scale_kernel("k_logged", 6);
  for (const char* from : {"compiled", "in memory", "from the cache folder"}) {
    if (from[0] == 'f') forget_programs();
    CapturedLog captured;
    compile_one(kernel);
    CHECK_THAT(captured.text(), Contains(kernel.text) && Contains(from));
  }
  const ScopedEnv quiet("DEBUG", "3");
  CapturedLog captured;
  compile_one(kernel);
  CHECK(captured.text().empty());
}

TEST_CASE("programs that nobody uses are bounded", "[runtime]") {
  const FreshCache cache;
  const ScopedEnv cc("SINTER_CC", std::nullopt);
  if (!cpu::plugin_compiler()) SKIP_TEST("no Clang plugin");
  const auto kernel = scale_kernel("k_bound", 1);
  const auto kept = compile_one(kernel);
  for (int i = 0; i < 1600; i += 200) {
    std::vector<KernelSource> many;
    for (int k = i; k < i + 200; ++k)
      many.push_back({fmt::format("k{}", k),
                      fmt::format("int k{}(void*const*b,const long*v,long s,long e){{return 0;}}", k), false});
    compile(many, host_target());
  }
  CHECK(cached_program_count() <= 1100);
  CHECK(compile_one(kernel) == kept);
}
