// Text back to graphs: what dump() writes, and short expressions for tests of rewrites.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace sinter::ir {

/// The roots of a dump, made in `g`. Throws UsageError with the line's number and text for anything that dump() does
/// not write; checks form, not meaning (that is verify.h's).
std::vector<UOp> parse(std::string_view text, Graph& g);
/// The same for a text with one root.
UOp parse_one(std::string_view text, Graph& g);

/// Leaves of expressions by name.
using Names = std::map<std::string, UOp, std::less<>>;

/// One expression in prefix form: `(Add (Mul x:f32 1) 0)`, `(Cast:i64 x)`, `(IDiv i:12 4)`.
///   x:f32   a scalar argument of that type, x afterwards (f32 f64 i8 ... u64 bool index, or NumPy's names)
///   i:12    a range from 0 to 11, dtype Index
///   1 -0.0 inf nan true   a constant of the type of its neighbours; 1:i32 where there are none
/// An operand's type is that of its neighbours. Throws UsageError with the position.
UOp parse_expr(std::string_view text, Graph& g, Names& names);

}  // namespace sinter::ir
