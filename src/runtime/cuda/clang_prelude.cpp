#include "runtime/cuda/clang_prelude.h"

namespace sinter::runtime::cuda {

// These functions have no debug lines: their instructions are attributed to the calling line.
const char* const kPrelude = R"(
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
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
enum { warpSize = 32 };

#define SINTER_VECTOR(type, name, bytes2, bytes4) \
  struct __align__(bytes2) name##2 { type x, y; }; \
  struct name##3 { type x, y, z; }; \
  struct __align__(bytes4) name##4 { type x, y, z, w; }; \
  SINTER_DEVICE name##2 make_##name##2(type x, type y) { return {x, y}; } \
  SINTER_DEVICE name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
SINTER_VECTOR(signed char, char, 2, 4)
SINTER_VECTOR(unsigned char, uchar, 2, 4)
SINTER_VECTOR(short, short, 4, 8)
SINTER_VECTOR(unsigned short, ushort, 4, 8)
SINTER_VECTOR(int, int, 8, 16)
SINTER_VECTOR(unsigned, uint, 8, 16)
SINTER_VECTOR(float, float, 8, 16)
SINTER_VECTOR(long long, longlong, 16, 16)
SINTER_VECTOR(unsigned long long, ulonglong, 16, 16)
SINTER_VECTOR(double, double, 16, 16)

SINTER_DEVICE int __syncthreads_count(int yes) { return __nvvm_bar0_popc(yes); }
SINTER_DEVICE int __syncthreads_and(int yes) { return __nvvm_bar0_and(yes); }
SINTER_DEVICE int __syncthreads_or(int yes) { return __nvvm_bar0_or(yes); }
SINTER_DEVICE void __syncwarp(unsigned mask = 0xffffffffu) { __nvvm_bar_warp_sync(mask); }
SINTER_DEVICE void __threadfence_block() { __nvvm_membar_cta(); }
SINTER_DEVICE void __threadfence() { __nvvm_membar_gl(); }
SINTER_DEVICE void __threadfence_system() { __nvvm_membar_sys(); }
SINTER_DEVICE void __trap() { __builtin_trap(); }

SINTER_DEVICE float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
SINTER_DEVICE float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
SINTER_DEVICE int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
SINTER_DEVICE unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
SINTER_DEVICE double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
SINTER_DEVICE long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
#define SINTER_ADDRESS(space) \
  SINTER_DEVICE size_t __cvta_generic_to_##space(const void* p) { \
    size_t address; \
    asm("cvta.to." #space ".u64 %0, %1;" : "=l"(address) : "l"(p)); \
    return address; \
  }
SINTER_ADDRESS(global)
SINTER_ADDRESS(shared)
SINTER_DEVICE void* memcpy(void* to, const void* from, size_t n) { return __builtin_memcpy(to, from, n); }
SINTER_DEVICE void* memset(void* to, int value, size_t n) { return __builtin_memset(to, value, n); }

#define SINTER_SHUFFLE(name, kind, clamp) \
  SINTER_DEVICE int name(unsigned mask, int v, int n, int width = 32) { \
    return __nvvm_shfl_sync_##kind##_i32(mask, v, n, ((32 - width) << 8) | clamp); \
  } \
  SINTER_DEVICE unsigned name(unsigned mask, unsigned v, int n, int width = 32) { \
    return (unsigned)name(mask, (int)v, n, width); \
  } \
  SINTER_DEVICE float name(unsigned mask, float v, int n, int width = 32) { \
    return __nvvm_shfl_sync_##kind##_f32(mask, v, n, ((32 - width) << 8) | clamp); \
  } \
  SINTER_DEVICE long long name(unsigned mask, long long v, int n, int width = 32) { \
    const unsigned low = name(mask, (unsigned)v, n, width), high = name(mask, (unsigned)(v >> 32), n, width); \
    return (long long)((unsigned long long)high << 32 | low); \
  } \
  SINTER_DEVICE unsigned long long name(unsigned mask, unsigned long long v, int n, int width = 32) { \
    return (unsigned long long)name(mask, (long long)v, n, width); \
  } \
  SINTER_DEVICE long name(unsigned mask, long v, int n, int width = 32) { return (long)name(mask, (long long)v, n, width); } \
  SINTER_DEVICE unsigned long name(unsigned mask, unsigned long v, int n, int width = 32) { \
    return (unsigned long)name(mask, (long long)v, n, width); \
  } \
  SINTER_DEVICE double name(unsigned mask, double v, int n, int width = 32) { \
    return __longlong_as_double(name(mask, __double_as_longlong(v), n, width)); \
  }
SINTER_SHUFFLE(__shfl_sync, idx, 31)
SINTER_SHUFFLE(__shfl_up_sync, up, 0)
SINTER_SHUFFLE(__shfl_down_sync, down, 31)
SINTER_SHUFFLE(__shfl_xor_sync, bfly, 31)
SINTER_DEVICE int __all_sync(unsigned mask, int yes) { return __nvvm_vote_all_sync(mask, yes); }
SINTER_DEVICE int __any_sync(unsigned mask, int yes) { return __nvvm_vote_any_sync(mask, yes); }
SINTER_DEVICE unsigned __ballot_sync(unsigned mask, int yes) { return __nvvm_vote_ballot_sync(mask, yes); }
SINTER_DEVICE unsigned __activemask() {
  unsigned mask;
  asm volatile("activemask.b32 %0;" : "=r"(mask));
  return mask;
}

#define SINTER_ATOMIC(name, type, call) \
  SINTER_DEVICE type name(type* p, type v) { return (type)call; }
SINTER_ATOMIC(atomicAdd, int, __nvvm_atom_add_gen_i(p, v))
SINTER_ATOMIC(atomicAdd, unsigned, __nvvm_atom_add_gen_i((int*)p, (int)v))
SINTER_ATOMIC(atomicAdd, unsigned long long, __nvvm_atom_add_gen_ll((long long*)p, (long long)v))
SINTER_ATOMIC(atomicAdd, float, __nvvm_atom_add_gen_f(p, v))
SINTER_ATOMIC(atomicAdd, double, __nvvm_atom_add_gen_d(p, v))
SINTER_ATOMIC(atomicMax, int, __nvvm_atom_max_gen_i(p, v))
SINTER_ATOMIC(atomicMax, unsigned, __nvvm_atom_max_gen_ui(p, v))
SINTER_ATOMIC(atomicMax, long long, __nvvm_atom_max_gen_ll(p, v))
SINTER_ATOMIC(atomicMax, unsigned long long, __nvvm_atom_max_gen_ull(p, v))
SINTER_ATOMIC(atomicMin, int, __nvvm_atom_min_gen_i(p, v))
SINTER_ATOMIC(atomicMin, unsigned, __nvvm_atom_min_gen_ui(p, v))
SINTER_ATOMIC(atomicMin, long long, __nvvm_atom_min_gen_ll(p, v))
SINTER_ATOMIC(atomicMin, unsigned long long, __nvvm_atom_min_gen_ull(p, v))
SINTER_ATOMIC(atomicAnd, int, __nvvm_atom_and_gen_i(p, v))
SINTER_ATOMIC(atomicAnd, unsigned, __nvvm_atom_and_gen_i((int*)p, (int)v))
SINTER_ATOMIC(atomicOr, int, __nvvm_atom_or_gen_i(p, v))
SINTER_ATOMIC(atomicOr, unsigned, __nvvm_atom_or_gen_i((int*)p, (int)v))
SINTER_ATOMIC(atomicOr, unsigned long long, __nvvm_atom_or_gen_ll((long long*)p, (long long)v))
SINTER_ATOMIC(atomicXor, unsigned, __nvvm_atom_xor_gen_i((int*)p, (int)v))
SINTER_ATOMIC(atomicInc, unsigned, __nvvm_atom_inc_gen_ui(p, v))
SINTER_ATOMIC(atomicExch, int, __nvvm_atom_xchg_gen_i(p, v))
SINTER_ATOMIC(atomicExch, unsigned, __nvvm_atom_xchg_gen_i((int*)p, (int)v))
SINTER_ATOMIC(atomicExch, unsigned long long, __nvvm_atom_xchg_gen_ll((long long*)p, (long long)v))
SINTER_DEVICE int atomicCAS(int* p, int old, int v) { return __nvvm_atom_cas_gen_i(p, old, v); }
SINTER_DEVICE unsigned atomicCAS(unsigned* p, unsigned old, unsigned v) {
  return (unsigned)__nvvm_atom_cas_gen_i((int*)p, (int)old, (int)v);
}
SINTER_DEVICE unsigned long long atomicCAS(unsigned long long* p, unsigned long long old, unsigned long long v) {
  return (unsigned long long)__nvvm_atom_cas_gen_ll((long long*)p, (long long)old, (long long)v);
}

#define SINTER_MATH(name) \
  SINTER_DEVICE double name(double x) { return __builtin_##name(x); } \
  SINTER_DEVICE float name##f(float x) { return __builtin_##name##f(x); } \
  SINTER_DEVICE float name(float x) { return __builtin_##name##f(x); }
SINTER_MATH(fabs)
SINTER_MATH(floor)
SINTER_MATH(ceil)
SINTER_MATH(trunc)
SINTER_MATH(rint)
SINTER_DEVICE double sqrt(double x) { return __nvvm_sqrt_rn_d(x); }
SINTER_DEVICE float sqrtf(float x) { return __nvvm_sqrt_rn_f(x); }
SINTER_DEVICE float rsqrtf(float x) { return __nvvm_rsqrt_approx_f(x); }
SINTER_DEVICE double fma(double x, double y, double z) { return __nvvm_fma_rn_d(x, y, z); }
SINTER_DEVICE float fmaf(float x, float y, float z) { return __nvvm_fma_rn_f(x, y, z); }
SINTER_DEVICE float fma(float x, float y, float z) { return __nvvm_fma_rn_f(x, y, z); }
SINTER_DEVICE float __fmaf_rn(float x, float y, float z) { return __nvvm_fma_rn_f(x, y, z); }
SINTER_DEVICE double __fma_rn(double x, double y, double z) { return __nvvm_fma_rn_d(x, y, z); }
SINTER_DEVICE float __fdividef(float x, float y) { return __nvvm_div_approx_f(x, y); }
SINTER_DEVICE float fminf(float x, float y) { return __nvvm_fmin_f(x, y); }
SINTER_DEVICE float fmaxf(float x, float y) { return __nvvm_fmax_f(x, y); }
SINTER_DEVICE double fmin(double x, double y) { return __nvvm_fmin_d(x, y); }
SINTER_DEVICE double fmax(double x, double y) { return __nvvm_fmax_d(x, y); }
SINTER_DEVICE float copysignf(float x, float y) { return __builtin_copysignf(x, y); }
SINTER_DEVICE double copysign(double x, double y) { return __builtin_copysign(x, y); }
SINTER_DEVICE int abs(int x) { return x < 0 ? -x : x; }
SINTER_DEVICE int min(int x, int y) { return x < y ? x : y; }
SINTER_DEVICE int max(int x, int y) { return x > y ? x : y; }
SINTER_DEVICE int __popc(unsigned x) { return __builtin_popcount(x); }
SINTER_DEVICE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
SINTER_DEVICE int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
SINTER_DEVICE int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
SINTER_DEVICE unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }
SINTER_DEVICE unsigned __byte_perm(unsigned x, unsigned y, unsigned s) { return __nvvm_prmt(x, y, s); }
SINTER_DEVICE unsigned __umulhi(unsigned x, unsigned y) { return (unsigned)((unsigned long long)x * y >> 32); }
SINTER_DEVICE int __mulhi(int x, int y) { return (int)((long long)x * y >> 32); }
SINTER_DEVICE unsigned long long __umul64hi(unsigned long long x, unsigned long long y) {
  return (unsigned long long)((unsigned __int128)x * y >> 64);
}
template <typename T>
SINTER_DEVICE T __ldg(const T* p) { return *p; }
)";

}  // namespace sinter::runtime::cuda
