// Further names that PyTorch has for functions of the other headers. Errors bear the name that was called.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <vector>

#include "sinter/choice.h"
#include "sinter/elementwise.h"
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

}  // namespace sinter::inline v0
