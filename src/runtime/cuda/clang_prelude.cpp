#include "runtime/cuda/clang_prelude.h"

namespace sinter::runtime::cuda {

// These functions have no debug lines: their instructions are attributed to the calling line.
const char* const kPrelude = R"(
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__ inline __attribute__((always_inline))
#define SINTER_DEVICE static __device__ inline __attribute__((always_inline, nodebug))
typedef __SIZE_TYPE__ size_t;

#define SINTER_INDEX(name, reg) \
  struct SinterIndex_##name { \
    SINTER_DEVICE unsigned get_x() { return __nvvm_read_ptx_sreg_##reg##_x(); } \
    SINTER_DEVICE unsigned get_y() { return __nvvm_read_ptx_sreg_##reg##_y(); } \
    SINTER_DEVICE unsigned get_z() { return __nvvm_read_ptx_sreg_##reg##_z(); } \
    __declspec(property(get = get_x)) unsigned x; \
    __declspec(property(get = get_y)) unsigned y; \
    __declspec(property(get = get_z)) unsigned z; \
  }; \
  extern const __attribute__((weak)) __device__ SinterIndex_##name name;
SINTER_INDEX(threadIdx, tid)
SINTER_INDEX(blockIdx, ctaid)
SINTER_INDEX(blockDim, ntid)
SINTER_INDEX(gridDim, nctaid)
struct __align__(16) float4 { float x, y, z, w; };

SINTER_DEVICE int __syncthreads_or(int yes) { return __nvvm_bar0_or(yes); }
SINTER_DEVICE void __syncwarp(unsigned mask = 0xffffffffu) { __nvvm_bar_warp_sync(mask); }
SINTER_DEVICE void __threadfence_block() { __nvvm_membar_cta(); }
SINTER_DEVICE void __threadfence() { __nvvm_membar_gl(); }
SINTER_DEVICE void __threadfence_system() { __nvvm_membar_sys(); }

SINTER_DEVICE float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
SINTER_DEVICE float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
SINTER_DEVICE int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
SINTER_DEVICE unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
SINTER_DEVICE double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
#define SINTER_ADDRESS(space) \
  SINTER_DEVICE size_t __cvta_generic_to_##space(const void* p) { \
    size_t address; \
    asm("cvta.to." #space ".u64 %0, %1;" : "=l"(address) : "l"(p)); \
    return address; \
  }
SINTER_ADDRESS(global)
SINTER_ADDRESS(shared)
SINTER_DEVICE void* memcpy(void* to, const void* from, size_t n) { return __builtin_memcpy(to, from, n); }

#define SINTER_SHUFFLE(name, kind, clamp) \
  SINTER_DEVICE int name(unsigned mask, int v, int n, int width = 32) { \
    return __nvvm_shfl_sync_##kind##_i32(mask, v, n, ((32 - width) << 8) | clamp); \
  } \
  SINTER_DEVICE unsigned name(unsigned mask, unsigned v, int n, int width = 32) { \
    return (unsigned)name(mask, (int)v, n, width); \
  } \
  SINTER_DEVICE float name(unsigned mask, float v, int n, int width = 32) { \
    return __nvvm_shfl_sync_##kind##_f32(mask, v, n, ((32 - width) << 8) | clamp); \
  }
SINTER_SHUFFLE(__shfl_sync, idx, 31)
SINTER_SHUFFLE(__shfl_down_sync, down, 31)
SINTER_SHUFFLE(__shfl_xor_sync, bfly, 31)

SINTER_DEVICE unsigned atomicAdd(unsigned* p, unsigned v) { return (unsigned)__nvvm_atom_add_gen_i((int*)p, (int)v); }
SINTER_DEVICE unsigned atomicOr(unsigned* p, unsigned v) { return (unsigned)__nvvm_atom_or_gen_i((int*)p, (int)v); }
SINTER_DEVICE unsigned atomicInc(unsigned* p, unsigned last) { return __nvvm_atom_inc_gen_ui(p, last); }
SINTER_DEVICE unsigned atomicCAS(unsigned* p, unsigned old, unsigned v) {
  return (unsigned)__nvvm_atom_cas_gen_i((int*)p, (int)old, (int)v);
}

#define SINTER_MATH(name) \
  SINTER_DEVICE double name(double x) { return __builtin_##name(x); } \
  SINTER_DEVICE float name##f(float x) { return __builtin_##name##f(x); }
SINTER_MATH(fabs)
SINTER_MATH(floor)
SINTER_MATH(trunc)
SINTER_MATH(rint)
SINTER_DEVICE double sqrt(double x) { return __nvvm_sqrt_rn_d(x); }
SINTER_DEVICE float sqrtf(float x) { return __nvvm_sqrt_rn_f(x); }
SINTER_DEVICE double fma(double x, double y, double z) { return __nvvm_fma_rn_d(x, y, z); }
SINTER_DEVICE float fmaf(float x, float y, float z) { return __nvvm_fma_rn_f(x, y, z); }
SINTER_DEVICE int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
)";

}  // namespace sinter::runtime::cuda
