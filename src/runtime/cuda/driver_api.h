// The CUDA driver API as a function table of our own. Building needs no CUDA header and no library, and a simulated
// device is just another table. Numbers and layouts are those of the API.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sinter::runtime::cuda {

using DeviceNumber = int;
using DevicePointer = unsigned long long;  ///< an address on the device; 0: null
using ContextHandle = struct OpaqueContext*;
using StreamHandle = struct OpaqueStream*;
using EventHandle = struct OpaqueEvent*;
using ModuleHandle = struct OpaqueModule*;
using FunctionHandle = struct OpaqueFunction*;
using GraphHandle = struct OpaqueGraph*;
using GraphNodeHandle = struct OpaqueGraphNode*;
using GraphExecHandle = struct OpaqueGraphExec*;

struct Uuid {
  unsigned char bytes[16];
};

enum class CudaResult : int {
  Success = 0,
  InvalidValue = 1,
  OutOfMemory = 2,
  NotInitialized = 3,
  StubLibrary = 34,
  NoDevice = 100,
  InvalidDevice = 101,
  InvalidImage = 200,
  InvalidContext = 201,
  EccUncorrectable = 214,
  InvalidPtx = 218,
  InvalidHandle = 400,
  NotFound = 500,
  NotReady = 600,
  IllegalAddress = 700,
  LaunchOutOfResources = 701,
  LaunchTimeout = 702,
  PeerAccessAlreadyEnabled = 704,
  ContextIsDestroyed = 709,
  Assert = 710,
  HardwareStackError = 714,
  IllegalInstruction = 715,
  MisalignedAddress = 716,
  InvalidAddressSpace = 717,
  InvalidPc = 718,
  LaunchFailed = 719,
  NotSupported = 801,
  SystemDriverMismatch = 803,
  Unknown = 999,
};

enum class DeviceAttribute : int {
  MaxThreadsPerBlock = 1,
  MaxGridDimX = 5,
  MaxSharedMemoryPerBlock = 8,
  WarpSize = 10,
  MaxRegistersPerBlock = 12,
  ClockRate = 13,  ///< kHz
  MultiprocessorCount = 16,
  ComputeMode = 20,
  MemoryClockRate = 36,       ///< kHz
  GlobalMemoryBusWidth = 37,  ///< bits
  L2CacheSize = 38,
  MaxThreadsPerMultiprocessor = 39,
  ComputeCapabilityMajor = 75,
  ComputeCapabilityMinor = 76,
  MaxSharedMemoryPerMultiprocessor = 81,
  MaxRegistersPerMultiprocessor = 82,
  MaxSharedMemoryPerBlockOptin = 97,
  MaxBlocksPerMultiprocessor = 106,
  ReservedSharedMemoryPerBlock = 111,
};

enum class FunctionAttribute : int {
  MaxThreadsPerBlock = 0,
  SharedSizeBytes = 1,  ///< static shared memory
  LocalSizeBytes = 3,   ///< per thread: spills and arrays in local memory
  NumRegs = 4,
  BinaryVersion = 6,  ///< 90: sm_90
  MaxDynamicSharedSizeBytes = 8,
};

enum class JitOption : int { ErrorLogBuffer = 5, ErrorLogBufferSizeBytes = 6 };

// Flags of stream_create, event_create and mem_host_alloc.
inline constexpr unsigned kStreamNonBlocking = 1;  ///< does not synchronize with the legacy default stream
inline constexpr unsigned kEventDisableTiming = 2;
inline constexpr unsigned kHostAllocPortable = 1;  ///< pinned for all contexts

/// A kernel as a graph node. `kernel` and `context` are null if `function` is given.
struct KernelNodeParams {
  FunctionHandle function;
  unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z;
  unsigned dynamic_shared;  ///< in bytes
  void** parameters;
  void** extra;
  void* kernel;
  ContextHandle context;
};

/// The table: one field per function, none null once it is filled.
struct DriverApi {
#define FN(field, symbol, ...) CudaResult (*field)(__VA_ARGS__) = nullptr;
#include "runtime/cuda/driver.def"
#undef FN
};

}  // namespace sinter::runtime::cuda
