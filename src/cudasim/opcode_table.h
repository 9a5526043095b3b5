// Rows of opcodes, found by the first word of a statement.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace sinter::runtime::cuda::sim {

class Decoder;

/// By the type that ends an opcode.
enum class OpcodeTypes : uint8_t { All, Integers, Floats };

struct Opcode {
  std::string_view name;     ///< the first word
  void (*decode)(Decoder&);  ///< parses the other words and the operands
  OpcodeTypes types = OpcodeTypes::All;
};

/// By name, and whether the type is a float.
using OpcodeRows = std::map<std::pair<std::string_view, bool>, void (*)(Decoder&)>;

/// Throws std::logic_error if two rows are for the same name and types.
inline OpcodeRows opcode_rows(std::initializer_list<std::span<const Opcode>> tables) {
  OpcodeRows rows;
  for (const std::span<const Opcode> table : tables)
    for (const Opcode& row : table)
      for (const bool floats : {false, true}) {
        if (row.types == (floats ? OpcodeTypes::Integers : OpcodeTypes::Floats)) continue;
        if (!rows.try_emplace({row.name, floats}, row.decode).second)
          throw std::logic_error("two rows decode " + std::string(row.name) + (floats ? " of floats" : " of integers"));
      }
  return rows;
}

}  // namespace sinter::runtime::cuda::sim
