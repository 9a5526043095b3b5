// Starting another program, and a folder for the files that it reads and writes.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sinter::runtime::cpu {

/// A new folder of ours alone, removed with its files at the end. Throws BackendError if there is no place for one.
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

/// Runs words[0] (a path) with its words, its output and errors going to the file `output`. Returns its exit status, or
/// 128 and more for a signal; 0 where nobody knows it, as this program ignores SIGCHLD: whether it has written its file
/// tells then. Signals reach it, whatever the calling thread blocks. Throws BackendError if it cannot be started.
int run_process(const std::vector<std::string>& words, const std::string& output);

/// The path of a program: `name` itself if it has a slash, otherwise from PATH; none if it is no executable file.
std::optional<std::string> find_executable(const std::string& name);

}  // namespace sinter::runtime::cpu
