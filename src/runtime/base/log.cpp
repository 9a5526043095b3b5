// Log lines -> stderr or the installed sink. Takes no lock, so a fork at any moment leaves the log usable.
#include "runtime/base/log.h"

#include <unistd.h>

#include <atomic>
#include <string>

#include "runtime/base/env.h"
#include "runtime/base/files.h"

namespace sinter::runtime {
namespace {

std::atomic<LogSink*> installed{nullptr};

}  // namespace

bool logging(int level) { return level <= 0 ? env().notices : level <= env().debug; }

void log(int level, std::string_view text) {
  if (!logging(level)) return;
  std::string lines(text);
  if (lines.empty() || lines.back() != '\n') lines += '\n';
  if (LogSink* sink = installed.load())
    sink->write(level, lines);
  else
    write_all(STDERR_FILENO, lines);  // a closed stderr must not stop the program
}

LogSink* set_log_sink(LogSink* sink) { return installed.exchange(sink); }

}  // namespace sinter::runtime
