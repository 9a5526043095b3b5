// Whole files and descriptors: read, written, recognised.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sinter::runtime {

/// Writes all of it, however often the system wants to be asked; false with errno set if that fails.
bool write_all(int fd, std::string_view bytes);
/// Everything up to the end; none, with errno set, if that fails.
std::optional<std::string> read_all(int fd);

/// The contents of a file; none if it cannot be read.
std::optional<std::string> read_file(const std::string& path);
/// Says whether all was written.
bool write_file(const std::string& path, std::string_view bytes);

/// The user's folder for what can be made again, Sinter's own part of it; empty if there is none (docs/environment.md).
std::string cache_folder();

/// Size and time of a file, which stand for its version; the same text for all that cannot be read.
std::string stamp_of(const std::string& path);

}  // namespace sinter::runtime
