// Products by tensor cores: every list of Opts leaves what the kernel without Opts leaves, which is what the
// interpreter computes.
#include <fmt/format.h>

#include "codegen/codegen.h"
#include "codegen/loopschedule/opt_parse.h"
#include "step_memory.h"
#include "tensor/eval/explain.h"
#include "unit/codegen/cuda_support.h"
#include "unit/codegen/tune/gpu/measured_kernels.h"

using namespace codegen_test;

namespace {

Tensor short_floats(Shape shape, DType dtype) { return stored(shape).to(dtype).realize(); }

struct MmaCase {
  const char* name;
  std::function<Tensor()> make;
  std::vector<const char*> lists;
};

const std::vector<MmaCase>& mma_cases() {
  static const std::vector<MmaCase> all = {
      {"whole tiles",
       [] { return matmul(short_floats({64, 64}, bfloat16), short_floats({64, 32}, bfloat16)); },
       {"mma(0, 1)", "mma(1, 0)", "mma(0, 1) unroll(2, 2)", "mma(0, 1) unroll(0, 2) unroll(1, 2)",
        "mma(0, 1) thread_bind(1, 2, 32) thread_bind(0, 2, 64)", "mma(0, 1) split(2, 32) unroll(2, 2) unroll(1, 4)"}},
      {"edges",
       [] { return matmul(short_floats({45, 70}, bfloat16), short_floats({70, 37}, bfloat16)); },
       {"mma(0, 1)", "mma(1, 0)", "mma(0, 1) unroll(2, 2)", "mma(0, 1) unroll(0, 3) unroll(1, 2)",
        "mma(0, 1) thread_bind(1, 4, 32)", "mma(0, 1) split(2, 32)"}},
  };
  return all;
}

}  // namespace

TEST_CASE("tensor cores leave what threads leave by themselves", "[codegen][cuda][mma]") {
  const SimulatedGpu gpu;
  auto context = runtime::cuda::Context::get(0);
  for (const MmaCase& c : mma_cases()) {
    const auto sources = tensor::explain(std::vector{c.make()}, gpu.target());
    const runtime::Plan& plan = sources.scheduled.plan;
    for (const runtime::PlanStep& step : plan.steps) {
      const codegen::NormalizedKernel kernel =
          codegen::normalize(sources.scheduled.kernels[static_cast<size_t>(step.program)], gpu.target());
      const std::vector<Array> memory = memory_of(plan, step);
      const std::vector<int64_t> outer = fixed_sizes(step.outer);
      const std::vector<uint64_t> numbers = numbers_of(kernel.main);
      std::vector<std::vector<Opt>> lists{{}};
      for (const char* text : c.lists) lists.push_back(codegen::parse_opts(text));
      std::vector<runtime::KernelSource> texts;
      for (const std::vector<Opt>& list : lists)
        texts.push_back(codegen::generate_source(kernel, gpu.target(), list, {}));
      const auto compiled = runtime::compile(texts, gpu.target());
      std::vector<runtime::PoolVector<std::byte>> right;
      for (size_t i = 0; i < compiled.size(); ++i) {
        INFO(c.name << ", " << kernel.main.name << ": " << to_string(lists[i]));
        if (i > 0) CHECK(texts[i].text.find("mma.sync") != std::string::npos);
        auto left = launched(*context, *compiled[i], compiled[i]->task_count(outer), memory, numbers);
        if (i == 0)
          right = std::move(left);
        else
          CHECK(left == right);
      }
    }
  }
}
