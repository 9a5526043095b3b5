// The op table and lookup by name.
#include "ir/op.h"

#include <iterator>

namespace sinter::ir {

constexpr OpInfo kOps[] = {
#define OP(name, cls, arity, result, traits, batching, meaning) \
  {#name, OpClass::cls, arity, ResultType::result, static_cast<uint16_t>(traits), Batching::batching, meaning},
#include "ir/ops.def"
#undef OP
};

const int kOpCount = static_cast<int>(std::size(kOps));

bool op_named(std::string_view name, Op& op) {
  for (int i = 0; i < kOpCount; ++i)
    if (kOps[i].name == name) return op = static_cast<Op>(i), true;
  return false;
}

}  // namespace sinter::ir
