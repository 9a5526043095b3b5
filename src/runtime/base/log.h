// Output of DEBUG and notices: whole lines, to stderr or to a sink.
#pragma once

#include <string_view>

namespace sinter::runtime {

/// Receives the output instead of stderr. Called from any thread.
class LogSink {
 public:
  virtual ~LogSink() = default;
  /// `text` is one or more whole lines, including the last newline.
  virtual void write(int level, std::string_view text) = 0;
};

/// True if this level is printed: level <= DEBUG. Check before building an expensive text.
bool logging(int level);

/// Writes `text` as one piece and adds a newline, if its level is printed. Level 0 is for notices that a user must see
/// once, whatever DEBUG is; SINTER_NOTICES=0 suppresses them.
void log(int level, std::string_view text);

/// Replaces stderr as the destination; null restores stderr. Returns the previous sink. The caller owns the sink and
/// keeps it alive while it is installed.
LogSink* set_log_sink(LogSink* sink);

}  // namespace sinter::runtime
