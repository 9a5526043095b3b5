// Every error that Sinter throws. `what()` holds the whole message; nothing is printed and nothing aborts.
#pragma once

#include <source_location>
#include <stdexcept>
#include <string>

namespace sinter {
inline namespace v0 {

/// Base of all errors of the library.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The caller asked for something that has no meaning: shape, dtype, device, index or state.
/// The text names the call, both values, the caller's file and line, and what to do.
class UsageError : public Error {
 public:
  /// An error of the call at `where`, which the text gets too.
  UsageError(const std::string& message, std::source_location where);
  /// For errors that arise away from a call, such as an index tensor found out of range at a host read.
  explicit UsageError(const std::string& message) : Error(message) {}

  /// The caller's position; `line() == 0` when the error did not arise at a call.
  const std::source_location& where() const noexcept { return where_; }

 private:
  std::source_location where_{};
};

/// A generated kernel did not compile. The text holds the source's path and the compiler's log.
class CompileError : public Error {
 public:
  using Error::Error;
};

/// A device, driver or the operating system failed; the text holds its code.
class BackendError : public Error {
 public:
  using Error::Error;
};

/// No memory: says what was asked for and what is live. Every tensor stays usable.
class OutOfMemory : public BackendError {
 public:
  using BackendError::BackendError;
};

/// A defect of Sinter itself: the failed condition, the pass, the last rule and an IR dump.
class InternalError : public Error {
 public:
  using Error::Error;
};

}  // namespace v0
}  // namespace sinter
