// Edits of the instructions of every golden kernel, of convolutions, and of kernels on tensor cores, made mechanically
// (instruction_edits.h): each must make the simulated GPU report a fault or give other numbers.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "catch.h"
#include "codegen/codegen.h"
#include "codegen/tune/choose_opts.h"
#include "codegen/tune/gpu/tuner.h"
#include "explain.h"
#include "gpu_launch.h"
#include "instruction_edits.h"
#include "programs.h"
#include "runtime/cuda/context.h"
#include "runtime/cuda/image.h"
#include "runtime/cuda/simulator.h"
#include "runtime/exec/array.h"
#include "runtime/program/program.h"
#include "step_memory.h"
#include "unit/runtime_support.h"

using namespace sinter;
using codegen::LoweredKernel;
using codegen::Opt;

namespace {

/// Fillings of a kernel's memory. An edit may not change a maximum that lies elsewhere, so one filling is not enough.
constexpr int kFillings = 64;

/// A kernel with the memory that it works on, in several fillings.
struct Subject {
  std::string program;
  codegen::Kernel kernel;
  std::vector<std::vector<runtime::Array>> memory;
  std::vector<uint64_t> numbers;
  std::vector<int64_t> outer;
  std::vector<std::string> parts = {};  ///< with Opts of short_opts(); none: with those that a kernel gets
  /// Conditions that may be wider: no value just meets them, or nobody reads what they would let pass.
  int unreached_bounds = 0;
};

void add(std::vector<Subject>& all, const golden::Program& program, const runtime::Target& target,
         const std::vector<std::string>& parts = {}) {
  const plan::KernelSources written = testing::explain(program.build(), target);
  const runtime::Plan& plan = written.scheduled.plan;
  for (const runtime::PlanStep& step : plan.steps) {
    Subject s{program.name, written.scheduled.kernels[static_cast<size_t>(step.program)], {}, {}, {}, parts, 0};
    for (int filling = 0; filling < kFillings; ++filling) s.memory.push_back(memory_of(plan, step, filling));
    s.outer = fixed_sizes(step.outer);
    s.numbers = numbers_of(s.kernel);
    all.push_back(std::move(s));
  }
}

/// Operands in tiles with two slots.
std::vector<Tensor> product() {
  return {matmul(from(std::vector<float>(64 * 80), {64, 80}), from(std::vector<float>(80 * 64), {80, 64}))};
}

Tensor short_floats(const Shape& shape) { return full(shape, 1.0, bfloat16, Device::cpu()).contiguous().realize(); }
/// Five blocks of 32 values go through a ring. The last rows and columns of tiles do not exist.
std::vector<Tensor> short_product() { return {matmul(short_floats({56, 160}), short_floats({160, 40}))}; }
/// Four blocks of keys, the last one half empty.
std::vector<Tensor> short_attention() {
  return {
      scaled_dot_product_attention(short_floats({1, 40, 16}), short_floats({1, 112, 16}), short_floats({1, 112, 16}))};
}

Tensor floats(const Shape& shape) { return zeros(shape, float32, Device::cpu()).contiguous().realize(); }
/// Images and filters in tiles of windows, which one loop fills along several dims, in two blocks of channels.
std::vector<Tensor> convolution() { return {conv2d(floats({4, 4, 10, 10}), floats({16, 4, 3, 3}))}; }
/// A gradient by the image, whose other factor has a border.
std::vector<Tensor> image_gradient() {
  const Tensor image = floats({8, 8, 10, 10}).requires_grad();
  return gradient((conv2d(image, floats({16, 8, 3, 3})) * floats({8, 16, 8, 8})).sum(), {image});
}

/// A gradient by the filters: sums over images and places, whose factors are tiles of windows and of rows.
std::vector<Tensor> filter_gradient() {
  const Tensor filters = floats({32, 16, 3, 3}).requires_grad();
  return gradient((conv2d(floats({2, 16, 6, 6}), filters) * floats({2, 32, 4, 4})).sum(), {filters});
}

/// Every kernel of the golden programs, a product, a convolution, its gradients, and kernels on tensor cores.
std::vector<Subject> subjects(const runtime::Target& target) {
  std::vector<Subject> all;
  for (const golden::Program& program : golden::programs()) add(all, program, target);
  add(all, {"product", product}, target);
  add(all, {"convolution", convolution}, target, {"window sum\n", "split(", " & "});
  add(all, {"gradient by the image", image_gradient}, target, {"window sum\n", "split("});
  all.back().unreached_bounds = 2;  // the ends of the tile's rows: the text has no steps that would read behind them
  add(all, {"gradient by the filters", filter_gradient}, target, {"window\n", "split("});
  const std::vector<std::string> rings{"sn_mma_", "sn_ldmatrix", "sn_copy_async_"};
  add(all, {"bfloat16 product", short_product}, target, rings);
  add(all, {"bfloat16 attention", short_attention}, target, rings);
  // The queries end with half a tile of 16 rows, and the keys with two of four tiles of 8: no row is the first one
  // behind the other half, and no key the first one of the last tile, of which two conditions ask.
  all.back().unreached_bounds = 3;
  return all;
}

/// Of the candidates with these parts in their generator's name, their list or their text: that with the shortest text.
std::vector<Opt> short_opts(const codegen::NormalizedKernel& kernel, const runtime::Target& target,
                            const std::vector<std::string>& parts) {
  runtime::Target small = target;
  small.threads = 1;  // every tile fills one multiprocessor
  std::vector<Opt> best;
  size_t shortest = SIZE_MAX;
  for (const codegen::RankedCandidate& r : codegen::rank_candidates(kernel.main, small)) {
    const std::string text = codegen::generate_source(kernel, target, r.candidate.opts, {}).text;
    const std::string all = fmt::format("{}\n{}\n{}", r.candidate.generator, to_string(r.candidate.opts), text);
    const bool has = std::ranges::all_of(parts, [&](const std::string& p) { return all.find(p) != std::string::npos; });
    if (!has || text.size() >= shortest) continue;
    shortest = text.size();
    best = r.candidate.opts;
  }
  REQUIRE(!best.empty());
  return best;
}

/// What a kernel leaves in memory, or how it ended.
struct Outcome {
  std::string fault;
  std::vector<runtime::PoolVector<std::byte>> memory;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

Outcome run(const Subject& s, const runtime::Program& program, size_t filling) {
  auto gpu = runtime::cuda::Context::get(0);
  Outcome out;
  try {
    out.memory = launched(*gpu, program, program.task_count(s.outer), s.memory[filling], s.numbers);
  } catch (const BackendError& e) {  // the context is lost with what it held
    out.fault = e.what();
    gpu.reset();
    runtime::cuda::forget_devices();
  }
  return out;
}

/// A kernel as it is, with what it leaves of each filling, as far as somebody asked.
class Original {
 public:
  Original(const Subject& subject, std::shared_ptr<const runtime::Program> program)
      : subject_(subject), program_(std::move(program)) {}

  /// Whether a program leaves the same of every filling.
  bool is_like(const runtime::Program& other) {
    for (size_t filling = 0; filling < kFillings; ++filling)
      if (run(subject_, other, filling) != right(filling)) return false;
    return true;
  }

 private:
  const Outcome& right(size_t filling) {
    while (right_.size() <= filling) {
      right_.push_back(run(subject_, *program_, right_.size()));
      INFO(subject_.program << ", " << subject_.kernel.name << ": " << right_.back().fault);
      REQUIRE(right_.back().fault.empty());
    }
    return right_[filling];
  }

  const Subject& subject_;
  const std::shared_ptr<const runtime::Program> program_;
  std::vector<Outcome> right_;
};

}  // namespace

TEST_CASE("edits of golden kernels for GPUs are found", "[golden][cuda]") {
  const std::vector<Subject> all = subjects(runtime::cuda_target({}));
  const runtime_test::ScopedEnv device("SINTER_DEVICE", "cuda-sim");
  const runtime::Target target = runtime::cuda::Context::get(0)->target();
  std::map<std::string, int> caught;  // by the first word of an edit
  std::string survivors;
  for (const Subject& s : all) {
    INFO(s.program << ", " << s.kernel.name);
    const codegen::NormalizedKernel normalized = codegen::normalize(s.kernel, target);
    const std::vector<Opt> opts =
        s.parts.empty() ? codegen::choose_opts(normalized.main, target) : short_opts(normalized, target, s.parts);
    const LoweredKernel plain =
        codegen::lower(normalized, target, opts, codegen::choose_epilogue_opts(normalized, target, opts));
    std::vector<runtime::KernelSource> sources{codegen::render(plain, s.kernel.name, target)};
    std::vector<std::string> edits;
    for (const bool finish : {false, true}) {
      if (finish && !plain.epilogue_kernel) continue;
      for (golden::InstructionEdit& edit : golden::instruction_edits(finish ? *plain.epilogue_kernel : plain.main)) {
        LoweredKernel changed = plain;
        (finish ? *changed.epilogue_kernel : changed.main) = std::move(edit.code);
        sources.push_back(codegen::render(changed, s.kernel.name, target));
        edits.push_back((finish ? "finish " : "") + edit.what);
      }
    }
    const auto programs = runtime::compile(sources, target);
    Original original(s, programs[0]);
    int unreached = 0;
    for (size_t i = 0; i < edits.size(); ++i) {
      const std::string kind = edits[i].substr(0, edits[i].find(' '));
      if (!original.is_like(*programs[i + 1]))
        ++caught[kind];
      else if (kind == "bound" && unreached < s.unreached_bounds)
        ++unreached;
      else
        survivors += fmt::format("{} {}: {}\n", s.program, s.kernel.name, edits[i]);
    }
    CHECK(unreached == s.unreached_bounds);
  }
  std::string counts;
  for (const auto& [kind, count] : caught) counts += fmt::format("{} {}, ", kind, count);
  INFO(counts << "were caught; these changed nothing:\n" << survivors);
  CHECK(survivors.empty());
  for (const char* kind : {"barrier", "loop", "bound", "accumulator", "shared", "copy", "destination", "source",
                           "commit", "wait", "rows", "matrices", "tile"}) {
    INFO(kind);
    CHECK(caught[kind] > 0);
  }
}
