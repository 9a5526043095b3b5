#include "runtime/base/plugin.h"

#include <dlfcn.h>
#include <fmt/core.h>
#include <link.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <system_error>
#include <utility>

namespace sinter::runtime {
namespace {

constexpr const char* kInstalled = SINTER_PLUGIN_INSTALL_DIR;

/// The folders in which the dynamic linker searches libraries for the program or library that contains this code: its
/// run path and those of the environment.
std::vector<std::string> search_path(const link_map* self) {
  std::vector<std::string> folders;
  void* handle = dlopen(self && *self->l_name ? self->l_name : nullptr, RTLD_LAZY | RTLD_NOLOAD);
  Dl_serinfo size;
  if (handle && dlinfo(handle, RTLD_DI_SERINFOSIZE, &size) == 0) {
    std::vector<std::max_align_t> memory(size.dls_size / sizeof(std::max_align_t) + 1);
    auto* info = reinterpret_cast<Dl_serinfo*>(memory.data());
    info->dls_size = size.dls_size;
    info->dls_cnt = size.dls_cnt;
    if (dlinfo(handle, RTLD_DI_SERINFO, info) == 0)
      for (unsigned i = 0; i < info->dls_cnt; ++i) folders.emplace_back(info->dls_serpath[i].dls_name);
  }
  if (handle) dlclose(handle);
  return folders;
}

}  // namespace

std::vector<std::string> plugin_files(const std::string& name) {
  std::vector<std::string> folders;
  Dl_info code;
  void* map = nullptr;
  if (!dladdr1(reinterpret_cast<const void*>(&plugin_files), &code, &map, RTLD_DL_LINKMAP)) map = nullptr;
  const auto* self = static_cast<const link_map*>(map);
  std::error_code failed;
  std::filesystem::path place = self && *self->l_name ? std::filesystem::path(self->l_name)
                                                      : std::filesystem::read_symlink("/proc/self/exe", failed);
  if (!place.empty()) folders = {place.parent_path(), place.parent_path() / "../lib"};
  for (std::string& folder : search_path(self)) folders.push_back(std::move(folder));
  folders.emplace_back(kInstalled);
  std::vector<std::string> files;
  for (const std::string& folder : folders)
    if (std::string file = fmt::format("{}/{}", folder, name); access(file.c_str(), R_OK) == 0)
      files.push_back(std::move(file));
  return files;
}

std::string plugin_places() {
  return fmt::format("beside this program, in its ../lib, where the loader searches, or in {}", kInstalled);
}

}  // namespace sinter::runtime
