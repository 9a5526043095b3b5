// How C and CUDA C++ spell types, numbers and operations, per dialect: one table, and the helper functions that its
// entries call.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "codegen/ssa/instructions.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

/// Spells operations for one kernel and gathers the typedefs and helper functions that this takes.
class CSpelling {
 public:
  explicit CSpelling(const runtime::Target& target) : target_(target) {}

  /// "f32", "u8" for bool, "i64" for Index, "f32x16".
  std::string type(Type type);
  /// The same type with the alignment of one element, for memory.
  std::string memory_type(Type type);
  std::string number(DType dtype, ir::Scalar value);
  /// An expression; `args` are the operands' texts, safe to stand beside any operator.
  std::string alu(ir::Op op, Type result, Type source, std::span<const std::string> args);
  std::string splat(Type type, const std::string& scalar);
  /// A vector of these lanes.
  std::string pack(Type type, std::span<const std::string> lanes);
  std::string lane(const std::string& vector, int lane) const;
  /// A value as another lane of the warp holds it.
  std::string shuffle(Type type, const std::string& value, const std::string& lane);
  /// As many lanes as the type has, from lane `from` on.
  std::string part(Type type, const std::string& vector, int from);
  /// The lanes of several vectors of one type, a power of two of them, one behind the other.
  std::string join(Type type, std::span<const std::string> vectors);
  /// InstCode::Interleave.
  std::string interleave(Type type, const std::string& a, const std::string& b, int block);
  /// InstCode::Transpose.
  std::string transpose(Type type, std::span<const std::string> vectors, int columns, int part);
  /// Bool per lane: whether its number is below `count`.
  std::string below(int lanes, const std::string& count);
  /// The first `count` lanes of a vector in memory, the others 0; memory behind them is not touched.
  std::string load_partial(Type type, const std::string& pointer, const std::string& count);
  /// Whether all of so many bools hold; of a target with masks.
  std::string all(int lanes, const std::string& truths);
  /// The elements at `indices` for which `predicate`, a bool per lane, holds, and lanes of `other`; no other memory is
  /// touched. The number of lanes is a multiple of eight.
  std::string gather(Type type, const std::string& pointer, const std::string& indices, const std::string& predicate,
                     const std::string& other);
  /// The lanes of a vector in memory for which `predicate` holds, and those of `other`; no other memory is touched.
  std::string load_masked(Type type, const std::string& pointer, const std::string& predicate,
                          const std::string& other);
  /// Whether load_predicated() of a scalar is better than a branch, which threads of a GPU take by masks at any rate.
  bool has_load_predicated(Type type) const { return !cuda() && type.lanes == 1; }
  /// The scalar in memory if `predicate` holds, or `other`, without a branch.
  std::string load_predicated(Type type, const std::string& pointer, const std::string& predicate, ir::Scalar other);
  /// A statement that stores the first `count` lanes.
  std::string store_partial(Type type, const std::string& pointer, const std::string& value, const std::string& count);
  /// A statement that stores a vector's lanes so many elements apart.
  std::string store_strided(Type type, const std::string& pointer, const std::string& value, int64_t stride);
  /// A statement that stores a vector past the caches.
  std::string stream(Type type, const std::string& pointer, const std::string& value);
  /// The value of that type whose bits are the low bits of a 64-bit integer.
  std::string from_bits(DType dtype, const std::string& bits);

  /// Typedefs and functions, in an order in which each knows what it uses. Repeating them in one file does no harm.
  std::string declarations() const { return types_ + functions_; }

 private:
  bool cuda() const { return target_.dialect == runtime::Dialect::Cuda; }
  std::string vector_type(Type type, bool memory);
  std::string pattern(ir::Op op, Type result, Type source);
  std::string conversion(ir::Op op, Type result, Type source);
  /// float32 to a 16-bit float, or back.
  std::string short_float(Type result, Type source, const std::string& value);
  std::string lane_by_lane(ir::Op op, Type result, Type source);
  /// The name of a helper function; writes it at its first use. `body` is its parameters and body, with $-names.
  std::string helper(const std::string& name, Type result, Type source, const std::string& body);
  /// The name of Op::Threefry as a function.
  std::string threefry(Type type);
  /// Writes a function at its first use; on CPUs it is copied into its uses unless `called`.
  std::string function(const std::string& name, const std::string& result, const std::string& text,
                       bool called = false);
  std::string partial_access(Type type, bool store);
  bool has_scale(Type type) const;
  std::string scale(Type type) const;
  std::string bits(int lanes);
  std::string masked_load(Type type);
  std::string gcc_stream(Type type);
  std::string fill(const std::string& pattern, Type result, Type source, std::span<const std::string> args = {});

  const runtime::Target& target_;
  std::set<std::string> known_;
  std::string types_, functions_;
};

/// Where the parenthesis that opens at `open` is closed; the text's length if nowhere.
size_t closing_parenthesis(const std::string& text, size_t open);
/// A text without the pair of parentheses around all of it.
std::string without_parentheses(const std::string& text);

/// Whether C has a spelling for the op on floats, on integers, on bool: what the table holds.
bool spelled_in_c(ir::Op op, DType dtype);

}  // namespace sinter::codegen
