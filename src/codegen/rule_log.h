// DEBUG=6: one log line per rewrite rule that fires.
#pragma once

namespace sinter::codegen {

/// Sends rewrite events to the log if DEBUG is at least 6. A sink that is already set stays. Cheap after the first
/// call.
void log_rules();

}  // namespace sinter::codegen
