// Which values may be a zero of either sign: backwards from what is stored, over loops and tiles, until nothing new is
// observed. Softmax subtracts a maximum and takes exp, which maps both zeros to 1.
#include "codegen/gpu/gpu_passes.h"

#include <algorithm>

namespace sinter::codegen {
namespace {

class ZeroSigns {
 public:
  explicit ZeroSigns(const Instructions& code) : code_(code), observed_(code.insts.size()), slots_(code.slots.size()) {
    std::fill_n(slots_.begin(), code.params, true);  // buffers
    do {
      changed_ = false;
      for (size_t id = code.insts.size(); id-- > 0;) visit(static_cast<Id>(id));
    } while (changed_);
  }

  /// Whether anything may depend on the sign of this value where it is a zero.
  bool observed(Id id) const { return observed_[id]; }

 private:
  void observe(std::vector<bool>::reference known, bool now) {
    changed_ |= now && !known;
    known = known || now;
  }

  void visit(Id id) {
    const Inst& n = code_[id];
    const bool here = observed_[id];
    switch (n.code) {
      case InstCode::Alu:
        for (size_t i = 0; i < n.src.size(); ++i) {
          const Effect to = effect(n, i);
          observe(observed_[n.src[i]], to == Effect::Value || (to == Effect::ZeroSign && here));
        }
        return;
      case InstCode::Splat:
      case InstCode::Pack:
      case InstCode::Part:
      case InstCode::Shuffle:
      case InstCode::Accumulator:
      case InstCode::AccumulatorRead:
        for (Id s : n.src) observe(observed_[s], here);
        return;
      case InstCode::AccumulatorWrite: return observe(observed_[n.src[1]], observed_[n.src[0]]);
      case InstCode::Load:
        observe(slots_[n.imm], here);
        if (n.src.size() > 2) observe(observed_[n.src[2]], here);
        return;
      case InstCode::Store: return observe(observed_[n.src[1]], slots_[n.imm]);
      case InstCode::LoadMatrices: return observe(slots_[n.imm], true);
      case InstCode::CopyAsync: return observe(slots_[n.number.as_int()], slots_[n.imm]);
      default:
        for (Id s : n.src) observe(observed_[s], true);
    }
  }

  /// What depends on the sign of a source that is a zero: nothing, the sign of a result that is a zero too, or more.
  enum class Effect : uint8_t { None, ZeroSign, Value };
  Effect effect(const Inst& n, size_t i) const {
    const auto beside = [&](Id other) {  // of a sum
      const Inst& x = code_[other];
      return x.code == InstCode::Const && x.number.as_double() != 0 ? Effect::None : Effect::ZeroSign;
    };
    switch (n.op) {
      case Op::Lt:
      case Op::Le:
      case Op::Eq:
      case Op::Ne:
      case Op::Abs: return Effect::None;
      case Op::Add:
      case Op::Sub: return beside(n.src[1 - i]);
      case Op::Fma: return i < 2 ? beside(n.src[2]) : Effect::ZeroSign;
      case Op::Mul:
      case Op::Max:
      case Op::Min:
      case Op::Neg:
      case Op::Sqrt:
      case Op::Floor:
      case Op::Trunc:
      case Op::Round:
      case Op::Where: return Effect::ZeroSign;
      case Op::Div: return i == 0 ? Effect::ZeroSign : Effect::Value;
      case Op::Ldexp: return i == 0 ? Effect::ZeroSign : Effect::None;
      case Op::Cast: return is_float(n.type.dtype) ? Effect::ZeroSign : Effect::None;
      default: return Effect::Value;
    }
  }

  const Instructions& code_;
  std::vector<bool> observed_, slots_;
  bool changed_ = false;
};

}  // namespace

Instructions relax_zero_signs(const Instructions& code) {
  const ZeroSigns signs(code);
  Instructions made = code;
  for (size_t id = 0; id < made.insts.size(); ++id) {
    Inst& n = made.insts[id];
    if (n.code == InstCode::Alu && (n.op == Op::Max || n.op == Op::Min) && n.type == Type{DType::F32, 1})
      n.imm = !signs.observed(static_cast<Id>(id));
  }
  return made;
}

}  // namespace sinter::codegen
