// The table of routines for both types of numbers, and a matrix problem for each of them. LAPACK's matrices lie column
// after column, so every matrix is transposed on its way in and out.
#include "runtime/cpu/lapack.h"

#include <dlfcn.h>
#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "ir/lapack_call.h"
#include "runtime/base/env.h"
#include "runtime/base/error_word.h"

namespace sinter::runtime::cpu {
namespace {

template <class T>
struct Routines {
#define FN(field, name, ...) void (*field)(__VA_ARGS__) = nullptr;
#include "runtime/cpu/lapack_routines.def"
#undef FN
};

struct Library {
  Routines<float> single;
  Routines<double> wide;
  std::string missing;

  template <class T>
  const Routines<T>& routines() const {
    if constexpr (sizeof(T) == sizeof(float))
      return single;
    else
      return wide;
  }
};

/// Fills the table. Returns the name of a routine that the library lacks; empty: none.
template <class T>
std::string fill(void* library, Routines<T>& out) {
  const char* const letter = sizeof(T) == sizeof(float) ? "s" : "d";
#define FN(field, name, ...)                                                              \
  if (void* address = dlsym(library, (std::string(letter) + #name "_").c_str()); address) \
    out.field = reinterpret_cast<decltype(out.field)>(address);                           \
  else                                                                                    \
    return std::string(letter) + #name;
#include "runtime/cpu/lapack_routines.def"
#undef FN
  return "";
}

Library open_library() {
  Library out;
  const std::string path = env().lapack.empty() ? "liblapack.so.3" : env().lapack;
  const char* const remedy = "install it (Debian: liblapack3), or name a library in SINTER_LAPACK";
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    out.missing = fmt::format("LAPACK was not found ({}); {}", dlerror(), remedy);
    return out;
  }
  std::string lacks = fill(library, out.single);
  if (lacks.empty()) lacks = fill(library, out.wide);
  if (!lacks.empty()) out.missing = fmt::format("{} has no routine {}; {}", path, lacks, remedy);
  return out;
}

/// Never destroyed: kernels of other threads may outlive main.
const Library& library() {
  static const auto& opened = *new Library(open_library());
  return opened;
}

using ir::LapackCall;
using ir::LapackRoutine;
using ir::LapackSizes;

/// A matrix of doubles or floats, column after column.
template <class T>
class Columns {
 public:
  Columns(int64_t rows, int64_t columns)
      : rows_(rows), columns_(columns), numbers_(static_cast<size_t>(std::max<int64_t>(rows * columns, 1))) {}
  T* data() { return numbers_.data(); }
  T& at(int64_t i, int64_t j) { return numbers_[j * rows_ + i]; }
  /// The leading dimension, which LAPACK wants to be at least 1.
  int step() const { return static_cast<int>(std::max<int64_t>(rows_, 1)); }
  void read(const T* from) {
    for (int64_t i = 0; i < rows_; ++i)
      for (int64_t j = 0; j < columns_; ++j) at(i, j) = *from++;
  }
  /// The first `rows` rows and `columns` columns. Returns where the next result lies.
  T* write(T* to, int64_t rows, int64_t columns) {
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) *to++ = at(i, j);
    return to;
  }
  T* write(T* to) { return write(to, rows_, columns_); }
  bool finite() const {
    return std::ranges::all_of(numbers_, [](T x) { return std::isfinite(x); });
  }
  /// Of the lower triangle, diagonal included.
  bool lower_triangle_finite() const {
    for (int64_t j = 0; j < columns_; ++j) {
      const auto column = numbers_.begin() + j * rows_;
      if (!std::all_of(column + j, column + rows_, [](T x) { return std::isfinite(x); })) return false;
    }
    return true;
  }
  void set_unit() {
    for (int64_t i = 0; i < std::min(rows_, columns_); ++i) at(i, i) = 1;
  }

 private:
  int64_t rows_, columns_;
  std::vector<T> numbers_;
};

/// One matrix problem after the other. Each function returns whether the routine succeeded. Iterative routines (svd,
/// eigh, least_squares) are not called for a NaN or an infinity: deep inside they scale by a norm of NaN, which
/// LAPACK's error handler takes for a wrong argument, and it ends the process; or they give numbers that mean nothing.
/// The others let NaN through to their results.
template <class T>
class Problem {
 public:
  Problem(const LapackCall& call, const LapackSizes& sizes)
      : call_(call),
        s_(sizes),
        lapack_(library().routines<T>()),
        m_(static_cast<int>(sizes.m)),
        n_(static_cast<int>(sizes.n)),
        r_(static_cast<int>(sizes.r)),
        k_(static_cast<int>(sizes.k())) {}

  bool run(T* to, const T* a, const T* b) {
    Columns<T> x(s_.m, s_.n);
    x.read(a);
    switch (call_.routine) {
      case LapackRoutine::Cholesky: return cholesky(to, x);
      case LapackRoutine::TriangularSolve: return triangular_solve(to, x, b);
      case LapackRoutine::Solve: return solve(to, x, b);
      case LapackRoutine::Lu: return lu(to, x);
      case LapackRoutine::Qr: return qr(to, x);
      case LapackRoutine::Svd: return svd(to, x);
      case LapackRoutine::Eigh: return eigh(to, x);
      case LapackRoutine::LeastSquares: return least_squares(to, x, b);
    }
    return false;
  }

 private:
  bool cholesky(T* to, Columns<T>& a) {
    int info = 0;
    const int step = a.step();
    lapack_.potrf("L", &n_, a.data(), &step, &info, 1);
    bool ok = info == 0;
    for (int64_t i = 0; i < n_; ++i) {
      ok = ok && !std::isnan(a.at(i, i));  // some libraries go on after a pivot of NaN
      for (int64_t j = i + 1; j < n_; ++j) a.at(i, j) = 0;
    }
    a.write(to);
    return ok;
  }

  bool triangular_solve(T* to, Columns<T>& a, const T* b) {
    Columns<T> x(s_.m, s_.r);
    x.read(b);
    const T one = 1;
    const int step = a.step(), step_x = x.step();
    lapack_.trsm("L", call_.has(ir::kUpperTriangle) ? "U" : "L", "N", call_.has(ir::kUnitTriangle) ? "U" : "N", &n_,
                 &r_, &one, a.data(), &step, x.data(), &step_x, 1, 1, 1, 1);
    x.write(to);
    return true;
  }

  bool solve(T* to, Columns<T>& a, const T* b) {
    Columns<T> x(s_.m, s_.r);
    x.read(b);
    std::vector<int> order(static_cast<size_t>(n_) + 1);
    const int step = a.step(), step_x = x.step();
    int info = 0;
    lapack_.gesv(&n_, &r_, a.data(), &step, order.data(), x.data(), &step_x, &info);
    x.write(to);
    return info == 0;
  }

  /// A zero on the diagonal of u is no failure.
  bool lu(T* to, Columns<T>& a) {
    std::vector<int> swaps(static_cast<size_t>(k_) + 1), order(static_cast<size_t>(m_));
    const int step = a.step();
    int info = 0;
    lapack_.getrf(&m_, &n_, a.data(), &step, swaps.data(), &info);
    to = a.write(to);
    for (int i = 0; i < m_; ++i) order[i] = i;
    T sign = 1;
    for (int i = 0; i < k_; ++i) {
      const int with = swaps[i] - 1;
      if (with == i || with < 0 || with >= m_) continue;  // a column of NaN may have no pivot
      std::swap(order[i], order[with]);
      sign = -sign;
    }
    for (int row : order) *to++ = static_cast<T>(row);
    *to = sign;
    return info >= 0;
  }

  bool qr(T* to, Columns<T>& a) {
    const int columns = call_.has(ir::kFullMatrices) ? m_ : k_;
    std::vector<T> factors(static_cast<size_t>(k_) + 1);
    const int step = a.step();
    bool ok = with_workspace([&](T* work, const int* size, int* info) {
      lapack_.geqrf(&m_, &n_, a.data(), &step, factors.data(), work, size, info);
    });
    Columns<T> q(m_, columns), r(columns, n_);
    for (int64_t j = 0; j < n_; ++j)
      for (int64_t i = 0; i < m_; ++i) {
        if (i <= j && i < columns) r.at(i, j) = a.at(i, j);
        if (i > j && j < columns) q.at(i, j) = a.at(i, j);
      }
    if (columns > 0)
      ok = ok && with_workspace([&](T* work, const int* size, int* info) {
             lapack_.orgqr(&m_, &columns, &k_, q.data(), &step, factors.data(), work, size, info);
           });
    r.write(q.write(to));
    return ok;
  }

  bool svd(T* to, Columns<T>& a) {
    if (!a.finite()) return false;
    const bool full = call_.has(ir::kFullMatrices), values = call_.has(ir::kValuesOnly);
    const int rows = full ? n_ : k_, columns = full ? m_ : k_;
    Columns<T> u(values ? 0 : m_, columns), vh(rows, values ? 0 : n_), s(k_, 1);
    bool ok = true;
    if (k_ == 0) {  // LAPACK does nothing then
      u.set_unit();
      vh.set_unit();
    } else {
      std::vector<int> integers(8 * static_cast<size_t>(k_));
      const int step = a.step(), step_u = u.step(), step_vh = vh.step();
      ok = with_workspace([&](T* work, const int* size, int* info) {
        lapack_.gesdd(values ? "N"
                      : full ? "A"
                             : "S",
                      &m_, &n_, a.data(), &step, s.data(), u.data(), &step_u, vh.data(), &step_vh, work, size,
                      integers.data(), info, 1);
      });
    }
    if (values)
      s.write(to);
    else
      vh.write(s.write(u.write(to)));
    return ok;
  }

  bool eigh(T* to, Columns<T>& a) {
    if (!a.lower_triangle_finite()) return false;
    const bool values = call_.has(ir::kValuesOnly);
    const int step = a.step();
    Columns<T> w(n_, 1);
    int info = 0, size = -1, integer_size = -1, first_integer = 0;
    T first = 0;
    const char* const job = values ? "N" : "V";
    lapack_.syevd(job, "L", &n_, a.data(), &step, w.data(), &first, &size, &first_integer, &integer_size, &info, 1, 1);
    size = static_cast<int>(first);
    integer_size = first_integer;
    std::vector<T> work(static_cast<size_t>(size) + 1);
    std::vector<int> integers(static_cast<size_t>(integer_size) + 1);
    lapack_.syevd(job, "L", &n_, a.data(), &step, w.data(), work.data(), &size, integers.data(), &integer_size, &info,
                  1, 1);
    to = w.write(to);
    if (!values) a.write(to);
    return info == 0;
  }

  bool least_squares(T* to, Columns<T>& a, const T* b) {
    const int columns = std::max(r_, 1);  // for none gelsd ends the process
    Columns<T> x(std::max(s_.m, s_.n), columns), s(k_, 1);
    for (int64_t i = 0; i < s_.m; ++i)
      for (int64_t j = 0; j < s_.r; ++j) x.at(i, j) = *b++;
    if (!a.finite() || !x.finite()) return false;
    int rank = 0;
    bool ok = true;
    if (k_ > 0) {
      const T cutoff = static_cast<T>(call_.cutoff);
      const int step = a.step(), step_x = x.step();
      std::vector<int> integers(least_squares_integers());
      ok = with_workspace([&](T* work, const int* size, int* info) {
        lapack_.gelsd(&m_, &n_, &columns, a.data(), &step, x.data(), &step_x, s.data(), &cutoff, &rank, work, size,
                      integers.data(), info);
      });
    }
    to = s.write(x.write(to, s_.n, s_.r));
    *to = static_cast<T>(rank);
    return ok;
  }

  /// Integers that gelsd wants: 3 k levels + 11 k, of the tree that divides the problem down to 25 columns.
  size_t least_squares_integers() const {
    size_t levels = 2;
    for (int size = k_ / 26; size > 1; size /= 2) ++levels;
    return 3 * static_cast<size_t>(k_) * levels + 11 * static_cast<size_t>(k_);
  }

  /// Calls f(workspace, its size, info): first for the size, then with a workspace of it. Returns whether it succeeded.
  template <class F>
  static bool with_workspace(F f) {
    int size = -1, info = 0;
    T first = 0;
    f(&first, &size, &info);
    size = std::max(static_cast<int>(first), 1);
    std::vector<T> work(static_cast<size_t>(size));
    f(work.data(), &size, &info);
    return info == 0;
  }

  const LapackCall call_;
  const LapackSizes s_;
  const Routines<T>& lapack_;
  const int m_, n_, r_, k_;
};

template <class T>
int run_all(const LapackCall& call, const LapackSizes& sizes, T* to, const T* a, const T* b, int64_t begin,
            int64_t end) noexcept {
  const int64_t row = ir::lapack_row_length(call, sizes);
  int error = 0;
  for (int64_t i = begin; i < end; ++i) {
    bool ok = false;
    try {
      ok =
          library().missing.empty() &&
          Problem<T>(call, sizes).run(to + i * row, a + i * sizes.m * sizes.n, b ? b + i * sizes.m * sizes.r : nullptr);
    } catch (const std::bad_alloc&) {  // the results say it
    }
    if (ok) continue;
    std::fill_n(to + i * row, row, std::numeric_limits<T>::quiet_NaN());
    error = static_cast<int>(kMatrixError);
  }
  return error;
}

}  // namespace

const std::string& lapack_missing() { return library().missing; }

}  // namespace sinter::runtime::cpu

extern "C" int sinter_lapack(const int64_t* job, void* to, const void* a, const void* b, int64_t begin,
                             int64_t end) noexcept {
  using namespace sinter;
  const ir::LapackCall call{static_cast<ir::LapackRoutine>(job[0]), job[1], std::bit_cast<double>(job[2])};
  const ir::LapackSizes sizes{job[4], job[5], job[6]};
  const auto run = [&]<class T>(T* out) {
    return runtime::cpu::run_all<T>(call, sizes, out, static_cast<const T*>(a), static_cast<const T*>(b), begin, end);
  };
  return job[3] == sizeof(float) ? run(static_cast<float*>(to)) : run(static_cast<double*>(to));
}
