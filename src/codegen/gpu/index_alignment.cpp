#include "codegen/gpu/index_alignment.h"

#include <algorithm>
#include <bit>

namespace sinter::codegen {

int64_t IndexAlignment::of_number(int64_t n) {
  return n == 0 ? kMax : std::min<int64_t>(kMax, int64_t{1} << std::countr_zero(static_cast<uint64_t>(n)));
}

int64_t IndexAlignment::find(const Inst& n) {
  if (n.code == InstCode::Const) return of_number(n.number.as_int());
  if (n.code == InstCode::Loop) return std::min(of(n.src[0]), of_number(n.imm));
  if (n.code != InstCode::Alu) return 1;
  switch (n.op) {
    case Op::Add:
    case Op::Sub:
    case Op::Xor:
    case Op::Min:
    case Op::Max:
    case Op::Mod: return std::min(of(n.src[0]), of(n.src[1]));
    case Op::Mul: return std::min(kMax, of(n.src[0]) * of(n.src[1]));
    case Op::Cast: return is_float(code_[n.src[0]].type.dtype) ? 1 : of(n.src[0]);
    default: return 1;
  }
}

}  // namespace sinter::codegen
