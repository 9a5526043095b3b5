// Spelling of types, numbers and operations in each dialect of C and CUDA C++: one table of ops, and the helper
// functions that its entries call.
#pragma once

#include <set>
#include <span>
#include <string>

#include "codegen/ssa/instructions.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

/// Spells operations for one kernel and collects the typedefs and helper functions that they need.
class CSpelling {
 public:
  explicit CSpelling(const runtime::Target& target) : target_(target) {}

  /// "f32", "u8" for bool, "i64" for Index, "f32x16".
  std::string type(Type type);
  /// The same type with the alignment of one element, for memory.
  std::string memory_type(Type type);
  std::string number(DType dtype, ir::Scalar value);
  /// An expression. `args` are the texts of the operands, parenthesized as needed for use next to any operator.
  std::string alu(Op op, Type result, Type source, std::span<const std::string> args);
  /// A Max or Min on a GPU that may give a zero of either sign.
  std::string extreme(Op op, Type type, std::span<const std::string> args);
  std::string splat(Type type, const std::string& scalar);
  /// A vector of the given lanes.
  std::string pack(Type type, std::span<const std::string> lanes);
  std::string lane(const std::string& vector, int lane) const;
  /// A value as held by another lane of the warp.
  std::string shuffle(Type type, const std::string& value, const std::string& lane);
  /// A statement that adds a warp's tile of tensor cores to four sums of each thread: `args` are these, lvalues, then
  /// the words of both factors' fragments (codegen/loopschedule/mma_tile.h), which have elements of types a and b.
  std::string add_mma(DType a, DType b, std::span<const std::string> args);
  /// A sum after one step of a tensor core: `args` are the sum, then the elements of both factors.
  std::string mma_step(DType factor, std::span<const std::string> args);
  /// Words of `count` matrices of 8 rows of 16 bytes in shared memory, whose addresses the threads of a warp give.
  std::string load_matrices(int count, bool transposed, const std::string& pointer);
  /// A statement that begins to copy 4, 8 or 16 bytes to shared memory; with a predicate that is false, zeros.
  std::string copy_async(size_t bytes, const std::string& to, const std::string& from, const std::string& predicate);
  /// As many lanes as the type has, from lane `from` on.
  std::string part(Type type, const std::string& vector, int from);
  /// Concatenation of several vectors of one type. Their number is a power of two.
  std::string join(Type type, std::span<const std::string> vectors);
  /// InstCode::Interleave.
  std::string interleave(Type type, const std::string& a, const std::string& b, int block);
  /// InstCode::Transpose.
  std::string transpose(Type type, std::span<const std::string> vectors, int columns, int part);
  /// Bool per lane: lane number < count.
  std::string lane_less_than(int lanes, const std::string& count);
  /// The first `count` lanes of a vector in memory; the others are 0. Memory beyond them is not accessed.
  std::string load_partial(Type type, const std::string& pointer, const std::string& count);
  /// Whether all lanes of a bool vector are true. For targets with masks.
  std::string all(int lanes, const std::string& truths);
  /// Gather of the elements at `indices`. Lanes whose `predicate` (a bool per lane) is false come from `other` and
  /// access no memory. The number of lanes must be a multiple of eight.
  std::string gather(Type type, const std::string& pointer, const std::string& indices, const std::string& predicate,
                     const std::string& other);
  /// A vector in memory. Lanes whose `predicate` is false come from `other` and access no memory.
  std::string load_masked(Type type, const std::string& pointer, const std::string& predicate,
                          const std::string& other);
  /// Whether load_predicated() of a scalar is better than a branch. Not on GPUs, which predicate branches in hardware.
  bool has_load_predicated() const { return !cuda(); }
  /// The value in memory if `predicate` is true, else `other` in each lane, without a branch.
  std::string load_predicated(Type type, const std::string& pointer, const std::string& predicate, ir::Scalar other);
  /// A statement that stores the first `count` lanes.
  std::string store_partial(Type type, const std::string& pointer, const std::string& value, const std::string& count);
  /// A statement that scatters the lanes of a vector with a stride in elements.
  std::string store_strided(Type type, const std::string& pointer, const std::string& value, int64_t stride);
  /// A statement that stores a vector bypassing the caches.
  std::string stream(Type type, const std::string& pointer, const std::string& value);
  /// The value of type `dtype` whose bits are the low bits of a 64-bit integer.
  std::string from_bits(DType dtype, const std::string& bits);

  /// Typedefs and functions, each after what it uses. Repeating them in one file is harmless.
  std::string declarations() const { return types_ + functions_; }

 private:
  bool cuda() const { return target_.dialect == runtime::Dialect::Cuda; }
  std::string vector_type(Type type, bool memory);
  std::string pattern(Op op, Type result, Type source);
  std::string conversion(Op op, Type result, Type source);
  /// float32 to a 16-bit float, or back.
  std::string short_float(Type result, Type source, const std::string& value);
  std::string lane_by_lane(Op op, Type result, Type source);
  /// The full name of a helper function, which is emitted at its first use. `body` is its parameters and body, with
  /// $-placeholders.
  std::string helper(const std::string& name, Type result, Type source, const std::string& body);
  /// The name of the function for Op::Threefry.
  std::string threefry(Type type);
  /// Emits a function at its first use. It is always inlined, except on CPUs if `called`.
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

/// Position of the parenthesis that closes the one at `open`; the text's length if there is none.
size_t closing_parenthesis(const std::string& text, size_t open);
/// The text without a pair of parentheses that encloses all of it.
std::string without_parentheses(const std::string& text);

/// Whether the table has a spelling for the op on `dtype`.
bool spelled_in_c(Op op, DType dtype);

}  // namespace sinter::codegen
