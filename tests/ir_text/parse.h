// Text back to graphs, for tests: the output of dump(), and short expressions.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace sinter::ir {

/// The roots of a dump, made in `g`. Throws UsageError with line number and text for anything that dump() does not
/// write. Checks syntax only; well-formedness is verify.h's.
std::vector<UOp> parse(std::string_view text, Graph& g);
/// The same for a text with a single root.
UOp parse_one(std::string_view text, Graph& g);

/// Named leaves of expressions.
using Names = std::map<std::string, UOp, std::less<>>;

/// One expression in prefix form: `(Add (Mul x:f32 1) 0)`, `(Cast:i64 x)`, `(IDiv i:12 4)`.
///   x:f32   a scalar argument of that type, x from then on (f32 f64 i8 ... u64 bool index, or NumPy's names)
///   i:12    a range from 0 to 11, dtype Index
///   1 -0.0 inf nan true   a constant of the type of the other operands; 1:i32 if there are none
/// Throws UsageError with the position.
UOp parse_expr(std::string_view text, Graph& g, Names& names);

}  // namespace sinter::ir
