// No Opt yet: loops run as the kernel's ranges stand, vectors come from the Trees of the reductions alone.
#include "codegen/heuristic.h"

namespace sinter::codegen {

std::vector<Opt> heuristic(const Kernel&, const runtime::Target&) { return {}; }

}  // namespace sinter::codegen
