// A kernel's program on the simulated GPU.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "codegen/loopschedule/opt_parse.h"
#include "gpu_launch.h"
#include "ir/lists.h"
#include "unit/codegen_support.h"

namespace codegen_test {

/// The first simulated device, for the time of a test.
class SimulatedGpu {
 public:
  SimulatedGpu() : context_(runtime::cuda::Context::get(0)) {}

  runtime::Target target() const { return context_->target(); }

  /// What a program makes of `before` must be what lies in the bench's arrays now.
  void compare(const KernelHarness& b, const std::string& what, const runtime::Program& program,
               const std::vector<Array>& before) const;
  /// Compares what the kernel leaves by each list of Opts with the interpreter's results, which then lie in the bench's
  /// arrays. Returns the texts.
  std::vector<std::string> check(KernelHarness& b, const std::vector<std::vector<Opt>>& lists) const;

 private:
  runtime_test::ScopedEnv device_{"SINTER_DEVICE", "cuda-sim"};
  std::shared_ptr<runtime::cuda::Context> context_;
};

inline void SimulatedGpu::compare(const KernelHarness& b, const std::string& what, const runtime::Program& program,
                                  const std::vector<Array>& before) const {
  std::vector<uint64_t> numbers;
  for (int64_t v : b.arguments()) numbers.push_back(static_cast<uint64_t>(v));
  auto left = launched(*context_, program, b.points(program), before, numbers);
  uint32_t raised = 0;
  std::memcpy(&raised, left[0].data(), sizeof raised);
  CHECK(raised == b.error);
  std::vector<Array> mine;
  for (size_t i = 0; i < before.size(); ++i) {
    mine.push_back(copy(before[i]));
    mine[i].data = std::move(left[i + 1]);
  }
  b.require_equal(what, mine);
}

inline std::vector<std::string> SimulatedGpu::check(KernelHarness& b,
                                                    const std::vector<std::vector<Opt>>& lists) const {
  const codegen::NormalizedKernel normalized = codegen::normalize(b.kernel, target());
  std::vector<runtime::KernelSource> sources;
  for (const std::vector<Opt>& list : lists)
    sources.push_back(codegen::generate_source(normalized, target(), list, {}));
  const auto programs = runtime::compile(sources, target());
  const std::vector<Array> before = b.interpret();
  std::vector<std::string> texts;
  for (size_t i = 0; i < programs.size(); ++i) {
    INFO(sources[i].text);
    compare(b, codegen::to_string(lists[i]), *programs[i], before);
    texts.push_back(sources[i].text);
  }
  return texts;
}

/// Lists of Opts from their texts.
inline std::vector<std::vector<Opt>> parsed(std::span<const char* const> texts) {
  return ir::mapped(texts, [](const char* text) { return codegen::parse_opts(text); });
}

}  // namespace codegen_test
