// The parser's parts: declarations (ptx_parser.cpp), function bodies (ptx_body.cpp).
#pragma once

#include "cudasim/ptx.h"
#include "cudasim/ptx_lexer.h"

namespace sinter::runtime::cuda::sim {

/// Bytes of "f32", "b8" etc.; 0 for "pred", -1 if it is not a type. Packed types such as "f16x2" are not types here.
int64_t type_bytes(std::string_view type);

struct PtxNumber {
  PtxOperand::Kind kind = PtxOperand::Kind::Integer;
  int64_t value = 0;
};
/// An integer, 0f or 0d with hexadecimal digits, or a decimal fraction (a Float64).
PtxNumber parse_number(PtxLexer& in);

/// Parses a declaration after its state space: alignment, type, name, extents and values.
PtxVariable parse_variable(PtxLexer& in, StateSpace space, bool external);

/// Parses a body from `{` to the matching `}`.
void parse_body(PtxLexer& in, const PtxModule& module, PtxFunction& function);

}  // namespace sinter::runtime::cuda::sim
