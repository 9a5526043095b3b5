// Plans that copy between devices: no kernels, and the same for every executor.
#include <utility>

#include "plan/executable.h"
#include "sinter/error.h"

namespace sinter::schedule {
namespace {

class Copied final : public Executable {
 public:
  std::unique_ptr<Execution> runs() const override;

  struct Way {
    size_t slot;
    Device to;
  };
  std::vector<Way> ways;  ///< per target
};

class Run final : public Execution {
 public:
  explicit Run(const Copied& plan) : plan_(plan) {}

  void bind(const Bindings& bindings) override {
    slots_ = bindings.slots;
    for (const Copied::Way& way : plan_.ways)
      fresh.push_back(runtime::Buffer::allocate(slots_[way.slot]->bytes(), way.to));
  }
  void let_go() override { fresh.clear(); }
  uint32_t run() override {
    for (size_t i = 0; i < plan_.ways.size(); ++i) fresh[i]->copy(*slots_[plan_.ways[i].slot]);
    return 0;
  }

 private:
  const Copied& plan_;
  std::vector<runtime::Buffer*> slots_;
};

std::unique_ptr<Execution> Copied::runs() const { return std::make_unique<Run>(*this); }

}  // namespace

std::unique_ptr<Executable> make_copies(const Collected& plan) {
  auto out = std::make_unique<Copied>();
  for (size_t i = 0; i < plan.positions.size(); ++i) {
    const Position& p = plan.positions[i];
    if (p.slot >= 0) continue;
    const Operand source = p.source_count == 1 ? plan.sources_of(p)[0] : Operand();
    const int32_t slot = source.constant() ? -1 : plan.positions[source.position()].slot;
    if (p.node->op != ir::Op::Copy || slot < 0)
      throw InternalError("a plan of copies computes " + std::string(ir::info(p.node->op).name));
    out->targets.push_back({static_cast<int32_t>(i), -1});
    out->ways.push_back({static_cast<size_t>(slot), p.node->device});
  }
  return out;
}

}  // namespace sinter::schedule
