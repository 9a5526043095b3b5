// Groups plans by keys without sizes. Only plans that are made get here, not plans found in the cache.
#include "tensor/eval/recompile_notice.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "ir/contains.h"
#include "runtime/base/log.h"
#include "tensor/core/unchosen_sizes.h"

namespace sinter::tensor {
namespace {

using ir::NodeOrigin;
using runtime::Hash128;

constexpr size_t kMinPlans = 3;      ///< two sizes are common: an epoch ends with a smaller batch
constexpr size_t kMaxGroups = 1024;  ///< groups remembered

std::string call_site(const NodeOrigin& o) { return fmt::format("{} at {}:{}", o.call, o.file, o.line); }

/// Hash of a position without its operands, its fixed sizes, and what follows from them. The line that made an input
/// does not count.
uint64_t without_sizes(const plan::Position& p) {
  const ir::UOp n = p.node;
  uint64_t h = ir::mix(static_cast<uint64_t>(n->dtype), n->device.id());
  for (const Dim& d : n->shape) h = ir::mix(h, d.symbolic() ? ir::order_hash_of(d) : 0);
  if (p.slot >= 0) return h;
  h = ir::mix(ir::mix(h, static_cast<uint64_t>(n->op)), reinterpret_cast<uintptr_t>(n->state.origin));
  h = ir::mix(h, n->state.leaf ? n->state.leaf_id : 0);
  if (const auto* reduction = std::get_if<ir::ReduceAttr>(&n->attr))
    return ir::mix(h,
                   ir::hash_of(ir::Attr(ir::ReduceAttr{reduction->combine, reduction->axes, {}, reduction->result})));
  return std::holds_alternative<ir::Scalar>(n->attr) ? h : ir::mix(h, ir::order_hash_of(n->attr));
}

/// Hash of the shapes of all nodes, in any order.
uint64_t sizes_of(const plan::CanonicalProgram& plan) {
  uint64_t sum = 0;
  for (const plan::Position& p : plan.positions) sum += ir::mix(1, ir::order_hash_of(p.node->shape));
  return sum;
}

}  // namespace

/// Plans that differ in sizes only.
struct RecompileNotice::ProgramGroup {
  std::vector<PlanInput> first;  ///< of the first plan
  uint64_t newest = 0;           ///< of the first plan
  std::vector<Hash128> plans;
  std::vector<uint64_t> sizes;  ///< of each plan, as sizes_of() gives them
  double seconds = 0;           ///< compile time of all plans

  /// Whether the size differs because the data change, and not because another existing tensor was read.
  bool size_varies(const std::vector<PlanInput>& now) const {
    bool another = false;  // an old tensor in place of another
    for (const PlanInput& s : now) {
      if (std::ranges::any_of(first, [&](const PlanInput& f) { return f.same(s); })) return true;
      another |= s.value <= newest && !has_shape(first, s.shape);
    }
    return !another;
  }

  std::string text(const NodeOrigin& site, const std::vector<PlanInput>& now) const {
    std::string changed = "a size has changed", size = "the size", where = "where the tensor is made";
    for (const PlanInput& is : now) {
      if (has_shape(first, is.shape)) continue;
      const auto was = std::ranges::find_if(first, [&](const PlanInput& f) {
        return f.origin == is.origin && f.shape.rank() == is.shape.rank() && !has_shape(now, f.shape);
      });
      if (was == first.end()) continue;
      size_t a = 0;
      while (was->shape[a] == is.shape[a]) ++a;
      size = to_string(is.shape[a]);
      if (sized_by_data(*is.origin)) return by_data(site, to_string(was->shape[a]), size, call_site(*is.origin));
      changed = fmt::format("axis {} of a tensor was {} and is {}", a, to_string(was->shape[a]), size);
      if (!is.origin->call.empty()) where = call_site(*is.origin);
      break;
    }
    return said(
        site, changed,
        fmt::format("A Var makes it one program for all sizes: Var n(\"n\", 1, LARGEST), then n({}) in place of "
                    "{}, {}",
                    size, size, where));
  }

 private:
  std::string said(const NodeOrigin& site, const std::string& changed, const std::string& advice) const {
    return fmt::format(
        "sinter: {}: {} programs that differ in sizes only were compiled, in {:.2f} s, and each new size is one more: "
        "{}. {}. SINTER_NOTICES=0 leaves this out.",
        call_site(site), plans.size(), seconds, changed, advice);
  }
  /// No Var stands for a number that the data decide.
  std::string by_data(const NodeOrigin& site, const std::string& was, const std::string& is,
                      const std::string& where) const {
    return said(site, fmt::format("the elements that a mask selects were {} and are {}, in {}", was, is, where),
                "where(mask, x, 0), sums of x * mask, or masked_scatter are one program for all masks");
  }
  static bool has_shape(const std::vector<PlanInput>& all, const Shape& shape) {
    return std::ranges::any_of(all, [&](const PlanInput& s) { return s.shape == shape; });
  }
};

/// Guarded by the graph's mutex; never destroyed (SEMANTICS V7).
struct RecompileNotice::Registry {
  std::unordered_map<uint64_t, ProgramGroup> groups;
  std::unordered_set<const NodeOrigin*> reported;  ///< call sites

  static Registry& get() {
    static auto* known = new Registry;
    return *known;
  }
};

RecompileNotice::RecompileNotice(const plan::PlanInstance& instance)
    : site_(ir::current_origin()), key_(instance.plan_key.hash) {
  enabled_ = runtime::logging(0) && !instance.copies && !sizes_are_own() && !site_.call.empty() &&
             !Registry::get().reported.contains(&site_);
  if (!enabled_) return;
  collect_inputs(instance.program);
  group_ = group_of(instance);
  sizes_ = sizes_of(instance.program);
}

void RecompileNotice::collect_inputs(const plan::CanonicalProgram& plan) {
  for (const plan::StorageUse& s : plan.storages)
    inputs_.push_back({s.node->id, 0, s.node->shape, s.node->state.origin});
  for (size_t i = 0; i < plan.nodes.size(); ++i) {
    const ir::UOp n = plan.nodes[i];
    newest_ = std::max(newest_, n->id);
    const int32_t slot = plan.positions[plan.position_of[i]].slot;
    if (slot >= 0 && n->state.leaf) inputs_[slot].parameter = n->state.leaf_id;
  }
}

/// Equal for all programs that differ in sizes only. The order of commutative operands depends on their sizes
/// (SEMANTICS N4), and so do slot numbers; neither enters the hash.
uint64_t RecompileNotice::group_of(const plan::PlanInstance& instance) const {
  const plan::CanonicalProgram& plan = instance.program;
  std::vector<uint64_t> hash(plan.positions.size());
  for (size_t i = 0; i < hash.size(); ++i) {
    const plan::Position& p = plan.positions[i];
    uint64_t& h = hash[i] = without_sizes(p);
    if (p.slot >= 0) {
      h = ir::mix(h, inputs_[p.slot].parameter);
      continue;
    }
    std::vector<uint64_t> operands;
    for (const plan::SourceRef s : plan.sources_of(p)) operands.push_back(s.constant() ? 0 : hash[s.position()]);
    if (ir::has(p.node->op, ir::kCommutative)) std::ranges::sort(operands);
    for (const uint64_t o : operands) h = ir::mix(h, o);
  }
  uint64_t all = ir::mix(ir::mix(instance.salt.low, hash.size()), reinterpret_cast<uintptr_t>(&site_));
  for (const int32_t root : plan.roots) {
    all = ir::mix(all, hash[root]);
    if (inputs_.empty()) all = ir::mix(all, ir::hash_of(plan.positions[root].node->shape));
  }
  return all;
}

void RecompileNotice::record_compile(double seconds) && {
  Registry& known = Registry::get();
  if (!enabled_ || known.reported.contains(&site_)) return;
  if (known.groups.size() >= kMaxGroups && !known.groups.contains(group_)) known.groups.clear();
  ProgramGroup& group = known.groups[group_];
  if (ir::contains(group.plans, key_)) return;  // a constant has changed, or the plan was evicted
  if (ir::contains(group.sizes, sizes_))
    return;  // what differs is no size: the order of operands, or what outlives the plan
  if (group.plans.empty())
    group.first = std::move(inputs_), group.newest = newest_;
  else if (!group.size_varies(inputs_))
    return;
  group.plans.push_back(key_);
  group.sizes.push_back(sizes_);
  group.seconds += seconds;
  if (group.plans.size() < kMinPlans) return;
  runtime::log(0, group.text(site_, inputs_));
  known.reported.insert(&site_);
  known.groups.erase(group_);
}

}  // namespace sinter::tensor
