// The walk and the reference counts.
#include "plan/liveness.h"

#include "ir/walk.h"
#include "sinter/error.h"

namespace sinter::plan {
namespace {

using ir::Node;
using ir::UOp;

class LivenessWalk {
 public:
  LivenessWalk(const Request& request, Liveness& out, ir::WalkStack& stack)
      : request_(request), out_(out), stack_(stack) {
    out_.order.clear();
    stack_.clear();
    out_.claimed = out_.mixed = false;
    out_.mark = ir::TensorGraph::get().next_mark();
    if (!request.roots.empty()) device_ = request.roots[0]->device;
  }

  void run() {
    for (UOp r : request_.roots) walk(r);
    for (size_t i = 0; i < out_.order.size();
         ++i)  // grows: a plan that passes a gradient also walks the loss behind it
      if (Node* loss = out_.order[i]->state.loss; loss && !out_.order[i]->storage() && !loss->storage()) walk(loss);
    out_.mixed &= !request_.copies;
    if (!out_.claimed && !out_.mixed) count();
  }

 private:
  void walk(UOp root) {
    ir::append_topological(root, out_.mark, [this](UOp n) { return enter(n); }, out_.order, stack_);
  }
  bool enter(UOp n) {
    out_.claimed |= n->state.claimed;
    out_.mixed |= n->device != device_ || (!n->storage() && n->op == ir::Op::Copy);
    if (n->storage() && !n->storage()->error.empty()) throw BackendError(n->storage()->error);
    return !n->storage();
  }

  /// Counts references that end with the plan: edges between its nodes, losses, and those that a step() drops.
  void count() {
    out_.ending.assign(out_.order.size(), 0);
    for (UOp n : out_.order) {
      if (!n->storage())
        for (UOp s : n->src) ++out_.ending[s->position];
      if (Node* loss = n->state.loss) ends(loss);
    }
    for (UOp n : request_.dying_refs) ends(n);
    for (UOp n : request_.kept) ends(n);
  }
  void ends(UOp n) {
    if (out_.met(n.get())) ++out_.ending[n->position];
  }

  const Request& request_;
  Liveness& out_;
  ir::WalkStack& stack_;
  Device device_;  ///< of the first root
};

}  // namespace

void compute_liveness(const Request& request, Liveness& out) {
  constexpr size_t kLarge = 1 << 16;
  static auto& stack = *new ir::WalkStack;  // guarded by the graph's mutex; keeps its memory for the next walk
  LivenessWalk(request, out, stack).run();
  if (stack.capacity() > kLarge) stack = {};
}

}  // namespace sinter::plan
