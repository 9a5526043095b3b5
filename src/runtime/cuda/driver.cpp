// libcuda, opened on first use. The table is filled through cuGetProcAddress, which returns the CUDA 12.0 version of
// each function however new the driver is.
#include "runtime/cuda/driver.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include <atomic>
#include <deque>
#include <memory>
#include <vector>

#include "runtime/base/env.h"
#include "runtime/base/fork.h"
#include "runtime/base/memo.h"
#include "runtime/cuda/simulator.h"
#include "sinter/error.h"

namespace sinter::runtime::cuda {
namespace {

constexpr int kOldestDriver = 12000;  ///< as encoded by cuDriverGetVersion: 12.0

std::atomic<const DriverLibrary*> injected{nullptr};
std::atomic<bool> begun{false};   ///< a driver was asked for its devices
std::atomic<bool> forked{false};  ///< forked after that

std::string version_text(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

std::string too_old(int version, const std::string& library) {
  return fmt::format(
      "the CUDA driver ({}) is of version {}, and Sinter needs 12.0: install a driver of branch 525 or later", library,
      version ? version_text(version) : "11 or less");
}

std::string stub(const std::string& library) {
  return fmt::format("{} is the stub that programs are linked with, not the driver; install NVIDIA's driver", library);
}

/// Fills the table. Returns an empty string on success, otherwise the reason.
std::string fill(void* library, const std::string& path, DriverApi& out) {
  using GetProcAddress = CudaResult (*)(const char*, void**, int version, uint64_t flags, int* status);
  const auto look_up = reinterpret_cast<GetProcAddress>(dlsym(library, "cuGetProcAddress_v2"));
  if (!look_up) {
    int version = 0;
    if (auto ask = reinterpret_cast<CudaResult (*)(int*)>(dlsym(library, "cuDriverGetVersion"))) ask(&version);
    return too_old(version, path);
  }
  CudaResult code = CudaResult::Success;
  const auto find = [&](const char* symbol) {
    void* address = nullptr;
    int status = 0;
    code = look_up(symbol, &address, kOldestDriver, 0, &status);
    return address;
  };
#define FN(field, symbol, ...)                                  \
  if (void* address = find(#symbol); address)                   \
    out.field = reinterpret_cast<decltype(out.field)>(address); \
  else                                                          \
    return code == CudaResult::StubLibrary ? stub(path)         \
                                           : fmt::format("the CUDA driver ({}) has no function {}", path, #symbol);
#include "runtime/cuda/driver.def"
#undef FN
  return "";
}

/// Initializes a driver table, checks that the driver is recent enough and counts its devices.
DriverLibrary examine(const DriverApi& table, const std::string& library) {
  DriverLibrary found;
  found.library = library;
  const auto failed = [&](CudaResult code) {
    found.reason = fmt::format("the CUDA driver ({}) cannot be used: {}", library, describe(table, code));
    return found;
  };
  if (table.driver_get_version(&found.version) == CudaResult::Success && found.version < kOldestDriver) {
    found.reason = too_old(found.version, library);
    return found;
  }
  begun = true;
  if (const CudaResult code = table.init(0); code == CudaResult::StubLibrary) {
    found.reason = stub(found.library);
    return found;
  } else if (code == CudaResult::NoDevice) {
    found.reason = fmt::format("the CUDA driver ({}) finds no device; CUDA_VISIBLE_DEVICES may hide it", library);
    return found;
  } else if (code != CudaResult::Success) {
    return failed(code);
  }
  if (const CudaResult code = table.device_get_count(&found.devices); code != CudaResult::Success) return failed(code);
  if (found.devices == 0)
    found.reason = fmt::format("the CUDA driver ({}) finds no device; CUDA_VISIBLE_DEVICES may hide it", library);
  else
    found.table = &table;
  return found;
}

DriverLibrary simulated() {
  DriverLibrary found;
  try {
    found = examine(simulated_driver(), "simulated");
  } catch (const BackendError& missing) { found.reason = missing.what(); }
  found.simulated = true;
  return found;
}

DriverLibrary search(const std::string& given) {
  const std::vector<std::string> places =
      given.empty() ? std::vector<std::string>{"libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1",
                                               "/usr/lib/wsl/lib/libcuda.so.1"}
                    : std::vector{given};
  std::string tried;
  for (const std::string& place : places) {
    void* library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);  // never closed: it has threads of its own
    if (!library) {
      tried += fmt::format("{}{}", tried.empty() ? "" : "; ", dlerror());
      continue;
    }
    const auto table = std::make_shared<DriverApi>();
    DriverLibrary found;
    found.reason = fill(library, place, *table);
    if (found.reason.empty()) found = examine(*table, place);
    if (found.table) found.owned = table;
    return found;
  }
  DriverLibrary none;
  none.reason = fmt::format(
      "there is no CUDA driver ({}); install NVIDIA's driver, or name its library in SINTER_CUDA_LIB", tried);
  return none;
}

}  // namespace

std::string describe(const DriverApi& driver, CudaResult code) {
  const char *name = nullptr, *text = nullptr;
  if (driver.get_error_name(code, &name) != CudaResult::Success || !name)
    return fmt::format("CUDA error {}", static_cast<int>(code));
  if (driver.get_error_string(code, &text) != CudaResult::Success || !text) return name;
  return fmt::format("{} ({})", name, text);
}

const DriverLibrary& find_driver() {
  static auto& known = *new Memo<std::string, DriverLibrary>;  // by where it was searched
  static const bool once = (call_in_child([] { forked = begun.load(); }), true);
  (void)once;
  if (in_forked_child()) {
    static const DriverLibrary& child = *[] {
      auto* none = new DriverLibrary;
      none->reason =
          "CUDA does not work in a process that was forked after its first use; start another program instead";
      return none;
    }();
    return child;
  }
  if (const DriverLibrary* given = injected) return *given;
  if (env().device == "cuda-sim") return known.get("cuda-sim", simulated);
  const std::string& library = env().cuda_lib;
  return known.get(library, [&] { return search(library); });
}

bool in_forked_child() { return forked.load(std::memory_order_relaxed); }

void inject_driver(const DriverApi* table, bool simulated) {
  static auto& kept = *new std::deque<DriverLibrary>;  // callers may hold references
  if (table) {
    kept.push_back(examine(*table, "injected"));
    kept.back().simulated = simulated;
  }
  injected = table ? &kept.back() : nullptr;
}

}  // namespace sinter::runtime::cuda
