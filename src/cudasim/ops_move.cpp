// mov, including packing and unpacking of registers, and cvta between address spaces.
#include <cstring>

#include "cudasim/device_memory.h"
#include "cudasim/ptx_parser.h"
#include "cudasim/type_dispatch.h"

namespace sinter::runtime::cuda::sim {
namespace {

template <typename T>
void move(Warp& warp, const Instruction& in, uint32_t mask) {
  const T* a = lanes<T>(warp, in.source[0]);
  assign(lanes<T>(warp, in.result[0]), mask, [&](int lane) { return a[lane]; });
}

void move_predicate(Warp& warp, const Instruction& in, uint32_t mask) {
  assign_predicate(warp, in.result[0], mask, source_predicate(warp, in, 0));
}

/// {a, b} -> one register, the first in the lowest bits.
void pack(Warp& warp, const Instruction& in, uint32_t mask) {
  for_lanes(mask, [&](int lane) {
    std::byte* to = warp.registers + in.result[0].at + lane * in.result[0].bytes;
    for (int i = 0; i < in.vector; ++i) {
      const RegisterSlot part = in.source[i];
      std::memcpy(to + i * part.bytes, warp.registers + part.at + lane * part.bytes, part.bytes);
    }
  });
}

void unpack(Warp& warp, const Instruction& in, uint32_t mask) {
  for_lanes(mask, [&](int lane) {
    const std::byte* from = warp.registers + in.source[0].at + lane * in.source[0].bytes;
    for (int i = 0; i < in.vector; ++i) {
      const RegisterSlot part = in.result[i];
      std::memcpy(warp.registers + part.at + lane * part.bytes, from + i * part.bytes, part.bytes);
    }
  });
}

/// The slots of {a, b, ...}, each with an equal share of `bytes`.
void vector_slots(Decoder& d, const PtxOperand& operand, int bytes, RegisterSlot* slots) {
  const size_t count = operand.items.size();
  if (count != 2 && count != 4) d.fail("registers are packed by two or four");
  d.out.vector = static_cast<uint8_t>(count);
  for (size_t i = 0; i < count; ++i) slots[i] = d.sized(operand.items[i], bytes / static_cast<int>(count));
}

void decode_mov(Decoder& d) {
  d.out.poison_rule = PoisonRule::Bits;
  const std::string_view type = d.take_type();
  if (type == "pred") {
    d.out.run = move_predicate;
    return d.operands(0, {0});
  }
  const int bytes = static_cast<int>(type_bytes(type));
  const PtxOperand &to = d.operand(), &from = d.operand();
  if (to.kind == PtxOperand::Kind::Vector) {
    vector_slots(d, to, bytes, d.out.result);
    d.out.source[0] = d.sized(from, bytes);
    d.out.run = unpack;
  } else if (from.kind == PtxOperand::Kind::Vector) {
    vector_slots(d, from, bytes, d.out.source);
    d.out.result[0] = d.sized(to, bytes);
    d.out.run = pack;
  } else {
    d.out.result[0] = d.sized(to, bytes);
    d.out.source[0] = d.sized(from, bytes);
    d.out.run = bytes == 2   ? WarpFunction(move<uint16_t>)
                : bytes == 4 ? WarpFunction(move<uint32_t>)
                : bytes == 8 ? WarpFunction(move<uint64_t>)
                             : nullptr;
  }
}

void add_offset(Warp& warp, const Instruction& in, uint32_t mask) {
  const uint64_t* a = lanes<uint64_t>(warp, in.source[0]);
  const auto offset = static_cast<uint64_t>(in.offset);
  assign(lanes<uint64_t>(warp, in.result[0]), mask, [&](int lane) { return a[lane] + offset; });
}

/// A generic address is the address in its space plus the start of the space's window. Global and constant addresses
/// are the same in both.
void decode_cvta(Decoder& d) {
  const bool to = d.take("to");
  int64_t window = 0;
  if (d.take("shared"))
    window = kSharedWindow;
  else if (d.take("local"))
    window = kLocalWindow;
  else if (!d.take("global") && !d.take("const") && !d.take("param"))
    d.fail("this space is not supported here");
  if (!d.take("u64")) d.fail("addresses have 64 bits");
  d.out.poison_rule = PoisonRule::Carries;
  d.out.run = add_offset;
  d.out.offset = to ? -window : window;
  d.operands(8, {8});
}

constexpr Opcode kOpcodes[] = {{"mov", decode_mov}, {"cvta", decode_cvta}};

}  // namespace

std::span<const Opcode> move_opcodes() { return kOpcodes; }

}  // namespace sinter::runtime::cuda::sim
