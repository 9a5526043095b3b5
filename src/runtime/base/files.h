// Reading, writing and identifying whole files and descriptors.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace sinter::runtime {

/// Owns a file descriptor and closes it, unless take() released it. -1: owns none.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  int take() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

/// Writes all bytes, retrying partial writes. Returns false with errno set on failure.
bool write_all(int fd, std::string_view bytes);
/// Reads to the end. Returns nullopt with errno set on failure.
std::optional<std::string> read_all(int fd);

/// The contents of a file, or nullopt if it cannot be read.
std::optional<std::string> read_file(const std::string& path);
/// True if all bytes were written.
bool write_file(const std::string& path, std::string_view bytes);

/// Sinter's folder in the user's cache directory; empty if there is none (docs/environment.md).
std::string cache_folder();

/// Size and mtime of a file, standing for its version. All unreadable files give the same text.
std::string stamp_of(const std::string& path);

}  // namespace sinter::runtime
