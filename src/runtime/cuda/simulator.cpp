#include "runtime/cuda/simulator.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include <atomic>
#include <memory>

#include "runtime/base/build_id.h"
#include "runtime/base/memo.h"
#include "runtime/base/permanent_library.h"
#include "runtime/base/plugin.h"
#include "sinter/error.h"

namespace sinter::runtime::cuda {
namespace {

constexpr const char* kFile = "libsinter_cudasim.so";

struct Simulator {
  const sim::SimulatorApi* api = nullptr;
  std::string reason;  ///< if there is none, a sentence
};

std::atomic<const sim::SimulatorApi*> opened{nullptr};

/// Never closes what it opens: devices and their memory are objects of the plugin.
Simulator open_simulator() {
  std::string refused;
  for (const std::string& file : plugin_files(kFile)) {
    void* library = open_permanent_library(file);
    const auto entry = library ? reinterpret_cast<sim::OpenSimulator>(dlsym(library, "sinter_cudasim")) : nullptr;
    if (const sim::SimulatorApi* api = entry ? entry(build_id()) : nullptr) {
      opened = api;
      return {api, ""};
    }
    refused += fmt::format("\n  {}: {}", file, library ? "of another build of Sinter" : dlerror());
  }
  if (!refused.empty())
    return {nullptr,
            fmt::format("SINTER_DEVICE=cuda-sim needs {} of this build of Sinter; found were:{}", kFile, refused)};
  return {nullptr,
          fmt::format("SINTER_DEVICE=cuda-sim needs {}, and it is not {}; add its folder to LD_LIBRARY_PATH or "
                      "the program's rpath",
                      kFile, plugin_places())};
}

const sim::SimulatorApi& api() {
  static auto& known = *new Memo<std::string, Simulator>;
  const Simulator& found = known.get(kFile, open_simulator);
  if (!found.api) throw BackendError(found.reason);
  return *found.api;
}

void check(CudaResult code) {
  if (code != CudaResult::Success)
    throw BackendError(fmt::format("the simulated GPU failed: CUDA error {}", static_cast<int>(code)));
}

std::string text_of(CudaResult (*get)(char** text)) {
  char* text = nullptr;
  check(get(&text));
  const std::unique_ptr<char, void (*)(char*)> owned(text, api().free_text);
  return text;
}

}  // namespace

const DriverApi& simulated_driver() { return *api().driver; }

namespace sim {

void configure(const Settings& settings) { check(api().configure(&settings)); }

Settings settings() {
  Settings out;
  check(api().settings(&out));
  return out;
}

std::string last_fault() { return text_of(api().last_fault); }

std::string last_fault_of(const DriverApi& driver) {
  const SimulatorApi* simulator = opened;
  return simulator && simulator->driver == &driver ? text_of(simulator->last_fault) : "";
}

std::string leaks() { return text_of(api().leaks); }

CostCounters counters(const std::string& kernel) {
  CostCounters out;
  check(api().counters(kernel.c_str(), &out));
  return out;
}

void clear_reports() { check(api().clear_reports()); }

}  // namespace sim
}  // namespace sinter::runtime::cuda
