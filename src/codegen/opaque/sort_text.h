// What the texts of a sort share: names to fill in, and elements as C that is C++ as well.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codegen/kernel/kernel.h"
#include "ir/sort_runs.h"
#include "runtime/base/kernel_source.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

/// The parameters of one step.
struct SortStep {
  explicit SortStep(const Kernel& kernel);

  ir::SortRuns runs;
  DType dtype;       ///< of the source
  int key_bits = 0;  ///< of a value, if the source holds values
};

/// Values of the `$NAME`s in a text.
using SortNames = std::vector<std::pair<std::string, std::string>>;
std::string filled(std::string_view text, const SortNames& names);

/// The names that say what an element is:
///   $ELEMENT, $VALUE, $KEY  types: an element between steps, the bits of a value, its key
///   $OUT                    type of what the step writes
///   $ROW, $RUN, $SORTED, $TASKS  sizes; $FIRST and $COUNT of the ranks that the step writes
/// and the text of functions `$FN key_of(value)`, `make(value, key, position)`, `key(element)`, `result(element)` and
/// `less(element, element)`, each prefixed by `$N_`. $N is the name of the kernel, $FN the words that a function begins
/// with.
SortNames names_of(const SortStep& step);
std::string element_text(const SortStep& step);

/// The keys of `$N_lanes b`, a vector of values as wide as keys, as an expression.
std::string vector_key(const SortStep& step);

/// `text` with the names in it, and then its name $N, `hint` plus a hash.
void finish(runtime::KernelSource& source, const std::string& text, const std::string& hint, const SortNames& names);

runtime::KernelSource sort_c(const SortStep& step, const Kernel& kernel, const runtime::Target& target);
runtime::KernelSource sort_cuda(const SortStep& step, const Kernel& kernel);

}  // namespace sinter::codegen
