// The lists that the clock model ranks first. It is right about magnitudes, and wrong by some per cent among the best.
#include "codegen/tune/gpu/tuner.h"
#include "plan/opt_source.h"

namespace sinter::plan {
namespace {

class ModelSource final : public OptSource {
 public:
  ModelSource(const codegen::Kernel& kernel, const runtime::Target& target) : kernel_(kernel), target_(target) {}

  std::vector<OptProposal> first(size_t most) override {
    std::vector<OptProposal> out;
    for (std::vector<codegen::Opt>& opts : codegen::best_for_gpu(kernel_, target_, most))
      out.push_back({std::move(opts)});
    return out;
  }
  std::vector<OptProposal> next(const std::vector<std::vector<codegen::Opt>>&, double, size_t) override { return {}; }

  double floor(const runtime::StepCost&) const override { return 0; }
  size_t ruled_out() const override { return 0; }

 private:
  const codegen::Kernel& kernel_;
  const runtime::Target& target_;
};

}  // namespace

std::unique_ptr<OptSource> best_by_model(const codegen::Kernel& kernel, const runtime::Target& target) {
  return std::make_unique<ModelSource>(kernel, target);
}

}  // namespace sinter::plan
