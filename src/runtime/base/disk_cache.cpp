// Accesses the cache through descriptors of its folder, so nobody can swap the folder mid-use.
#include "runtime/base/disk_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <mutex>
#include <vector>

#include "runtime/base/env.h"
#include "runtime/base/files.h"
#include "runtime/base/log.h"

namespace sinter::runtime {
namespace {

constexpr char kMagic[8] = {'s', 'i', 'n', 't', 'e', 'r', '1', '\n'};
constexpr time_t kFresh = 24 * 3600;  ///< an entry's mtime is renewed at most once a day, so hits rarely write

struct EntryHead {
  char magic[8];
  uint64_t size;
  Hash128 checksum;
};

std::string stem_of(const std::string& name, const Hash128& key) {
  return fmt::format("{}-{}", name.substr(0, 100), to_hex(key));
}

Hash128 checksum_of(const std::string& stem, std::string_view object) {
  return HashBuilder().add(stem).add(object).hash();
}

/// mkdir -p. New folders are private to the user. Errors show up when the folder is opened.
void make_folders(const std::string& path) {
  for (size_t at = 1; at <= path.size(); ++at)
    if (at == path.size() || path[at] == '/') mkdir(path.substr(0, at).c_str(), 0700);
}

/// Whether only this user can have written it.
bool ours_alone(const struct stat& info) { return info.st_uid == geteuid() && !(info.st_mode & (S_IWGRP | S_IWOTH)); }

/// Returns a descriptor of folder/kernels, or -1 with the reason in `why`.
int open_folder(const std::string& folder, std::string& why) {
  const auto failed = [&] { return why = std::strerror(errno), -1; };
  const auto theirs = [&] { return why = "it belongs to another user", -1; };
  if (folder.empty()) return why = "neither SINTER_CACHE, XDG_CACHE_HOME nor HOME is set", -1;
  make_folders(folder);
  const Descriptor base(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat info;
  if (base.get() < 0 || fstat(base.get(), &info)) return failed();
  if (info.st_uid != geteuid()) return theirs();
  for (bool fresh = false;; fresh = true) {
    if (mkdirat(base.get(), "kernels", 0700) && errno != EEXIST) return failed();
    Descriptor kernels(openat(base.get(), "kernels", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    if (kernels.get() < 0 || fstat(kernels.get(), &info)) return failed();
    if (info.st_uid != geteuid()) return theirs();
    if (ours_alone(info)) {
      // Closes the folder to others if possible. A shipped folder may be on a read-only file system.
      if ((info.st_mode & 0777) != 0700 && fchmod(kernels.get(), 0700) && errno != EROFS) return failed();
      return kernels.take();
    }
    if (fresh) return why = "others keep making it", -1;
    if (renameat(base.get(), "kernels", base.get(), "kernels.distrusted")) {
      why =
          fmt::format("others could write to it, and moving it to kernels.distrusted failed: {}", std::strerror(errno));
      return -1;
    }
    log(0, fmt::format("sinter: others could write to \"{0}/kernels\": moved to \"{0}/kernels.distrusted\"", folder));
  }
}

}  // namespace

std::shared_ptr<DiskCache> DiskCache::current() {
  static std::mutex& mutex = *new std::mutex;
  static auto& cache = *new std::shared_ptr<DiskCache>;
  static std::string& of = *new std::string;
  const std::string folder = env().cache.empty() ? cache_folder() : env().cache;
  std::lock_guard lock(mutex);
  if (!cache || of != folder) cache = std::make_shared<DiskCache>(folder), of = folder;
  return cache;
}

DiskCache::DiskCache(std::string folder, uint64_t bound) : path_(folder + "/kernels"), bound_(bound) {
  folder_fd_ = open_folder(folder, unusable_reason_);
  if (folder_fd_ < 0)
    log(0, fmt::format("sinter: no kernels are cached: folder \"{}\": {} (set SINTER_CACHE to another one)", folder,
                       unusable_reason_));
}

DiskCache::~DiskCache() {
  if (folder_fd_ >= 0) close(folder_fd_);
}

std::optional<std::string> DiskCache::load(const std::string& name, const Hash128& key, const char* extension) const {
  if (!usable()) return std::nullopt;
  const std::string stem = stem_of(name, key);
  const Descriptor file(openat(folder_fd_, (stem + extension).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat info;
  if (file.get() < 0 || fstat(file.get(), &info) || !S_ISREG(info.st_mode) || !ours_alone(info)) return std::nullopt;
  auto bytes = read_all(file.get());
  const bool old = info.st_mtime < std::time(nullptr) - kFresh;
  EntryHead head;
  if (!bytes || bytes->size() < sizeof head) return std::nullopt;
  std::memcpy(&head, bytes->data(), sizeof head);
  bytes->erase(0, sizeof head);
  if (std::memcmp(head.magic, kMagic, sizeof kMagic) != 0 || head.size != bytes->size() ||
      head.checksum != checksum_of(stem, *bytes))
    return std::nullopt;
  if (old) utimensat(folder_fd_, (stem + extension).c_str(), nullptr, 0);
  return bytes;
}

bool DiskCache::write_entry(const std::string& file, std::string_view head, std::string_view body) const {
  // Random, because process ids repeat when containers share a folder. std::random_device would require a 2022 C
  // library.
  uint64_t random = 0;
  std::string aside;
  int fd = -1;
  do {
    if (getrandom(&random, sizeof random, 0) != sizeof random) return false;
    aside = fmt::format(".new-{:016x}", random);
    fd = openat(folder_fd_, aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  } while (fd < 0 && errno == EEXIST);
  if (fd < 0) return false;
  bool good = write_all(fd, head) && write_all(fd, body);
  good = close(fd) == 0 && good;
  good = good && renameat(folder_fd_, aside.c_str(), folder_fd_, file.c_str()) == 0;
  if (!good) {
    const int error = errno;
    unlinkat(folder_fd_, aside.c_str(), 0);
    errno = error;
  }
  return good;
}

void DiskCache::store(const std::string& name, const Hash128& key, std::string_view object, std::string_view source,
                      const char* extension) {
  if (!usable() || !writable_) return;
  const std::string stem = stem_of(name, key);
  EntryHead head{{}, object.size(), checksum_of(stem, object)};
  std::memcpy(head.magic, kMagic, sizeof kMagic);
  const std::string_view head_bytes(reinterpret_cast<const char*>(&head), sizeof head);
  const bool kept = source.empty() || write_entry(stem + ".c", source, "");
  if (!kept || !write_entry(stem + extension, head_bytes, object)) {
    if (writable_.exchange(false))
      log(0, fmt::format("sinter: no more kernels are cached: folder \"{}\": {}", path_, std::strerror(errno)));
    return;
  }
  if (trim_is_due(sizeof head + object.size() + source.size())) trim();
}

std::vector<std::string> DiskCache::names(const char* extension) const {
  std::vector<std::string> found;
  each_file([&](const std::string& file) {
    const size_t key = 1 + to_hex(Hash128()).size();
    if (const std::string stem = file.substr(0, file.rfind('.')); file == stem + extension && stem.size() > key)
      found.push_back(stem.substr(0, stem.size() - key));
  });
  std::ranges::sort(found);
  return found;
}

/// All processes share one count of stored bytes: the size of a file that each appends to. Scanning a well-filled
/// folder takes longer than compiling a kernel, so a process must not scan it for a few entries of its own. If the
/// shared count is unavailable, each process scans once.
bool DiskCache::trim_is_due(uint64_t stored) {
  const uint64_t share = bound_ / 16, unit = std::max<uint64_t>(share / 4096, 1);
  const Descriptor count(openat(folder_fd_, ".stored", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
  struct stat info;
  if (!write_all(count.get(), std::string(stored / unit + 1, '.')) || fstat(count.get(), &info))
    return !uncounted_.exchange(true);
  return static_cast<uint64_t>(info.st_size) * unit >= share && ftruncate(count.get(), 0) == 0;
}

std::string DiskCache::keep_source(const std::string& name, const Hash128& key, std::string_view source) const {
  const std::string file = stem_of(name, key) + ".c";
  if (usable() && write_entry(file, source, "")) return path_ + "/" + file;
  const char* base = std::getenv("TMPDIR");
  std::string path = fmt::format("{}/sinter-XXXXXX.c", base && *base ? base : "/tmp");
  const int fd = mkostemps(path.data(), 2, O_CLOEXEC);
  if (fd < 0) return "(no folder to keep it in)";
  const bool good = write_all(fd, source);
  close(fd);
  return good ? path : "(no space to keep it)";
}

void DiskCache::each_file(const std::function<void(const std::string&)>& visit) const {
  Descriptor copy(usable() ? openat(folder_fd_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1);
  DIR* folder = copy.get() < 0 ? nullptr : fdopendir(copy.get());
  if (!folder) return;
  copy.take();  // closedir() closes it
  while (const dirent* item = readdir(folder)) visit(item->d_name);
  closedir(folder);
}

/// Evicts the least recently used entries until three quarters of the bound remain.
void DiskCache::trim() {
  struct EntryFiles {
    time_t used = 0;
    uint64_t bytes = 0;
    std::vector<std::string> files;
  };
  std::map<std::string, EntryFiles> entries;
  uint64_t total = 0;
  const time_t now = std::time(nullptr);
  each_file([&](const std::string& file) {
    struct stat info;
    if (fstatat(folder_fd_, file.c_str(), &info, AT_SYMLINK_NOFOLLOW) || !S_ISREG(info.st_mode)) return;
    if (file[0] == '.') {  // left by a process that died
      if (info.st_mtime < now - kFresh) unlinkat(folder_fd_, file.c_str(), 0);
      return;
    }
    EntryFiles& entry = entries[file.substr(0, file.rfind('.'))];
    entry.used = std::max(entry.used, info.st_mtime);
    entry.bytes += static_cast<uint64_t>(info.st_size);
    entry.files.push_back(file);
    total += static_cast<uint64_t>(info.st_size);
  });
  if (total <= bound_) return;
  std::vector<const EntryFiles*> oldest;
  for (const auto& [stem, entry] : entries) oldest.push_back(&entry);
  std::ranges::sort(oldest, [](const EntryFiles* a, const EntryFiles* b) { return a->used < b->used; });
  for (const EntryFiles* entry : oldest) {
    if (total <= bound_ / 4 * 3) break;
    for (const std::string& file : entry->files) unlinkat(folder_fd_, file.c_str(), 0);
    total -= entry->bytes;
  }
}

}  // namespace sinter::runtime
