// A node is evaluated once per point of the ranges that it depends on.
#include "schedule/work.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>

#include "uop/walk.h"

namespace sinter::schedule {
namespace {

using ir::Op;
using ir::UOp;
using Ranges = std::vector<uint64_t>;  ///< node ids, ascending

Ranges merge(const Ranges& a, const Ranges& b) {
  Ranges out;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}

int64_t bound_of(UOp bound) { return bound->op == Op::Const ? bound->scalar().as_int() : bound->get<Var>().max(); }

double operations(UOp n) {
  if (n->op == Op::Fma) return 2;
  if (n->op == Op::Reduce) return n->reduction().combine == ir::Combine::Dot ? 2 : 1;
  return ir::is_alu(n->op) && n->op != Op::Cast && n->op != Op::Bitcast && n->op != Op::Check ? 1 : 0;
}

}  // namespace

runtime::Work work_of(const codegen::Kernel& kernel) {
  runtime::Work work;
  work.touched.resize(static_cast<size_t>(kernel.params));
  std::unordered_map<uint64_t, double> extent;
  std::unordered_map<UOp, Ranges> depends;
  auto points = [&](const Ranges& ranges) {
    double count = 1;
    for (uint64_t r : ranges) count *= extent.at(r);
    return count;
  };
  for (UOp n : ir::topological(kernel.sink)) {
    Ranges all;
    for (UOp s : n->src) all = merge(all, depends[s]);
    if (n->op == Op::Range) {
      extent[n->id] = static_cast<double>(bound_of(n->src[0]));
      all = {n->id};
    }
    if (is_float(n->dtype)) work.flops += operations(n) * points(all);
    if (n->op == Op::Load || n->op == Op::Store) {
      Ranges index;  // of the element, not of what is stored there
      for (size_t i = 1; i <= n->src[0]->rank(); ++i) index = merge(index, depends[n->src[i]]);
      work.touched[static_cast<size_t>(n->src[0]->integer())] += static_cast<int64_t>(std::min(points(index), 1e18));
    }
    if (n->op == Op::Reduce)
      for (size_t i = static_cast<size_t>(ir::value_count(n->reduction().combine)); i < n->src.size(); ++i)
        std::erase(all, n->src[i]->id);
    depends[n] = std::move(all);
  }
  return work;
}

}  // namespace sinter::schedule
