// A run of values sorted in vector registers, for CPUs with AVX2 or AVX-512.
#pragma once

#include <string>

#include "codegen/opaque/sort_text.h"
#include "runtime/base/target.h"

namespace sinter::codegen {

/// Whether the step is the first one of a sort of values alone whose type and target have a text here.
bool sorts_in_vectors(const SortStep& step, const runtime::Target& target);

/// The text of `$N_run`, which needs that of element_text(), and two buffers, each a vector longer than the run; adds
/// the names in it.
std::string vector_run_text(const SortStep& step, const runtime::Target& target, SortNames& names);

}  // namespace sinter::codegen
