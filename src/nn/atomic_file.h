// A file that is written beside its place and takes it at the end: the place holds the old file or the whole new one.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <optional>

namespace sinter {
inline namespace v0 {
namespace nn {

/// Every call throws BackendError where the system refuses; what was written is gone unless commit() has returned.
class AtomicFile {
 public:
  /// A symbolic link stands for what it points to, which need not exist. What exists must be a regular file; its mode
  /// is kept, and its owner where the process may give files away.
  explicit AtomicFile(const std::filesystem::path& place);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* bytes, size_t size);
  void commit();

 private:
  void adopt_owner(uid_t owner, gid_t group, mode_t mode);
  [[noreturn]] void fail(int error) const;

  std::filesystem::path target_, path_;
  int file_ = -1;
};

}  // namespace nn
}  // namespace v0
}  // namespace sinter
