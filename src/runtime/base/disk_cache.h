// Compiled kernels on disk, one entry per kernel with its source beside it, and other data worth keeping, such as the
// measured roofline. A bad folder or entry is a cache miss, never an error.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/hash.h"

namespace sinter::runtime {

/// The folder KERNELS = `folder`/kernels with files NAME-KEY.o and NAME-KEY.c. Safe for several threads and processes:
/// entries are written to a temporary file and renamed. The folders belong to the user, and KERNELS is closed to others
/// (0700). If others could write to KERNELS, its contents cannot be trusted; it is moved to
/// `folder`/kernels.distrusted.
class DiskCache {
 public:
  static constexpr uint64_t kBytes = 256 << 20;

  /// The cache in the folder that the environment names. Recreated when that changes.
  static std::shared_ptr<DiskCache> current();

  /// Creates `folder` if it is missing. If the folder cannot be used, that is logged once and nothing is cached.
  /// `bound`: size on disk in bytes above which the least recently used entries are evicted.
  explicit DiskCache(std::string folder, uint64_t bound = kBytes);
  ~DiskCache();
  DiskCache(const DiskCache&) = delete;
  DiskCache& operator=(const DiskCache&) = delete;

  /// The object stored under this key, or nullopt if it is missing or damaged. Entries that are not objects use an
  /// `extension` of their own.
  std::optional<std::string> load(const std::string& name, const Hash128& key, const char* extension = ".o") const;

  /// Stores the object and, unless it is empty, the source.
  void store(const std::string& name, const Hash128& key, std::string_view object, std::string_view source,
             const char* extension = ".o");

  /// Writes only a source, for an error message that names the file. Uses the temporary folder if this one is unusable.
  /// Returns the path, or a remark that there is none.
  std::string keep_source(const std::string& name, const Hash128& key, std::string_view source) const;

  /// Names of the entries with this extension, without their keys, sorted.
  std::vector<std::string> names(const char* extension) const;

  bool usable() const { return folder_fd_ >= 0; }
  /// Why the folder is unusable.
  const std::string& unusable_reason() const { return unusable_reason_; }
  const std::string& path() const { return path_; }

 private:
  bool write_entry(const std::string& file, std::string_view head, std::string_view body) const;
  /// Adds `stored` bytes to the shared count. True if the bytes stored since the last trim, by any process, reach a
  /// fixed fraction of the bound.
  bool trim_is_due(uint64_t stored);
  void trim();
  void each_file(const std::function<void(const std::string&)>& visit) const;

  std::string path_, unusable_reason_;
  uint64_t bound_;
  int folder_fd_ = -1;
  std::atomic<bool> writable_{true};
  std::atomic<bool> uncounted_{false};  ///< the shared count is unavailable
};

}  // namespace sinter::runtime
