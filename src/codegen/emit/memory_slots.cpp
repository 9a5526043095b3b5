// First come, first served: tiles are in the order in which the kernel fills them.
#include "codegen/emit/memory_slots.h"

#include "codegen/kernel/access.h"
#include "ir/ceil_div.h"
#include "ir/walk.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

using runtime::kCacheLine;  // every tile is aligned to it

void assign_slots(const Kernel& kernel, const std::vector<Tile>& tiles, int64_t fast_bytes, Instructions& code) {
  code.params = kernel.params;
  code.slots.resize(static_cast<size_t>(kernel.params));
  for (UOp n : ir::topological(kernel.sink)) {
    if (n->op == Op::Param) code.slots.at(static_cast<size_t>(n->integer())).dtype = n->dtype;
    if (n->op == Op::Store) code.slots.at(static_cast<size_t>(slot_of(n))).written = true;
  }
  int64_t used = 0;
  for (const Tile& t : tiles) {
    const int64_t bytes = round_up(t.size * static_cast<int64_t>(size_of(t.dtype)), kCacheLine);
    MemorySlot slot{t.dtype, true, t.size};
    if (used + bytes <= fast_bytes) {
      used += bytes;
    } else {
      slot.offset = code.scratch;
      code.scratch += bytes;
    }
    code.slots.push_back(slot);
  }
}

}  // namespace sinter::codegen
