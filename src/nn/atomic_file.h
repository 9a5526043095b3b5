// A file that is written beside its place and takes it at the end: the place holds the old file or the whole new one.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <optional>

namespace sinter {
inline namespace v0 {
namespace nn {

/// Every call throws BackendError where the system refuses; what was written is gone unless finish() has returned.
class Aside {
 public:
  /// A symbolic link stands for what it points to, which need not exist. What exists must be a regular file; its mode
  /// is kept, and its owner where the process may give files away.
  explicit Aside(const std::filesystem::path& place);
  ~Aside();
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;

  void write(const void* bytes, size_t size);
  void finish();

 private:
  void take_over(uid_t owner, gid_t group, mode_t mode);
  [[noreturn]] void fail(int error) const;

  std::filesystem::path place_, path_;
  int file_ = -1;
};

}  // namespace nn
}  // namespace v0
}  // namespace sinter
