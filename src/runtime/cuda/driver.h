// Which driver this process uses: libcuda, or the simulated one.
#pragma once

#include <memory>
#include <string>

#include "runtime/cuda/driver_api.h"

namespace sinter::runtime::cuda {

/// The driver of this process, or the reason why there is none.
struct DriverLibrary {
  const DriverApi* table = nullptr;        ///< null: no driver, or no device
  std::shared_ptr<const DriverApi> owned;  ///< owns `table` if it was read from a library
  bool simulated = false;                  ///< its devices take PTX instead of CUBINs
  int version = 0;                         ///< supported CUDA version: 12040 for 12.4
  int devices = 0;
  std::string library;  ///< the file that was opened
  std::string reason;   ///< if there is no table, a sentence: what is missing and the remedy
};

/// The simulated driver if SINTER_DEVICE selects it, otherwise libcuda: SINTER_CUDA_LIB, or libcuda.so.1 from the
/// dynamic linker's search path, then from the places that containers and WSL use. Searched once. In a forked child the
/// result says that it cannot use a device. Safe from several threads.
const DriverLibrary& find_driver();

/// Whether this process was forked after its parent had started to use CUDA. CUDA does not work here, and device memory
/// belongs to the parent.
bool in_forked_child();

/// Makes find_driver() return this table, for tests; null restores the search. `simulated` as in DriverLibrary. Only
/// while nothing is alive on a device.
void inject_driver(const DriverApi* table, bool simulated = true);

/// "CUDA_ERROR_NO_DEVICE (no CUDA-capable device is detected)".
std::string describe(const DriverApi& driver, CudaResult code);

}  // namespace sinter::runtime::cuda
