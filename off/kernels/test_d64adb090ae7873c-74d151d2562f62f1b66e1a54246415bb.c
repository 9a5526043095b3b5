typedef float f32;
typedef long i64;
#define SN_FN static inline __attribute__((always_inline))
#ifndef sn_max_f32
#define sn_max_f32 sn_max_f32
SN_FN f32 sn_max_f32(f32 x, f32 y) { return x >= y || x != x ? x : y; }
#endif
int test_d64adb090ae7873c(void* const* bufs, const i64* vars, i64 begin, i64 end) {
  (void)bufs, (void)vars, (void)begin, (void)end;
  const f32* restrict p0 = bufs[1];
  const f32* restrict p1 = bufs[2];
  f32* restrict p2 = bufs[3];
  const f32* restrict p3 = bufs[4];
  const f32* restrict p4 = bufs[5];
  f32* restrict p5 = bufs[6];
  f32 p6[330] __attribute__((aligned(64)));
  f32 p7[330] __attribute__((aligned(64)));
  // point, 1 of range 0
  for (i64 n0 = begin; n0 < end; ++n0) {
    const i64 v1 = n0 * (-1);
    const i64 v2 = n0 * 33;
    const i64 v3 = n0 * 3;
    const f32 v4 = p3[v3];
    const f32 v5 = p3[v3 + 1];
    // inner range 11 of 33
    for (i64 n6 = 0; n6 < 33; ++n6) {
      const f32 v7 = p0[(v1 + (n6 * 17)) + 16];
      const i64 v8 = n6 * 5;
      const i64 v9 = v2 + n6;
      // inner range 10 of 5
      for (i64 n10 = 0; n10 < 5; ++n10) {
        const i64 v11 = v8 + (n10 * (-1));
        const f32 v12 = p1[v11 + 4];
        const f32 v13 = sn_max_f32(v7, v12);
        const i64 v14 = n6 + (n10 * 33);
        p6[v14] = v13;
        const f32 v15 = p1[v11 + 169];
        const f32 v16 = sn_max_f32(v7, v15);
        const i64 v17 = v14 + 165;
        p6[v17] = v16;
        const i64 v18 = v9 + (n10 * 1683);
        const f32 v19 = p2[v18];
        const f32 v20 = v13 + v19;
        p7[v14] = v20;
        const i64 v21 = v18 + 561;
        const f32 v22 = p2[v21];
        const f32 v23 = v16 + v22;
        p7[v17] = v23;
        p2[v18] = v20;
        p2[v21] = v23;
      }
      const f32 v24 = p4[(n6 * (-1)) + 32];
      const i64 v25 = n0 + (n6 * 51);
      p5[v25] = (v24 * v4) + v7;
      p5[v25 + 17] = (v24 * v5) + v7;
    }
    const i64 v26 = 1122 + v2;
    const f32 v27 = p3[2 + v3];
    const i64 v28 = 34 + n0;
    // inner range 11 of 33
    for (i64 n29 = 0; n29 < 33; ++n29) {
      const f32 v30 = p0[(v1 + (n29 * 17)) + 16];
      const i64 v31 = 330 + (n29 * 5);
      const i64 v32 = v26 + n29;
      // inner range 10 of 5
      for (i64 n33 = 0; n33 < 5; ++n33) {
        const f32 v34 = p1[(v31 + (n33 * (-1))) + 4];
        const f32 v35 = sn_max_f32(v30, v34);
        const i64 v36 = n29 + (n33 * 33);
        p6[v36] = v35;
        const i64 v37 = v32 + (n33 * 1683);
        const f32 v38 = p2[v37];
        const f32 v39 = v35 + v38;
        p7[v36] = v39;
        p2[v37] = v39;
      }
      const f32 v40 = p4[(n29 * (-1)) + 32];
      p5[v28 + (n29 * 51)] = (v40 * v27) + v30;
    }
  }
  return 0;
}
