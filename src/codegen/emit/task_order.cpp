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
  const auto banded = static_cast<size_t>(band - axes.begin());
  if (banded > 0) {
    const Id behind = product(emit, counts.subspan(banded));
    add_digits(emit, emit.divide_unsigned(Op::IDiv, task, behind), counts.first(banded), numbers);
    task = emit.divide_unsigned(Op::Mod, task, behind);
  }
  const Id size = emit.number((*band)->band);
  const Id tasks_of_band = emit.index(Op::Mul, product(emit, counts.subspan(banded + 1)), size);
  const Id first = emit.index(Op::Mul, emit.divide_unsigned(Op::IDiv, task, tasks_of_band), size);
  task = emit.divide_unsigned(Op::Mod, task, tasks_of_band);
  int64_t count = 0;
  Id blocks = size;
  if (!emit.known(counts[banded], count) || count % (*band)->band) {  // the last band may have fewer
    const Id rest = emit.index(Op::Min, emit.index(Op::Sub, counts[banded], first), size);
    blocks = emit.index(Op::Max, rest, emit.number(1));  // with that bound, indices of 32 bits suffice
  }
  numbers.push_back(emit.index(Op::Add, first, emit.divide_unsigned(Op::Mod, task, blocks)));
  add_digits(emit, emit.divide_unsigned(Op::IDiv, task, blocks), counts.subspan(banded + 1), numbers);
  return numbers;
}

}  // namespace sinter::codegen
