// Walks both graphs in the same order: equal nodes stand at equal places.
#include "schedule/body.h"

#include <vector>

#include "uop/walk.h"

namespace sinter::schedule {

using ir::mix;
using ir::UOp;

uint64_t hash_body(const codegen::Kernel& kernel) {
  std::vector<uint64_t> hashes;
  for (UOp n : ir::topological(kernel.sink)) {
    uint64_t h = mix(mix(static_cast<uint64_t>(n->op), static_cast<uint64_t>(n->dtype)),
                     mix(ir::hash_of(n->attr), ir::hash_of(n->shape)));
    for (UOp s : n->src) h = mix(h, hashes[s->position]);
    hashes.push_back(h);
  }
  return hashes.back();
}

bool same_body(const codegen::Kernel& a, const codegen::Kernel& b) {
  const std::vector<UOp> x = ir::topological(a.sink), y = ir::topological(b.sink);
  if (x.size() != y.size()) return false;
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i]->op != y[i]->op || x[i]->dtype != y[i]->dtype || x[i]->src.size() != y[i]->src.size()) return false;
    if (!(x[i]->attr == y[i]->attr) || !(x[i]->shape == y[i]->shape)) return false;
    for (size_t k = 0; k < x[i]->src.size(); ++k)
      if (x[i]->src[k]->position != y[i]->src[k]->position) return false;
  }
  return true;
}

}  // namespace sinter::schedule
