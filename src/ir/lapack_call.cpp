// Sizes and names by routine, and the op as an attribute of numbers.
#include "ir/lapack_call.h"

#include <fmt/core.h>

#include "ir/build.h"

namespace sinter::ir {
namespace {

Ints attribute(const LapackCall& call) {
  return {static_cast<int64_t>(call.routine), call.options, std::bit_cast<int64_t>(call.cutoff)};
}

int64_t count_of(const std::vector<int64_t>& sizes) {
  int64_t count = 1;
  for (int64_t size : sizes) count *= size;
  return count;
}

}  // namespace

std::vector<std::vector<int64_t>> lapack_results(const LapackCall& call, const LapackSizes& s) {
  const bool full = call.has(kFullMatrices), values = call.has(kValuesOnly);
  switch (call.routine) {
    case LapackRoutine::Cholesky: return {{s.n, s.n}};
    case LapackRoutine::TriangularSolve:
    case LapackRoutine::Solve: return {{s.n, s.r}};
    case LapackRoutine::Lu: return {{s.m, s.n}, {s.m}, {1}};
    case LapackRoutine::Qr: return {{s.m, full ? s.m : s.k()}, {full ? s.m : s.k(), s.n}};
    case LapackRoutine::Svd:
      if (values) return {{s.k()}};
      return {{s.m, full ? s.m : s.k()}, {s.k()}, {full ? s.n : s.k(), s.n}};
    case LapackRoutine::Eigh:
      if (values) return {{s.n}};
      return {{s.n}, {s.n, s.n}};
    case LapackRoutine::LeastSquares: return {{s.n, s.r}, {s.k()}, {1}};
  }
  return {};
}

int64_t lapack_row_length(const LapackCall& call, const LapackSizes& sizes) {
  int64_t length = 0;
  for (const std::vector<int64_t>& result : lapack_results(call, sizes)) length += count_of(result);
  return length;
}

double lapack_flops(const LapackCall& call, const LapackSizes& s) {
  const auto m = static_cast<double>(s.m), n = static_cast<double>(s.n), r = static_cast<double>(s.r);
  const auto k = static_cast<double>(s.k());
  switch (call.routine) {
    case LapackRoutine::Cholesky: return n * n * n / 3;
    case LapackRoutine::TriangularSolve: return n * n * r;
    case LapackRoutine::Solve: return 2 * n * n * (n / 3 + r);
    case LapackRoutine::Lu: return 2 * m * n * k;
    case LapackRoutine::Qr: return 4 * m * n * k;
    case LapackRoutine::Svd: return (call.has(kValuesOnly) ? 4 : 20) * m * n * k;
    case LapackRoutine::Eigh: return (call.has(kValuesOnly) ? 4 : 9) * n * n * n;
    case LapackRoutine::LeastSquares: return 8 * m * n * k + 4 * m * n * r;
  }
  return 0;
}

std::string_view lapack_function(LapackRoutine routine) {
  switch (routine) {
    case LapackRoutine::Cholesky: return "cholesky";
    case LapackRoutine::TriangularSolve: return "solve_triangular";
    case LapackRoutine::Solve: return "solve";
    case LapackRoutine::Lu: return "lu";
    case LapackRoutine::Qr: return "qr";
    case LapackRoutine::Svd: return "svd";
    case LapackRoutine::Eigh: return "eigh";
    case LapackRoutine::LeastSquares: return "lstsq";
  }
  return {};
}

std::string_view lapack_failure(LapackRoutine routine) {
  switch (routine) {
    case LapackRoutine::Cholesky: return "is not positive definite";
    case LapackRoutine::Solve: return "is singular";
    case LapackRoutine::LeastSquares: return "gave no result, it or the right side may hold a NaN or an infinity";
    default: return "gave no result, it may hold a NaN or an infinity";
  }
}

LapackRows lapack(const LapackCall& call, const Sources& sources) {
  UOp a = sources[0];
  const LapackSizes sizes = lapack_sizes_of(a->shape, sources.size() > 1 ? &sources[1]->shape : nullptr);
  const std::vector<std::vector<int64_t>> results = lapack_results(call, sizes);
  const auto batch = static_cast<std::ptrdiff_t>(a->rank()) - 2;
  std::vector<Dim> shape(a->shape.begin(), a->shape.begin() + batch);
  shape.emplace_back(lapack_row_length(call, sizes));
  auto stored = mapped<Sources>(sources, [&](UOp s) {
    return s->op == Op::Contiguous ? s : s->graph->make({Op::Contiguous, s->dtype, s->shape, {s}});
  });
  return {a->graph->make({Op::Lapack, a->dtype, Shape(shape), std::move(stored), attribute(call)}), results};
}

UOp LapackRows::operator[](size_t number) const {
  int64_t begin = 0;
  for (size_t i = 0; i < number; ++i) begin += count_of(results[i]);
  Region box = full_region(rows->shape);
  box.back() = {begin, begin + count_of(results[number])};
  std::vector<Dim> shape(rows->shape.begin(), rows->shape.end() - 1);
  for (int64_t size : results[number]) shape.emplace_back(size);
  return reshape(shrink(rows, box), Shape(shape));
}

UOp lapack_in_kernel(const LapackCall& call, UOp to, const Sources& from) {
  Sources params{to};
  for (UOp s : from) params.push_back(s);
  return to->graph->make({Op::CallLapack, DType::Void, {}, std::move(params), attribute(call)});
}

LapackCall lapack_call_of(UOp n) {
  const Ints& a = n->ints();
  return {static_cast<LapackRoutine>(a[0]), a[1], std::bit_cast<double>(a[2])};
}

std::string lapack_error(UOp n, const Shape& rows, std::span<const UOp> sources) {
  const Ints& attr = n->ints();
  if (attr.size() != 3 || attr[0] < 0 || attr[0] > static_cast<int64_t>(LapackRoutine::LeastSquares))
    return "calls no routine";
  const LapackCall call = lapack_call_of(n);
  if (sources.size() != (has_second_source(call.routine) ? 2 : 1)) return "has not the sources of its routine";
  for (UOp s : sources) {
    const size_t rank = s->rank();
    if (rank < 2 || rank != rows.rank() + 1) return "has sources of another rank";
    if (s->shape[rank - 2].symbolic() || s->shape[rank - 1].symbolic()) return "has matrices of a symbolic size";
    for (size_t i = 0; i + 2 < rank; ++i)
      if (!(s->shape[i] == rows[i])) return fmt::format("axis {} has another size", i);
  }
  const LapackSizes sizes = lapack_sizes_of(sources[0]->shape, sources.size() > 1 ? &sources[1]->shape : nullptr);
  if (sources.size() > 1 && !(sources[1]->shape[rows.rank() - 1] == sizes.m)) return "has sources of different rows";
  const bool square = call.routine == LapackRoutine::Cholesky || call.routine == LapackRoutine::Eigh ||
                      call.routine == LapackRoutine::Solve || call.routine == LapackRoutine::TriangularSolve;
  if (square && sizes.m != sizes.n) return "has a matrix that is not square";
  return rows[rows.rank() - 1] == lapack_row_length(call, sizes) ? "" : "gives rows of another length";
}

LapackSizes lapack_sizes_of(const Shape& a, const Shape* b) {
  return {a[a.rank() - 2].value(), a[a.rank() - 1].value(), b ? (*b)[b->rank() - 1].value() : 0};
}

}  // namespace sinter::ir
