// check_node has the rules that hold at every level. The levels add their vocabulary and, for kernels, the loops.
#include "ir/verify.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "ir/contains.h"
#include "ir/dump.h"
#include "ir/lapack_call.h"
#include "ir/names.h"
#include "ir/short_float.h"
#include "ir/sort_runs.h"
#include "ir/verify_shape.h"
#include "ir/walk.h"
#include "sinter/error.h"

namespace sinter::ir {
namespace {

// A row of ops.def names the alternative of Attr that an op has.
static_assert(std::variant_size_v<Attr> == static_cast<size_t>(AttrKind::Scatter) + 1 &&
              std::is_same_v<std::variant_alternative_t<static_cast<size_t>(AttrKind::Var), Attr>, sinter::Var>);

enum class IrLevel { Tensor, Plan, Kernel };

constexpr size_t kMaxDumpLines = 60;  ///< lines of the dump in an error text

std::string dump_tail(UOp node) {
  std::string text = dump(node);
  const size_t lines = static_cast<size_t>(std::ranges::count(text, '\n'));
  if (lines <= kMaxDumpLines) return text;
  size_t cut = text.size();
  for (size_t i = 0; i <= kMaxDumpLines; ++i) cut = text.rfind('\n', cut - 1);
  return fmt::format("... {} lines ...{}", lines - kMaxDumpLines, text.substr(cut));
}

class Verifier {
 public:
  Verifier(IrLevel level, std::string_view pass) : level_(level), pass_(pass) {}

  void require(bool ok, UOp n, std::string_view what) const {
    if (!ok) throw InternalError(fmt::format("after pass {}: {}: {}\n{}", pass_, describe(n), what, dump_tail(n)));
  }

  void check_node(UOp n) const {
    check_vocabulary(n);
    if (level_ == IrLevel::Tensor && n->storage()) return;
    check_attribute(n);
    const OpInfo& row = info(n->op);
    require(row.arity == kVariadic || row.arity == static_cast<int>(n->src.size()), n,
            fmt::format("has {} sources", n->src.size()));
    check_types(n);
    if (n->op != Op::Copy)
      for (UOp s : n->src)
        require(s->device == n->device || (s->op == Op::Const && level_ != IrLevel::Tensor), n,
                "lies on another device than a source");
    if (level_ != IrLevel::Kernel) {
      if (std::string what = shape_error(n); !what.empty()) require(false, n, what);
    } else if (n->op != Op::Param) {
      require(n->shape.empty(), n, "has a shape in a kernel");
    }
  }

 private:
  void check_vocabulary(UOp n) const {
    const OpClass cls = info(n->op).cls;
    bool known = true;
    switch (level_) {
      case IrLevel::Tensor:
        known = cls != OpClass::Memory && cls != OpClass::Control && n->op != Op::Param && n->op != Op::Arg &&
                n->op != Op::Check;
        break;
      case IrLevel::Plan:
        known = cls != OpClass::Memory && cls != OpClass::Control && n->op != Op::Data && n->op != Op::Leaf &&
                n->op != Op::Detach && n->op != Op::Custom && n->op != Op::Num && n->op != Op::Check;
        break;
      case IrLevel::Kernel:
        known = n->op == Op::Const || n->op == Op::Var || n->op == Op::Arg || n->op == Op::Param ||
                cls == OpClass::Alu || cls == OpClass::Reduce || cls == OpClass::Memory || cls == OpClass::Control;
        break;
    }
    require(known, n, "is no op of this level");
  }

  /// The kind of attribute that ops.def prescribes for the op, with a value that there is.
  void check_attribute(UOp n) const {
    if (n->op == Op::After) return;  // none for a version of a whole tensor, a box for a partial one
    bool ok = n->attr.index() == static_cast<size_t>(info(n->op).attr);
    if (n->op == Op::Var)  // in the tensor graph it may be the bound value
      ok |= level_ == IrLevel::Tensor && std::holds_alternative<Region>(n->attr);
    if (ok && (n->op == Op::Const || n->op == Op::Num)) ok = n->scalar().floating() == is_float(n->dtype);
    if (ok && n->op == Op::Store) ok = n->integer() >= 0 && n->integer() < static_cast<int64_t>(kScatterNames.size());
    if (ok && n->op == Op::Scatter)
      ok = n->scatter().mode != ScatterMode{} && static_cast<size_t>(n->scatter().mode) < kScatterNames.size();
    require(ok, n, "carries the wrong kind of attribute");
  }

  void check_types(UOp n) const {
    require(n->dtype != DType::Void || info(n->op).result == ResultType::Void, n, "has no type");
    if (info(n->op).result == ResultType::Bool) require(n->dtype == DType::Bool, n, "is not bool");
    if (info(n->op).result == ResultType::Void) require(n->dtype == DType::Void, n, "has a type");
    if (info(n->op).result == ResultType::Index) require(n->dtype == DType::Index, n, "is not of dtype index");
    if (n->src.empty()) return;
    UOp last = n->src.back();
    // Movement keeps the type of its first source. The further sources are offsets.
    if (is_movement(n->op)) {
      require(n->dtype == n->src[0]->dtype, n, "changes the type of what it moves");
      for (size_t i = 1; i < n->src.size(); ++i)
        require(is_integer(n->src[i]->dtype) && n->src[i]->shape.empty(), n, "moves by an offset that is no integer");
      return;
    }
    const auto mode = n->op == Op::Scatter ? n->scatter().mode
                      : n->op == Op::Store ? static_cast<ScatterMode>(n->integer())
                                           : ScatterMode{};
    if (mode != ScatterMode{} && mode != ScatterMode::Set)
      require(!is_short_float(n->src[0]->dtype), n, "computes in a 16-bit float");
    if (n->op == Op::Reduce || n->op == Op::Scan) return check_accumulator_types(n);
    require((n->op != Op::Lapack && n->op != Op::CallLapack) || is_lapack_type(last->dtype), n,
            "is of a type that LAPACK lacks");
    require(n->op != Op::Lapack || n->device == Device::cpu(), n, "is not on the host, where LAPACK runs");
    require(n->op != Op::Sort || n->dtype == (gives_values(n) ? n->src[0]->dtype : DType::I64), n,
            "gives positions that are not int64, or values of another type");
    if (info(n->op).result == ResultType::Same && n->op != Op::After)
      require(n->dtype == last->dtype, n, "differs in type from its source");
    if (!is_alu(n->op)) return;
    if (n->op == Op::Where) require(n->src[0]->dtype == DType::Bool, n, "selects by a condition that is not bool");
    if (n->op == Op::Check) {
      require(n->dtype == n->src[0]->dtype && last->dtype == DType::Bool, n, "checks something that is not bool");
      return;
    }
    for (size_t i = n->op == Op::Where ? 1 : 0; i < n->src.size(); ++i)
      require(n->src[i]->dtype == last->dtype, n, "has sources of different types");
    if (has(n->op, kFloat)) require(is_float(last->dtype), n, "computes on what is no float");
    if (has(n->op, kInteger)) require(!is_float(last->dtype), n, "computes on floats");
    if (n->op == Op::Bitcast) require(size_of(n->dtype) == size_of(last->dtype), n, "reads bits of another size");
  }

  /// The node is one of the accumulators. Source k has the type of accumulator k; both factors of Dot have that of the
  /// sum, or of an operand of tensor cores.
  void check_accumulator_types(UOp n) const {
    const ReduceAttr& r = n->reduction();
    if (r.tree.mma) {
      const DType a = n->src[0]->dtype, b = n->src[1]->dtype;
      require(is_mma_factor(a) && is_mma_factor(b) && mma_operand(a) == mma_operand(b), n,
              "has factors that are no operands of a tensor core");
      require(n->op == Op::Reduce && r.combine == Combine::Dot && n->dtype == mma_sum(a), n,
              "has steps of a tensor core, but is no Dot with their sum");
      require(r.tree.lanes == 1, n, "has steps of a tensor core in several chains");
      return;
    }
    require(r.result >= 0 && r.result < accumulator_count(r.combine), n, "picks an accumulator that there is not");
    const auto values = static_cast<size_t>(value_count(r.combine)), result = static_cast<size_t>(r.result);
    require(n->src.size() >= values && n->src[result]->dtype == n->dtype, n, "has another type than its accumulator");
    for (size_t i = 0; i < values; ++i) require(!is_short_float(n->src[i]->dtype), n, "accumulates in a 16-bit float");
    const bool places = r.combine == Combine::ArgMax || r.combine == Combine::ArgMin;
    for (size_t i = 1; i < values; ++i)
      require(places ? is_integer(n->src[i]->dtype) : n->src[i]->dtype == n->src[0]->dtype, n,
              "reduces values of other types");
    require(values == 1 || places || r.combine == Combine::Dot || is_float(n->dtype), n, "combines what are no floats");
  }

  IrLevel level_;
  std::string_view pass_;
};

/// Rules for kernels beyond those for single nodes: slots, loops, and that no loop variable is read outside its loop.
class KernelVerifier {
 public:
  KernelVerifier(UOp sink, std::string_view pass)
      : base_(IrLevel::Kernel, pass), sink_(sink), order_(topological(sink)) {}

  void run() {
    require(sink_->op == Op::Sink, sink_, "a kernel is a SINK");
    if (!sorts_runs(sink_) && !calls_lapack(sink_))
      for (UOp s : sink_->src)
        require(s->op == Op::Store, s, "a SINK holds STOREs, or is one step of a sort or one call of LAPACK");
    for (UOp n : order_) {
      base_.check_node(n);
      if (n->op == Op::Param) check_param(n);
      if (n->op == Op::Range) check_range(n);
      if (n->op == Op::Load || n->op == Op::Store) check_access(n);
      if (n->op == Op::Reduce || n->op == Op::Scan) check_reduction(n);
      if (n->op == Op::SortRuns) check_sort(n);
      if (n->op == Op::CallLapack) check_lapack(n);
      if (n->op == Op::Sink || n->op == Op::Store)
        for (UOp s : n->src)
          require(s->op != Op::Sink && (n->op == Op::Sink || s->op != Op::Store), n, "an effect is read");
      check_scopes(n);
    }
  }

 private:
  void require(bool ok, UOp n, std::string_view what) const { base_.require(ok, n, what); }

  void check_param(UOp n) {
    auto [it, added] = params_.emplace(n->integer(), n);
    require(added || it->second == n, n, "two shapes or types share a slot");
  }

  void check_range(UOp n) {
    UOp bound = n->src[0];
    const RangeAttr r = n->get<RangeAttr>();
    require(bound->dtype == DType::Index, n, "is bounded by nothing of dtype index");
    if (r.kind != AxisKind::Outer) {
      for (UOp u : topological(bound))
        require(is_alu(u->op) || u->op == Op::Const || u->op == Op::Var || is_outer(u), n,
                "is bounded by more than sizes and outer ranges");
      return;
    }
    require(bound->op == Op::Const || bound->op == Op::Var, n, "is parallel and bounded by no Const or Var");
    auto [it, added] = outer_.emplace(r.id, n);
    require(added || it->second == n, n, "two outer ranges share an id");
  }

  void check_access(UOp n) {
    require(!n->src.empty() && n->src[0]->op == Op::Param, n, "names no Param");
    UOp p = n->src[0];
    const size_t dims = p->rank();
    const bool store = n->op == Op::Store;
    const size_t plain = 1 + dims + (store ? 1 : 0), predicated = plain + (store ? 1 : 2);
    require(n->src.size() == plain || n->src.size() == predicated, n,
            fmt::format("has {} sources for {} dims", n->src.size(), dims));
    for (size_t i = 1; i <= dims; ++i)
      require(n->src[i]->dtype == DType::Index, n, fmt::format("index {} is not of dtype index", i - 1));
    if (store)
      require(n->src[dims + 1]->dtype == p->dtype, n, "stores a value of another type");
    else
      require(n->dtype == p->dtype, n, "loads a value of another type");
    if (n->src.size() == plain) return;
    require(n->src[plain]->dtype == DType::Bool, n, "has a predicate that is not bool");
    if (!store) require(n->src.back()->dtype == n->dtype, n, "has another type where the predicate is false");
  }

  void check_reduction(UOp n) {
    const ReduceAttr& r = n->reduction();
    const size_t values = static_cast<size_t>(value_count(r.combine));
    require(r.axes.empty(), n, "reduces axes in a kernel");
    require(n->src.size() > values, n, "reduces over no range");
    require(n->op == Op::Reduce || r.tree == ReductionTree{}, n, "scans in several chains");
    require(r.tree.lanes > 0 && (r.tree.lanes & (r.tree.lanes - 1)) == 0 && r.tree.block >= 0 && r.tree.group >= 0, n,
            "has an impossible tree");
    require(r.tree.group == 0 || r.tree.block > 0, n, "has groups of blocks, but no blocks");
    if (const UOp bound = n->src.back()->op == Op::Range ? n->src.back()->src[0] : UOp();
        r.tree.mma && r.tree.block && bound && bound->op == Op::Const) {
      const int64_t row = bound->scalar().as_int(), step = static_cast<int64_t>(mma_step_length(n->src[0]->dtype));
      require(r.tree.block % row == 0 || (r.tree.block < row && r.tree.block % step == 0), n,
              "has blocks that cut steps of a tensor core");
    }
    for (size_t i = 0; i < n->src.size(); ++i) {
      if (i >= values) require(n->src[i]->op == Op::Range && !is_outer(n->src[i]), n, "reduces over no inner range");
    }
  }

  void check_sort(UOp n) {
    require(n->ints().size() == 9, n, "is not described by nine numbers");
    UOp to = n->src[0], from = n->src[1];
    require(to->op == Op::Param && from->op == Op::Param && to->rank() > 0 && from->rank() > 0, n, "names no Params");
    const SortRuns s = sort_runs_of(n);
    require(s.row > 0 && s.group > 0 && s.tasks > 0 && s.words >= 1 && s.words <= 2, n, "has an impossible size");
    require(s.sorted == 0 || s.sorted * 2 == s.group, n, "merges other than two runs");
    require(s.first >= 0 && s.count > 0 && s.first + s.count <= s.row, n, "gives ranks that there are not");
    const int64_t between = s.row * s.words;
    require(from->shape[from->rank() - 1] == (s.sorted ? between : s.row), n, "reads rows of another length");
    require(to->shape[to->rank() - 1] == (s.last() ? s.count : between), n, "writes rows of another length");
    require(s.values ? s.words == 1 && to->dtype == from->dtype
                     : (!s.sorted || from->dtype == DType::U64) && to->dtype == (s.last() ? DType::I64 : DType::U64),
            n, "has Params of other types");
  }

  void check_lapack(UOp n) {
    for (UOp s : n->src)
      require(s->op == Op::Param && s->dtype == n->src[0]->dtype, n, "names no Params, or those of two types");
    require(n->src.size() > 1 && n->src[0]->rank() > 0, n, "has no source");
    const std::string error = lapack_error(n, n->src[0]->shape, std::span(n->src).subspan(1));
    require(error.empty(), n, error);
  }

  static bool is_outer(UOp n) { return n->op == Op::Range && n->get<RangeAttr>().kind == AxisKind::Outer; }

  /// An inner range is open from its use up to the REDUCE that binds it, or to the store that runs over it.
  void check_scopes(UOp n) {
    std::vector<UOp> open;
    auto join = [&](UOp s) {
      for (UOp r : open_.at(s.get()))
        if (!contains(open, r)) open.push_back(r);
    };
    const bool single = n->op == Op::Range && n->src[0]->op == Op::Const && n->src[0]->scalar().as_int() <= 1;
    if (n->op == Op::Range && !is_outer(n) && !single) open.push_back(n);
    if (n->op == Op::Store) {
      const size_t value = n->src[0]->rank() + 1;
      for (size_t i = 1; i < n->src.size(); ++i)
        if (i != value) join(n->src[i]);
      const size_t places = open.size();
      for (UOp s : n->src) join(s);
      if (n->integer() == 0 && open.size() > places)
        require(false, n, "is stored again and again over an inner range: " + describe(open[places]));
    } else {
      for (UOp s : n->src) join(s);
    }
    if (n->op == Op::Reduce) {
      int before = -1;
      for (size_t i = n->src.size(); i-- > static_cast<size_t>(value_count(n->reduction().combine));) {
        const int id = n->src[i]->get<RangeAttr>().id;
        require(before < 0 || id < before, n, "binds ranges whose ids do not ascend");
        before = id;
        std::erase(open, n->src[i]);
      }
      const bool chain = n->reduction().tree == ReductionTree{};
      for (UOp r : open)
        require(chain || r->get<RangeAttr>().id < before, n,
                "has a ReductionTree and binds a range that comes before one around it: " + describe(r));
    }
    if (n->op == Op::Scan) {
      const auto own = n->src.begin() + value_count(n->reduction().combine);
      for (UOp r : open)
        require(std::find(own, n->src.end(), r) != n->src.end() || r->get<RangeAttr>().id < (*own)->get<RangeAttr>().id,
                n, "scans over a range around another one: " + describe(r));
    }
    open_.emplace(n.get(), std::move(open));
  }

  Verifier base_;
  UOp sink_;
  std::vector<UOp> order_;
  std::map<int64_t, UOp> params_;
  std::map<int, UOp> outer_;
  std::map<const Node*, std::vector<UOp>> open_;
};

void verify(std::span<const UOp> roots, IrLevel level, std::string_view pass) {
  const Verifier verifier(level, pass);
  for (UOp n : topological(roots, [](UOp u) { return !u->storage(); })) verifier.check_node(n);
}

}  // namespace

void verify_tensor(std::span<const UOp> roots, std::string_view pass) { verify(roots, IrLevel::Tensor, pass); }
void verify_plan(std::span<const UOp> roots, std::string_view pass) { verify(roots, IrLevel::Plan, pass); }
void verify_kernel(UOp sink, std::string_view pass) { KernelVerifier(sink, pass).run(); }

}  // namespace sinter::ir
