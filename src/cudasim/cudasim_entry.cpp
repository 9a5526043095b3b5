// The plugin's one symbol, and the functions behind it.
#include <cstdlib>
#include <cstring>

#include "cudasim/driver_handles.h"
#include "runtime/base/build_id.h"
#include "runtime/cuda/simulator_api.h"

namespace sinter::runtime::cuda::sim {
namespace {

CudaResult configure(const Settings* settings) {
  return api_call([&] {
    DriverState& s = state();
    s.settings = *settings;
    for (const auto& device : s.devices)
      if (!device->retained) device->memory.set_total(settings->memory);
  });
}

CudaResult settings(Settings* out) {
  return api_call([&] { *out = state().settings; });
}

CudaResult copy(const std::string& text, char** out) {
  *out = strdup(text.c_str());
  return *out ? CudaResult::Success : CudaResult::OutOfMemory;
}

CudaResult last_fault(char** text) {
  return api_call([&] { return copy(state().fault, text); });
}

CudaResult leaks(char** text) {
  return api_call([&] { return copy(state().leaks, text); });
}

CudaResult counters(const char* kernel, CostCounters* out) {
  return api_call([&] { *out = state().counters[kernel]; });
}

CudaResult clear_reports() {
  return api_call([] {
    state().fault.clear();
    state().leaks.clear();
    state().counters.clear();
  });
}

}  // namespace
}  // namespace sinter::runtime::cuda::sim

extern "C" __attribute__((visibility("default"))) const sinter::runtime::cuda::sim::SimulatorApi* sinter_cudasim(
    const char* build_id) {
  using namespace sinter::runtime::cuda;
  if (std::strcmp(build_id, sinter::runtime::build_id()) != 0) return nullptr;
  static const DriverApi driver = [] {
    DriverApi filled;
    sim::fill_devices(filled);
    sim::fill_memory(filled);
    sim::fill_streams(filled);
    sim::fill_modules(filled);
    sim::fill_graphs(filled);
    return filled;
  }();
  static const sim::SimulatorApi api = {
      &driver,    sim::configure, sim::settings,      sim::last_fault,
      sim::leaks, sim::counters,  sim::clear_reports, [](char* text) { std::free(text); }};
  return &api;
}
