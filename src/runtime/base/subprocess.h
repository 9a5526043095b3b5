// Runs another program, and provides a temporary folder for its files.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sinter::runtime::cpu {

/// A new private folder, removed with its files on destruction. Throws BackendError if it cannot be created.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// Runs words[0] (a path) with the given arguments. Its stdout and stderr go to the file `output`. Returns the exit
/// status, or 128 plus the signal number. If this program ignores SIGCHLD the status is unknown and 0 is returned; the
/// caller must then check the file the child should have written. The child receives signals even if the calling thread
/// blocks them. Throws BackendError if it cannot be started.
int run_process(const std::vector<std::string>& words, const std::string& output);

/// The path of a program: `name` itself if it contains a slash, otherwise looked up in PATH. Nullopt if it is not an
/// executable file.
std::optional<std::string> find_executable(const std::string& name);

}  // namespace sinter::runtime::cpu
