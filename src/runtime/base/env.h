// Sinter's environment variables, all read here. HOME, XDG_CACHE_HOME, TMPDIR and PATH keep their usual meaning and are
// read where folders and programs are looked up.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sinter::runtime {

/// The environment as values. An unset variable leaves its field at the default.
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
  uint64_t memory_bytes = 0;   ///< SINTER_MEMORY_LIMIT in bytes; 0: use memory_millionths
  uint64_t memory_millionths =
      900'000;  ///< SINTER_MEMORY_LIMIT as a share of the container's, machine's or GPU's memory
  /// Bytes that buffers may use out of `total`. A share is rounded down to whole pages, at least one.
  uint64_t memory_limit(uint64_t total) const {
    constexpr uint64_t kPage = 4096;
    return memory_bytes ? memory_bytes : std::max(total / kPage * memory_millionths / 1'000'000, uint64_t{1}) * kPage;
  }
  std::string lapack;     ///< SINTER_LAPACK; empty: liblapack.so.3
  std::string data;       ///< SINTER_DATA; empty: the data library searches
  std::string cuda_lib;   ///< SINTER_CUDA_LIB; empty: search for it
  std::string nvrtc_lib;  ///< SINTER_NVRTC_LIB; empty: search for it
};

/// One variable: its row of the table in the docs, and its parser.
struct EnvVar {
  std::string_view name, allowed, default_text, meaning;
  bool (*parse)(Env&, std::string_view);  ///< stores the value; false for a bad one
};

/// All variables, in the order of the docs. Any other name that begins with SINTER_ is an error.
std::span<const EnvVar> env_table();

/// The environment as of the first call or the last reload_env(). Throws UsageError naming the variable, its value and
/// the allowed values; the next call then reads the environment again. Safe from several threads.
const Env& env();

/// Reads the environment again, for tests. References returned earlier stay valid and unchanged.
const Env& reload_env();

}  // namespace sinter::runtime
