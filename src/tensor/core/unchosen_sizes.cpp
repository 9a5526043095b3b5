// A count per thread, and the set of call sites.
#include "tensor/core/unchosen_sizes.h"

#include <unordered_set>

#include "tensor/core/cell.h"

namespace sinter::tensor {
namespace {

thread_local int own = 0;

/// Guarded by the graph's mutex; never destroyed (SEMANTICS V7).
std::unordered_set<const NodeOrigin*>& sites() {
  static auto* all = new std::unordered_set<const NodeOrigin*>;
  return *all;
}

}  // namespace

OwnSizes::OwnSizes() { ++own; }
OwnSizes::~OwnSizes() { --own; }
bool sizes_are_own() { return own > 0; }

void mark_sized_by_data(const NodeOrigin& site) { sites().insert(&site); }
bool sized_by_data(const NodeOrigin& site) { return sites().contains(&site); }
void refuse_size_by_data(std::string_view size, std::string_view instead) {
  if (const Observer* observer = Observer::current())
    usage_error("{} depends on the data, and {}; use {}", size, observer->one_program(), instead);
}

}  // namespace sinter::tensor
