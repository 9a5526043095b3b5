// Where DEBUG output and notices go: whole lines, to stderr or to a sink.
#pragma once

#include <string_view>

namespace sinter::runtime {

/// Receives what would go to stderr. Called from any thread.
class LogSink {
 public:
  virtual ~LogSink() = default;
  /// `text` is one or more whole lines, the last newline included.
  virtual void write(int level, std::string_view text) = 0;
};

/// True if output of this level is wanted: level <= DEBUG. Ask before building a costly text.
bool logging(int level);

/// Writes `text`, if its level is wanted, in one piece and with a newline at its end. Level 0: notices that a user must
/// see once, whatever DEBUG is; SINTER_NOTICES=0 leaves them out.
void log(int level, std::string_view text);

/// Takes over from stderr until the next call; null gives it back. Returns the sink before. The caller owns the sink
/// and keeps it alive while it is installed.
LogSink* set_log_sink(LogSink* sink);

}  // namespace sinter::runtime
