// DEBUG=6: each rule that fires, as a line.
#pragma once

namespace sinter::codegen {

/// Sends rewrite events to the log if DEBUG is at least 6, unless somebody listens already. Cheap after the first call.
void log_rules();

}  // namespace sinter::codegen
