// A count per thread, and the set of call sites.
#include "tensor/core/unchosen_sizes.h"

#include <unordered_set>

namespace sinter::tensor {
namespace {

thread_local int own = 0;

/// Guarded by the graph's mutex; never destroyed (SEMANTICS V7).
std::unordered_set<const ir::NodeOrigin*>& sites() {
  static auto* all = new std::unordered_set<const ir::NodeOrigin*>;
  return *all;
}

}  // namespace

OwnSizes::OwnSizes() { ++own; }
OwnSizes::~OwnSizes() { --own; }
bool sizes_are_own() { return own > 0; }

void mark_sized_by_data(const ir::NodeOrigin& site) { sites().insert(&site); }
bool sized_by_data(const ir::NodeOrigin& site) { return sites().contains(&site); }

}  // namespace sinter::tensor
