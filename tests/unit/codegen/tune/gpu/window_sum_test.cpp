// Convolutions and their gradients by the image, in tiles of windows: on the simulated GPU, against the interpreter to
// the bit, with everything that the simulator checks.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/codegen.h"
#include "codegen/tune/gpu/tuner.h"
#include "explain.h"
#include "runtime/cuda/simulator.h"
#include "step_memory.h"
#include "unit/codegen/cuda_support.h"
#include "unit/codegen/tune/gpu/measured_kernels.h"

using namespace codegen_test;

namespace {

struct Case {
  const char* name;
  Shape image, filter;
  ConvOptions options = {};
};

const std::vector<Case>& cases_of_windows() {
  static const std::vector<Case> all = {
      {"plain", {4, 16, 12, 12}, {16, 16, 5, 5}},
      {"padded", {2, 16, 12, 12}, {16, 16, 3, 3}, {.padding = 1}},
      {"of odd sizes", {4, 16, 11, 13}, {16, 16, 3, 5}, {.padding = 2}},
      {"with a stride", {2, 8, 33, 33}, {16, 8, 3, 3}, {.stride = 2}},
      {"with a stride and a border", {2, 8, 32, 47}, {16, 8, 5, 5}, {.stride = 2, .padding = 2}},
      {"with a dilation", {2, 16, 15, 12}, {16, 16, 3, 3}, {.dilation = 2}},
      {"with a dilation and a border", {2, 16, 12, 12}, {16, 16, 3, 3}, {.padding = 2, .dilation = 2}},
      {"in groups", {2, 32, 12, 12}, {32, 16, 3, 3}, {.padding = 1, .groups = 2}},
      {"with long rows", {2, 16, 8, 72}, {16, 16, 3, 3}, {.padding = 1}},
      {"of one channel", {4, 1, 20, 20}, {8, 1, 5, 5}},
  };
  return all;
}

Tensor make(const Case& c, Part part) {
  Tensor x = stored(c.image), w = stored(c.filter);
  if (part == Part::Input) x = x.requires_grad();
  const Tensor y = conv2d(x, w, {}, c.options);
  return part == Part::Input ? gradient(y, {x}, stored(y.shape()))[0] : y;
}

/// A kernel with numbers in its buffers. `normalized` is what Opts are for.
struct Step {
  Step(const plan::KernelSources& sources, const runtime::PlanStep& step, const runtime::Target& target) {
    bench.kernel = sources.scheduled.kernels[static_cast<size_t>(step.program)];
    bench.arrays = memory_of(sources.scheduled.plan, step);
    normalized = codegen::normalize(bench.kernel, target);
  }
  KernelHarness bench;
  codegen::NormalizedKernel normalized;
};

/// Some of the candidates in tiles of windows, from all parts of the list.
std::vector<codegen::Candidate> sample(const std::vector<codegen::RankedCandidate>& list, size_t most) {
  std::vector<codegen::Candidate> sums, out;
  for (const codegen::RankedCandidate& r : list)
    if (std::string_view(r.candidate.generator) == "window sum") sums.push_back(r.candidate);
  const size_t count = std::min(most, sums.size());
  for (size_t i = 0; i < count; ++i) out.push_back(sums[i * sums.size() / count]);
  return out;
}

}  // namespace

TEST_CASE("convolutions in tiles of windows leave what the interpreter computes", "[codegen][cuda][window-sum]") {
  constexpr size_t kSampled = 3;
  const SimulatedGpu gpu;
  runtime::Target small = gpu.target();
  small.threads = 2;  // a machine that few blocks fill
  std::map<std::string, int> ran;
  for (const Case& c : cases_of_windows())
    for (const Part part : {Part::Result, Part::Input}) {
      const auto made = testing::explain(std::vector{make(c, part)}, gpu.target());
      for (const runtime::PlanStep& planned : made.scheduled.plan.steps) {
        Step step(made, planned, gpu.target());
        std::vector<runtime::KernelSource> texts;
        std::vector<std::string> lists;
        for (const codegen::Candidate& s : sample(codegen::rank_candidates(step.normalized.main, small), kSampled)) {
          texts.push_back(codegen::generate_source(step.normalized, gpu.target(), s.opts, {}));
          lists.push_back(to_string(s.opts));
        }
        const auto programs = runtime::compile(texts, gpu.target());
        const std::vector<Array> before = step.bench.interpret();
        for (size_t i = 0; i < programs.size(); ++i) {
          INFO(c.name << ", " << step.bench.kernel.name);
          gpu.compare(step.bench, lists[i], *programs[i], before);
          ++ran[part == Part::Input ? "gradients" : c.name];
          ran["cut"] += lists[i].find("cut(") != std::string::npos;
        }
      }
    }
  for (const Case& c : cases_of_windows()) {
    INFO(c.name << ": " << ran[c.name]);
    CHECK(ran[c.name] > 0);
  }
  CHECK(ran["gradients"] >= 15);
  CHECK(ran["cut"] > 0);
}

TEST_CASE("a convolution meets few banks of shared memory twice, its gradient by the image none",
          "[codegen][cuda][window-sum]") {
  const SimulatedGpu gpu;
  const runtime::Target h100 = runtime::cuda_target({});
  for (const Part part : {Part::Result, Part::Input}) {
    const Shape filter{32, 32, 5, 5};
    const auto whole = testing::explain(std::vector{convolution({128, 32, 24, 24}, filter, part)}, h100);
    REQUIRE(whole.scheduled.plan.steps.size() == 1);
    const codegen::NormalizedKernel kernel = codegen::normalize(whole.scheduled.kernels[0], h100);
    const std::vector<codegen::RankedCandidate> ranked = codegen::rank_candidates(kernel.main, h100);
    REQUIRE(!ranked.empty());
    const codegen::Candidate& best = ranked.front().candidate;
    INFO(to_string(best.opts));
    CHECK(std::string_view(best.generator) == "window sum");
    // The same kernel of fewer images.
    const auto less = testing::explain(std::vector{convolution({2, 32, 24, 24}, filter, part)}, gpu.target());
    Step step(less, less.scheduled.plan.steps[0], gpu.target());
    const std::vector<runtime::KernelSource> texts{
        codegen::generate_source(step.normalized, gpu.target(), best.opts, {})};
    const auto program = runtime::compile(texts, gpu.target())[0];
    const std::vector<Array> before = step.bench.interpret();
    runtime::cuda::sim::clear_reports();
    gpu.compare(step.bench, to_string(best.opts), *program, before);
    const auto counted = runtime::cuda::sim::counters(program->name());
    INFO(counted.wavefronts << " passes over the banks in " << counted.shared_requests << " requests");
    // Results that go to memory by way of a tile lie there row by row.
    const uint64_t twice = counted.wavefronts - counted.ideal_wavefronts;
    CHECK(twice <= (part == Part::Result ? counted.ideal_wavefronts / 100 : 0));
  }
}
