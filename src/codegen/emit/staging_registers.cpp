// A register is a mutable variable: written under a condition, and read later under the same one.
#include "codegen/emit/staging_registers.h"

#include "codegen/emit/memory_access.h"
#include "codegen/kernel/access.h"
#include "codegen/nest/thread_digits.h"

namespace sinter::codegen {

void StagingRegisters::allocate(const std::vector<LoopItem>& items) {
  for (const LoopItem& item : items) {
    allocate(item.body);
    if (item.kind != LoopItem::ItemKind::Fetch) continue;
    int lanes = 1, copies = 1;
    for (const LoopLevel& l : at(item.statement).loops)
      if (l.fills) lanes *= l.lanes, copies *= l.unroll;
    const DType dtype = at(item.statement).node->src[0]->dtype;
    const Id zero = emit_.zero(dtype, lanes);
    std::vector<Id>& made = registers_[item.statement];
    made.clear();
    for (int i = 0; i < copies; ++i)
      made.push_back(emit_.insert_here({InstCode::Accumulator, {dtype, lanes}, {zero}, 1}));
  }
}

/// The register of the current unrolled copy.
Id StagingRegisters::register_of_copy(int statement) const {
  size_t copy = 0;
  for (const LoopLevel& l : at(statement).loops)
    if (l.fills) copy = copy * static_cast<size_t>(l.unroll) + static_cast<size_t>(values_.copy_of(l.range));
  return registers_.at(statement)[copy];
}

void StagingRegisters::fetch(int statement) {
  const Id to = register_of_copy(statement);
  emit_.insert_here({InstCode::AccumulatorWrite,
                     {},
                     {to, emit_.splat(values_.value(stored_value(at(statement).node)), emit_.type(to).lanes)}});
}

void StagingRegisters::put(int statement) {
  const Id from = register_of_copy(statement);
  const Id value = emit_.insert_here({InstCode::AccumulatorRead, emit_.type(from), {from}});
  write_memory(values_, emit_, at(statement).node, value, leader_predicate(emit_, at(statement), threads_));
}

}  // namespace sinter::codegen
