// Statements -> instructions. Each opcode is a row of a table. To add one: README.md.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "cudasim/instruction.h"
#include "cudasim/opcode_table.h"

namespace sinter::runtime::cuda::sim {

// The tables, one per family.
std::span<const Opcode> integer_opcodes();
std::span<const Opcode> bit_opcodes();
std::span<const Opcode> float_opcodes();
std::span<const Opcode> compare_opcodes();
std::span<const Opcode> convert_opcodes();
std::span<const Opcode> move_opcodes();
std::span<const Opcode> memory_opcodes();
std::span<const Opcode> atomic_opcodes();
std::span<const Opcode> warp_opcodes();
std::span<const Opcode> matrix_opcodes();
std::span<const Opcode> async_opcodes();
std::span<const Opcode> control_opcodes();

/// Decodes one entry of `module`. `global_at` holds the addresses of the module's variables in order. Throws PtxError.
SimKernel decode(const PtxModule& module, const PtxFunction& entry, std::span<const uint64_t> global_at);

/// Decodes one statement: consumes its words one by one and turns its operands into slots.
class Decoder {
 public:
  Decoder(const PtxModule& module, const PtxFunction& function, std::span<const uint64_t> global_at);
  SimKernel run();

  // The words after the opcode.
  bool take(std::string_view word);  ///< removes the word wherever it is; false if absent
  /// Removes the last of these words that stands there, and returns its index; -1 if none does.
  int take_one(std::initializer_list<std::string_view> words);
  void take_rest();              ///< removes all others, which have no effect here
  std::string_view take_type();  ///< removes and returns the last word
  [[noreturn]] void fail(std::string_view reason) const;

  // The operands, from left to right.
  const PtxOperand& operand();  ///< the next one; fails if there is none
  size_t remaining() const { return statement_->operands.size() - next_; }
  uint32_t label(uint32_t index) const { return function_.labels[index]; }  ///< the instruction after the label
  RegisterSlot slot(const PtxOperand& operand,
                    int bytes);  ///< a register, or a constant of `bytes` bytes (0: a predicate)
  RegisterSlot sized(const PtxOperand& operand, int bytes);  ///< the same; fails if the register has another size
  void result(int bytes);                                    ///< the next operand into result[0], its pair into `pair`
  void source(int index, int bytes);  ///< the next operand into source[index]; records a negation
  void operands(int result,
                std::initializer_list<int> sources);  ///< result[0], then source[0] and so on, of these bytes
  void take_space();                                  ///< the state space, and the cache and ordering modifiers
  void address();       ///< [register + offset], [variable + offset] or [number]: source[0] and offset
  void address_from();  ///< the same in global memory, of a copy: source[1] and offset_from
  void vector(RegisterSlot* to, size_t count, int bytes);  ///< {r, ...}, or one register
  RegisterSlot scratch(int bytes);                         ///< a register for unused results
  RegisterSlot carry();                                    ///< the carry predicate between the words of a longer sum

  void note_fence() { kernel_.has_fences = true; }

  Instruction out;
  const PtxStatement& statement() const { return *statement_; }

 private:
  void lay_out();
  void place(const PtxVariable& variable, uint64_t& extent, std::vector<VariableLayout>& placed);
  void decode_statement();
  RegisterSlot constant(uint64_t bits, int bytes);
  RegisterSlot special(const std::string& name);
  uint64_t address_of(const PtxOperand& symbol) const;
  const PtxOperand& address_operand();  ///< the next one; fails if it is no address in brackets
  RegisterSlot address_slot(const PtxOperand& operand, bool shared);
  RegisterSlot grow(int bytes);
  RegisterSlot internal(const std::string& name, int bytes);  ///< a register that no program names

  const PtxModule& module_;
  const PtxFunction& function_;
  std::span<const uint64_t> global_at_;
  SimKernel kernel_;
  const PtxStatement* statement_ = nullptr;
  std::vector<std::string_view> words_;
  size_t next_ = 0;
  std::vector<RegisterSlot> registers_;
  std::vector<uint64_t> variable_at_;
  std::map<std::pair<uint64_t, int>, RegisterSlot> constants_;
  std::map<std::string, RegisterSlot> specials_;
};

}  // namespace sinter::runtime::cuda::sim
