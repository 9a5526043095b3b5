// The temporary file has a short unique name in the target's folder: the rename stays within a file system, and long
// names fit.
#include "nn/atomic_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "runtime/base/files.h"
#include "sinter/error.h"

namespace sinter::inline v0::nn {
namespace {

namespace fs = std::filesystem;
constexpr int kMaxLinks = 40;  ///< the kernel's limit

[[noreturn]] void refuse(const fs::path& place, std::string_view why) {
  throw BackendError(fmt::format("save: cannot write {}: {}", place.string(), why));
}

/// The target of a write to this path, with all symbolic links of the file itself resolved. The kernel resolves those
/// of folders.
fs::path behind_links(const fs::path& given) {
  fs::path place = given;
  std::error_code failed;
  for (int followed = 0; fs::is_symlink(fs::symlink_status(place, failed)); ++followed) {
    if (followed == kMaxLinks) refuse(given, std::strerror(ELOOP));
    const fs::path target = fs::read_symlink(place, failed);
    if (failed) refuse(given, failed.message());
    place = place.parent_path() / target;  // an absolute target replaces the parent
  }
  return place;
}

}  // namespace

AtomicFile::AtomicFile(const fs::path& given) : target_(behind_links(given)) {
  const fs::path folder = target_.has_parent_path() ? target_.parent_path() : fs::path(".");
  struct stat old{};
  const bool exists = stat(target_.c_str(), &old) == 0;
  if (!exists && errno != ENOENT) fail(errno);
  if (exists && !S_ISREG(old.st_mode)) refuse(target_, "it is no regular file; name a file, or a place for a new one");
  if (std::error_code ignored; !fs::is_directory(folder, ignored))
    refuse(target_, fmt::format("there is no folder {}; create it", folder.string()));
  if (!target_.has_filename()) refuse(target_, "the path names no file");

  static std::atomic<uint64_t> count{0};
  do {
    path_ = folder / fmt::format(".sinter.{}.{}.part", getpid(), count++);
    // The data may be as private as the file that they replace.
    file_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, exists ? 0600 : 0666);
  } while (file_ < 0 && errno == EEXIST);  // left by a process with this id that ended early
  if (file_ < 0) fail(errno);
  if (exists) adopt_owner(old.st_uid, old.st_gid, old.st_mode & 07777);
}

AtomicFile::~AtomicFile() {
  if (file_ < 0) return;
  close(file_);
  unlink(path_.c_str());
}

void AtomicFile::adopt_owner(uid_t owner, gid_t group, mode_t mode) {
  struct stat own{};
  const bool same = fstat(file_, &own) == 0 && own.st_uid == owner && own.st_gid == group;
  // A set-user-id file must not pass to another owner.
  if (!same && fchown(file_, owner, group)) mode &= 0777;
  if (fchmod(file_, mode)) {
    const int error = errno;
    close(file_);
    unlink(path_.c_str());
    file_ = -1;
    fail(error);
  }
}

void AtomicFile::fail(int error) const { refuse(target_, std::strerror(error)); }

void AtomicFile::write(const void* bytes, size_t size) {
  if (!runtime::write_all(file_, {static_cast<const char*>(bytes), size})) fail(errno);
}

void AtomicFile::commit() {
  const int closed = close(file_);
  const int error = errno;
  const bool renamed = !closed && !rename(path_.c_str(), target_.c_str());
  const int why = closed ? error : errno;
  file_ = -1;
  if (renamed) return;
  unlink(path_.c_str());
  fail(why);
}

}  // namespace sinter::inline v0::nn
