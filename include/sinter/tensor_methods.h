// Methods of Tensor that are functions as well: x.exp() is exp(x). Included by tensor.h.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "sinter/arg.h"
#include "sinter/axis_list.h"
#include "sinter/choice.h"
#include "sinter/in_place_methods.h"
#include "sinter/shape.h"

namespace sinter::inline v0 {

struct Distinct;
struct Histogram;
struct LU;
struct QR;
struct RandomOptions;
struct Ranked;
struct SVD;
struct SlogDet;
enum class Interpolation : uint8_t;
enum class RoundingMode : uint8_t;
enum class ScatterReduce : uint8_t;

/// Sees a gradient; what it puts into `changed` takes its place.
using GradientHook = std::function<void(const Tensor& gradient, Tensor& changed)>;

/// What register_hook() returns.
class RemovableHandle {
 public:
  RemovableHandle() = default;                                    ///< of no hook
  explicit RemovableHandle(uint64_t number) : number_(number) {}  ///< for the library
  /// The hook is called no more. Nothing happens if it was removed before, or if its tensor is gone.
  void remove();

 private:
  uint64_t number_ = 0;
};

/// The part of Tensor's methods whose function has the same name and says what they do.
class TensorMethods : public InPlaceMethods {
 public:
  /// @name Elements
  /// Functions of elementwise.h and activations.h with this tensor as their first argument.
  /// @{

  Tensor abs(Loc where = Loc::current()) const;                              ///< abs()
  Tensor acos(Loc where = Loc::current()) const;                             ///< acos()
  Tensor acosh(Loc where = Loc::current()) const;                            ///< acosh()
  Tensor asin(Loc where = Loc::current()) const;                             ///< asin()
  Tensor asinh(Loc where = Loc::current()) const;                            ///< asinh()
  Tensor atan(Loc where = Loc::current()) const;                             ///< atan()
  Tensor atanh(Loc where = Loc::current()) const;                            ///< atanh()
  Tensor bitwise_not(Loc where = Loc::current()) const;                      ///< bitwise_not()
  Tensor ceil(Loc where = Loc::current()) const;                             ///< ceil()
  Tensor cos(Loc where = Loc::current()) const;                              ///< cos()
  Tensor cosh(Loc where = Loc::current()) const;                             ///< cosh()
  Tensor deg2rad(Loc where = Loc::current()) const;                          ///< deg2rad()
  Tensor erf(Loc where = Loc::current()) const;                              ///< erf()
  Tensor erfc(Loc where = Loc::current()) const;                             ///< erfc()
  Tensor erfinv(Loc where = Loc::current()) const;                           ///< erfinv()
  Tensor exp(Loc where = Loc::current()) const;                              ///< exp()
  Tensor exp2(Loc where = Loc::current()) const;                             ///< exp2()
  Tensor expm1(Loc where = Loc::current()) const;                            ///< expm1()
  Tensor floor(Loc where = Loc::current()) const;                            ///< floor()
  Tensor frac(Loc where = Loc::current()) const;                             ///< frac()
  Tensor isfinite(Loc where = Loc::current()) const;                         ///< isfinite()
  Tensor isinf(Loc where = Loc::current()) const;                            ///< isinf()
  Tensor isnan(Loc where = Loc::current()) const;                            ///< isnan()
  Tensor log(Loc where = Loc::current()) const;                              ///< log()
  Tensor log10(Loc where = Loc::current()) const;                            ///< log10()
  Tensor log1p(Loc where = Loc::current()) const;                            ///< log1p()
  Tensor log2(Loc where = Loc::current()) const;                             ///< log2()
  Tensor logical_not(Loc where = Loc::current()) const;                      ///< logical_not()
  Tensor negative(Loc where = Loc::current()) const;                         ///< negative()
  Tensor positive(Loc where = Loc::current()) const;                         ///< positive()
  Tensor rad2deg(Loc where = Loc::current()) const;                          ///< rad2deg()
  Tensor reciprocal(Loc where = Loc::current()) const;                       ///< reciprocal()
  Tensor relu(Loc where = Loc::current()) const;                             ///< relu()
  Tensor round(Loc where = Loc::current()) const;                            ///< round()
  Tensor rsqrt(Loc where = Loc::current()) const;                            ///< rsqrt()
  Tensor sigmoid(Loc where = Loc::current()) const;                          ///< sigmoid()
  Tensor sign(Loc where = Loc::current()) const;                             ///< sign()
  Tensor signbit(Loc where = Loc::current()) const;                          ///< signbit()
  Tensor sin(Loc where = Loc::current()) const;                              ///< sin()
  Tensor sinc(Loc where = Loc::current()) const;                             ///< sinc()
  Tensor sinh(Loc where = Loc::current()) const;                             ///< sinh()
  Tensor sqrt(Loc where = Loc::current()) const;                             ///< sqrt()
  Tensor square(Loc where = Loc::current()) const;                           ///< square()
  Tensor tan(Loc where = Loc::current()) const;                              ///< tan()
  Tensor tanh(Loc where = Loc::current()) const;                             ///< tanh()
  Tensor trunc(Loc where = Loc::current()) const;                            ///< trunc()
  Tensor hardshrink(double lambda = 0.5, Loc where = Loc::current()) const;  ///< hardshrink()
  Tensor prelu(const Tensor& weight, Loc where = Loc::current()) const;      ///< prelu()
  /// logit()
  Tensor logit(std::optional<double> eps = {}, Loc where = Loc::current()) const;
  Tensor nan_to_num(double nan = 0.0, std::optional<double> posinf = {}, std::optional<double> neginf = {},
                    Loc where = Loc::current()) const;                      ///< nan_to_num()
  Tensor atan2(Arg other, Loc where = Loc::current()) const;                ///< atan2()
  Tensor bitwise_and(Arg other, Loc where = Loc::current()) const;          ///< bitwise_and()
  Tensor bitwise_left_shift(Arg other, Loc where = Loc::current()) const;   ///< bitwise_left_shift()
  Tensor bitwise_or(Arg other, Loc where = Loc::current()) const;           ///< bitwise_or()
  Tensor bitwise_right_shift(Arg other, Loc where = Loc::current()) const;  ///< bitwise_right_shift()
  Tensor bitwise_xor(Arg other, Loc where = Loc::current()) const;          ///< bitwise_xor()
  Tensor clamp_max(Arg other, Loc where = Loc::current()) const;            ///< clamp_max()
  Tensor clamp_min(Arg other, Loc where = Loc::current()) const;            ///< clamp_min()
  Tensor copysign(Arg other, Loc where = Loc::current()) const;             ///< copysign()
  Tensor eq(Arg other, Loc where = Loc::current()) const;                   ///< eq()
  Tensor float_power(Arg other, Loc where = Loc::current()) const;          ///< float_power()
  Tensor floor_divide(Arg other, Loc where = Loc::current()) const;         ///< floor_divide()
  Tensor fmod(Arg other, Loc where = Loc::current()) const;                 ///< fmod()
  Tensor ge(Arg other, Loc where = Loc::current()) const;                   ///< ge()
  Tensor gt(Arg other, Loc where = Loc::current()) const;                   ///< gt()
  Tensor heaviside(Arg other, Loc where = Loc::current()) const;            ///< heaviside()
  Tensor hypot(Arg other, Loc where = Loc::current()) const;                ///< hypot()
  Tensor ldexp(Arg other, Loc where = Loc::current()) const;                ///< ldexp()
  Tensor le(Arg other, Loc where = Loc::current()) const;                   ///< le()
  Tensor logaddexp(Arg other, Loc where = Loc::current()) const;            ///< logaddexp()
  Tensor logaddexp2(Arg other, Loc where = Loc::current()) const;           ///< logaddexp2()
  Tensor logical_and(Arg other, Loc where = Loc::current()) const;          ///< logical_and()
  Tensor logical_or(Arg other, Loc where = Loc::current()) const;           ///< logical_or()
  Tensor logical_xor(Arg other, Loc where = Loc::current()) const;          ///< logical_xor()
  Tensor lt(Arg other, Loc where = Loc::current()) const;                   ///< lt()
  Tensor maximum(Arg other, Loc where = Loc::current()) const;              ///< maximum()
  Tensor minimum(Arg other, Loc where = Loc::current()) const;              ///< minimum()
  Tensor mul(Arg other, Loc where = Loc::current()) const;                  ///< mul()
  Tensor ne(Arg other, Loc where = Loc::current()) const;                   ///< ne()
  Tensor pow(Arg other, Loc where = Loc::current()) const;                  ///< pow()
  Tensor remainder(Arg other, Loc where = Loc::current()) const;            ///< remainder()
  Tensor true_divide(Arg other, Loc where = Loc::current()) const;          ///< true_divide()
  Tensor xlogy(Arg other, Loc where = Loc::current()) const;                ///< xlogy()
  Tensor add(Arg other, Loc where = Loc::current()) const;                  ///< add()
  Tensor add(Arg other, Arg alpha, Loc where = Loc::current()) const;       ///< add()
  Tensor sub(Arg other, Loc where = Loc::current()) const;                  ///< sub()
  Tensor sub(Arg other, Arg alpha, Loc where = Loc::current()) const;       ///< sub()
  Tensor div(Arg other, Loc where = Loc::current()) const;                  ///< div()
  Tensor div(Arg other, Choice<RoundingMode> rounding_mode, Loc where = Loc::current()) const;  ///< div()
  Tensor clamp(Arg lo, Arg hi, Loc where = Loc::current()) const;                               ///< clamp()
  Tensor clamp(Arg lo, Loc where = Loc::current()) const;                                       ///< clamp()
  Tensor clamp(Arg lo, std::nullopt_t, Loc where = Loc::current()) const;                       ///< clamp()
  Tensor clamp(std::nullopt_t, Arg hi, Loc where = Loc::current()) const;                       ///< clamp()
  Tensor lerp(Arg end, Arg weight, Loc where = Loc::current()) const;                           ///< lerp()
  Tensor addcmul(Arg a, Arg b, Loc where = Loc::current()) const;                               ///< addcmul()
  Tensor addcmul(Arg a, Arg b, Arg value, Loc where = Loc::current()) const;                    ///< addcmul()
  Tensor addcdiv(Arg a, Arg b, Loc where = Loc::current()) const;                               ///< addcdiv()
  Tensor addcdiv(Arg a, Arg b, Arg value, Loc where = Loc::current()) const;                    ///< addcdiv()
  Tensor where(Arg condition, Arg other, Loc at = Loc::current()) const;  ///< sinter::where(condition, *this, other)
  Tensor masked_fill(Arg mask, Arg value, Loc where = Loc::current()) const;  ///< masked_fill()
  Tensor isclose(Arg other, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false,
                 Loc where = Loc::current()) const;  ///< isclose()
  bool allclose(Arg other, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false,
                Loc where = Loc::current()) const;          ///< allclose()
  bool equal(Arg other, Loc where = Loc::current()) const;  ///< equal()
  /// @}

  /// @name Shapes and parts
  /// Functions of movement.h. view() is reshape(): values are never views (docs/semantics.md, V).
  /// @{

  Tensor view(Shape shape, Loc where = Loc::current()) const;                                       ///< view()
  Tensor view_as(const Tensor& like, Loc where = Loc::current()) const;                             ///< view_as()
  Tensor reshape_as(const Tensor& like, Loc where = Loc::current()) const;                          ///< reshape_as()
  Tensor expand_as(const Tensor& like, Loc where = Loc::current()) const;                           ///< expand_as()
  Tensor unflatten(int64_t axis, const Shape& sizes, Loc where = Loc::current()) const;             ///< unflatten()
  Tensor t(Loc where = Loc::current()) const;                                                       ///< t()
  Tensor ravel(Loc where = Loc::current()) const;                                                   ///< ravel()
  Tensor fliplr(Loc where = Loc::current()) const;                                                  ///< fliplr()
  Tensor flipud(Loc where = Loc::current()) const;                                                  ///< flipud()
  Tensor swapaxes(int64_t a, int64_t b, Loc where = Loc::current()) const;                          ///< swapaxes()
  Tensor broadcast_to(const Shape& shape, Loc where = Loc::current()) const;                        ///< broadcast_to()
  Tensor narrow(int64_t axis, int64_t start, const Dim& length, Loc where = Loc::current()) const;  ///< narrow()
  Tensor narrow(int64_t axis, const Tensor& start, const Dim& length, Loc where = Loc::current()) const;  ///< narrow()
  Tensor select(int64_t axis, int64_t index, Loc where = Loc::current()) const;                           ///< select()
  std::vector<Tensor> unbind(int64_t axis = 0, Loc where = Loc::current()) const;                         ///< unbind()
  /// tensor_split() before each of the indices.
  std::vector<Tensor> tensor_split(const std::vector<int64_t>& indices, int64_t axis = 0,
                                   Loc where = Loc::current()) const;
  /// tensor_split() into that many parts.
  template <Integer I>
  std::vector<Tensor> tensor_split(I sections, int64_t axis = 0, Loc where = Loc::current()) const {
    return split_evenly(saturated(sections), axis, where);
  }
  /// hsplit() before each of the indices.
  std::vector<Tensor> hsplit(const std::vector<int64_t>& indices, Loc where = Loc::current()) const;
  /// hsplit() into that many parts.
  template <Integer I>
  std::vector<Tensor> hsplit(I sections, Loc where = Loc::current()) const {
    return hsplit_evenly(saturated(sections), where);
  }
  /// vsplit() before each of the indices.
  std::vector<Tensor> vsplit(const std::vector<int64_t>& indices, Loc where = Loc::current()) const;
  /// vsplit() into that many parts.
  template <Integer I>
  std::vector<Tensor> vsplit(I sections, Loc where = Loc::current()) const {
    return vsplit_evenly(saturated(sections), where);
  }
  Tensor roll(int64_t shift, std::optional<int64_t> axis = {}, Loc where = Loc::current()) const;  ///< roll()
  Tensor roll(const std::vector<int64_t>& shifts, const std::vector<int64_t>& axes,
              Loc where = Loc::current()) const;  ///< roll()
  Tensor rot90(int64_t times = 1, const std::vector<int64_t>& axes = {0, 1},
               Loc where = Loc::current()) const;                                       ///< rot90()
  Tensor repeat(const std::vector<int64_t>& counts, Loc where = Loc::current()) const;  ///< repeat()
  Tensor tile(const std::vector<int64_t>& counts, Loc where = Loc::current()) const;    ///< tile()
  Tensor repeat_interleave(int64_t count, std::optional<int64_t> axis = {},
                           Loc where = Loc::current()) const;  ///< repeat_interleave()
  Tensor repeat_interleave(const Tensor& repeats, std::optional<int64_t> axis = {},
                           std::optional<int64_t> output_size = {},
                           Loc where = Loc::current()) const;  ///< repeat_interleave()
  Tensor diagonal(int64_t offset = 0, int64_t a = 0, int64_t b = 1, Loc where = Loc::current()) const;  ///< diagonal()
  Tensor diag_embed(int64_t offset = 0, int64_t a = -2, int64_t b = -1,
                    Loc where = Loc::current()) const;                              ///< diag_embed()
  Tensor diag(int64_t offset = 0, Loc where = Loc::current()) const;                ///< diag()
  Tensor trace(Loc where = Loc::current()) const;                                   ///< trace()
  Tensor triu(int64_t offset = 0, Loc where = Loc::current()) const;                ///< triu()
  Tensor tril(int64_t offset = 0, Loc where = Loc::current()) const;                ///< tril()
  Tensor diff(int64_t n = 1, int64_t axis = -1, Loc where = Loc::current()) const;  ///< diff()
  /// @}

  /// @name Products and norms
  /// Functions of products.h and norms.h.
  /// @{

  Tensor matmul(Arg other, Loc where = Loc::current()) const;                                   ///< matmul()
  Tensor mm(Arg other, Loc where = Loc::current()) const;                                       ///< mm()
  Tensor bmm(Arg other, Loc where = Loc::current()) const;                                      ///< bmm()
  Tensor mv(Arg other, Loc where = Loc::current()) const;                                       ///< mv()
  Tensor dot(Arg other, Loc where = Loc::current()) const;                                      ///< dot()
  Tensor inner(Arg other, Loc where = Loc::current()) const;                                    ///< inner()
  Tensor outer(Arg other, Loc where = Loc::current()) const;                                    ///< outer()
  Tensor kron(Arg other, Loc where = Loc::current()) const;                                     ///< kron()
  Tensor cross(Arg other, int64_t axis = -1, Loc where = Loc::current()) const;                 ///< cross()
  Tensor matrix_power(int64_t n, Loc where = Loc::current()) const;                             ///< matrix_power()
  Tensor addmm(Arg a, Arg b, Arg beta = 1, Arg alpha = 1, Loc where = Loc::current()) const;    ///< addmm()
  Tensor baddbmm(Arg a, Arg b, Arg beta = 1, Arg alpha = 1, Loc where = Loc::current()) const;  ///< baddbmm()
  Tensor addmv(Arg a, Arg b, Arg beta = 1, Arg alpha = 1, Loc where = Loc::current()) const;    ///< addmv()
  Tensor norm(double p = 2, Axes axes = all_axes, bool keepdim = false, Loc where = Loc::current()) const;  ///< norm()
  /// @}

  /// @name Decompositions
  /// Functions of linalg.h.
  /// @{

  Tensor cholesky(bool upper = false, Loc where = Loc::current()) const;                 ///< cholesky()
  Tensor det(Loc where = Loc::current()) const;                                          ///< det()
  Tensor inverse(Loc where = Loc::current()) const;                                      ///< inverse()
  Tensor logdet(Loc where = Loc::current()) const;                                       ///< logdet()
  LU lu(Loc where = Loc::current()) const;                                               ///< lu()
  Tensor pinverse(std::optional<double> cutoff = {}, Loc where = Loc::current()) const;  ///< pinverse()
  Tensor cholesky_solve(Arg l, bool upper = false, Loc where = Loc::current()) const;    ///< cholesky_solve()
  SlogDet slogdet(Loc where = Loc::current()) const;                                     ///< slogdet()
  QR qr(std::string_view mode = "reduced", Loc where = Loc::current()) const;            ///< qr()
  SVD svd(bool full_matrices = true, Loc where = Loc::current()) const;                  ///< svd()
  /// @}

  /// @name Reductions, scans and order
  /// Functions of reductions.h, scans.h, normalization.h and sorting.h.
  /// @{

  Tensor amax(Axes axes = all_axes, bool keepdim = false, Loc where = Loc::current()) const;  ///< amax()
  Tensor amin(Axes axes = all_axes, bool keepdim = false, Loc where = Loc::current()) const;  ///< amin()
  std::pair<Tensor, Tensor> aminmax(Axes axes = all_axes, bool keepdim = false,
                                    Loc where = Loc::current()) const;  ///< aminmax()
  Tensor count_nonzero(Axes axes = all_axes, bool keepdim = false,
                       Loc where = Loc::current()) const;                                          ///< count_nonzero()
  Tensor nansum(Axes axes = all_axes, bool keepdim = false, Loc where = Loc::current()) const;     ///< nansum()
  Tensor nanmean(Axes axes = all_axes, bool keepdim = false, Loc where = Loc::current()) const;    ///< nanmean()
  Tensor softmax(int64_t axis = -1, Loc where = Loc::current()) const;                             ///< softmax()
  Tensor log_softmax(int64_t axis = -1, Loc where = Loc::current()) const;                         ///< log_softmax()
  Tensor logsumexp(Axes axes = all_axes, bool keepdim = false, Loc where = Loc::current()) const;  ///< logsumexp()
  Tensor cumsum(int64_t axis, Loc where = Loc::current()) const;                                   ///< cumsum()
  Tensor cumprod(int64_t axis, Loc where = Loc::current()) const;                                  ///< cumprod()
  Tensor logcumsumexp(int64_t axis, Loc where = Loc::current()) const;                             ///< logcumsumexp()
  Ranked cummax(int64_t axis, Loc where = Loc::current()) const;                                   ///< cummax()
  Ranked cummin(int64_t axis, Loc where = Loc::current()) const;                                   ///< cummin()
  Ranked sort(int64_t axis = -1, bool descending = false, bool stable = true,
              Loc where = Loc::current()) const;  ///< sort()
  /// No axis: sort(-1, true) descends. A template of exactly bool, so that an integer converts to an axis alone.
  template <std::same_as<bool> B>
  Ranked sort(B) const = delete;
  template <std::same_as<bool> B>
  Tensor argsort(B) const = delete;  ///< argsort(-1, true) descends
  Tensor argsort(int64_t axis = -1, bool descending = false, bool stable = true,
                 Loc where = Loc::current()) const;  ///< argsort()
  Ranked topk(int64_t k, int64_t axis = -1, bool largest = true, bool sorted = true,
              Loc where = Loc::current()) const;  ///< topk()
  Ranked kthvalue(int64_t k, int64_t axis = -1, bool keepdim = false,
                  Loc where = Loc::current()) const;                                    ///< kthvalue()
  Tensor median(Loc where = Loc::current()) const;                                      ///< median()
  Ranked median(int64_t axis, bool keepdim = false, Loc where = Loc::current()) const;  ///< median()
  Tensor quantile(Arg q, std::optional<int64_t> axis = {}, bool keepdim = false,
                  Loc where = Loc::current()) const;  ///< quantile()
  Tensor quantile(Arg q, std::optional<int64_t> axis, bool keepdim, Choice<Interpolation> interpolation,
                  Loc where = Loc::current()) const;  ///< quantile()
  Tensor nanquantile(Arg q, std::optional<int64_t> axis = {}, bool keepdim = false,
                     Loc where = Loc::current()) const;  ///< nanquantile()
  Tensor nanquantile(Arg q, std::optional<int64_t> axis, bool keepdim, Choice<Interpolation> interpolation,
                     Loc where = Loc::current()) const;                                    ///< nanquantile()
  Tensor nanmedian(Loc where = Loc::current()) const;                                      ///< nanmedian()
  Ranked nanmedian(int64_t axis, bool keepdim = false, Loc where = Loc::current()) const;  ///< nanmedian()
  Ranked mode(int64_t axis = -1, bool keepdim = false, Loc where = Loc::current()) const;  ///< mode()
  Tensor msort(Loc where = Loc::current()) const;                                          ///< msort()
  Distinct unique(Loc where = Loc::current()) const;                                       ///< unique()
  /// unique() with PyTorch's flags, which change nothing.
  template <std::same_as<bool> Flag>
  Distinct unique(Flag sorted, bool return_inverse = false, bool return_counts = false,
                  Loc where = Loc::current()) const;
  Distinct unique_consecutive(Loc where = Loc::current()) const;  ///< unique_consecutive()
  /// isin()
  Tensor isin(Arg among, bool assume_unique = false, bool invert = false, Loc where = Loc::current()) const;
  Tensor bincount(int64_t least = 0, Loc where = Loc::current()) const;                                 ///< bincount()
  Tensor bincount(const Tensor& weights, int64_t least = 0, Loc where = Loc::current()) const;          ///< bincount()
  Tensor histc(int64_t bins = 100, double low = 0, double high = 0, Loc where = Loc::current()) const;  ///< histc()
  Histogram histogram(int64_t bins, std::optional<std::pair<double, double>> range = {},
                      Loc where = Loc::current()) const;  ///< histogram()
  /// @}

  /// @name Picking and scattering
  /// Functions of indexing.h.
  /// @{

  Tensor gather(int64_t axis, const Tensor& index, Loc where = Loc::current()) const;              ///< gather()
  Tensor take_along_dim(const Tensor& index, int64_t axis, Loc where = Loc::current()) const;      ///< take_along_dim()
  Tensor index_select(int64_t axis, const Tensor& index, Loc where = Loc::current()) const;        ///< index_select()
  Tensor take(const Tensor& index, Loc where = Loc::current()) const;                              ///< take()
  Tensor scatter(int64_t axis, const Tensor& index, Arg value, Loc where = Loc::current()) const;  ///< scatter()
  Tensor scatter_add(int64_t axis, const Tensor& index, Arg value,
                     Loc where = Loc::current()) const;  ///< scatter_add()
  Tensor scatter_reduce(int64_t axis, const Tensor& index, Arg value, Choice<ScatterReduce> reduce,
                        bool include_self = true,
                        Loc where = Loc::current()) const;  ///< scatter_reduce()
  Tensor index_add(int64_t axis, const Tensor& index, Arg source, Loc where = Loc::current()) const;  ///< index_add()
  Tensor index_add(int64_t axis, const Tensor& index, Arg source, Arg alpha,
                   Loc where = Loc::current()) const;                                                  ///< same
  Tensor index_copy(int64_t axis, const Tensor& index, Arg source, Loc where = Loc::current()) const;  ///< index_copy()
  Tensor index_fill(int64_t axis, const Tensor& index, Arg value, Loc where = Loc::current()) const;   ///< index_fill()
  Tensor index_reduce(int64_t axis, const Tensor& index, Arg source, Choice<ScatterReduce> reduce,
                      bool include_self = true, Loc where = Loc::current()) const;  ///< index_reduce()
  Tensor put(const Tensor& index, Arg source, bool accumulate = false, Loc where = Loc::current()) const;  ///< put()
  Tensor index_put(const std::vector<Tensor>& indices, Arg value, bool accumulate = false,
                   Loc where = Loc::current()) const;                                             ///< index_put()
  Tensor masked_select(const Tensor& mask, Loc where = Loc::current()) const;                     ///< masked_select()
  Tensor masked_scatter(const Tensor& mask, Arg source, Loc where = Loc::current()) const;        ///< masked_scatter()
  Tensor nonzero(Loc where = Loc::current()) const;                                               ///< nonzero()
  Tensor argwhere(Loc where = Loc::current()) const;                                              ///< argwhere()
  Tensor multinomial(int64_t count, bool replacement = false, Loc where = Loc::current()) const;  ///< multinomial()
  /// The same with options.
  Tensor multinomial(int64_t count, bool replacement, const RandomOptions& options, Loc where = Loc::current()) const;
  /// bernoulli() of these probabilities.
  Tensor bernoulli(Loc where = Loc::current()) const;
  /// The same with options.
  Tensor bernoulli(const RandomOptions& options, Loc where = Loc::current()) const;
  /// @}

  /// @name Types, and tensors like this one
  /// @{

  Tensor type_as(const Tensor& like, Loc where = Loc::current()) const;  ///< to(like)
  Tensor half(Loc where = Loc::current()) const;                         ///< to(float16)
  Tensor bfloat16(Loc where = Loc::current()) const;                     ///< to(bfloat16)
  bool is_floating_point(Loc where = Loc::current()) const;              ///< of the dtype
  /// zeros() of that shape in the type of this tensor, unless another is given, on its device.
  Tensor new_zeros(const Shape& shape, DType dtype = DType::Void, Loc where = Loc::current()) const;
  Tensor new_ones(const Shape& shape, DType dtype = DType::Void, Loc where = Loc::current()) const;  ///< as new_zeros()
  Tensor new_empty(const Shape& shape, DType dtype = DType::Void,
                   Loc where = Loc::current()) const;  ///< as new_zeros()
  /// full(), as new_zeros().
  Tensor new_full(const Shape& shape, Arg value, DType dtype = DType::Void) const;
  /// @}

  /// @name Other names
  /// Functions of aliases.h.
  /// @{

  int64_t ndimension(Loc where = Loc::current()) const;                                   ///< dim()
  int64_t nelement(Loc where = Loc::current()) const;                                     ///< numel()
  Tensor absolute(Loc where = Loc::current()) const;                                      ///< abs()
  Tensor arccos(Loc where = Loc::current()) const;                                        ///< acos()
  Tensor arccosh(Loc where = Loc::current()) const;                                       ///< acosh()
  Tensor arcsin(Loc where = Loc::current()) const;                                        ///< asin()
  Tensor arcsinh(Loc where = Loc::current()) const;                                       ///< asinh()
  Tensor arctan(Loc where = Loc::current()) const;                                        ///< atan()
  Tensor arctanh(Loc where = Loc::current()) const;                                       ///< atanh()
  Tensor fix(Loc where = Loc::current()) const;                                           ///< trunc()
  Tensor neg(Loc where = Loc::current()) const;                                           ///< negative()
  Tensor arctan2(Arg other, Loc where = Loc::current()) const;                            ///< atan2()
  Tensor multiply(Arg other, Loc where = Loc::current()) const;                           ///< mul()
  Tensor less(Arg other, Loc where = Loc::current()) const;                               ///< lt()
  Tensor less_equal(Arg other, Loc where = Loc::current()) const;                         ///< le()
  Tensor greater(Arg other, Loc where = Loc::current()) const;                            ///< gt()
  Tensor greater_equal(Arg other, Loc where = Loc::current()) const;                      ///< ge()
  Tensor not_equal(Arg other, Loc where = Loc::current()) const;                          ///< ne()
  Tensor subtract(Arg other, Loc where = Loc::current()) const;                           ///< sub()
  Tensor subtract(Arg other, Arg alpha, Loc where = Loc::current()) const;                ///< sub()
  Tensor divide(Arg other, Loc where = Loc::current()) const;                             ///< div()
  Tensor divide(Arg other, Choice<RoundingMode> mode, Loc where = Loc::current()) const;  ///< div()
  Tensor clip(Arg lo, Arg hi, Loc where = Loc::current()) const;                          ///< clamp()
  Tensor clip(Arg lo, Loc where = Loc::current()) const;                                  ///< clamp()
  Tensor clip(Arg lo, std::nullopt_t, Loc where = Loc::current()) const;                  ///< clamp()
  Tensor clip(std::nullopt_t none, Arg hi, Loc where = Loc::current()) const;             ///< clamp()
  Tensor moveaxis(int64_t from, int64_t to, Loc where = Loc::current()) const;            ///< movedim()
  Tensor moveaxis(const std::vector<int64_t>& from, const std::vector<int64_t>& to,
                  Loc where = Loc::current()) const;                        ///< movedim()
  Tensor swapdims(int64_t a, int64_t b, Loc where = Loc::current()) const;  ///< transpose()
  std::vector<Tensor> split_with_sizes(const std::vector<int64_t>& sizes, int64_t axis = 0,
                                       Loc where = Loc::current()) const;  ///< split()
  Tensor T(Loc where = Loc::current()) const;                              ///< t()
  /// @}

  /// @name Hooks
  /// @{

  /// Calls `hook(gradient)` whenever a gradient of this value is built: by backward(), by gradient(), for this value or
  /// for others. What it returns, a tensor of the same shape and dtype, takes the gradient's place; it may return
  /// nothing, or an empty Tensor. It may read the gradient, which computes it. The hook is one of this value: assigns
  /// to the tensor leave it behind, except that a parameter keeps its hooks. Several are called in order.
  /// @snippet custom_gradients.cpp hook
  template <class F>
  RemovableHandle register_hook(F hook, Loc where = Loc::current()) const {
    return add_gradient_hook(
        [hook = std::move(hook)](const Tensor& gradient, Tensor& changed) mutable {
          if constexpr (std::is_void_v<std::invoke_result_t<F&, const Tensor&>>)
            hook(gradient);
          else
            changed = hook(gradient);
        },
        where);
  }
  /// @}

 protected:
  TensorMethods() = default;

 private:
  RemovableHandle add_gradient_hook(GradientHook hook, Loc where) const;
  std::vector<Tensor> split_evenly(int64_t sections, int64_t axis, Loc where) const;
  std::vector<Tensor> hsplit_evenly(int64_t sections, Loc where) const;
  std::vector<Tensor> vsplit_evenly(int64_t sections, Loc where) const;
  const Tensor& self() const;
};

}  // namespace sinter::inline v0
