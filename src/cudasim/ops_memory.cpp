// ld and st: one element or a vector per lane, in every state space.
#include <fmt/core.h>

#include <type_traits>

#include "cudasim/lane_access.h"
#include "cudasim/poison.h"
#include "cudasim/type_dispatch.h"

namespace sinter::runtime::cuda::sim {
namespace {

/// Expands a byte mask to register bits, sign- or zero-extended like the value.
template <typename T>
uint64_t bits_of_bytes(uint32_t bytes) {
  std::make_unsigned_t<T> bits = 0;
  for (size_t byte = 0; byte < sizeof(T); ++byte)
    if (bytes >> byte & 1) bits |= static_cast<decltype(bits)>(decltype(bits){255} << byte * 8);
  return static_cast<uint64_t>(static_cast<T>(bits));
}

template <typename T, int kCount>
void load(Warp& warp, const Instruction& in, uint32_t mask) {
  LaneAccess<sizeof(T) * kCount, AccessKind::Read> access(warp, in);
  for_lanes(mask, [&](int lane) {
    const std::byte* data = access(lane);
    for (int i = 0; i < kCount; ++i) {
      T value;
      std::memcpy(&value, data + static_cast<size_t>(i) * sizeof(T), sizeof value);
      store_extended(warp, in.result[i], lane, value);
    }
  });
  for_lanes(access.unwritten_lanes(), [&](int lane) {
    for (int i = 0; i < kCount; ++i)
      add_unknown(warp, in.result[i], lane, bits_of_bytes<T>(access.unwritten(lane) >> i * sizeof(T)), warp.at);
  });
  access.count();
}

/// Mask of the unknown bytes that a lane stores. For a store to global memory all bytes must be known.
template <typename T, int kCount>
uint32_t unknown_bytes(Warp& warp, const Instruction& in, int lane, bool global) {
  uint32_t bytes = 0;
  for (int i = 0; i < kCount; ++i) {
    const uint64_t bits = unknown_bits(warp, in.result[i], lane);
    for (size_t byte = 0; byte < sizeof(T); ++byte)
      if (bits >> byte * 8 & 255) bytes |= 1u << (i * sizeof(T) + byte);
    if (bytes && global) report_poison(warp, poison(warp, in.result[i]).origin, lane, "what is stored");
  }
  return bytes;
}

template <typename T, int kCount>
void store(Warp& warp, const Instruction& in, uint32_t mask) {
  LaneAccess<sizeof(T) * kCount, AccessKind::Write> access(warp, in);
  for_lanes(mask, [&](int lane) {
    std::byte* data = access(lane);
    if (warp.shadow) access.mark_unwritten(unknown_bytes<T, kCount>(warp, in, lane, access.is_global()));
    for (int i = 0; i < kCount; ++i) {
      const RegisterSlot part = in.result[i];
      std::memcpy(data + static_cast<size_t>(i) * sizeof(T), warp.registers + part.at + lane * part.bytes, sizeof(T));
    }
  });
  access.count();
}

/// The widest access is 16 bytes.
template <typename T>
WarpFunction load_of(int count) {
  if (count == 1) return load<T, 1>;
  if (count == 2) return load<T, 2>;
  if constexpr (sizeof(T) <= 4) return load<T, 4>;
  return nullptr;
}
template <typename T>
WarpFunction store_of(int count) {
  if (count == 1) return store<T, 1>;
  if (count == 2) return store<T, 2>;
  if constexpr (sizeof(T) <= 4) return store<T, 4>;
  return nullptr;
}

/// Loads a kernel parameter: the same for all threads and always known.
template <typename T>
void load_parameter(Warp& warp, const Instruction& in, uint32_t mask) {
  const SimBlock& block = *warp.block;
  for_lanes(mask, [&](int lane) {
    const uint64_t at = lanes<uint64_t>(warp, in.source[0])[lane] + static_cast<uint64_t>(in.offset);
    const uint64_t bytes = sizeof(T) * in.vector, end = block.kernel.params_bytes;
    if (at > end || bytes > end - at)
      fail(warp, lane, CudaResult::IllegalAddress,
           fmt::format("byte {} of the parameters does not exist, there are {}: out of bounds", at, end));
    for (int i = 0; i < in.vector; ++i) {
      T value;
      std::memcpy(&value, block.params + at + static_cast<size_t>(i) * sizeof(T), sizeof value);
      store_extended(warp, in.result[i], lane, value);
    }
  });
}

constexpr TypeList kElements{NamedType<uint8_t>{"b8"},   NamedType<uint8_t>{"u8"},   NamedType<int8_t>{"s8"},
                             NamedType<uint16_t>{"b16"}, NamedType<uint16_t>{"u16"}, NamedType<int16_t>{"s16"},
                             NamedType<uint32_t>{"b32"}, NamedType<uint32_t>{"u32"}, NamedType<int32_t>{"s32"},
                             NamedType<uint64_t>{"b64"}, NamedType<uint64_t>{"u64"}, NamedType<int64_t>{"s64"},
                             NamedType<uint32_t>{"f32"}, NamedType<uint64_t>{"f64"}};

/// The registers of one element or of {a, b, ...}; they may be wider than the element.
void element_slots(Decoder& d, int bytes) {
  const PtxOperand& operand = d.operand();
  const bool vector = operand.kind == PtxOperand::Kind::Vector;
  if ((vector ? operand.items.size() : 1) != d.out.vector)
    d.fail("the number of registers is not that of the elements");
  for (size_t i = 0; i < d.out.vector; ++i) {
    d.out.result[i] = d.slot(vector ? operand.items[i] : operand, bytes);
    if (d.out.result[i].bytes < bytes) d.fail("a register is too small for the type");
  }
}

int take_element(Decoder& d, auto make) {
  d.take_space();
  d.out.vector = d.take("v2") ? 2 : d.take("v4") ? 4 : 1;
  return take_function(d, kElements, make);
}

void decode_ld(Decoder& d) {
  d.out.poison_rule = PoisonRule::Load;
  const std::string_view type = d.statement().opcode.back();
  element_slots(d, take_element(d, [&]<typename T>() -> WarpFunction { return load_of<T>(d.out.vector); }));
  d.address();
  if (d.out.space == StateSpace::Param)
    d.out.run = pick(kElements, type, []<typename T>() -> WarpFunction { return load_parameter<T>; }).run;
}

void decode_st(Decoder& d) {
  d.out.poison_rule = PoisonRule::Store;
  const int bytes = take_element(d, [&]<typename T>() -> WarpFunction { return store_of<T>(d.out.vector); });
  d.address();
  element_slots(d, bytes);
  if (d.out.space == StateSpace::Param) d.fail("parameters of a kernel cannot be written");
}

constexpr Opcode kOpcodes[] = {{"ld", decode_ld}, {"st", decode_st}};

}  // namespace

std::span<const Opcode> memory_opcodes() { return kOpcodes; }

}  // namespace sinter::runtime::cuda::sim
