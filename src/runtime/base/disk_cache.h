// Compiled kernels on disk: an entry per kernel with its source beside it; and what else is worth keeping, such as the
// machine's roofs. Everything that is wrong with the folder or an entry is a miss, never an error.
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
/// entries are written aside and renamed. The folders belong to the user; KERNELS is closed to others (0700), and one
/// that others could write to is moved to `folder`/kernels.distrusted, because what lies in it may be anybody's.
class DiskCache {
 public:
  static constexpr uint64_t kBytes = 256 << 20;

  /// The folder that the environment names. Made anew when that changes.
  static std::shared_ptr<DiskCache> current();

  /// Creates `folder` where it is missing; a folder that cannot be used is logged once, and nothing is cached then.
  /// `bound`: bytes on disk above which the entries unused for longest go.
  explicit DiskCache(std::string folder, uint64_t bound = kBytes);
  ~DiskCache();
  DiskCache(const DiskCache&) = delete;
  DiskCache& operator=(const DiskCache&) = delete;

  /// The object stored under this key; nothing if there is none or it is damaged. What is no object has an `extension`
  /// of its own.
  std::optional<std::string> load(const std::string& name, const Hash128& key, const char* extension = ".o") const;

  /// The object and, unless it is empty, the source.
  void store(const std::string& name, const Hash128& key, std::string_view object, std::string_view source,
             const char* extension = ".o");

  /// Writes a source alone, for a message that names it; into the temporary folder if this one cannot be used. Returns
  /// the path, or a remark that there is none.
  std::string keep_source(const std::string& name, const Hash128& key, std::string_view source) const;

  /// Names of the entries with this extension, without their keys, in order.
  std::vector<std::string> names(const char* extension) const;

  bool usable() const { return folder_fd_ >= 0; }
  /// Why the folder cannot be used.
  const std::string& unusable_reason() const { return unusable_reason_; }
  const std::string& path() const { return path_; }

 private:
  bool write_entry(const std::string& file, std::string_view head, std::string_view body) const;
  /// Counts bytes that were stored; whether they and others since the last time are a share of the bound.
  bool trim_is_due(uint64_t stored);
  void trim();
  void each_file(const std::function<void(const std::string&)>& visit) const;

  std::string path_, unusable_reason_;
  uint64_t bound_;
  int folder_fd_ = -1;
  std::atomic<bool> writable_{true};
  std::atomic<bool> uncounted_{false};  ///< the folder does not say how much was stored
};

}  // namespace sinter::runtime
