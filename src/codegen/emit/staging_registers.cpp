// A register is a variable: it is written under one condition and read under the same one later.
#include "codegen/emit/staging_registers.h"

#include "codegen/emit/memory_access.h"
#include "codegen/kernel/access.h"
#include "codegen/nest/thread_digits.h"

namespace sinter::codegen {

void Fetched::make(const std::vector<Item>& items) {
  for (const Item& item : items) {
    make(item.body);
    if (item.what != Item::What::Fetch) continue;
    int lanes = 1, copies = 1;
    for (const Level& l : at(item.statement).loops)
      if (l.fills) lanes *= l.lanes, copies *= l.unroll;
    const DType dtype = at(item.statement).node->src[0]->dtype;
    const Id zero = emit_.splat(emit_.constant(dtype, ir::Scalar::of(dtype, 0)), lanes);
    std::vector<Id>& made = registers_[item.statement];
    made.clear();
    for (int i = 0; i < copies; ++i) {
      Inst inst{Code::Accumulator, {dtype, lanes}, {zero}};
      inst.imm = 1;
      made.push_back(emit_.here(std::move(inst)));
    }
  }
}

/// That of the present copy.
Id Fetched::of_copy(int statement) const {
  size_t copy = 0;
  for (const Level& l : at(statement).loops)
    if (l.fills) copy = copy * static_cast<size_t>(l.unroll) + static_cast<size_t>(values_.copy_of(l.range));
  return registers_.at(statement)[copy];
}

void Fetched::take(int statement) {
  const Id to = of_copy(statement);
  emit_.here({Code::Assign, {}, {to, emit_.splat(values_.value(value_of(at(statement).node)), emit_.type(to).lanes)}});
}

void Fetched::put(int statement) {
  const Id from = of_copy(statement);
  const Id value = emit_.here({Code::Result, emit_.type(from), {from}});
  write(values_, emit_, at(statement).node, value, leads(emit_, at(statement), threads_));
}

}  // namespace sinter::codegen
