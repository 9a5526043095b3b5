#include "runtime/base/subprocess.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "sinter/error.h"

extern char** environ;

namespace sinter::runtime::cpu {

TemporaryFolder::TemporaryFolder() {
  const char* base = std::getenv("TMPDIR");
  path_ = fmt::format("{}/sinter-XXXXXX", base && *base ? base : "/tmp");
  if (!mkdtemp(path_.data()))
    throw BackendError(fmt::format("no temporary folder {}: {}", path_, std::strerror(errno)));
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

int run_process(const std::vector<std::string>& words, const std::string& output) {
  std::vector<char*> argv;
  for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t blocked, defaults;
  sigemptyset(&blocked);  // our own threads block all signals
  sigemptyset(&defaults);
  for (int number : {SIGCHLD, SIGPIPE})
    sigaddset(&defaults, number);  // the child would inherit SIG_IGN, but compilers wait for their children
  posix_spawnattr_setsigmask(&attributes, &blocked);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t child = 0;
  const int error = posix_spawn(&child, argv[0], &actions, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error)
    throw BackendError(fmt::format("{} cannot be started: {} (error {})", words[0], std::strerror(error), error));
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno == ECHILD) return 0;  // the child has ended and its status is lost
    if (errno != EINTR)
      throw BackendError(fmt::format("{} was lost: {} (error {})", words[0], std::strerror(errno), errno));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::optional<std::string> find_executable(const std::string& name) {
  const auto executable = [](const std::string& path) {
    struct stat info;
    return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && access(path.c_str(), X_OK) == 0;
  };
  if (name.find('/') != std::string::npos) return executable(name) ? std::optional(name) : std::nullopt;
  const char* variable = std::getenv("PATH");
  std::string paths = variable ? variable : "/usr/local/bin:/usr/bin:/bin";
  for (size_t at = 0; at <= paths.size();) {
    const size_t end = std::min(paths.find(':', at), paths.size());
    std::string path = fmt::format("{}/{}", paths.substr(at, end - at), name);
    if (end > at && executable(path)) return path;
    at = end + 1;
  }
  return std::nullopt;
}

}  // namespace sinter::runtime::cpu
