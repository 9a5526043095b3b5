// Parses the text that to_string() makes of Opts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "codegen/loopschedule/opt.h"

namespace sinter::codegen {

/// Parses text such as "lanes(1, 16) unroll(0, 6)"; keeps the order. Throws UsageError with the position for text that
/// to_string() would not produce. Does not check whether the Opts are legal for a kernel (is_legal()).
std::vector<Opt> parse_opts(std::string_view text);

/// All kinds of Opts with default values, as text. Changes whenever the kinds or their text form change.
std::string opt_vocabulary();

}  // namespace sinter::codegen
