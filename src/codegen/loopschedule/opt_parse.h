// Opts from text: what to_string() writes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "codegen/loopschedule/opt.h"

namespace sinter::codegen {

/// The Opts of a text such as "lanes(1, 16) unroll(0, 6)", in its order. Throws UsageError with the place for what
/// to_string() does not write; whether a kernel can have them is another question (is_legal()).
std::vector<Opt> parse_opts(std::string_view text);

/// All kinds of Opts with their defaults as text: changes when there are others, or when they are written in another
/// way.
std::string opt_vocabulary();

}  // namespace sinter::codegen
