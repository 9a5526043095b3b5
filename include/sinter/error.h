// Every error that Sinter throws. `what()` holds the whole message; nothing is printed and nothing aborts.
#pragma once

#include <cstdint>
#include <source_location>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace sinter::inline v0 {

/// Base class of all errors of the library.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The caller asked for something without meaning: shape, dtype, device, index or state.
/// The text names the call, both values, the caller's file and line, and what to do.
class UsageError : public Error {
 public:
  /// An error of the call at `where`; the text includes it.
  UsageError(const std::string& message, std::source_location where);
  /// For errors that arise away from a call, such as an index tensor found out of range at a host read.
  explicit UsageError(const std::string& message) : Error(message) {}

  /// The caller's position; `line() == 0` when the error did not arise at a call.
  const std::source_location& where() const noexcept { return where_; }

 private:
  std::source_location where_{};
};

/// A generated kernel did not compile. The text contains the source's path and the compiler's log.
class CompileError : public Error {
 public:
  using Error::Error;
};

/// A device, a driver or the operating system failed; the text contains its code.
class BackendError : public Error {
 public:
  using Error::Error;
};

/// Out of memory. The text says what was requested and what is live. Every tensor stays usable.
class OutOfMemory : public BackendError {
 public:
  using BackendError::BackendError;
};

/// Where the first NaN or infinity appeared.
struct Anomaly {
  std::string op;              ///< the op whose operands were finite, such as "Log"
  std::string call;            ///< the public call that made it; of a gradient, the call that is differentiated
  std::string file;            ///< of that call
  uint32_t line = 0;           ///< of that call
  bool backward = false;       ///< whether the op is part of a gradient
  std::vector<int64_t> index;  ///< of the first such element
  double value = 0;            ///< NaN, or an infinity
};

/// A NaN or an infinity has appeared while debug::detect_anomaly watched. The text says what anomaly() holds.
class AnomalyError : public Error {
 public:
  AnomalyError(const std::string& message, Anomaly anomaly) : Error(message), anomaly_(std::move(anomaly)) {}
  const Anomaly& anomaly() const noexcept { return anomaly_; }  ///< where

 private:
  Anomaly anomaly_;
};

/// A defect of Sinter itself. The text contains the failed condition, the pass, the last rule and an IR dump.
class InternalError : public Error {
 public:
  using Error::Error;
};

}  // namespace sinter::inline v0
