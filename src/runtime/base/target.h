// The machine that kernels are written for, as one value. Codegen sees nothing else of the machine, so tests can write
// kernels for machines they do not have.
#pragma once

#include <cstdint>
#include <string>

namespace sinter::runtime {

/// Bytes of a cache line and of a page (one TLB entry), on every CPU.
inline constexpr int64_t kCacheLine = 64, kPage = 4096;

/// The language of a kernel's text: C, in the spelling of Clang or GCC where they differ, or CUDA C++.
enum class Dialect : uint8_t { Clang, Gcc, Cuda };

struct Target {
  std::string isa = "x86-64";  ///< -march name: x86-64, x86-64-v2, -v3 (AVX2 and FMA), -v4 (AVX-512); for a GPU, sm_90
  int vector_bytes = 16;       ///< of the widest vector register
  int vector_registers = 16;
  int multiplies_per_cycle = 2;  ///< throughput: vector multiplications or FMAs per cycle
  int multiply_latency = 4;      ///< cycles until another one can use its result
  bool fma = false;              ///< has an FMA instruction; without it fma is a call
  bool masks = false;            ///< AVX-512: masked loads, stores and gathers for all element types, and mask tests
  int64_t l1 = 32 << 10;         ///< L1 data cache, bytes per core
  int64_t l2 = 512 << 10;
  int64_t l3 = 8 << 20;
  bool near_l3 = false;  ///< L3 is shared by a few nearby cores, not by the whole socket at a greater distance; true
                         ///< for every AMD CPU
  int threads = 1;
  int parallel_units = 4;  ///< least number of independent work units per launch: 4 per thread
  Dialect dialect = Dialect::Clang;
  // For a GPU: `l1` is the cache of a multiprocessor, and `threads` is the number of multiprocessors.
  int sm = 0;          ///< compute capability, 90 for 9.0; 0: no GPU
  int64_t shared = 0;  ///< bytes of shared memory available to one block

  bool cuda() const { return dialect == Dialect::Cuda; }
  /// Whether vectors with elements of this many bytes have masked loads. AVX2 has them for two sizes only.
  bool has_masked_loads(size_t element) const {
    return masks || (isa == "x86-64-v3" && (element == 4 || element == 8));
  }

  /// All fields as one line of text. Equal keys mean equal targets.
  std::string key() const;
  friend bool operator==(const Target&, const Target&) = default;
};

/// Sets `isa` and what follows from it: vector registers, FMA, masks.
void set_isa(Target& target, const char* isa);

/// A fixed machine for tests and golden files: 2 threads, AVX-512, 48K/1M/32M near, Clang.
Target reference_target();

/// The properties of an NVIDIA GPU that kernels depend on.
struct CudaDevice {
  int sm = 90;  ///< compute capability, 90 for 9.0
  int multiprocessors = 132;
  int64_t shared_bytes = 227 << 10;  ///< available to one block
  int64_t l2_bytes = 50 << 20;
};
Target cuda_target(const CudaDevice& device);

}  // namespace sinter::runtime
