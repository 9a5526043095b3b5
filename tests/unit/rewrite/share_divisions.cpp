// Two walks: collect the existing quotients, then replace, sources first.
#include "unit/rewrite/share_divisions.h"

#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "ir/build.h"
#include "ir/walk.h"
#include "rewrite/index_math.h"

namespace sinter::ir {
namespace {

bool is_division(UOp u) { return u->dtype == DType::Index && (u->op == Op::IDiv || u->op == Op::Mod); }

}  // namespace

std::vector<UOp> share_divisions(Graph& g, std::span<const UOp> roots) {
  const std::vector<UOp> order = topological(roots);
  std::unordered_set<const Node*> there;
  for (UOp u : order)
    if (is_division(u)) there.insert(u.get());
  IndexMath math(g);
  std::unordered_map<const Node*, UOp> final;
  // Rebuilds from replaced nodes: a quotient may itself contain a Mod that was replaced.
  auto replaced = [&](UOp root) {
    for (UOp u : topological(root)) {
      if (final.contains(u.get())) continue;
      std::vector<UOp> src;
      for (UOp s : u->src) src.push_back(final.at(s.get()));
      final.emplace(u.get(), src == u->src ? u : with_sources(g, u, src));
    }
    return final.at(root.get());
  };
  for (UOp u : order) {
    if (final.contains(u.get())) continue;
    int64_t d;
    if (is_division(u) && u->op == Op::Mod && constant_of(u->src[1], d) && d > 0) {
      UOp quotient = math.div(u->src[0], u->src[1]);
      bool free = true;
      for (UOp q : topological(quotient)) free &= !is_division(q) || (there.contains(q.get()) && !(q == u));
      if (free) {
        UOp x = replaced(u->src[0]);
        final.emplace(u.get(), x - replaced(quotient) * static_cast<double>(d));
        continue;
      }
    }
    replaced(u);
  }
  std::vector<UOp> result;
  for (UOp r : roots) result.push_back(final.at(r.get()));
  return result;
}

}  // namespace sinter::ir
