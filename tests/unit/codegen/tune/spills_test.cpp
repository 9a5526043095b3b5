// What compilers make of register tiles: as many accumulators as the Opts say, and none of them spilled. Programs go
// the way of a user's, through the plugin and its short list of passes, for machines that this one need not be.
#include <array>
#include <cstdlib>
#include <fstream>

#include "codegen/tune/choose_opts.h"
#include "codegen/tune/heuristic/kernel_analysis.h"
#include "explain.h"
#include "machine_loops.h"
#include "runtime/base/sanitizer.h"
#include "runtime/cpu/clang_plugin.h"
#include "runtime/program/toolchain.h"
#include "sinter/sinter.h"
#include "skip.h"
#include "unit/codegen_support.h"

using namespace codegen_test;
using machine_loops::Product;

namespace {

constexpr const char* kNeon = "armv8-a";

struct Case {
  std::string name;
  std::function<Tensor()> make;
  bool in_registers = true;  ///< sums rest there while the innermost loop turns
};

Tensor stored(const Shape& shape) { return rand(shape).realize(); }

std::vector<Case> programs() {
  std::vector<Case> all;
  for (const auto& [m, k, n] : std::vector<std::array<int64_t, 3>>{
           {512, 512, 512}, {240, 240, 240}, {17, 100, 50}, {512, 1024, 512}, {256, 784, 128}, {256, 128, 10}}) {
    const auto add = [&, m = m, k = k, n = n](const char* what, const auto& make) {
      all.push_back({fmt::format("{} {}x{}x{}", what, m, k, n), [=] { return make(m, k, n); }});
    };
    add("nn", [](int64_t m, int64_t k, int64_t n) { return matmul(stored({m, k}), stored({k, n})); });
    add("nt", [](int64_t m, int64_t k, int64_t n) { return matmul(stored({m, k}), stored({n, k}).transpose(0, 1)); });
    add("tn", [](int64_t m, int64_t k, int64_t n) { return matmul(stored({k, m}).transpose(0, 1), stored({k, n})); });
    add("gelu",
        [](int64_t m, int64_t k, int64_t n) { return gelu(matmul(stored({m, k}), stored({k, n})) + stored({n})); });
  }
  all.push_back({"conv 5x5 of one plane", [] { return conv2d(stored({16, 1, 28, 28}), stored({32, 1, 5, 5})); }});
  all.push_back({"conv 5x5", [] { return conv2d(stored({8, 32, 24, 24}), stored({32, 32, 5, 5})); }});
  all.push_back({"conv 3x3", [] { return conv2d(stored({4, 32, 24, 24}), stored({32, 32, 3, 3})); }});
  all.push_back({"conv 3x3 padded",
                 [] { return conv2d(stored({4, 64, 14, 14}), stored({64, 64, 3, 3}), {}, {.padding = {1, 1}}); }});
  all.push_back({"conv 1x1", [] { return conv2d(stored({4, 64, 28, 28}), stored({256, 64, 1, 1})); }});
  all.push_back({"few rows", [] { return matmul(stored({7, 1000}), stored({1000, 2048})); }, false});
  const auto attention = [] {
    return scaled_dot_product_attention(stored({4, 8, 512, 64}), stored({4, 8, 512, 64}), stored({4, 8, 512, 64}));
  };
  all.push_back({"attention", attention});
  return all;
}

/// Stack accesses of all inner loops that are known of LLVM 19, and no more. It schedules up to four loads from near
/// addresses together, wherever the text has them: an AVX2 tile that leaves three registers has none for the fourth.
/// The rest hold a vector while others are transposed, or an address.
size_t known_accesses(const std::string& isa, const std::string& program) {
  static const std::map<std::string, size_t> known{{"x86-64-v3 attention", 2},       {"x86-64-v3 tn 256x128x10", 2},
                                                   {"x86-64-v3 conv 3x3 padded", 2}, {"x86-64-v4 conv 3x3 padded", 1},
                                                   {"x86-64-v4 nn 256x128x10", 2},   {"x86-64-v4 nt 256x128x10", 2},
                                                   {"x86-64-v4 gelu 256x128x10", 4}};
  const auto found = known.find(isa + " " + program);
  return found == known.end() ? 0 : found->second;
}

/// The sums of products of a kernel under the Opts that it gets: vectors that are summed at once, and multiply-adds of
/// a turn.
std::vector<Product> tiles(const codegen::Kernel& kernel, const runtime::Target& target) {
  const codegen::NormalizedKernel normalized = codegen::normalize(kernel, target);
  const std::vector<Opt> opts = codegen::choose_opts(normalized.main, target);
  const auto copies = [&](const std::vector<UOp>& ranges) {
    size_t n = 1;
    for (const Opt& o : opts)
      if (const auto* u = std::get_if<codegen::Unroll>(&o))
        for (UOp r : ranges) n *= u->range == codegen::range_id(r) ? static_cast<size_t>(u->count) : 1;
    return n;
  };
  std::vector<Product> found;
  const codegen::KernelAnalysis analysis(normalized.main);
  for (const codegen::StatementAnalysis& w : analysis.statements())
    if (w.is_reduce() && w.node->reduction().combine == Combine::Dot)
      found.push_back({copies(w.result_ranges), copies(w.result_ranges) * copies(w.reduced_ranges), {}});
  return found;
}

/// Through the toolchain as a miss of all caches goes; or, since the plugin has no back end for it, through a Clang
/// that is started, with about as few passes. Nothing where there is no such Clang.
std::optional<std::vector<Product>> compiled(const runtime::KernelSource& source, const runtime::Target& target) {
  if (target.isa != kNeon) {
    const auto tools = runtime::cpu::toolchain(target);
    const runtime::KernelSource* const one = &source;
    const runtime::CompileResult made = tools->build({&one, 1}).at(0);
    REQUIRE(made.ok);
    const std::string text = tools->listing(source, *tools->load(source, {}, made.object));
    return machine_loops::products(machine_loops::of_listing(text), machine_loops::kX86);
  }
  if (std::system("command -v clang-19 >/dev/null") != 0) return std::nullopt;
  const runtime_test::Folder folder;
  const std::string base = folder.path() + "/kernel";
  std::ofstream(base + ".c") << source.text;
  const std::string options =
      "--target=aarch64-linux-gnu -O1 -ffp-contract=off -fno-math-errno -w '-D__builtin_ia32_sfence()='";
  REQUIRE(std::system(fmt::format("clang-19 {} -S {}.c -o {}.s", options, base, base).c_str()) == 0);
  return machine_loops::products(machine_loops::of_assembly(runtime_test::slurp(base + ".s")), machine_loops::kNeon);
}

}  // namespace

TEST_CASE("inner loops of products are their register tiles, and nothing is spilled", "[codegen][products][spills]") {
  const runtime_test::ScopedEnv cc("SINTER_CC", std::nullopt);
  if (runtime::kSanitizer != runtime::Sanitizer::None) SKIP_TEST("a sanitizer's build");
  std::vector<runtime::Target> targets{reference_machine(kNeon, 16, 32)};
  if (runtime::cpu::plugin_compiler()) {
    runtime::Target slow_chains = reference_machine("x86-64-v3", 32, 16);
    slow_chains.multiply_latency = 5;
    targets.insert(targets.end(),
                   {reference_machine("x86-64-v3", 32, 16), slow_chains, reference_machine("x86-64-v4", 64, 32)});
  } else {
    note_skipped("no Clang plugin");
  }
  for (const runtime::Target& target : targets)
    for (const auto& [name, make, in_registers] : programs()) {
      INFO(target.isa << ", latency " << target.multiply_latency << ": " << name);
      const Tensor made[] = {make()};
      const plan::KernelSources written = testing::explain(made, target);
      std::vector<Product> loops, wanted;
      for (size_t i = 0; i < written.sources.size(); ++i) {
        const auto found = compiled(written.sources[i], target);
        if (!found) {
          note_skipped("no clang-19");
          break;
        }
        loops.insert(loops.end(), found->begin(), found->end());
        const std::vector<Product> sums = tiles(written.scheduled.kernels[i], target);
        wanted.insert(wanted.end(), sums.begin(), sums.end());
      }
      if (wanted.empty() && target.isa == kNeon) break;
      std::sort(loops.begin(), loops.end());
      std::sort(wanted.begin(), wanted.end());
      // The rests of rows and columns have smaller ones.
      REQUIRE(!wanted.empty());
      REQUIRE(loops.size() >= wanted.size());
      std::string accesses;
      size_t number = 0;
      for (size_t i = 0; i < loops.size(); ++i) {
        if (const size_t rests = loops.size() - wanted.size(); i >= rests) {
          const Product& tile = wanted[i - rests];
          CHECK(loops[i].steps == tile.steps);
          if (in_registers && tile.steps == tile.accumulators) CHECK(loops[i].accumulators == tile.accumulators);
          if (in_registers)
            CHECK(loops[i].accumulators >=
                  tile.accumulators);  // an unrolled one may move a sum from register to register
        }
        number += loops[i].slots.size();
        for (const std::string& line : loops[i].slots) accesses += line + "\n";
      }
      INFO(accesses);
      CHECK(number <= known_accesses(target.isa, name));
    }
}
