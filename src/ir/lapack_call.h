// A call of LAPACK in the graph. The op is opaque: what it computes is the library's, and its kernel is one call.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace sinter::ir {

/// Matrices lie along the last two axes of the sources: a [.., m, n] and, for those that solve, b [.., m, r]. Each
/// matrix gives a row of numbers, which holds the results one after the other in row-major order. k is min(m, n).
enum class LapackRoutine : int64_t {
  Cholesky,         ///< a = l l^T, of its lower triangle: l [n, n]
  TriangularSolve,  ///< a x = b for a triangle: x [n, r]
  Solve,            ///< a x = b: x [n, r]
  Lu,               ///< rows of a in another order = l u: both in one [m, n], the order [m], its sign [1]
  Qr,               ///< q [m, k], r [k, n]; complete: q [m, m], r [m, n]
  Svd,              ///< u [m, k], s [k], vh [k, n]; full: u [m, m], vh [n, n]; values only: s
  Eigh,             ///< of the lower triangle: w [n], ascending, v [n, n]; values only: w
  LeastSquares,     ///< x of least |a x - b| and then least |x|: x [n, r], singular values [k], rank [1]
};

/// Bits of LapackCall::options.
inline constexpr int64_t kUpperTriangle = 1, kUnitTriangle = 2;  ///< TriangularSolve
inline constexpr int64_t kValuesOnly = 1, kFullMatrices = 2;     ///< Svd, Eigh; Qr: kFullMatrices is complete

struct LapackCall {
  LapackRoutine routine{};
  int64_t options = 0;
  double cutoff = 0;  ///< LeastSquares: singular values up to this part of the largest count as 0
  bool has(int64_t option) const { return (options & option) != 0; }
};

/// The sizes of one matrix problem.
struct LapackSizes {
  int64_t m = 0, n = 0;
  int64_t r = 0;  ///< columns of b; 0 without b
  int64_t k() const { return m < n ? m : n; }
};

/// Sizes of each result: of a vector or a matrix.
std::vector<std::vector<int64_t>> lapack_results(const LapackCall& call, const LapackSizes& sizes);
/// The numbers of all of them.
int64_t lapack_row_length(const LapackCall& call, const LapackSizes& sizes);
/// Floating-point operations, roughly.
double lapack_flops(const LapackCall& call, const LapackSizes& sizes);
/// The name of the public function that calls the routine.
std::string_view lapack_function(LapackRoutine routine);
/// What it means that the routine fails: "is singular".
std::string_view lapack_failure(LapackRoutine routine);
inline bool is_lapack_type(DType d) { return d == DType::F32 || d == DType::F64; }
inline bool has_second_source(LapackRoutine r) {
  return r == LapackRoutine::TriangularSolve || r == LapackRoutine::Solve || r == LapackRoutine::LeastSquares;
}

/// Rows of results, which can be taken apart.
struct LapackRows {
  UOp rows;  ///< [.., numbers of all results]
  std::vector<std::vector<int64_t>> results;
  /// Result `number`: [.., its sizes].
  UOp operator[](size_t number) const;
};
/// The tensor op, of float32 or float64. The sources are stored before.
LapackRows lapack(const LapackCall& call, const Sources& sources);
/// The same parts of `rows`, such as a gradient, as `call` has for a source of these sizes.
inline LapackRows lapack_rows(UOp rows, const LapackCall& call, const LapackSizes& sizes) {
  return {rows, lapack_results(call, sizes)};
}
/// The op of a kernel, on Params.
UOp lapack_in_kernel(const LapackCall& call, UOp to, const Sources& from);
/// Of either op.
LapackCall lapack_call_of(UOp n);
LapackSizes lapack_sizes_of(const Shape& a, const Shape* b);

/// What is wrong with a node of either op that takes `sources` and gives rows of this shape; empty: nothing.
std::string lapack_error(UOp n, const Shape& rows, std::span<const UOp> sources);

/// Whether this SINK is one call of LAPACK.
inline bool calls_lapack(UOp sink) { return sink->src.size() == 1 && sink->src[0]->op == Op::CallLapack; }

}  // namespace sinter::ir
