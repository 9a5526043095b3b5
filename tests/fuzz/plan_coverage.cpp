// Names of forms, and how a plan shows that it has one.
#include "fuzz/plan_coverage.h"

#include <fmt/format.h>

#include <set>

namespace fuzz {

using namespace sinter;
using namespace sinter::schedule;
using ir::Combine;

namespace {

constexpr int64_t kRowBytes = 16 << 10;  ///< beyond it reductions are joined (schedule/simplify/fused_reductions.cpp)

/// Those behind "merged:" are the partition's own words.
constexpr const char* kForms[] = {
    "Moments",
    "ExpSum",
    "ArgMax or ArgMin of a row over 16 KiB",
    "sum in blocks",
    "sum in blocks, the last one short",
    "SCAN in blocks",
    "sum across outer ranges",
    "sum across outer ranges, the last block short",
    "several sums across outer ranges",
    "several accumulators across outer ranges",
    "late value made of such a sum",
    "kernel interchanged",
    "sum across the ranges that others go across",
    "kernels that met",
    "merged: same outer ranges",
    "merged: rows of one are loops of the other",
    "merged: in the first task of a range that it lacks",
    "merged: sums across the outer ranges of the other",
    "launch of several kernels",
    "launch of several bodies",
    "kernel with several outputs",
};

void see_node(const FusionNode& s, std::set<std::string>& seen) {
  if (s.kind == FusionNodeKind::Scan && s.uop->reduction().tree.block > 0) seen.insert("SCAN in blocks");
  if (s.kind != FusionNodeKind::Reduce) return;
  const ir::ReduceAttr& attr = s.uop->reduction();
  const ir::UOp x = s.uop->src[0];
  int64_t length = 1;
  for (int64_t a : attr.axes) length *= x->shape[static_cast<size_t>(a)].bound();
  if (attr.combine == Combine::Moments) seen.insert("Moments");
  if (attr.combine == Combine::ExpSum) seen.insert("ExpSum");
  if ((attr.combine == Combine::ArgMax || attr.combine == Combine::ArgMin) &&
      length * static_cast<int64_t>(size_of(x->dtype)) > kRowBytes)
    seen.insert("ArgMax or ArgMin of a row over 16 KiB");
  if (attr.tree.mma) seen.insert(kTensorCoreForm);
  if (attr.tree.block == 0) return;
  seen.insert("sum in blocks");
  if (length % attr.tree.block) seen.insert("sum in blocks, the last one short");
}

void see_kernel(const Partition& p, const FusionGroup& k, std::set<std::string>& seen) {
  if (k.outputs.size() > 1) seen.insert("kernel with several outputs");
  if (k.blocks.axis < 0) return;
  const size_t sums = split_reductions_of(k).size();
  for (const auto& [s, ranges] : split_reductions_of(k))
    if (ir::accumulator_count(p.graph.nodes[static_cast<size_t>(s)].uop->reduction().combine) > 1)
      seen.insert("several accumulators across outer ranges");
  seen.insert("sum across outer ranges");
  if (sums > 1) seen.insert("several sums across outer ranges");
  if (k.epilogue.size() > sums) seen.insert("late value made of such a sum");
  if (p.space.bound(k.blocks.axis) % k.blocks.size) seen.insert("sum across outer ranges, the last block short");
}

}  // namespace

void PlanCoverage::after_schedule(const PlanGraph&, const Partition& cut, const KernelSchedule& made, Policy policy) {
  if (policy != Policy::Fused) return;
  std::set<std::string> seen;
  for (const FusionNode& s : cut.graph.nodes) see_node(s, seen);
  for (const FusionGroup& k : cut.kernels) see_kernel(cut, k, seen);
  for (const FusionDecision& d : cut.decisions)
    for (auto [reason, form] : {std::pair{"kernel interchanged", "kernel interchanged"},
                                {"across the ranges", "sum across the ranges that others go across"}})
      if (std::string_view(d.reason).starts_with(reason)) seen.insert(form);
  for (const KernelMerge& m : cut.merges) {
    seen.insert("kernels that met");
    seen.insert(fmt::format("merged: {}", m.why));
  }
  size_t step = 0;
  for (int n : made.plan.launches) {
    std::set<int> bodies;
    for (int i = 0; i < n; ++i) bodies.insert(made.plan.steps[step++].program);
    if (n > 1) seen.insert("launch of several kernels");
    if (bodies.size() > 1) seen.insert("launch of several bodies");
  }
  for (const std::string& form : seen) ++plans_[form];
}

int PlanCoverage::count(const char* form) const {
  const auto found = plans_.find(form);
  return found == plans_.end() ? 0 : found->second;
}

std::string PlanCoverage::table() const {
  std::string text;
  for (const auto& [form, plans] : plans_) text += fmt::format("{:56}{:9}\n", form, plans);
  return text;
}

std::string PlanCoverage::rare(int least) const {
  std::string text;
  for (const char* form : kForms) {
    const int plans = count(form);
    if (plans < least) text += fmt::format("{}: {}\n", form, plans);
  }
  return text;
}

}  // namespace fuzz
