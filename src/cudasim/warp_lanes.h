// A warp's registers as arrays of 32 values, and instructions that compute each lane independently.
#pragma once

#include <bit>
#include <cstring>
#include <type_traits>

#include "cudasim/warp.h"

// Lanes are independent even if an instruction overwrites a register that it reads. Clang checks for aliases at run
// time.
#ifdef __clang__
#define SINTER_LANE_LOOP
#else
#define SINTER_LANE_LOOP _Pragma("GCC ivdep")
#endif

namespace sinter::runtime::cuda::sim {

template <typename T>
T* lanes(Warp& warp, RegisterSlot slot) {
  return reinterpret_cast<T*>(warp.registers + slot.at);
}
inline uint32_t& predicate(Warp& warp, RegisterSlot slot) { return *lanes<uint32_t>(warp, slot); }
/// The bits of the lanes of `mask` become those of `bits`.
inline void assign_predicate(Warp& warp, RegisterSlot slot, uint32_t mask, uint32_t bits) {
  uint32_t& to = predicate(warp, slot);
  to = (to & ~mask) | (bits & mask);
}
/// A source predicate, negated where the operand is.
inline uint32_t source_predicate(Warp& warp, const Instruction& in, int source) {
  return predicate(warp, in.source[source]) ^ in.source_flip;
}

template <typename F>
void for_lanes(uint32_t mask, F&& f) {
  for (; mask; mask &= mask - 1) f(std::countr_zero(mask));
}

/// to[lane] = f(lane) for the lanes of `mask`. The compiler vectorizes the loop over whole warps.
template <typename T, typename F>
void assign(T* to, uint32_t mask, F&& f) {
  if (mask == kAllLanes) {
    SINTER_LANE_LOOP
    for (int lane = 0; lane < kLanes; ++lane) to[lane] = f(lane);
  } else {
    for_lanes(mask, [&](int lane) { to[lane] = f(lane); });
  }
}

/// Stores a lane's value to a register that may be wider than its type: sign-extended if T is signed.
template <typename T>
void store_extended(Warp& warp, RegisterSlot slot, int lane, T value) {
  std::byte* to = warp.registers + slot.at + lane * slot.bytes;
  if constexpr (std::is_integral_v<T>) {
    if (slot.bytes != sizeof(T)) {
      const auto wide = static_cast<uint64_t>(value);  // a negative value has ones in the upper bits
      std::memcpy(to, &wide, slot.bytes);
      return;
    }
  }
  std::memcpy(to, &value, sizeof value);
}

// Instructions with one, two and three sources. F is a stateless function of values of type T; R is its result type.

template <typename F, typename T, typename R = T>
void unary(Warp& warp, const Instruction& in, uint32_t mask) {
  const T* a = lanes<T>(warp, in.source[0]);
  assign(lanes<R>(warp, in.result[0]), mask, [&](int lane) { return static_cast<R>(F()(a[lane])); });
}

template <typename F, typename T, typename R = T>
void binary(Warp& warp, const Instruction& in, uint32_t mask) {
  const T *a = lanes<T>(warp, in.source[0]), *b = lanes<T>(warp, in.source[1]);
  assign(lanes<R>(warp, in.result[0]), mask, [&](int lane) { return static_cast<R>(F()(a[lane], b[lane])); });
}

template <typename F, typename T, typename C = T, typename R = T>
void ternary(Warp& warp, const Instruction& in, uint32_t mask) {
  const T *a = lanes<T>(warp, in.source[0]), *b = lanes<T>(warp, in.source[1]);
  const C* c = lanes<C>(warp, in.source[2]);
  assign(lanes<R>(warp, in.result[0]), mask, [&](int lane) { return static_cast<R>(F()(a[lane], b[lane], c[lane])); });
}

/// The function above for kSources sources.
template <typename F, typename T, int kSources>
WarpFunction lanewise() {
  if constexpr (kSources == 1)
    return unary<F, T>;
  else if constexpr (kSources == 2)
    return binary<F, T>;
  else
    return ternary<F, T>;
}

}  // namespace sinter::runtime::cuda::sim
