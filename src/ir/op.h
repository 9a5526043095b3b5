// The op table as code: enum, names, classes, traits. Its contents are ops.def.
#pragma once

#include <cstdint>
#include <string_view>

namespace sinter::ir {

enum class Op : uint8_t {
#define OP(name, cls, arity, result, traits, batching, attr, meaning) name,
#include "ir/ops.def"
#undef OP
};

enum class OpClass : uint8_t { Leaf, Alu, Movement, Reduce, Pick, State, Memory, Control };
enum class ResultType : uint8_t { Same, Bool, Given, Index, Void };
enum class Batching : uint8_t { Map, Move, Fold, Pick, Leaf, None };
/// The alternatives of ir::Attr (ir/attr.h), in their order.
enum class AttrKind : uint8_t { None, Int, Scalar, Ints, Region, Reduce, Range, Var, Window, Scatter };

enum Trait : uint16_t {
  kNone = 0,
  kCommutative = 1,  ///< make() orders the first two sources; but see commutes()
  kAssociative = 2,  ///< on integers and bool; floats only where a rule says so
  kFloat = 4,        ///< only on floats
  kInteger = 8,      ///< only on integers and bool
  kDecomposed = 16,  ///< no target has it: codegen/normalize/math.cpp expands it
  kUnique = 32,      ///< never merged with an equal one (SEMANTICS H4, N1)
  kNoGrad =
      64,  ///< no rule of the table: leaves, results that are no floats, a rule of its own, or made by the compiler
};

inline constexpr int kVariadic = -1;

struct OpInfo {
  std::string_view name;
  OpClass cls;
  int arity;
  ResultType result;
  uint16_t traits;
  Batching batching;
  AttrKind attr;
  std::string_view meaning;
};

/// The rows of ops.def, by op.
extern const OpInfo kOps[];
inline const OpInfo& info(Op op) { return kOps[static_cast<int>(op)]; }
/// Ops are 0 .. kOpCount-1.
extern const int kOpCount;

inline bool has(Op op, Trait trait) { return info(op).traits & trait; }
inline bool is_alu(Op op) { return info(op).cls == OpClass::Alu; }
inline bool is_movement(Op op) { return info(op).cls == OpClass::Movement; }

}  // namespace sinter::ir
