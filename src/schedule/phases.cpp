// Finds the strides, then replaces ranges; indices are simplified by whoever reads the kernel (codegen.h).
#include "schedule/phases.h"

#include <algorithm>
#include <map>
#include <vector>

#include "codegen/ranges.h"
#include "rewrite/linear.h"
#include "rewrite/view.h"
#include "uop/build.h"
#include "uop/rebuild.h"
#include "uop/walk.h"

namespace sinter::schedule {
namespace {

using ir::Op;
using ir::UOp;

constexpr int64_t kLongest = 8;  ///< stride: each of its phases is a loop of its own

/// Of outer ranges by id: the k by which places in their summed values are divided; 0 where there are several.
std::map<int, int64_t> strides_of(UOp sink) {
  std::vector<UOp> sums;
  for (UOp n : ir::topological(sink))
    if (n->op == Op::Reduce) sums.push_back(n);
  std::map<int, int64_t> strides;
  for (UOp n : ir::topological(sums)) {
    int64_t k = 0;
    if (n->dtype != DType::Index || (n->op != Op::IDiv && n->op != Op::Mod) || !ir::constant_of(n->src[1], k) || k < 2) continue;
    for (const ir::Term& t : ir::linear_of(n->src[0]).terms) {
      if (t.atom->op != Op::Range || !codegen::is_outer(t.atom) || t.factor % k == 0) continue;
      const auto [it, first] = strides.try_emplace(codegen::range_id(t.atom), k);
      if (it->second != k || t.factor != 1) it->second = 0;
    }
  }
  return strides;
}

}  // namespace

void split_phases(codegen::Kernel& kernel) {
  if (kernel.finish) return;  // whose ranges are numbered after those of the sink
  std::map<int, int64_t> strides = strides_of(kernel.sink);
  std::erase_if(strides, [&](const auto& s) {
    const Dim& size = kernel.outer[static_cast<size_t>(s.first)];
    return s.second == 0 || s.second > kLongest || size.symbolic() || size.value() % s.second || size.value() == s.second;
  });
  if (strides.empty()) return;

  ir::Graph& g = *kernel.graph;
  std::vector<Dim> outer;
  std::vector<UOp> places;  // of the ranges that were
  const auto open = [&](const Dim& size) {
    outer.push_back(size);
    return ir::range(ir::extent_of(g, size), static_cast<int>(outer.size()) - 1, ir::AxisKind::Outer);
  };
  for (size_t id = 0; id < kernel.outer.size(); ++id) {
    const auto it = strides.find(static_cast<int>(id));
    if (it == strides.end()) {
      places.push_back(open(kernel.outer[id]));
      continue;
    }
    const int64_t k = it->second;
    UOp whole = open(kernel.outer[id].value() / k), phase = open(k);
    places.push_back(whole * ir::constant(g, DType::Index, k) + phase);
  }
  const int added = static_cast<int>(outer.size() - kernel.outer.size());
  kernel.sink = ir::rebuild(g, kernel.sink, [&](UOp n, const std::vector<UOp>& src) -> UOp {
    if (n->op != Op::Range) return {};
    const int id = codegen::range_id(n);
    return codegen::is_outer(n) ? places[static_cast<size_t>(id)] : ir::range(src[0], id + added, ir::AxisKind::Inner);
  });
  kernel.outer = std::move(outer);
}

}  // namespace sinter::schedule
