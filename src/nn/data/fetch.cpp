// Downloads: curl fetches to a temporary file, sha256sum checks it, a rename completes it (docs/decisions/0016).
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <future>

#include "runtime/base/files.h"
#include "runtime/base/subprocess.h"
#include "sinter/data.h"

namespace sinter::inline v0::data {
namespace {

namespace fs = std::filesystem;
using runtime::cpu::find_executable;

std::string program(const char* name, const char* package) {
  if (auto path = find_executable(name)) return *path;
  throw BackendError(fmt::format(
      "fetch: the program {} is missing; install it (Debian: {}), or put the file there yourself", name, package));
}

struct ProcessResult {
  int status;
  std::string text;
};

/// Runs a program to completion and returns its output. Calls `watch` ten times a second meanwhile.
template <class F>
ProcessResult run(const std::vector<std::string>& words, F watch) {
  const runtime::cpu::TemporaryFolder folder;
  const std::string output = folder.file("output");
  auto child = std::async(std::launch::async, [&] { return runtime::cpu::run_process(words, output); });
  while (child.wait_for(std::chrono::milliseconds(100)) != std::future_status::ready) watch();
  const int status = child.get();
  return {status, runtime::read_file(output).value_or("")};
}

bool has_sum(const fs::path& file, const std::string& sha256) {
  const ProcessResult sum = run({program("sha256sum", "coreutils"), "--", fs::absolute(file)}, [] {});
  const size_t begin = sum.text.starts_with('\\') ? 1 : 0;  // sha256sum has escaped the name
  return sum.status == 0 && sum.text.compare(begin, 64, sha256) == 0;
}

uint64_t size_of_file(const fs::path& file) {
  std::error_code missing;
  const auto size = fs::file_size(file, missing);
  return missing ? 0 : size;
}

/// Lets one process at a time fetch into a folder.
class FolderLock {
 public:
  explicit FolderLock(const fs::path& folder)
      : file_(open((folder / ".fetch.lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
    if (file_.get() < 0)
      throw BackendError(fmt::format("fetch: cannot write into {}: {}", folder.string(), std::strerror(errno)));
    while (flock(file_.get(), LOCK_EX) && errno == EINTR) {}
  }

 private:
  const runtime::Descriptor file_;
};

}  // namespace

void fetch(const RemoteFile& file, const fs::path& path, const Progress& progress, Loc where) {
  if (file.sha256.size() != 64 || file.sha256.find_first_not_of("0123456789abcdef") != std::string::npos)
    throw UsageError(fmt::format("fetch: \"{}\" is no SHA-256 sum; give 64 digits 0-9 a-f", file.sha256), where);
  const fs::path folder = fs::absolute(path).parent_path();
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed)
    throw BackendError(fmt::format("fetch: cannot make the folder {}: {}", folder.string(), failed.message()));
  const FolderLock lock(folder);
  if (fs::exists(path) && has_sum(path, file.sha256)) return;

  fs::path part = path;
  part += ".part";
  const auto report = [&] {
    if (progress) progress(path.filename().string(), size_of_file(part), file.bytes);
  };
  constexpr int kNoRanges = 33, kNoResume = 36;  // curl's status if the server cannot resume
  // Resume what an earlier attempt left. If the result is not the file, start again once.
  for (bool resumed = fs::exists(part);; resumed = false) {
    if (!resumed || !file.bytes || size_of_file(part) < file.bytes) {
      const ProcessResult got = run({program("curl", "curl"), "--fail", "--location", "--silent", "--show-error",
                                     "--proto", "=https,http,file", "--connect-timeout", "30", "--retry", "3",
                                     "--continue-at", "-", "--output", fs::absolute(part), "--", file.url},
                                    report);
      if (got.status && !(resumed && (got.status == kNoRanges || got.status == kNoResume)))
        throw BackendError(
            fmt::format("fetch: {} cannot be read (curl's status {}): {}\nwhat has come is kept; try again, or put the "
                        "file at {} yourself",
                        file.url, got.status, got.text, path.string()));
    }
    if (has_sum(part, file.sha256)) break;
    const uint64_t bytes = size_of_file(part);
    fs::remove(part, failed);
    if (resumed) continue;
    throw BackendError(
        fmt::format("fetch: {} gave {} bytes that are not the file of SHA-256 {} ({} bytes); nothing was kept",
                    file.url, bytes, file.sha256, file.bytes));
  }
  report();
  fs::rename(part, path, failed);
  if (failed)
    throw BackendError(
        fmt::format("fetch: cannot rename {} to {}: {}", part.string(), path.string(), failed.message()));
}

}  // namespace sinter::inline v0::data
