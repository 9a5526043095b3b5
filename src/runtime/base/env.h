// Sinter's environment variables, all read in this one place. (What HOME, XDG_CACHE_HOME, TMPDIR and PATH mean
// everywhere is looked up where folders and programs are.)
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sinter::runtime {

/// The environment as values. A field that was not set holds its default.
struct Env {
  int debug = 0;               ///< DEBUG
  std::string cache;           ///< SINTER_CACHE; empty: the user's cache folder
  std::string device = "cpu";  ///< SINTER_DEVICE: cpu, cuda, cuda:N or cuda-sim
  int threads = 0;             ///< SINTER_THREADS; 0: as many as the process may use
  bool notices = true;         ///< SINTER_NOTICES
  bool noopt = false;          ///< SINTER_NOOPT
  bool check = false;          ///< SINTER_CHECK
  int beam = 0;                ///< SINTER_BEAM; 0: no search
  std::string cc;              ///< SINTER_CC; empty: the Clang plugin, or cc where there is none
  uint64_t memory_bytes = 0;   ///< SINTER_MEMORY_LIMIT as bytes; 0: memory_millionths decide
  uint64_t memory_millionths =
      900'000;  ///< SINTER_MEMORY_LIMIT as a share of the container's, machine's or GPU's memory
  /// What buffers may take of so many bytes: a share is whole pages, one at least.
  uint64_t memory_limit(uint64_t total) const {
    constexpr uint64_t kPage = 4096;
    return memory_bytes ? memory_bytes : std::max(total / kPage * memory_millionths / 1'000'000, uint64_t{1}) * kPage;
  }
  std::string data;       ///< SINTER_DATA; empty: the data library's own search
  std::string cuda_lib;   ///< SINTER_CUDA_LIB; empty: searched for
  std::string nvrtc_lib;  ///< SINTER_NVRTC_LIB; empty: searched for
};

/// One line of the table in the docs.
struct EnvVar {
  std::string_view name, allowed, default_text, meaning;
};

/// All variables, in the order of the docs. Any other name that begins with SINTER_ is an error.
std::span<const EnvVar> env_table();

/// The environment as it was at the first call, or at the last reload_env(). Throws UsageError that names variable,
/// value and what is allowed; it is read anew at the next call then. Safe from several threads.
const Env& env();

/// Reads the environment again, for tests. Values that others took before stay as they are.
const Env& reload_env();

}  // namespace sinter::runtime
