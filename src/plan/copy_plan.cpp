// Plans that copy between devices: no kernels, and the same for every executor.
#include <utility>

#include "plan/plan_entry.h"
#include "sinter/error.h"

namespace sinter::plan {
namespace {

struct Transfer {
  size_t slot;
  Device to;
};

class CopyExecution final : public runtime::Execution {
 public:
  explicit CopyExecution(const std::vector<Transfer>& transfers) : transfers_(transfers) {}

  void bind(const runtime::Bindings& bindings) override {
    slots_ = bindings.slots;
    for (const Transfer& transfer : transfers_)
      fresh.push_back(runtime::Buffer::allocate(slots_[transfer.slot]->bytes(), transfer.to));
  }
  void unbind() override { fresh.clear(); }
  uint32_t run() override {
    for (size_t i = 0; i < transfers_.size(); ++i) fresh[i]->copy(*slots_[transfers_[i].slot]);
    return 0;
  }

 private:
  const std::vector<Transfer>& transfers_;
  InlineVector<runtime::Buffer*, 8> slots_;
};

class CopyExecutable final : public runtime::Executable {
 public:
  explicit CopyExecutable(std::vector<Transfer> transfers) : transfers_(std::move(transfers)) {}
  std::unique_ptr<runtime::Execution> make_execution() const override {
    return std::make_unique<CopyExecution>(transfers_);
  }

 private:
  const std::vector<Transfer> transfers_;  ///< per result
};

}  // namespace

PlanEntry make_copies(const CanonicalProgram& plan) {
  PlanEntry out;
  std::vector<Transfer> transfers;
  for (size_t i = 0; i < plan.positions.size(); ++i) {
    const Position& p = plan.positions[i];
    if (p.slot >= 0) continue;
    const SourceRef source = p.source_count == 1 ? plan.sources_of(p)[0] : SourceRef();
    const int32_t slot = source.constant() ? -1 : plan.positions[source.position()].slot;
    if (p.node->op != ir::Op::Copy || slot < 0)
      throw InternalError("a plan of copies computes " + std::string(ir::info(p.node->op).name));
    out.targets.push_back({static_cast<int32_t>(i), -1});
    transfers.push_back({static_cast<size_t>(slot), p.node->device});
  }
  out.executable = std::make_unique<CopyExecutable>(std::move(transfers));
  return out;
}

}  // namespace sinter::plan
