// Further names that PyTorch has for functions of the other headers. Errors bear the name that was called.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "sinter/choice.h"
#include "sinter/elementwise.h"
#include "sinter/linalg.h"
#include "sinter/norms.h"
#include "sinter/products.h"
#include "sinter/tensor.h"

namespace sinter::inline v0 {

/// @defgroup aliases Other names
/// Each is the function that its line names.
/// @snippet elementwise.cpp aliases
/// @{
Tensor absolute(Arg x);                                                                  ///< abs()
Tensor arccos(Arg x);                                                                    ///< acos()
Tensor arccosh(Arg x);                                                                   ///< acosh()
Tensor arcsin(Arg x);                                                                    ///< asin()
Tensor arcsinh(Arg x);                                                                   ///< asinh()
Tensor arctan(Arg x);                                                                    ///< atan()
Tensor arctan2(Arg y, Arg x);                                                            ///< atan2()
Tensor arctanh(Arg x);                                                                   ///< atanh()
Tensor fix(Arg x);                                                                       ///< trunc()
Tensor neg(Arg x);                                                                       ///< negative()
Tensor multiply(Arg a, Arg b);                                                           ///< mul()
Tensor subtract(Arg a, Arg b, Arg alpha = 1);                                            ///< sub()
Tensor divide(Arg a, Arg b, Choice<RoundingMode> rounding_mode = RoundingMode::None);    ///< div()
Tensor less(Arg a, Arg b);                                                               ///< lt()
Tensor less_equal(Arg a, Arg b);                                                         ///< le()
Tensor greater(Arg a, Arg b);                                                            ///< gt()
Tensor greater_equal(Arg a, Arg b);                                                      ///< ge()
Tensor not_equal(Arg a, Arg b);                                                          ///< ne()
Tensor clip(Arg x, Arg lo, Arg hi);                                                      ///< clamp()
Tensor clip(Arg x, Arg lo);                                                              ///< clamp()
Tensor clip(Arg x, Arg lo, std::nullopt_t);                                              ///< clamp()
Tensor clip(Arg x, std::nullopt_t, Arg hi);                                              ///< clamp()
Tensor moveaxis(const Tensor& x, int64_t from, int64_t to, Loc where = Loc::current());  ///< movedim()
Tensor moveaxis(const Tensor& x, const std::vector<int64_t>& from, const std::vector<int64_t>& to,
                Loc where = Loc::current());                                         ///< movedim()
Tensor swapdims(const Tensor& x, int64_t a, int64_t b, Loc where = Loc::current());  ///< transpose()
std::vector<Tensor> split_with_sizes(const Tensor& x, const std::vector<int64_t>& sizes, int64_t axis = 0,
                                     Loc where = Loc::current());                                    ///< split()
Tensor concatenate(const std::vector<Tensor>& parts, int64_t axis = 0, Loc where = Loc::current());  ///< cat()
Tensor row_stack(const std::vector<Tensor>& parts, Loc where = Loc::current());                      ///< vstack()
std::vector<Tensor> broadcast_tensors(const std::vector<Tensor>& operands,
                                      Loc where = Loc::current());  ///< broadcast()
Tensor trapz(Arg y, double dx = 1, int64_t axis = -1);              ///< trapezoid()
Tensor trapz(Arg y, Arg x, int64_t axis = -1);                      ///< trapezoid()
/// @}

/// The names of torch::linalg.
namespace linalg {
using sinter::cholesky;
using sinter::cond;
using sinter::cross;
using sinter::det;
using sinter::eigh;
using sinter::eigvalsh;
using sinter::inv;
using sinter::lstsq;
using sinter::lu;
using sinter::matmul;
using sinter::matrix_norm;
using sinter::matrix_power;
using sinter::matrix_rank;
using sinter::multi_dot;
using sinter::pinv;
using sinter::qr;
using sinter::slogdet;
using sinter::solve;
using sinter::solve_triangular;
using sinter::svd;
using sinter::svdvals;
using sinter::vecdot;
using sinter::vector_norm;
/// linalg_norm()
inline Tensor norm(Arg x, std::optional<double> order = {}, Axes axes = all_axes, bool keepdim = false) {
  return linalg_norm(x, order, std::move(axes), keepdim);
}
/// The same of a whole order.
inline Tensor norm(Arg x, std::integral auto order, Axes axes = all_axes, bool keepdim = false) {
  return linalg_norm(x, static_cast<double>(order), std::move(axes), keepdim);
}
/// The same of a named norm.
inline Tensor norm(Arg x, std::string_view order, Axes axes = all_axes, bool keepdim = false) {
  return linalg_norm(x, order, std::move(axes), keepdim);
}
}  // namespace linalg

}  // namespace sinter::inline v0
