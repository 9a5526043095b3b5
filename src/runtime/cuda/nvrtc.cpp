// Searches for libnvrtc, major version by major version, the newest first.
#include "runtime/cuda/nvrtc.h"

#include <dlfcn.h>
#include <fmt/core.h>
#include <glob.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "runtime/base/env.h"
#include "runtime/base/memo.h"
#include "runtime/base/permanent_library.h"
#include "runtime/base/process_exit.h"

namespace sinter::runtime::cuda {
namespace {

constexpr int kNewest = 14, kOldest = 12;  ///< major versions that are searched for

std::vector<std::string> matches(const std::string& pattern) {
  std::vector<std::string> paths;
  glob_t found;
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0) paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  std::sort(paths.rbegin(), paths.rend());  // of two versions in one folder, the newer first
  return paths;
}

/// Glob patterns of the folders that may hold version `major`.
std::vector<std::string> folders(int major) {
  std::vector<std::string> out;
  const auto under = [&](const char* variable, std::initializer_list<const char*> rests) {
    const char* base = std::getenv(variable);
    if (base && *base)
      for (const char* rest : rests) out.push_back(base + std::string(rest));
  };
  under("CUDA_HOME", {"/lib64", "/lib"});
  under("CUDA_PATH", {"/lib64", "/lib"});
  out.insert(out.end(), {"/usr/local/cuda/lib64", "/usr/local/cuda-*/lib64", "/usr/local/nvidia/lib64",
                         "/usr/lib/x86_64-linux-gnu"});
  const std::string package = major >= 13 ? fmt::format("/nvidia/cu{}/lib", major) : "/nvidia/cuda_nvrtc/lib";
  const auto python = [&](const std::string& lib) {
    for (const char* packages : {"/python3*/site-packages", "/python3*/dist-packages"})
      out.push_back(fmt::format("{}{}{}", lib, packages, package));
  };
  under("CONDA_PREFIX", {"/lib"});
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (const char* base = std::getenv(variable); base && *base) python(base + std::string("/lib"));
  if (const char* home = std::getenv("HOME"); home && *home) python(home + std::string("/.local/lib"));
  for (const char* base : {"/usr/local/lib", "/usr/lib"}) python(base);
  return out;
}

/// NVRTC asks the dynamic linker for its builtins by bare name, and the folder beside it is not searched. Opening them
/// first makes that succeed.
void open_builtins(const std::string& library) {
  const std::string folder = std::filesystem::path(library).parent_path();
  if (folder.empty()) return;
  for (const std::string& file : matches(folder + "/libnvrtc-builtins.so*")) open_permanent_library(file);
}

/// Opens a library. Returns an empty string if it is usable, otherwise what is wrong.
std::string open(const std::string& path, int most_major, NvrtcLibrary& out) {
  const ProcessExitGuard work;
  open_builtins(path);
  void* library = open_permanent_library(path);
  if (!library) return dlerror();
  note_compiler_opened();
  NvrtcApi t;
  const char* missing = nullptr;
  const auto read = [&](auto& field, const char* symbol) {
    field = reinterpret_cast<std::remove_reference_t<decltype(field)>>(dlsym(library, symbol));
    if (!field) missing = symbol;
  };
  read(t.version, "nvrtcVersion");
  read(t.error_string, "nvrtcGetErrorString");
  read(t.supported_archs_count, "nvrtcGetNumSupportedArchs");
  read(t.supported_archs, "nvrtcGetSupportedArchs");
  read(t.create, "nvrtcCreateProgram");
  read(t.destroy, "nvrtcDestroyProgram");
  read(t.compile, "nvrtcCompileProgram");
  read(t.log_size, "nvrtcGetProgramLogSize");
  read(t.log, "nvrtcGetProgramLog");
  read(t.cubin_size, "nvrtcGetCUBINSize");
  read(t.cubin, "nvrtcGetCUBIN");
  read(t.ptx_size, "nvrtcGetPTXSize");
  read(t.ptx, "nvrtcGetPTX");
  if (missing) return fmt::format("{} has no function {}", path, missing);
  int count = 0;
  if (t.version(&out.major, &out.minor) || t.supported_archs_count(&count)) return path + " does not say its version";
  if (out.major > most_major || out.major < kOldest)
    return fmt::format("{} is of version {}.{}, and {} is needed", path, out.major, out.minor,
                       out.major < kOldest ? "12 or later" : fmt::format("{} or older, as the driver", most_major));
  out.archs.resize(static_cast<size_t>(count));
  if (t.supported_archs(out.archs.data())) return path + " does not say what it compiles for";
  std::ranges::sort(out.archs);
  out.library = path;
  out.table = t;
  return "";
}

NvrtcLibrary search(const std::string& given, int most_major) {
  NvrtcLibrary found;
  std::string wrong;  // libraries that exist but are unusable
  const auto take = [&](const std::string& path) {
    const std::string why = open(path, most_major, found);
    // A bare name that the dynamic linker does not find counts as absent.
    if (!why.empty() && path.find('/') != std::string::npos) wrong += "\n  " + why;
    return why.empty();
  };
  if (!given.empty()) {
    if (!take(given))
      found.reason =
          fmt::format("SINTER_NVRTC_LIB={} cannot be used:{}", given, wrong.empty() ? " it is not found" : wrong);
    return found;
  }
  std::vector<std::string> looked;
  for (int major = std::min(most_major, kNewest); major >= kOldest; --major) {
    const std::string name = fmt::format("libnvrtc.so.{}", major);
    if (take(name)) return found;
    for (const std::string& folder : folders(major)) {
      if (std::ranges::find(looked, folder) == looked.end()) looked.push_back(folder);
      for (const std::string& file : matches(fmt::format("{}/{}", folder, name)))
        if (take(file)) return found;
    }
  }
  found.reason = fmt::format(
      "NVRTC, which compiles kernels for GPUs, is not here: libnvrtc.so.{} to .{} are not known to the system's "
      "loader, nor in",
      kOldest, std::min(most_major, kNewest));
  for (const std::string& folder : looked) found.reason += " " + folder;
  found.reason += fmt::format(
      "{}; install a CUDA toolkit, or nvidia-cuda-nvrtc-cu12 for Python, or name the library in SINTER_NVRTC_LIB",
      wrong.empty() ? "" : fmt::format("; these cannot be used:{}\n", wrong));
  return found;
}

}  // namespace

const NvrtcLibrary& find_nvrtc(int most_major) {
  static auto& known = *new Memo<std::pair<std::string, int>, NvrtcLibrary>;
  const std::string& given = env().nvrtc_lib;
  return known.get({given, most_major}, [&] { return search(given, most_major); });
}

}  // namespace sinter::runtime::cuda
