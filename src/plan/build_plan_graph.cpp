// Rebuilds positions in an arena.
#include "plan/build_plan_graph.h"

#include <unordered_map>

#include "ir/build.h"

namespace sinter::plan {
namespace {

using ir::Op;
using ir::UOp;

class PlanGraphBuilder {
 public:
  PlanGraphBuilder(const CanonicalProgram& plan, const PlanKey& plan_key, const std::vector<uint8_t>& is_argument)
      : plan_(plan), plan_key_(plan_key), graph_(std::make_shared<ir::Arena>()), value_(plan.positions.size()) {
    for (const BoundVar& v : plan_key.vars) vars_.push_back(schedule::numbered(vars_.size(), v.var));
    arg_of_.assign(plan_key.numbers.size(), -1);
    for (size_t i = 0; i < plan_key.numbers.size(); ++i) {
      if (!is_argument[i]) continue;
      arg_of_[i] = static_cast<int64_t>(args_.size());
      args_.push_back(static_cast<uint32_t>(i));
    }
  }

  /// Builds position i. Its sources must have been built.
  UOp build(size_t i) {
    const Position& p = plan_.positions[i];
    UOp n = p.node;
    // One Param per slot: reads in another shape than the first go through a Reshape.
    if (p.slot >= 0) return value_[i] = ir::reshape(param(p.slot, plan_.storages[p.slot].node), shape(n->shape));
    uint32_t number = plan_key_.first_number[i];
    std::vector<UOp> src;
    for (SourceRef s : plan_.sources_of(p)) {
      if (!s.constant()) {
        src.push_back(value_[s.position()]);
        continue;
      }
      UOp c = plan_.constants[s.number()];
      src.push_back(ir::broadcast_to(scalar(number++, c), shape(c->shape)));
    }
    if (const int32_t box = plan_.box_of_updates(p); box >= 0) number = plan_key_.first_number[box];
    return value_[i] = node(n, std::move(src), number);
  }

  UOp param(int64_t number, UOp like) {
    return ir::param(*graph_, number, like->dtype, shape(like->shape), like->device);
  }
  /// Sets what users of position i read from now on.
  void replace(size_t i, UOp value) { value_[i] = value; }
  UOp value(size_t i) const { return value_[i]; }

  Shape shape(const Shape& s) const {
    return ir::mapped<Shape>(s, [&](const Dim& d) { return dim(d); });
  }
  const std::vector<Var>& vars() const { return vars_; }
  const std::vector<uint32_t>& args() const { return args_; }
  const std::shared_ptr<ir::Arena>& graph() const { return graph_; }

 private:
  Dim dim(const Dim& d) const {
    if (!d.symbolic()) return d;
    const Var& var = vars_[plan_key_.var_of(d)];
    return var(var.max());
  }

  UOp scalar(uint32_t number, UOp like) {
    const Number& value = plan_key_.numbers[number];
    if (arg_of_[number] >= 0) return ir::argument(*graph_, arg_of_[number], value.dtype, like->device);
    return ir::constant(*graph_, value.value, value.dtype, like->device);
  }

  UOp node(UOp n, std::vector<UOp> src, uint32_t number) {
    switch (n->op) {
      case Op::Leaf:
      case Op::Custom:
      case Op::Detach: return src[0];
      case Op::Const:
      case Op::Num: return scalar(number, n);
      case Op::Var: return ir::variable(*graph_, vars_[plan_key_.var_of(n->region()[0].end)], n->dtype, n->device);
      case Op::After:
        if (src.size() == 1) return src[0];
        return boxed(n, std::move(src), number, 1);
      case Op::Reshape: return ir::reshape(src[0], shape(n->shape));
      case Op::Permute: return ir::permute(src[0], n->ints());
      case Op::Pad: return boxed(n, std::move(src), number, 0);
      case Op::Shrink: return boxed(n, std::move(src), number, -1);
      default: return graph_->make({n->op, n->dtype, shape(n->shape), src, n->attr, n->device});
    }
  }

  /// A node with a box. Its sizes are those of source `sized`, or of the result if that is -1.
  UOp boxed(UOp n, std::vector<UOp> src, uint32_t number, int sized) {
    const Shape result = shape(n->shape);
    const Shape size = sized < 0 ? result : src[sized]->shape;
    bool moves = false;
    for (size_t d = 0; d < size.rank(); ++d) moves |= arg_of_[number + d] >= 0;
    ir::Region box;
    for (size_t d = 0; d < size.rank(); ++d) {
      const int64_t begin = n->region()[d].begin.value();
      if (moves) {
        box.push_back({0, size[d]});
        src.push_back(scalar(static_cast<uint32_t>(number + d), n));
      } else {
        box.push_back({begin, size[d].symbolic() ? size[d] : Dim(begin + size[d].value())});
      }
    }
    return graph_->make({n->op, n->dtype, result, src, std::move(box), n->device});
  }

  const CanonicalProgram& plan_;
  const PlanKey& plan_key_;
  std::shared_ptr<ir::Arena> graph_;
  std::vector<UOp> value_;
  std::vector<Var> vars_;
  std::vector<int64_t> arg_of_;
  std::vector<uint32_t> args_;
};

}  // namespace

PlanProgram build_plan_graph(const CanonicalProgram& plan, const Materialization& materialization,
                             const PlanKey& plan_key, const std::vector<uint8_t>& is_argument) {
  PlanGraphBuilder b(plan, plan_key, is_argument);
  PlanProgram out;
  std::unordered_map<UOp, int32_t> outputs;
  for (size_t i = 0; i < plan.positions.size(); ++i) {
    if (!materialization.needed[i]) continue;
    UOp value = b.build(i);
    out.graph.positions.emplace(value.get(), static_cast<int>(i));
    if (!materialization.stored[i]) continue;
    const auto [at, first] = outputs.emplace(value, static_cast<int32_t>(out.graph.outputs.size()));
    if (first) out.graph.outputs.push_back({value, materialization.in_place[i]});
    out.stored.push_back({static_cast<int32_t>(i), materialization.in_place[i], at->second});
  }
  for (const StorageUse& s : plan.storages) out.graph.slots.push_back({s.node->dtype, b.shape(s.node->shape)});
  out.graph.graph = b.graph();
  out.graph.vars = b.vars();
  out.arg_numbers = b.args();
  for (uint32_t n : out.arg_numbers) out.graph.args.push_back(plan_key.numbers[n].dtype);
  return out;
}

StepGraphs build_step_graphs(const CanonicalProgram& plan, const Materialization& materialization,
                             const PlanKey& plan_key, const std::vector<uint8_t>& is_argument,
                             const std::vector<EvalStep>& steps) {
  PlanGraphBuilder b(plan, plan_key, is_argument);
  std::vector<int32_t> step_of(plan.positions.size(), -1), stored_of(plan.positions.size(), -1);
  for (size_t k = 0; k < steps.size(); ++k) step_of[steps[k].position] = static_cast<int32_t>(k);
  int32_t count = 0;
  for (size_t i = 0; i < plan.positions.size(); ++i)
    if (materialization.stored[i]) stored_of[i] = count++;

  StepGraphs out{b.graph(), std::vector<StepGraph>(steps.size())};
  for (size_t i = 0; i < plan.positions.size(); ++i) {
    if (!materialization.needed[i]) continue;
    UOp value = b.build(i);
    if (const int32_t k = step_of[i]; k >= 0) {
      out.steps[k] = {value, steps[k].mode, stored_of[i]};
      b.replace(i, b.param(static_cast<int64_t>(plan.storages.size()) + k, plan.positions[i].node));
    }
  }
  return out;
}

}  // namespace sinter::plan
