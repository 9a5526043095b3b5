// Reads the results. If one holds a NaN or an infinity, interprets the program on the memory that it read, and follows
// the element to the op whose operands had none.
#include "tensor/eval/anomaly.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>

#include "interp/interpreter.h"
#include "ir/build.h"
#include "ir/contains.h"
#include "ir/origin.h"
#include "ir/storage.h"
#include "ir/tensor_graph.h"
#include "ir/walk.h"
#include "runtime/exec/buffer.h"
#include "sinter/debug.h"
#include "sinter/error.h"

namespace sinter {
namespace tensor {
namespace {

using ir::Op;
using ir::UOp;
using runtime::Array;

std::vector<int64_t> sizes_of(UOp n) { return ir::mapped(n->shape, &Dim::value); }
std::vector<int64_t> unravel(int64_t element, const std::vector<int64_t>& sizes) {
  std::vector<int64_t> index(sizes.size());
  for (size_t i = sizes.size(); i-- > 0;) {
    index[i] = element % sizes[i];
    element /= sizes[i];
  }
  return index;
}
int64_t ravel_of(const std::vector<int64_t>& index, const std::vector<int64_t>& sizes) {
  int64_t element = 0;
  for (size_t i = 0; i < sizes.size(); ++i) element = element * sizes[i] + index[i];
  return element;
}

/// The element of a movement's source that element `index` of it is; false for what was padded.
bool move_down(UOp n, std::vector<int64_t>& index) {
  const std::vector<int64_t> from = sizes_of(n->src[0]);
  std::vector<int64_t> at(from.size());
  switch (n->op) {
    case Op::Reshape: at = unravel(ravel_of(index, sizes_of(n)), from); break;
    case Op::Permute:
      for (size_t i = 0; i < index.size(); ++i) at[n->ints()[i]] = index[i];
      break;
    case Op::Expand: {
      at.clear();
      for (size_t i = 0; i < index.size(); ++i)
        if (!ir::contains(n->ints(), static_cast<int64_t>(i))) at.push_back(index[i]);
      break;
    }
    case Op::Shrink:
      for (size_t i = 0; i < index.size(); ++i) at[i] = index[i] + n->region()[i].begin.value();
      break;
    case Op::Pad:
      for (size_t i = 0; i < index.size(); ++i) at[i] = index[i] - n->region()[i].begin.value();
      break;
    case Op::Flip:
      at = index;
      for (int64_t a : n->ints()) at[a] = from[a] - 1 - at[a];
      break;
    case Op::Window: {
      at = index;
      const ir::WindowAttr& w = n->get<ir::WindowAttr>();
      const auto axis = static_cast<size_t>(w.axis);
      at[axis] += index[axis + 1] * w.step;
      break;
    }
    default: throw InternalError("following a movement that is none");
  }
  for (size_t i = 0; i < at.size(); ++i)
    if (at[i] < 0 || at[i] >= from[i]) return false;
  index = std::move(at);
  return true;
}

/// An element of a value.
struct ElementOf {
  UOp node;
  std::vector<int64_t> index;
};

/// The values of a program, as far as they are no movements and no products that are summed at once: those are
/// computed per element.
class ProgramValues {
 public:
  ProgramValues(UOp root, std::span<const Array> memory) {
    const std::vector<UOp> order = ir::topological(std::span<const UOp>(&root, 1));
    std::unordered_map<const ir::Node*, int> uses;
    for (UOp n : order)
      for (UOp s : n->src) ++uses[s.get()];
    std::vector<UOp> asked;
    std::set<const ir::Node*> summed;
    for (UOp n : order)
      if (n->op == Op::Reduce && n->reduction().combine == ir::Combine::Add && n->src[0]->op == Op::Mul &&
          uses[n->src[0].get()] == 1)
        summed.insert(n->src[0].get());
    for (UOp n : order)
      if (!ir::is_movement(n->op) && !summed.contains(n.get())) asked.push_back(n);
    std::vector<Array> values = runtime::interpret(asked, {.params = memory});
    for (size_t i = 0; i < asked.size(); ++i) values_.emplace(asked[i].get(), std::move(values[i]));
  }

  /// 0 for what was padded.
  double at(ElementOf e) const {
    while (ir::is_movement(e.node->op)) {
      if (!move_down(e.node, e.index)) return 0;
      e.node = e.node->src[0];
    }
    if (const auto found = values_.find(e.node.get()); found != values_.end())
      return found->second.at(ravel_of(e.index, sizes_of(e.node))).as_double();
    return at({e.node->src[0], e.index}) * at({e.node->src[1], e.index});
  }

 private:
  std::unordered_map<const ir::Node*, Array> values_;
};

/// Follows elements that are not finite.
class OriginOfElement {
 public:
  OriginOfElement(UOp root, std::span<const Array> memory) : values_(root, memory) {}

  /// Where the element's value appeared; a null node if it lies in data or in a constant.
  ElementOf find(ElementOf e) {
    for (std::vector<ElementOf> open{std::move(e)}; !open.empty();) {
      ElementOf now = std::move(open.back());
      open.pop_back();
      bool padded = false;
      while (!padded && ir::is_movement(now.node->op)) {
        padded = !move_down(now.node, now.index);
        now.node = now.node->src[0];
      }
      if (padded || !seen_.emplace(now.node.get(), ravel_of(now.index, sizes_of(now.node))).second) continue;
      if (now.node->src.empty()) continue;
      const bool nan = std::isnan(values_.at(now));
      std::vector<ElementOf> bad;
      each_operand(now, [&](ElementOf operand) {
        if (!is_float(operand.node->dtype)) return;
        const double value = values_.at(operand);
        if (nan ? std::isnan(value) : !std::isfinite(value)) bad.push_back(std::move(operand));
      });
      if (bad.empty()) return now;
      open.insert(open.end(), bad.rbegin(), bad.rend());
    }
    return {};
  }

  double value(const ElementOf& e) const { return values_.at(e); }

 private:
  /// Calls f for the elements that element e is computed from.
  template <class F>
  void each_operand(const ElementOf& e, F f) {
    UOp n = e.node;
    const auto all = [&](UOp s) {
      const std::vector<int64_t> sizes = sizes_of(s);
      for (int64_t i = 0; i < runtime::count_of(sizes); ++i) f({s, unravel(i, sizes)});
    };
    switch (n->op) {
      case Op::Where: return f({n->src[values_.at({n->src[0], e.index}) != 0 ? 1 : 2], e.index});
      case Op::Custom: return f({n->src[n->integer()], e.index});
      case Op::Barrier: return f({n->src[0], e.index});
      case Op::After: return f(written(e));
      case Op::Reduce:
      case Op::Scan: return each_combined(e, f);
      case Op::Gather: {
        const auto axis = static_cast<size_t>(n->integer());
        const int64_t size = n->src[0]->shape[axis].value();
        ElementOf picked{n->src[0], e.index};
        const auto place = static_cast<int64_t>(values_.at({n->src[1], e.index}));
        picked.index[axis] = place < 0 ? place + size : place;
        if (picked.index[axis] >= 0 && picked.index[axis] < size) f(picked);
        return;
      }
      case Op::Scatter: f({n->src[0], e.index}); return all(n->src[2]);
      default:
        for (UOp s : n->src)
          if (s->shape == n->shape)
            f({s, e.index});
          else
            all(s);
    }
  }
  /// What a version has at that place.
  static ElementOf written(const ElementOf& e) {
    UOp n = e.node;
    if (n->src.size() == 1) return {n->src[0], e.index};
    std::vector<int64_t> inside;
    for (size_t i = 0; i < e.index.size(); ++i) {
      inside.push_back(e.index[i] - n->region()[i].begin.value());
      if (inside[i] < 0 || inside[i] >= n->src[1]->shape[i].value()) return {n->src[0], e.index};
    }
    return {n->src[1], inside};
  }
  template <class F>
  static void each_combined(const ElementOf& e, F f) {
    UOp n = e.node;
    const ir::Ints& axes = n->reduction().axes;
    const std::vector<int64_t> from = sizes_of(n->src[0]);
    std::vector<int64_t> along, index;
    size_t kept = 0;
    for (size_t i = 0; i < from.size(); ++i) {
      const bool reduced = ir::contains(axes, static_cast<int64_t>(i));
      if (n->op == Op::Scan)
        along.push_back(reduced ? e.index[i] + 1 : 1), index.push_back(reduced ? 0 : e.index[i]);
      else
        along.push_back(reduced ? from[i] : 1), index.push_back(reduced ? 0 : e.index[kept++]);
    }
    for (int64_t i = 0; i < runtime::count_of(along); ++i) {
      std::vector<int64_t> at = unravel(i, along);
      for (size_t k = 0; k < at.size(); ++k) at[k] += index[k];
      for (UOp s : n->src) f({s, at});
    }
  }

  const ProgramValues values_;
  std::set<std::pair<const ir::Node*, int64_t>> seen_;
};

bool of_gradient(const ir::NodeOrigin& o) {
  return !ir::differentiated_call(o).empty() || o.call == "backward" || o.call == "gradient";
}

[[noreturn]] void report(const ElementOf& e, double value, const ir::NodeOrigin& origin) {
  const std::string_view traced = ir::differentiated_call(origin);
  const Anomaly found{.op = std::string(ir::info(e.node->op).name),
                      .call = traced.empty() ? origin.call : std::string(traced),
                      .file = origin.file,
                      .line = origin.line,
                      .backward = of_gradient(origin),
                      .index = e.index,
                      .value = value};
  const std::string place =
      origin.call.empty() ? "outside of all calls" : fmt::format("{} at {}:{}", found.call, origin.file, origin.line);
  throw AnomalyError(
      fmt::format("{} has appeared in the {} pass: {} {} {}, of {}, is {} at [{}], and none of its operands there is",
                  std::isnan(value) ? "a NaN" : "an infinity", found.backward ? "backward" : "forward", found.op,
                  name_of(e.node->dtype), to_string(e.node->shape), place, value, fmt::join(e.index, ", ")),
      found);
}

}  // namespace

/// The program in a graph of its own, since nodes release their sources when they are stored.
struct AnomalySearch::Copy {
  struct Result {
    ir::NodeRef node;
    UOp copy;
  };
  struct Source {
    ir::NodeRef node;
    std::optional<Array> before;  ///< what the plan overwrites
  };
  ir::Arena graph;
  std::vector<Result> results;
  std::vector<Source> sources;  ///< by slot of the copy
  std::unordered_map<const ir::Node*, const ir::NodeOrigin*> origins;

  static Array read(UOp n) {
    return Array::read(n->dtype, sizes_of(n), static_cast<const runtime::Buffer&>(*n->storage()));
  }
  std::vector<Array> memory() const {
    return ir::mapped(sources, [&](const Source& s) { return s.before ? *s.before : read(s.node.get()); });
  }
};

AnomalySearch::AnomalySearch(const plan::PlanInstance& instance) : copy_(std::make_unique<Copy>()) {
  const plan::CanonicalProgram& plan = instance.program;
  // Not what handles of temporaries hold: the branch of a where(), perhaps.
  std::vector<uint8_t> result(plan.positions.size());
  for (int32_t root : plan.roots) result[root] = 1;
  std::set<const ir::Node*> losses;
  for (UOp n : plan.nodes)
    if (n->state.loss) losses.insert(n->state.loss);
  std::vector<UOp> stored;
  for (size_t i = 0; i < plan.nodes.size(); ++i) {
    const auto position = static_cast<size_t>(plan.position_of[i]);
    if (instance.entry->target_of[position] >= 0 && (result[position] || losses.contains(plan.nodes[i].get())))
      stored.push_back(plan.nodes[i]);
  }
  std::ranges::sort(stored, [](UOp a, UOp b) { return a->id < b->id; });
  const auto overwritten = [&](UOp n) {
    return std::ranges::any_of(instance.entry->targets, [&](const plan::StoreTarget& t) {
      return t.home >= 0 && plan.storages[t.home].storage == n->storage();
    });
  };
  std::unordered_map<const ir::Node*, UOp> copies;
  for (UOp n : ir::topological(stored, [](UOp m) { return !m->storage(); })) {
    UOp& made = copies[n.get()];
    if (n->storage()) {
      made = copy_->graph.make(
          {Op::Param, n->dtype, n->shape, {}, static_cast<int64_t>(copy_->sources.size()), n->device});
      copy_->sources.push_back({ir::NodeRef(n), overwritten(n) ? std::optional(Copy::read(n)) : std::nullopt});
    } else {
      auto src = ir::mapped<ir::Sources>(n->src, [&](UOp s) { return copies.at(s.get()); });
      made = copy_->graph.make({n->op, n->dtype, n->shape, std::move(src), n->attr, n->device});
    }
    copy_->origins.emplace(made.get(), n->state.origin);
  }
  for (UOp n : stored)
    if (is_float(n->dtype)) copy_->results.push_back({ir::NodeRef(n), copies.at(n.get())});
}
AnomalySearch::~AnomalySearch() = default;

void AnomalySearch::check() const {
  std::vector<Array> memory;
  for (const Copy::Result& r : copy_->results) {
    if (!r.node->storage() || !r.node->storage()->error.empty()) continue;
    const Array value = Copy::read(r.node.get());
    std::optional<OriginOfElement> origin;
    for (int64_t i = 0; i < value.numel(); ++i) {
      if (std::isfinite(value.at(i).as_double())) continue;
      if (memory.empty()) memory = copy_->memory();
      if (!origin) origin.emplace(r.copy, memory);
      const ElementOf found = origin->find({r.copy, unravel(i, sizes_of(r.copy))});
      if (found.node) report(found, origin->value(found), *copy_->origins.at(found.node.get()));
    }
  }
}

}  // namespace tensor

inline namespace v0 {
namespace debug {

detect_anomaly::detect_anomaly(bool on) : before_(ir::traces_gradients()) { ir::trace_gradients(on); }
detect_anomaly::~detect_anomaly() { ir::trace_gradients(before_); }
bool detect_anomaly::enabled() { return ir::traces_gradients(); }

}  // namespace debug
}  // namespace v0
}  // namespace sinter
