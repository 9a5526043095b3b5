// Builds the fusion nodes in one walk, then their cost estimates.
#include "schedule/fusion/fusion_node.h"

#include <fmt/core.h>

#include <algorithm>

#include "ir/axis_lists.h"
#include "ir/build.h"
#include "ir/combine.h"
#include "ir/lapack_call.h"
#include "ir/walk.h"
#include "schedule/fusion/product_pairs.h"
#include "schedule/graph/fusion_cost.h"
#include "schedule/simplify/choose_reductions.h"
#include "schedule/simplify/strides.h"
#include "sinter/error.h"

namespace sinter::schedule {
namespace {

constexpr double kSortStep = 64;     ///< simple operations per element of a sort
constexpr double kLapackSlower = 8;  ///< than a product of as many operations: the reference library

bool placeless(Op op) { return op == Op::Const || op == Op::Arange || op == Op::Var || op == Op::Arg; }

FusionNodeKind kind_of(UOp n) {
  switch (n->op) {
    case Op::Param: return FusionNodeKind::Buffer;
    case Op::Reduce: return FusionNodeKind::Reduce;
    case Op::Gather: return FusionNodeKind::Gather;
    case Op::Scatter: return FusionNodeKind::Scatter;
    case Op::Scan: return FusionNodeKind::Scan;
    case Op::Sort:
    case Op::Lapack: return FusionNodeKind::Opaque;
    case Op::Contiguous:
    case Op::Copy: return FusionNodeKind::Contiguous;
    case Op::After: return FusionNodeKind::Box;
    default: return FusionNodeKind::Elementwise;
  }
}

/// What an opaque node reads: the buffer itself, if what it would copy lies there in row-major order.
UOp stored_source(UOp stored) {
  const UOp head = stored->op == Op::Contiguous ? stored->src[0] : stored;
  UOp n = head;
  while (n->op == Op::Reshape) n = n->src[0];
  if (n->op == Op::Param) return head;
  if (stored->op != Op::Contiguous) throw InternalError("an opaque node reads what is not stored");
  return stored;
}

/// Whether the movement ops of an edge keep every element. Then the user is still an epilogue.
bool keeps_elements(const FusionEdge& s) {
  UOp n = s.head;
  while (n->op == Op::Reshape || n->op == Op::Permute) n = n->src[0];
  return !ir::is_movement(n->op);
}

/// Axes of a reduction's result along which the windows of its inputs slide.
std::vector<int> sliding_axes(UOp reduce) {
  std::vector<int> out;
  for (UOp head : reduce->src) {
    bool slides = false;
    for (UOp n = head; ir::is_movement(n->op); n = n->src[0]) slides |= n->op == Op::Window;
    if (!slides) continue;
    Strides strides = strides_of_view(head);
    strides = ir::without(strides, reduce->reduction().axes);
    for (size_t axis = 0; axis < strides.size(); ++axis)
      if (strides[axis] != 0) out.push_back(static_cast<int>(axis));
  }
  return out;
}

class FusionGraphBuilder {
 public:
  FusionGraphBuilder(const PlanGraph& plan, const Prices& prices) : plan_(plan), prices_(prices) {}

  FusionGraph build() {
    const std::vector<UOp> order = ir::topological(values_of(plan_));
    node_of_.assign(order.size(), -1);
    find_boxed_scatters(order);
    for (UOp n : order)
      if (!ir::is_movement(n->op) && !placeless(n->op) && !stored_in_box_[n->position]) node_of_[n->position] = add(n);
    for (size_t i = 0; i < plan_.outputs.size(); ++i) add_output(static_cast<int>(i));
    price();
    find_pairs(out_.nodes);
    return std::move(out_);
  }

 private:
  FusionEdge source(UOp head) const {
    UOp base = ir::below_movements(head);
    return {head, placeless(base->op) ? -1 : node_of_[base->position]};
  }

  /// Finds the SCATTERs that a Box stores by itself: those whose result only the Box needs.
  void find_boxed_scatters(const std::vector<UOp>& order) {
    stored_in_box_.assign(order.size(), false);
    std::vector<int> uses(order.size(), 0);
    for (UOp n : order)
      for (UOp u : n->src) ++uses[u->position];
    for (const Output& o : plan_.outputs) ++uses[o.value->position];
    for (UOp n : order) {
      if (n->op != Op::After) continue;
      UOp value = n->src[1];
      bool alone = uses[value->position] == 1;
      for (; value->op == Op::Reshape; value = value->src[0]) alone &= uses[value->src[0]->position] == 1;
      if (alone && value->op == Op::Scatter && lies_in_box(value->src[0], n)) stored_in_box_[value->position] = true;
    }
  }

  /// Whether x is what the home of the version has in the version's box.
  static bool lies_in_box(UOp x, UOp version) {
    while (x->op == Op::Reshape) x = x->src[0];
    return x->op == Op::Shrink && x->src[0] == version->src[0] && x->region() == version->region() &&
           std::equal(x->src.begin() + 1, x->src.end(), version->src.begin() + 2, version->src.end());
  }

  /// The SCATTER that fills the version's box; null: what fills it is stored as any other value.
  UOp scatter_of(UOp version) const {
    UOp value = version->src[1];
    while (value->op == Op::Reshape) value = value->src[0];
    return ir::is_movement(value->op) || placeless(value->op) || !stored_in_box_[value->position] ? UOp() : value;
  }

  int add(UOp n) {
    FusionNode s;
    s.uop = n;
    s.kind = kind_of(n);
    if (s.kind == FusionNodeKind::Box) {
      std::vector<UOp> src{n->src[0]};
      src.insert(src.end(), n->src.begin() + 2, n->src.end());
      s.target = plan_.graph->make({Op::Shrink, n->dtype, n->src[1]->shape, src, n->region()});
      s.scatter = scatter_of(n);
      if (s.scatter) {
        s.target = ir::reshape(s.target, s.scatter->shape);
        for (UOp u : s.scatter->src) s.sources.push_back(source(u));
      } else {
        s.sources.push_back(source(n->src[1]));
      }
    } else {
      if (s.kind == FusionNodeKind::Scatter) s.scatter = n;
      for (UOp u : n->src) s.sources.push_back(source(s.kind == FusionNodeKind::Opaque ? stored_source(u) : u));
    }
    return push(std::move(s));
  }

  int push(FusionNode s) {
    s.number = s.uop->position;
    out_.nodes.push_back(std::move(s));
    return static_cast<int>(out_.nodes.size()) - 1;
  }

  void add_output(int number) {
    const Output& o = plan_.outputs[number];
    UOp n = o.value;
    // New memory has no layout but its element order, so a reshaped value is stored as it is computed. A box exists in
    // its home only.
    while (o.home < 0 && n->op == Op::Reshape) n = n->src[0];
    int at = ir::is_movement(n->op) || placeless(n->op) ? -1 : node_of_[n->position];
    const bool taken =  // an opaque node has one target
        at >= 0 && node(at).kind == FusionNodeKind::Opaque && !node(at).outputs.empty();
    if (at < 0 || n->op == Op::Param || (n->op == Op::After && o.home < 0) || taken) {
      FusionNode s;
      s.uop = o.value;
      s.kind = FusionNodeKind::Store;
      s.sources.push_back(source(o.value));
      at = push(std::move(s));
    }
    out_.nodes[at].outputs.push_back(number);
    out_.homes.push_back(o.home);
    out_.output_nodes.push_back(at);
  }

  void price() {
    for (size_t i = 0; i < out_.nodes.size(); ++i) {
      FusionNode& s = out_.nodes[i];
      UOp n = s.kind == FusionNodeKind::Box ? s.target : s.uop;
      s.numel = n->shape.bound();
      s.bytes = bytes_of(n);
      s.domain = s.kind == FusionNodeKind::Reduce   ? s.uop->src[0]->shape.bound()
                 : s.kind == FusionNodeKind::Opaque ? s.uop->src[0]->shape.bound()
                 : s.scatter                        ? s.scatter->src[1]->shape.bound()
                                                    : s.numel;
      s.mma = s.kind == FusionNodeKind::Reduce && s.uop->reduction().tree.mma;
      s.product = s.mma || (s.kind == FusionNodeKind::Reduce && is_product(s.uop->reduction().combine, s.uop->src));
      s.contraction = s.mma || (s.product && is_contraction(s.uop, prices_));
      if (s.contraction) s.sliding = sliding_axes(s.uop);
      s.own = cost(s);
      int64_t sources = 0, largest = 0;
      const bool opens = s.kind == FusionNodeKind::Buffer || s.kind == FusionNodeKind::Gather || s.scatter ||
                         s.kind == FusionNodeKind::Opaque;
      if (opens) s.frontier = s.bytes;
      for (const FusionEdge& src : s.sources) {
        if (src.node < 0) continue;
        const FusionNode& from = out_.nodes[src.node];
        sources += from.read_bytes;
        largest = std::max(largest, from.read_bytes);
        if (!opens) s.frontier = std::max(s.frontier, from.frontier);
        if (from.kind == FusionNodeKind::Elementwise && from.outputs.empty())
          s.chain = std::max(s.chain, from.own + from.chain);
        if (s.kind != FusionNodeKind::Elementwise || from.anchor < 0 || !keeps_elements(src)) continue;
        if (s.anchor < 0 || own(from.anchor) > own(s.anchor)) s.anchor = from.anchor;
      }
      if (s.contraction && s.own > prices_.launch) s.anchor = static_cast<int>(i);
      // A product counts as a source of what follows, if it is no blow-up itself and costs far more than its stores.
      if (s.contraction && s.own > prices_.blow_up * prices_.transfer(s.bytes) &&
          s.bytes <= prices_.far_larger * largest)
        s.frontier = std::max(s.frontier, s.bytes);
      s.read_bytes = s.kind == FusionNodeKind::Elementwise ? std::min(s.bytes, sources) : s.bytes;
    }
  }
  const FusionNode& node(int i) const { return out_.nodes[i]; }
  double own(int i) const { return node(i).own; }

  /// Simple operations per element. Vectors of chains share what is the same in all.
  double step_of(UOp reduce) const {
    const ir::StepOps step = ir::combine_step_ops(reduce);
    double per_chain = 0, shared = 0;
    for (Op op : step.per_chain) per_chain += weight_of(op);
    for (Op op : step.shared) shared += weight_of(op);
    const int64_t chains = reduce->op == Op::Reduce ? reduce->reduction().tree.lanes : 1;
    return per_chain + shared / static_cast<double>(std::max<int64_t>(chains / prices_.lanes, 1));
  }
  double opaque_cost(UOp n, double iterations) const {
    if (n->op == Op::Sort) return kSortStep * iterations / prices_.elementwise;
    const ir::LapackSizes sizes =
        ir::lapack_sizes_of(n->src[0]->shape, n->src.size() > 1 ? &n->src[1]->shape : nullptr);
    const int64_t matrices = n->shape.bound() / std::max<int64_t>(n->shape[n->rank() - 1].value(), 1);
    return static_cast<double>(matrices) * ir::lapack_flops(ir::lapack_call_of(n), sizes) / prices_.contraction *
           kLapackSlower;
  }
  /// All instructions of tensor cores take the same time: those of 16-bit floats do the most.
  double tensor_rate(DType factor) const {
    return prices_.tensor * static_cast<double>(ir::mma_step_length(factor)) /
           static_cast<double>(ir::mma_step_length(DType::BF16));
  }
  double cost(const FusionNode& s) const {
    const auto iterations = static_cast<double>(s.domain);
    switch (s.kind) {
      case FusionNodeKind::Buffer: return 0;
      case FusionNodeKind::Elementwise: return weight_of(s.uop->op) * iterations / prices_.elementwise;
      case FusionNodeKind::Reduce:
        return s.mma       ? 2 * iterations / tensor_rate(s.uop->src[0]->dtype)
               : s.product ? 2 * iterations / prices_.contraction
                           : step_of(s.uop) * iterations / prices_.elementwise;
      case FusionNodeKind::Scatter: return (2 * iterations + static_cast<double>(s.numel)) / prices_.elementwise;
      case FusionNodeKind::Scan: return step_of(s.uop) * iterations / prices_.elementwise;
      case FusionNodeKind::Opaque: return opaque_cost(s.uop, iterations);
      case FusionNodeKind::Gather:
      case FusionNodeKind::Contiguous:
      case FusionNodeKind::Store: return iterations / prices_.elementwise;
      case FusionNodeKind::Box: return (s.scatter ? 2 : 1) * iterations / prices_.elementwise;
    }
    return 0;
  }

  const PlanGraph& plan_;
  const Prices& prices_;
  FusionGraph out_;
  std::vector<int> node_of_;
  std::vector<bool> stored_in_box_;  ///< per position: a SCATTER without a node of its own
};

}  // namespace

FusionGraph build_fusion_graph(const PlanGraph& plan, const Prices& prices) {
  return FusionGraphBuilder(plan, prices).build();
}

bool is_same_reduction(const FusionNode& a, const FusionNode& b) {
  if (a.kind != FusionNodeKind::Reduce || b.kind != FusionNodeKind::Reduce || a.uop->src != b.uop->src) return false;
  ir::ReduceAttr x = a.uop->reduction();
  x.result = b.uop->reduction().result;
  return x == b.uop->reduction();
}

std::string to_string(const FusionNode& s) {
  if (s.kind == FusionNodeKind::Buffer) return fmt::format("slot{}", s.uop->integer());
  const char* form = s.kind == FusionNodeKind::Store ? "store of " : s.kind == FusionNodeKind::Box ? "box of " : "";
  return fmt::format("{}{}#{} {}{}", form, ir::info(s.uop->op).name, s.number, name_of(s.uop->dtype),
                     sinter::to_string(s.uop->shape));
}

}  // namespace sinter::schedule
