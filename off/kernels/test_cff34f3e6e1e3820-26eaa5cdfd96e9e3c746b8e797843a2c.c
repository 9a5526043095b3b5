typedef float f32;
typedef long i64;
typedef unsigned long u64;
#define SN_FN static inline __attribute__((always_inline))
#ifndef sn_umod_u64
#define sn_umod_u64 sn_umod_u64
SN_FN u64 sn_umod_u64(u64 x, u64 y) { return y ? x % y : 0; }
#endif
#ifndef sn_udiv_u64
#define sn_udiv_u64 sn_udiv_u64
SN_FN u64 sn_udiv_u64(u64 x, u64 y) { return y ? x / y : 0; }
#endif
#ifndef sn_max_f32
#define sn_max_f32 sn_max_f32
SN_FN f32 sn_max_f32(f32 x, f32 y) { return x >= y || x != x ? x : y; }
#endif
int test_cff34f3e6e1e3820(void* const* bufs, const i64* vars, i64 begin, i64 end) {
  (void)bufs, (void)vars, (void)begin, (void)end;
  const f32* restrict p0 = bufs[1];
  const f32* restrict p1 = bufs[2];
  f32* restrict p2 = bufs[3];
  const f32* restrict p3 = bufs[4];
  const f32* restrict p4 = bufs[5];
  f32* restrict p5 = bufs[6];
  const u64 v0 = (u64)3;
  // point, 1 of range 0, 1 of range 1
  for (i64 n1 = begin; n1 < end; ++n1) {
    const u64 v2 = (u64)n1;
    const i64 v3 = (i64)sn_umod_u64(v2, v0);
    const i64 v4 = (i64)sn_udiv_u64(v2, v0);
    const i64 v5 = v4 * (-1);
    const i64 v6 = v3 * 165;
    const i64 v7 = (v4 * 33) + (v3 * 561);
    // inner range 10 of 5
    for (i64 n8 = 0; n8 < 5; ++n8) {
      const i64 v9 = v6 + (n8 * (-1));
      const i64 v10 = v7 + (n8 * 1683);
      // inner range 11 of 33
      for (i64 n11 = 0; n11 < 33; ++n11) {
        const f32 v12 = p0[(v5 + (n11 * 17)) + 16];
        const f32 v13 = p1[(v9 + (n11 * 5)) + 4];
        const i64 v14 = v10 + n11;
        const f32 v15 = p2[v14];
        p2[v14] = sn_max_f32(v12, v13) + v15;
      }
    }
    const f32 v16 = p3[(v4 * 3) + v3];
    const i64 v17 = v4 + (v3 * 17);
    // inner range 11 of 33
    for (i64 n18 = 0; n18 < 33; ++n18) {
      const f32 v19 = p4[(n18 * (-1)) + 32];
      const f32 v20 = p0[(v5 + (n18 * 17)) + 16];
      p5[v17 + (n18 * 51)] = (v19 * v16) + v20;
    }
  }
  return 0;
}
