typedef float f32;
typedef long i64;
typedef unsigned long u64;
typedef float f32x2 __attribute__((vector_size(8)));
typedef int i32x2 __attribute__((vector_size(8)));
typedef float f32x2_m __attribute__((vector_size(8), aligned(4), may_alias));
#define SN_FN static inline __attribute__((always_inline))
#ifndef sn_splat_f32x2_f32
#define sn_splat_f32x2_f32 sn_splat_f32x2_f32
SN_FN f32x2 sn_splat_f32x2_f32(f32 x) { return x - (f32x2){0}; }
#endif
#ifndef sn_umod_u64
#define sn_umod_u64 sn_umod_u64
SN_FN u64 sn_umod_u64(u64 x, u64 y) { return y ? x % y : 0; }
#endif
#ifndef sn_udiv_u64
#define sn_udiv_u64 sn_udiv_u64
SN_FN u64 sn_udiv_u64(u64 x, u64 y) { return y ? x / y : 0; }
#endif
#ifndef sn_vmax_f32x2
#define sn_vmax_f32x2 sn_vmax_f32x2
SN_FN f32x2 sn_vmax_f32x2(f32x2 x, f32x2 y) {
  const i32x2 m = (i32x2)(x >= y) | (i32x2)(x != x);
  return (f32x2)(((i32x2)x & m) | ((i32x2)y & ~m));
}
#endif
#ifndef sn_store_f32x2
#define sn_store_f32x2 sn_store_f32x2
SN_FN void sn_store_f32x2(f32* p, f32x2 x, i64 n) {
  for (int i = 0; i < 2; ++i) if (i < n) p[i] = x[i];
}
#endif
#ifndef sn_even1_f32x2
#define sn_even1_f32x2 sn_even1_f32x2
SN_FN f32x2 sn_even1_f32x2(f32x2 x, f32x2 y) { return __builtin_shufflevector(x, y, 0, 2); }
#endif
#ifndef sn_odd1_f32x2
#define sn_odd1_f32x2 sn_odd1_f32x2
SN_FN f32x2 sn_odd1_f32x2(f32x2 x, f32x2 y) { return __builtin_shufflevector(x, y, 1, 3); }
#endif
int test_f2e8b81f559fc0ab(void* const* bufs, const i64* vars, i64 begin, i64 end) {
  (void)bufs, (void)vars, (void)begin, (void)end;
  const f32* restrict p0 = bufs[1];
  const f32* restrict p1 = bufs[2];
  f32* restrict p2 = bufs[3];
  const f32* restrict p3 = bufs[4];
  const f32* restrict p4 = bufs[5];
  f32* restrict p5 = bufs[6];
  f32 p6[165] __attribute__((aligned(64)));
  f32 p7[33] __attribute__((aligned(64)));
  const u64 v0 = (u64)3;
  const f32x2 v1 = sn_splat_f32x2_f32(0.0f);
  const f32 v2 = p4[2];
  const f32 v3 = p4[1];
  const f32 v4 = p4[0];
  // point, 1 of range 0, 1 of range 1
  for (i64 n5 = begin; n5 < end; ++n5) {
    const u64 v6 = (u64)n5;
    const i64 v7 = (i64)sn_umod_u64(v6, v0);
    const i64 v8 = (i64)sn_udiv_u64(v6, v0);
    const i64 v9 = v8 * (-1);
    const i64 v10 = v7 * 165;
    const i64 v11 = v8 * 33;
    const i64 v12 = v7 * 561;
    const i64 v13 = v11 + v12;
    // inner range 11 of 33, 5 copies
    for (i64 n14 = 0; n14 < 30; n14 += 5) {
      const i64 v15 = v9 + (n14 * 17);
      const f32 v16 = p0[v15 + 16];
      const i64 v17 = n14 * 5;
      const i64 v18 = v10 + v17;
      const f32 v19 = p1[v18 + 4];
      const f32 v20 = p1[v18 + 3];
      const f32x2 v21 = (f32x2){v19, v20};
      const f32x2 v22 = sn_splat_f32x2_f32(v16);
      const f32x2 v23 = sn_vmax_f32x2(v22, v21);
      *(f32x2_m*)(p6 + v17) = v23;
      const f32 v24 = p0[v15 + 33];
      const f32 v25 = p1[v18 + 9];
      const f32 v26 = p1[v18 + 8];
      const f32x2 v27 = (f32x2){v25, v26};
      const f32x2 v28 = sn_splat_f32x2_f32(v24);
      const f32x2 v29 = sn_vmax_f32x2(v28, v27);
      *(f32x2_m*)(p6 + (v17 + 5)) = v29;
      const f32 v30 = p0[v15 + 50];
      const f32 v31 = p1[v18 + 14];
      const f32 v32 = p1[v18 + 13];
      const f32x2 v33 = (f32x2){v31, v32};
      const f32x2 v34 = sn_splat_f32x2_f32(v30);
      const f32x2 v35 = sn_vmax_f32x2(v34, v33);
      *(f32x2_m*)(p6 + (v17 + 10)) = v35;
      const f32 v36 = p0[v15 + 67];
      const f32 v37 = p1[v18 + 19];
      const f32 v38 = p1[v18 + 18];
      const f32x2 v39 = (f32x2){v37, v38};
      const f32x2 v40 = sn_splat_f32x2_f32(v36);
      const f32x2 v41 = sn_vmax_f32x2(v40, v39);
      *(f32x2_m*)(p6 + (v17 + 15)) = v41;
      const f32 v42 = p0[v15 + 84];
      const f32 v43 = p1[v18 + 24];
      const f32 v44 = p1[v18 + 23];
      const f32x2 v45 = (f32x2){v43, v44};
      const f32x2 v46 = sn_splat_f32x2_f32(v42);
      const f32x2 v47 = sn_vmax_f32x2(v46, v45);
      *(f32x2_m*)(p6 + (v17 + 20)) = v47;
      const f32 v48 = p1[v18 + 2];
      const f32 v49 = p1[v18 + 1];
      const f32x2 v50 = (f32x2){v48, v49};
      const f32x2 v51 = sn_vmax_f32x2(v22, v50);
      *(f32x2_m*)(p6 + (v17 + 2)) = v51;
      const f32 v52 = p1[v18 + 7];
      const f32 v53 = p1[v18 + 6];
      const f32x2 v54 = (f32x2){v52, v53};
      const f32x2 v55 = sn_vmax_f32x2(v28, v54);
      *(f32x2_m*)(p6 + (v17 + 7)) = v55;
      const f32 v56 = p1[v18 + 12];
      const f32 v57 = p1[v18 + 11];
      const f32x2 v58 = (f32x2){v56, v57};
      const f32x2 v59 = sn_vmax_f32x2(v34, v58);
      *(f32x2_m*)(p6 + (v17 + 12)) = v59;
      const f32 v60 = p1[v18 + 17];
      const f32 v61 = p1[v18 + 16];
      const f32x2 v62 = (f32x2){v60, v61};
      const f32x2 v63 = sn_vmax_f32x2(v40, v62);
      *(f32x2_m*)(p6 + (v17 + 17)) = v63;
      const f32 v64 = p1[v18 + 22];
      const f32 v65 = p1[v18 + 21];
      const f32x2 v66 = (f32x2){v64, v65};
      const f32x2 v67 = sn_vmax_f32x2(v46, v66);
      *(f32x2_m*)(p6 + (v17 + 22)) = v67;
      const f32 v68 = p1[v18];
      const f32x2 v69 = (f32x2){v68, 0.0f};
      const f32x2 v70 = sn_vmax_f32x2(v22, v69);
      sn_store_f32x2(p6 + (v17 + 4), v70, 1);
      const f32 v71 = p1[v18 + 5];
      const f32x2 v72 = (f32x2){v71, 0.0f};
      const f32x2 v73 = sn_vmax_f32x2(v28, v72);
      sn_store_f32x2(p6 + (v17 + 9), v73, 1);
      const f32 v74 = p1[v18 + 10];
      const f32x2 v75 = (f32x2){v74, 0.0f};
      const f32x2 v76 = sn_vmax_f32x2(v34, v75);
      sn_store_f32x2(p6 + (v17 + 14), v76, 1);
      const f32 v77 = p1[v18 + 15];
      const f32x2 v78 = (f32x2){v77, 0.0f};
      const f32x2 v79 = sn_vmax_f32x2(v40, v78);
      sn_store_f32x2(p6 + (v17 + 19), v79, 1);
      const f32 v80 = p1[v18 + 20];
      const f32x2 v81 = (f32x2){v80, 0.0f};
      const f32x2 v82 = sn_vmax_f32x2(v46, v81);
      sn_store_f32x2(p6 + (v17 + 24), v82, 1);
      const i64 v83 = v13 + n14;
      const f32x2 v84 = *(f32x2_m*)(p2 + v83);
      const i64 v85 = v83 + 1683;
      const f32x2 v86 = *(f32x2_m*)(p2 + v85);
      const f32x2 v87 = sn_even1_f32x2(v84, v86);
      const f32x2 v88 = sn_odd1_f32x2(v84, v86);
      const f32x2 v89 = v23 + v87;
      const f32x2 v90 = v29 + v88;
      const f32x2 v91 = sn_even1_f32x2(v89, v90);
      const f32x2 v92 = sn_odd1_f32x2(v89, v90);
      *(f32x2_m*)(p2 + v83) = v91;
      *(f32x2_m*)(p2 + v85) = v92;
      const i64 v93 = v83 + 2;
      const f32x2 v94 = *(f32x2_m*)(p2 + v93);
      const i64 v95 = v83 + 1685;
      const f32x2 v96 = *(f32x2_m*)(p2 + v95);
      const f32x2 v97 = sn_even1_f32x2(v94, v96);
      const f32x2 v98 = sn_odd1_f32x2(v94, v96);
      const f32x2 v99 = v35 + v97;
      const f32x2 v100 = v41 + v98;
      const f32x2 v101 = sn_even1_f32x2(v99, v100);
      const f32x2 v102 = sn_odd1_f32x2(v99, v100);
      *(f32x2_m*)(p2 + v93) = v101;
      *(f32x2_m*)(p2 + v95) = v102;
      const i64 v103 = v83 + 4;
      const f32 v104 = p2[v103];
      const i64 v105 = v83 + 1687;
      const f32 v106 = p2[v105];
      const f32x2 v107 = (f32x2){v104, v106};
      const f32x2 v108 = v47 + v107;
      p2[v103] = v108[0];
      p2[v105] = v108[1];
      const i64 v109 = v83 + 3366;
      const f32x2 v110 = *(f32x2_m*)(p2 + v109);
      const i64 v111 = v83 + 5049;
      const f32x2 v112 = *(f32x2_m*)(p2 + v111);
      const f32x2 v113 = sn_even1_f32x2(v110, v112);
      const f32x2 v114 = sn_odd1_f32x2(v110, v112);
      const f32x2 v115 = v51 + v113;
      const f32x2 v116 = v55 + v114;
      const f32x2 v117 = sn_even1_f32x2(v115, v116);
      const f32x2 v118 = sn_odd1_f32x2(v115, v116);
      *(f32x2_m*)(p2 + v109) = v117;
      *(f32x2_m*)(p2 + v111) = v118;
      const i64 v119 = v83 + 3368;
      const f32x2 v120 = *(f32x2_m*)(p2 + v119);
      const i64 v121 = v83 + 5051;
      const f32x2 v122 = *(f32x2_m*)(p2 + v121);
      const f32x2 v123 = sn_even1_f32x2(v120, v122);
      const f32x2 v124 = sn_odd1_f32x2(v120, v122);
      const f32x2 v125 = v59 + v123;
      const f32x2 v126 = v63 + v124;
      const f32x2 v127 = sn_even1_f32x2(v125, v126);
      const f32x2 v128 = sn_odd1_f32x2(v125, v126);
      *(f32x2_m*)(p2 + v119) = v127;
      *(f32x2_m*)(p2 + v121) = v128;
      const i64 v129 = v83 + 3370;
      const f32 v130 = p2[v129];
      const i64 v131 = v83 + 5053;
      const f32 v132 = p2[v131];
      const f32x2 v133 = (f32x2){v130, v132};
      const f32x2 v134 = v67 + v133;
      p2[v129] = v134[0];
      p2[v131] = v134[1];
      const i64 v135 = v83 + 6732;
      const f32x2 v136 = *(f32x2_m*)(p2 + v135);
      const f32x2 v137 = sn_even1_f32x2(v136, v1);
      const f32x2 v138 = sn_odd1_f32x2(v136, v1);
      const f32x2 v139 = v70 + v137;
      const f32x2 v140 = v73 + v138;
      const f32x2 v141 = sn_even1_f32x2(v139, v140);
      const f32x2 v142 = sn_odd1_f32x2(v139, v140);
      *(f32x2_m*)(p2 + v135) = v141;
      const i64 v143 = v83 + 6734;
      const f32x2 v144 = *(f32x2_m*)(p2 + v143);
      const f32x2 v145 = sn_even1_f32x2(v144, v1);
      const f32x2 v146 = sn_odd1_f32x2(v144, v1);
      const f32x2 v147 = v76 + v145;
      const f32x2 v148 = v79 + v146;
      const f32x2 v149 = sn_even1_f32x2(v147, v148);
      const f32x2 v150 = sn_odd1_f32x2(v147, v148);
      *(f32x2_m*)(p2 + v143) = v149;
      const i64 v151 = v83 + 6736;
      const f32 v152 = p2[v151];
      const f32x2 v153 = (f32x2){v152, 0.0f};
      const f32x2 v154 = v82 + v153;
      p2[v151] = v154[0];
    }
    const i64 v155 = 510 + v9;
    const f32 v156 = p0[v155 + 16];
    const i64 v157 = 150 + v10;
    const f32 v158 = p1[v157 + 4];
    const f32 v159 = p1[v157 + 3];
    const f32x2 v160 = (f32x2){v158, v159};
    const f32x2 v161 = sn_splat_f32x2_f32(v156);
    const f32x2 v162 = sn_vmax_f32x2(v161, v160);
    *(f32x2_m*)(p6 + 150) = v162;
    const f32 v163 = p0[v155 + 33];
    const f32 v164 = p1[v157 + 9];
    const f32 v165 = p1[v157 + 8];
    const f32x2 v166 = (f32x2){v164, v165};
    const f32x2 v167 = sn_splat_f32x2_f32(v163);
    const f32x2 v168 = sn_vmax_f32x2(v167, v166);
    *(f32x2_m*)(p6 + 155) = v168;
    const f32 v169 = p0[v155 + 50];
    const f32 v170 = p1[v157 + 14];
    const f32 v171 = p1[v157 + 13];
    const f32x2 v172 = (f32x2){v170, v171};
    const f32x2 v173 = sn_splat_f32x2_f32(v169);
    const f32x2 v174 = sn_vmax_f32x2(v173, v172);
    *(f32x2_m*)(p6 + 160) = v174;
    const f32 v175 = p1[v157 + 2];
    const f32 v176 = p1[v157 + 1];
    const f32x2 v177 = (f32x2){v175, v176};
    const f32x2 v178 = sn_vmax_f32x2(v161, v177);
    *(f32x2_m*)(p6 + 152) = v178;
    const f32 v179 = p1[v157 + 7];
    const f32 v180 = p1[v157 + 6];
    const f32x2 v181 = (f32x2){v179, v180};
    const f32x2 v182 = sn_vmax_f32x2(v167, v181);
    *(f32x2_m*)(p6 + 157) = v182;
    const f32 v183 = p1[v157 + 12];
    const f32 v184 = p1[v157 + 11];
    const f32x2 v185 = (f32x2){v183, v184};
    const f32x2 v186 = sn_vmax_f32x2(v173, v185);
    *(f32x2_m*)(p6 + 162) = v186;
    const f32 v187 = p1[v157];
    const f32x2 v188 = (f32x2){v187, 0.0f};
    const f32x2 v189 = sn_vmax_f32x2(v161, v188);
    sn_store_f32x2(p6 + 154, v189, 1);
    const f32 v190 = p1[v157 + 5];
    const f32x2 v191 = (f32x2){v190, 0.0f};
    const f32x2 v192 = sn_vmax_f32x2(v167, v191);
    sn_store_f32x2(p6 + 159, v192, 1);
    const f32 v193 = p1[v157 + 10];
    const f32x2 v194 = (f32x2){v193, 0.0f};
    const f32x2 v195 = sn_vmax_f32x2(v173, v194);
    sn_store_f32x2(p6 + 164, v195, 1);
    const i64 v196 = (30 + v11) + v12;
    const f32x2 v197 = *(f32x2_m*)(p2 + v196);
    const i64 v198 = v196 + 1683;
    const f32x2 v199 = *(f32x2_m*)(p2 + v198);
    const f32x2 v200 = sn_even1_f32x2(v197, v199);
    const f32x2 v201 = sn_odd1_f32x2(v197, v199);
    const f32x2 v202 = v162 + v200;
    const f32x2 v203 = v168 + v201;
    const f32x2 v204 = sn_even1_f32x2(v202, v203);
    const f32x2 v205 = sn_odd1_f32x2(v202, v203);
    *(f32x2_m*)(p2 + v196) = v204;
    *(f32x2_m*)(p2 + v198) = v205;
    const i64 v206 = v196 + 2;
    const f32 v207 = p2[v206];
    const i64 v208 = v196 + 1685;
    const f32 v209 = p2[v208];
    const f32x2 v210 = (f32x2){v207, v209};
    const f32x2 v211 = v174 + v210;
    p2[v206] = v211[0];
    p2[v208] = v211[1];
    const i64 v212 = v196 + 3366;
    const f32x2 v213 = *(f32x2_m*)(p2 + v212);
    const i64 v214 = v196 + 5049;
    const f32x2 v215 = *(f32x2_m*)(p2 + v214);
    const f32x2 v216 = sn_even1_f32x2(v213, v215);
    const f32x2 v217 = sn_odd1_f32x2(v213, v215);
    const f32x2 v218 = v178 + v216;
    const f32x2 v219 = v182 + v217;
    const f32x2 v220 = sn_even1_f32x2(v218, v219);
    const f32x2 v221 = sn_odd1_f32x2(v218, v219);
    *(f32x2_m*)(p2 + v212) = v220;
    *(f32x2_m*)(p2 + v214) = v221;
    const i64 v222 = v196 + 3368;
    const f32 v223 = p2[v222];
    const i64 v224 = v196 + 5051;
    const f32 v225 = p2[v224];
    const f32x2 v226 = (f32x2){v223, v225};
    const f32x2 v227 = v186 + v226;
    p2[v222] = v227[0];
    p2[v224] = v227[1];
    const i64 v228 = v196 + 6732;
    const f32x2 v229 = *(f32x2_m*)(p2 + v228);
    const f32x2 v230 = sn_even1_f32x2(v229, v1);
    const f32x2 v231 = sn_odd1_f32x2(v229, v1);
    const f32x2 v232 = v189 + v230;
    const f32x2 v233 = v192 + v231;
    const f32x2 v234 = sn_even1_f32x2(v232, v233);
    const f32x2 v235 = sn_odd1_f32x2(v232, v233);
    *(f32x2_m*)(p2 + v228) = v234;
    const i64 v236 = v196 + 6734;
    const f32 v237 = p2[v236];
    const f32x2 v238 = (f32x2){v237, 0.0f};
    const f32x2 v239 = v195 + v238;
    p2[v236] = v239[0];
    const f32 v240 = p3[(v8 * 3) + v7];
    const i64 v241 = v7 * 17;
    const i64 v242 = v8 + v241;
    // inner range 11 of 33, 5 copies
    for (i64 n243 = 0; n243 < 30; n243 += 5) {
      const i64 v244 = n243 * (-1);
      const f32 v245 = p4[v244 + 32];
      const i64 v246 = v9 + (n243 * 17);
      const f32 v247 = p0[v246 + 16];
      const f32 v248 = (v245 * v240) + v247;
      p7[n243] = v248;
      const f32 v249 = p4[v244 + 31];
      const f32 v250 = p0[v246 + 33];
      const f32 v251 = (v249 * v240) + v250;
      p7[n243 + 1] = v251;
      const f32 v252 = p4[v244 + 30];
      const f32 v253 = p0[v246 + 50];
      const f32 v254 = (v252 * v240) + v253;
      p7[n243 + 2] = v254;
      const f32 v255 = p4[v244 + 29];
      const f32 v256 = p0[v246 + 67];
      const f32 v257 = (v255 * v240) + v256;
      p7[n243 + 3] = v257;
      const f32 v258 = p4[v244 + 28];
      const f32 v259 = p0[v246 + 84];
      const f32 v260 = (v258 * v240) + v259;
      p7[n243 + 4] = v260;
      const i64 v261 = v242 + (n243 * 51);
      p5[v261] = v248;
      p5[v261 + 51] = v251;
      p5[v261 + 102] = v254;
      p5[v261 + 153] = v257;
      p5[v261 + 204] = v260;
    }
    const f32 v262 = (v2 * v240) + v156;
    p7[30] = v262;
    const f32 v263 = (v3 * v240) + v163;
    p7[31] = v263;
    const f32 v264 = (v4 * v240) + v169;
    p7[32] = v264;
    const i64 v265 = (1530 + v8) + v241;
    p5[v265] = v262;
    p5[v265 + 51] = v263;
    p5[v265 + 102] = v264;
  }
  return 0;
}
