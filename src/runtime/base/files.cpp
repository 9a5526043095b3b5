// Reads and writes that repeat until all bytes are transferred.
#include "runtime/base/files.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace sinter::runtime {

namespace {

/// While alive, a write past RLIMIT_FSIZE or into a pipe without a reader makes write() fail. Without it the process
/// would get a signal and end.
class SignalBlock {
 public:
  SignalBlock() {
    sigset_t pending;
    sigpending(&pending);
    sigemptyset(&ours_);
    for (const int number : {SIGXFSZ, SIGPIPE})
      if (!sigismember(&pending, number))
        sigaddset(&ours_, number);  // an already pending signal belongs to the
                                    // program
    pthread_sigmask(SIG_BLOCK, &ours_, &before_);
  }
  ~SignalBlock() {
    const int error = errno;
    constexpr timespec kNow{};
    while (sigtimedwait(&ours_, nullptr, &kNow) > 0) {}
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }
  SignalBlock(const SignalBlock&) = delete;
  SignalBlock& operator=(const SignalBlock&) = delete;

 private:
  sigset_t ours_, before_;
};

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) close(fd_);
}

bool write_all(int fd, std::string_view bytes) {
  const SignalBlock guard;
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

std::optional<std::string> read_all(int fd) {
  struct stat info{};
  std::string bytes(fstat(fd, &info) == 0 && info.st_size > 0 ? static_cast<size_t>(info.st_size) + 1 : 1 << 16, '\0');
  for (size_t got = 0;;) {
    if (got == bytes.size()) bytes.resize(2 * got);
    const ssize_t count = ::read(fd, bytes.data() + got, bytes.size() - got);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::nullopt;
    got += static_cast<size_t>(count);
    if (count > 0) continue;
    bytes.resize(got);
    return bytes;
  }
}

std::optional<std::string> read_file(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return file.get() < 0 ? std::nullopt : read_all(file.get());
}

bool write_file(const std::string& path, std::string_view bytes) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return false;
  const bool written = write_all(fd, bytes);
  return close(fd) == 0 && written;
}

std::string cache_folder() {
  if (const char* xdg = std::getenv("XDG_CACHE_HOME"); xdg && xdg[0] == '/') return std::string(xdg) + "/sinter";
  if (const char* home = std::getenv("HOME"); home && *home) return std::string(home) + "/.cache/sinter";
  return "";
}

std::string stamp_of(const std::string& path) {
  struct stat info{};
  stat(path.c_str(), &info);
  return fmt::format("{}.{}.{}", info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

}  // namespace sinter::runtime
