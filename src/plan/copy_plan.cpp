// Plans that copy between devices: no kernels, and the same for every executor.
#include <utility>

#include "plan/executable.h"
#include "sinter/error.h"

namespace sinter::plan {
namespace {

class CopyExecutable final : public Executable {
 public:
  std::unique_ptr<Execution> make_execution() const override;

  struct Transfer {
    size_t slot;
    Device to;
  };
  std::vector<Transfer> transfers;  ///< per target
};

class CopyExecution final : public Execution {
 public:
  explicit CopyExecution(const CopyExecutable& plan) : plan_(plan) {}

  void bind(const Bindings& bindings) override {
    slots_ = bindings.slots;
    for (const CopyExecutable::Transfer& transfer : plan_.transfers)
      fresh.push_back(runtime::Buffer::allocate(slots_[transfer.slot]->bytes(), transfer.to));
  }
  void unbind() override { fresh.clear(); }
  uint32_t run() override {
    for (size_t i = 0; i < plan_.transfers.size(); ++i) fresh[i]->copy(*slots_[plan_.transfers[i].slot]);
    return 0;
  }

 private:
  const CopyExecutable& plan_;
  std::vector<runtime::Buffer*> slots_;
};

std::unique_ptr<Execution> CopyExecutable::make_execution() const { return std::make_unique<CopyExecution>(*this); }

}  // namespace

std::unique_ptr<Executable> make_copies(const CanonicalProgram& plan) {
  auto out = std::make_unique<CopyExecutable>();
  for (size_t i = 0; i < plan.positions.size(); ++i) {
    const Position& p = plan.positions[i];
    if (p.slot >= 0) continue;
    const SourceRef source = p.source_count == 1 ? plan.sources_of(p)[0] : SourceRef();
    const int32_t slot = source.constant() ? -1 : plan.positions[source.position()].slot;
    if (p.node->op != ir::Op::Copy || slot < 0)
      throw InternalError("a plan of copies computes " + std::string(ir::info(p.node->op).name));
    out->targets.push_back({static_cast<int32_t>(i), -1});
    out->transfers.push_back({static_cast<size_t>(slot), p.node->device});
  }
  return out;
}

}  // namespace sinter::plan
