// One PTX opcode on many values against a function of the host.
#pragma once

#include <bit>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "sim_support.h"

namespace cuda_sim_test {

/// A value's bits without its type.
template <typename T>
uint64_t bits_of(T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}
template <typename T>
T from_bits(uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

struct OpCase {
  std::string opcode;
  std::vector<int> source_bytes;
  std::vector<bool> source_is_float;
  int result_bytes;
  bool result_is_float;
  std::function<uint64_t(const uint64_t*)> expected;
};

/// bool stands for a predicate: results only.
template <typename R, typename... A>
OpCase op_case(const std::string& opcode, R (*function)(A...)) {
  OpCase out{opcode,
             {static_cast<int>(sizeof(A))...},
             {std::is_floating_point_v<A>...},
             std::is_same_v<R, bool> ? 0 : static_cast<int>(sizeof(R)),
             std::is_floating_point_v<R>,
             nullptr};
  out.expected = [function](const uint64_t* bits) {
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return bits_of(function(from_bits<A>(bits[I])...));
    }(std::index_sequence_for<A...>());
  };
  return out;
}

/// Runs each on some thousand values: random bits, small numbers, and the edges of the types. NaNs are equal.
void check_ops(const std::vector<OpCase>& cases);

}  // namespace cuda_sim_test
