#include "codegen/emit/task_order.h"

#include <algorithm>

namespace sinter::codegen {
namespace {

/// The digits of a number, the last of which varies fastest. The first takes what is left.
void add_digits(BlockWriter& emit, Id number, std::span<const Id> counts, std::vector<Id>& out) {
  std::vector<Id> digits(counts.size());
  for (size_t i = counts.size(); i-- > 0;) {
    digits[i] = i == 0 ? number : emit.divide_unsigned(Op::Mod, number, counts[i]);
    if (i > 0) number = emit.divide_unsigned(Op::IDiv, number, counts[i]);
  }
  out.insert(out.end(), digits.begin(), digits.end());
}

Id product(BlockWriter& emit, std::span<const Id> counts) {
  Id all = emit.number(1);
  for (const Id n : counts) all = emit.index(Op::Mul, all, n);
  return all;
}

}  // namespace

std::vector<Id> blocks_of_task(BlockWriter& emit, Id task, std::span<const LoopAxis* const> axes,
                               std::span<const Id> counts) {
  std::vector<Id> numbers;
  const auto band = std::ranges::find_if(axes, [](const LoopAxis* a) { return a->band > 1; });
  if (band == axes.end() || band + 1 == axes.end()) {
    add_digits(emit, task, counts, numbers);
    return numbers;
  }
  const auto at = static_cast<size_t>(band - axes.begin());
  if (at > 0) {
    const Id inside = product(emit, counts.subspan(at));
    add_digits(emit, emit.divide_unsigned(Op::IDiv, task, inside), counts.first(at), numbers);
    task = emit.divide_unsigned(Op::Mod, task, inside);
  }
  const Id most = emit.number((*band)->band), tasks = emit.index(Op::Mul, product(emit, counts.subspan(at + 1)), most);
  const Id first = emit.index(Op::Mul, emit.divide_unsigned(Op::IDiv, task, tasks), most);
  task = emit.divide_unsigned(Op::Mod, task, tasks);
  int64_t count = 0;
  const bool whole = emit.known(counts[at], count) && count % (*band)->band == 0;
  // The last band may have fewer blocks.
  const Id blocks = whole ? most : emit.index(Op::Min, emit.index(Op::Sub, counts[at], first), most);
  numbers.push_back(emit.index(Op::Add, first, emit.divide_unsigned(Op::Mod, task, blocks)));
  add_digits(emit, emit.divide_unsigned(Op::IDiv, task, blocks), counts.subspan(at + 1), numbers);
  return numbers;
}

}  // namespace sinter::codegen
