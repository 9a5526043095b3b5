// Log lines -> stderr or the installed sink. No lock, so that a fork at any moment leaves a usable log.
#include "runtime/log.h"

#include <unistd.h>

#include <atomic>
#include <string>

#include "runtime/env.h"

namespace sinter::runtime {
namespace {

std::atomic<LogSink*> installed{nullptr};

void write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
    if (written <= 0) return;  // a closed stderr must not hurt the program
    text.remove_prefix(static_cast<size_t>(written));
  }
}

}  // namespace

bool logging(int level) { return level <= 0 || level <= env().debug; }

void log(int level, std::string_view text) {
  if (!logging(level)) return;
  std::string lines(text);
  if (lines.empty() || lines.back() != '\n') lines += '\n';
  if (LogSink* sink = installed.load())
    sink->write(level, lines);
  else
    write_all(lines);
}

LogSink* set_log_sink(LogSink* sink) { return installed.exchange(sink); }

}  // namespace sinter::runtime
