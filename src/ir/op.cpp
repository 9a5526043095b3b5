// The op table.
#include "ir/op.h"

#include <iterator>

namespace sinter::ir {

constexpr OpInfo kOps[] = {
#define OP(name, cls, arity, result, traits, batching, attr, meaning)                                          \
  {#name,          OpClass::cls, arity, ResultType::result, static_cast<uint16_t>(traits), Batching::batching, \
   AttrKind::attr, meaning},
#include "ir/ops.def"
#undef OP
};

const int kOpCount = static_cast<int>(std::size(kOps));

}  // namespace sinter::ir
