// The machine that kernels are written for, as one value: codegen sees nothing else of it (so tests can write kernels
// for machines that they do not have).
#pragma once

#include <cstdint>
#include <string>

namespace sinter::runtime {

/// Bytes of memory that caches of every CPU take together, and that share an entry of its address tables.
inline constexpr int64_t kCacheLine = 64, kPage = 4096;

/// What a kernel's text is written in: C, in the few spellings in which Clang and GCC differ, or CUDA C++.
enum class Dialect : uint8_t { Clang, Gcc, Cuda };

struct Target {
  std::string isa =
      "x86-64";  ///< the compilers' -march name: x86-64, x86-64-v2, -v3 (AVX2 and FMA), -v4 (AVX-512); of a GPU sm_90
  int vector_bytes = 16;  ///< of the widest register
  int vector_registers = 16;
  int multiplies_per_cycle = 2;  ///< vector multiplications, or fused ones, that begin in one cycle
  bool fma = false;              ///< a fused multiply-add instruction; without it fma is a call
  bool masks = false;  ///< vector loads, stores and gathers under masks, and tests of masks, of all elements: AVX-512
  int64_t l1 = 32 << 10;  ///< data cache, bytes per core
  int64_t l2 = 512 << 10;
  int64_t l3 = 8 << 20;
  bool near_l3 = false;  ///< the last cache is that of a few cores beside it, not a socket's, which is far from each:
                         ///< so of every CPU of AMD
  int threads = 1;
  int parallel_units = 4;  ///< independent pieces that a launch should have at least: 4 per thread
  Dialect dialect = Dialect::Clang;
  // Of a GPU. There l1 is what a multiprocessor caches, `threads` counts multiprocessors.
  int sm = 0;          ///< compute capability, 90 for 9.0; 0: no GPU
  int64_t shared = 0;  ///< bytes of shared memory that one block may have

  bool cuda() const { return dialect == Dialect::Cuda; }
  /// Whether vectors of elements of so many bytes are loaded under masks: AVX2 has that for two sizes.
  bool has_masked_loads(size_t element) const {
    return masks || (isa == "x86-64-v3" && (element == 4 || element == 8));
  }

  /// All fields as one line of text: equal keys, equal targets.
  std::string key() const;
  friend bool operator==(const Target&, const Target&) = default;
};

/// Sets `isa` and what follows from it: registers, fused multiplications, masks.
void set_isa(Target& target, const char* isa);

/// A fixed machine for tests and golden files: 2 threads, AVX-512, 48K/1M/32M near, Clang.
Target reference_target();

/// What kernels know of an NVIDIA GPU.
struct CudaDevice {
  int sm = 90;  ///< compute capability, 90 for 9.0
  int multiprocessors = 132;
  int64_t shared_bytes = 227 << 10;  ///< that a block may ask for
  int64_t l2_bytes = 50 << 20;
};
Target cuda_target(const CudaDevice& device);

}  // namespace sinter::runtime
