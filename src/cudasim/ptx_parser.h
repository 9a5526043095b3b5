// The parser's parts: declarations (ptx_parser.cpp), bodies of functions (ptx_body.cpp).
#pragma once

#include "cudasim/ptx.h"
#include "cudasim/ptx_lexer.h"

namespace sinter::runtime::cuda::sim {

/// Bytes of "f32", "b8" and so on; 0 for "pred", -1 for what is no type. Packed pairs count both: "f16x2" is no type
/// here.
int64_t type_bytes(std::string_view type);

struct PtxNumber {
  PtxOperand::Kind kind = PtxOperand::Kind::Integer;
  int64_t value = 0;
};
/// An integer, 0f or 0d with hexadecimal digits, or a decimal fraction (a Float64).
PtxNumber parse_number(PtxLexer& in);

/// What follows the word of a space in a declaration: alignment, type, name, extents and values.
PtxVariable parse_variable(PtxLexer& in, StateSpace space, bool external);

/// A body from `{` to its `}`.
void parse_body(PtxLexer& in, const PtxModule& module, PtxFunction& function);

}  // namespace sinter::runtime::cuda::sim
