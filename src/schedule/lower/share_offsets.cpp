// Every index of a LOAD or STORE is a base plus a constant. Kernels whose bases are all equal form a group. Constants
// that differ within the group become arguments. Constants with the same values in every kernel share an argument.
#include "schedule/lower/kernel_passes.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "codegen/kernel/access.h"
#include "ir/build.h"
#include "ir/rebuild.h"
#include "rewrite/index_math.h"
#include "rewrite/linear.h"
#include "schedule/lower/dedup_kernels.h"

namespace sinter::schedule {
namespace {

using codegen::is_access;
using codegen::Kernel;

constexpr size_t kFewBodies = 8;  ///< up to this many bodies are compiled separately
constexpr size_t kFewOuter = 2;   ///< the same where the constants that differ belong to outer dims

/// Per constant of a kernel, whether its dim is the innermost one, whose neighbors vectors load.
std::vector<bool> innermost_of(const Kernel& kernel) {
  std::vector<bool> innermost;
  for (UOp n : nodes_of(kernel))
    if (is_access(n)) {
      innermost.resize(innermost.size() + codegen::indices_of(n).size(), false);
      if (!codegen::indices_of(n).empty()) innermost.back() = true;
    }
  return innermost;
}

/// The constants in the kernel's indices, per access and dim, in node order.
std::vector<int64_t> constants_of(const Kernel& kernel) {
  std::vector<int64_t> constants;
  for (UOp n : nodes_of(kernel))
    if (is_access(n))
      for (UOp i : codegen::indices_of(n)) constants.push_back(ir::linear_of(i).constant);
  return constants;
}

/// Replaces constant i by the kernel's additional argument `which[i]`, unless that is -1. The result is in a new arena.
Kernel with_arguments(const Kernel& kernel, const std::vector<int>& which, int count) {
  std::unordered_map<const ir::Node*, size_t> first;  // per access: the number of its first constant
  size_t next = 0;
  for (UOp n : nodes_of(kernel))
    if (is_access(n)) first[n.get()] = std::exchange(next, next + codegen::indices_of(n).size());
  Kernel out = kernel;
  out.graph = std::make_shared<ir::Arena>();
  ir::Graph& g = *out.graph;
  ir::IndexMath math(g);
  for (UOp* sink : {&out.sink, &out.epilogue_sink}) {
    if (!*sink) continue;
    *sink = ir::rebuild(g, *sink, [&](UOp n, const std::vector<UOp>& src) -> UOp {
      if (!is_access(n)) return {};
      std::vector<UOp> now = src;
      for (size_t d = 0; d < codegen::indices_of(n).size(); ++d) {
        const int argument = which[first.at(n.get()) + d];
        if (argument < 0) continue;
        ir::LinearExpr base = ir::linear_of(src[1 + d]);
        base.constant = 0;
        UOp offset = ir::argument(g, static_cast<int64_t>(kernel.args.size()) + argument, DType::Index);
        now[1 + d] = math.add(ir::to_uop(g, base), offset);
      }
      return g.make({n->op, n->dtype, n->shape, now, n->attr, n->device});
    });
  }
  out.args.resize(kernel.args.size() + static_cast<size_t>(count), DType::Index);
  return out;
}

Kernel without_constants(const Kernel& kernel, size_t constants) {
  std::vector<int> which(constants);
  for (size_t i = 0; i < constants; ++i) which[i] = static_cast<int>(i);
  return with_arguments(kernel, which, static_cast<int>(constants));
}

/// Kernels with equal bases, and their constants.
struct OffsetGroup {
  Kernel base;
  std::vector<size_t> kernels;
  std::vector<std::vector<int64_t>> constants;
};

std::vector<OffsetGroup> groups_of(const std::vector<Kernel>& kernels) {
  std::vector<OffsetGroup> groups;
  std::unordered_multimap<uint64_t, size_t> known;
  for (size_t k = 0; k < kernels.size(); ++k) {
    std::vector<int64_t> constants = constants_of(kernels[k]);
    Kernel base = without_constants(kernels[k], constants.size());
    const uint64_t hash = hash_kernel(base);
    auto [it, last] = known.equal_range(hash);
    while (it != last && !same_kernel(groups[it->second].base, base)) ++it;
    if (it == last) {
      it = known.emplace(hash, groups.size());
      groups.push_back({std::move(base), {}, {}});
    }
    groups[it->second].kernels.push_back(k);
    groups[it->second].constants.push_back(std::move(constants));
  }
  return groups;
}

/// The arguments that make one kernel of a group: constants with equal values everywhere share one.
struct OffsetArguments {
  std::vector<int> which;                    ///< per constant; -1 where it is the same in all kernels
  std::vector<std::vector<int64_t>> values;  ///< per argument and kernel of the group
  bool outer = true;                         ///< no constant of an innermost dim is among them
};

OffsetArguments arguments_of(const OffsetGroup& group) {
  OffsetArguments out;
  std::map<std::vector<int64_t>, int> known;
  const std::vector<bool> innermost = innermost_of(group.base);
  for (size_t i = 0; i < innermost.size(); ++i) {
    std::vector<int64_t> values;
    for (const std::vector<int64_t>& constants : group.constants) values.push_back(constants[i]);
    if (std::equal(values.begin() + 1, values.end(), values.begin())) {
      out.which.push_back(-1);
      continue;
    }
    const auto [it, fresh] = known.try_emplace(values, static_cast<int>(out.values.size()));
    out.which.push_back(it->second);
    if (fresh) out.values.push_back(std::move(values));
    out.outer &= !innermost[i];
  }
  return out;
}

}  // namespace

void share_offsets(std::vector<Kernel>& kernels, runtime::Plan& plan) {
  if (kernels.size() <= kFewOuter) return;
  std::vector<size_t> stands_for(kernels.size());
  for (size_t k = 0; k < kernels.size(); ++k) stands_for[k] = k;
  std::vector<std::vector<int64_t>> offsets(kernels.size());
  for (const OffsetGroup& group : groups_of(kernels)) {
    if (group.kernels.size() <= kFewOuter) continue;
    const OffsetArguments arguments = arguments_of(group);
    if (group.kernels.size() <= (arguments.outer ? kFewOuter : kFewBodies)) continue;
    const size_t first = group.kernels[0];
    kernels[first] = with_arguments(kernels[first], arguments.which, static_cast<int>(arguments.values.size()));
    for (size_t m = 0; m < group.kernels.size(); ++m) {
      stands_for[group.kernels[m]] = first;
      for (const std::vector<int64_t>& values : arguments.values) offsets[group.kernels[m]].push_back(values[m]);
    }
  }
  std::vector<int> numbers(kernels.size());
  size_t left = 0;
  for (size_t k = 0; k < kernels.size(); ++k) {
    if (stands_for[k] != k) continue;
    numbers[k] = static_cast<int>(left);
    if (left != k) {
      kernels[left] = std::move(kernels[k]);
      plan.work[left] = std::move(plan.work[k]);
    }
    ++left;
  }
  kernels.erase(kernels.begin() + static_cast<std::ptrdiff_t>(left), kernels.end());
  plan.work.erase(plan.work.begin() + static_cast<std::ptrdiff_t>(left), plan.work.end());
  for (runtime::PlanStep& step : plan.steps) {
    const auto k = static_cast<size_t>(step.program);
    step.program = numbers[stands_for[k]];
    step.offsets = std::move(offsets[k]);
    offsets[k] = step.offsets;  // other steps may run it too
  }
}

}  // namespace sinter::schedule
