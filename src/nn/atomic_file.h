// A file that is written to a temporary name and renamed at the end: whenever the process ends, the path holds the old
// file or the complete new one. When the machine loses power, that is up to the file system: nothing waits for the
// disk.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>

namespace sinter::inline v0::nn {

/// Every call throws BackendError if the system refuses. Unless commit() has returned, what was written is removed.
class AtomicFile {
 public:
  /// A symbolic link stands for its target, which need not exist. An existing target must be a regular file. Its mode
  /// is kept, and its owner if the process may change owners.
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

}  // namespace sinter::inline v0::nn
