// Methods of Tensor that write: x.exp_() is x.assign(exp(x)). Included by tensor.h.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <vector>

#include "sinter/arg.h"
#include "sinter/choice.h"

namespace sinter::inline v0 {

class Generator;
class Index;
enum class RoundingMode : uint8_t;
enum class ScatterReduce : uint8_t;

/// The part of Tensor's methods that end with an underscore. Each writes to the cell, as assign() does, and gives the
/// handle back: assign() of what the function gives. Not on temporaries.
class InPlaceMethods {
 public:
  Tensor& add_(Arg other) &;                                       ///< assign() of what add() gives
  Tensor& add_(Arg other, Arg alpha) &;                            ///< assign() of what add() gives
  Tensor& sub_(Arg other) &;                                       ///< assign() of what sub() gives
  Tensor& sub_(Arg other, Arg alpha) &;                            ///< assign() of what sub() gives
  Tensor& mul_(Arg other) &;                                       ///< assign() of what mul() gives
  Tensor& div_(Arg other) &;                                       ///< assign() of what div() gives
  Tensor& div_(Arg other, Choice<RoundingMode> rounding_mode) &;   ///< assign() of what div() gives
  Tensor& remainder_(Arg other) &;                                 ///< assign() of what remainder() gives
  Tensor& floor_divide_(Arg other) &;                              ///< assign() of what floor_divide() gives
  Tensor& fmod_(Arg other) &;                                      ///< assign() of what fmod() gives
  Tensor& logical_and_(Arg other) &;                               ///< assign() of what logical_and() gives
  Tensor& logical_or_(Arg other) &;                                ///< assign() of what logical_or() gives
  Tensor& logical_xor_(Arg other) &;                               ///< assign() of what logical_xor() gives
  Tensor& bitwise_and_(Arg other) &;                               ///< assign() of what bitwise_and() gives
  Tensor& bitwise_or_(Arg other) &;                                ///< assign() of what bitwise_or() gives
  Tensor& bitwise_xor_(Arg other) &;                               ///< assign() of what bitwise_xor() gives
  Tensor& pow_(Arg other) &;                                       ///< assign() of what pow() gives
  Tensor& clamp_(Arg lo, Arg hi) &;                                ///< assign() of what clamp() gives
  Tensor& clamp_(Arg lo) &;                                        ///< clamp_min_()
  Tensor& clamp_(Arg lo, std::nullopt_t) & { return clamp_(lo); }  ///< clamp_min_()
  Tensor& clamp_(std::nullopt_t, Arg hi) &;                        ///< clamp_max_()
  Tensor& clip_(Arg lo, Arg hi) &;                                 ///< clamp_()
  Tensor& clip_(Arg lo) &;                                         ///< clamp_min_()
  Tensor& clip_(Arg lo, std::nullopt_t) & { return clip_(lo); }    ///< clamp_min_()
  Tensor& clip_(std::nullopt_t, Arg hi) &;                         ///< clamp_max_()
  Tensor& masked_fill_(Arg mask, Arg value) &;                     ///< assign() of what masked_fill() gives
  Tensor& copy_(Arg value) &;                                      ///< assign(value)
  Tensor& fill_(Arg value) &;                                      ///< assign(value)
  Tensor& zero_(Loc where = Loc::current()) &;                     ///< assign() of what zeros() gives
  Tensor& exp_(Loc where = Loc::current()) &;                      ///< assign() of what exp() gives
  Tensor& sqrt_(Loc where = Loc::current()) &;                     ///< assign() of what sqrt() gives
  Tensor& relu_(Loc where = Loc::current()) &;                     ///< assign() of what relu() gives
  Tensor& neg_(Loc where = Loc::current()) &;                      ///< assign() of what negative() gives
  Tensor& abs_(Loc where = Loc::current()) &;                      ///< assign() of what abs() gives
  Tensor& log_(Loc where = Loc::current()) &;                      ///< assign() of what log() gives
  Tensor& tanh_(Loc where = Loc::current()) &;                     ///< assign() of what tanh() gives
  Tensor& sigmoid_(Loc where = Loc::current()) &;                  ///< assign() of what sigmoid() gives
  Tensor& floor_(Loc where = Loc::current()) &;                    ///< assign() of what floor() gives
  Tensor& round_(Loc where = Loc::current()) &;                    ///< assign() of what round() gives
  Tensor& ceil_(Loc where = Loc::current()) &;                     ///< assign() of what ceil() gives
  Tensor& trunc_(Loc where = Loc::current()) &;                    ///< assign() of what trunc() gives
  Tensor& square_(Loc where = Loc::current()) &;                   ///< assign() of what square() gives
  Tensor& reciprocal_(Loc where = Loc::current()) &;               ///< assign() of what reciprocal() gives
  Tensor& rsqrt_(Loc where = Loc::current()) &;                    ///< assign() of what rsqrt() gives
  Tensor& sin_(Loc where = Loc::current()) &;                      ///< assign() of what sin() gives
  Tensor& cos_(Loc where = Loc::current()) &;                      ///< assign() of what cos() gives
  Tensor& tan_(Loc where = Loc::current()) &;                      ///< assign() of what tan() gives
  Tensor& sinh_(Loc where = Loc::current()) &;                     ///< assign() of what sinh() gives
  Tensor& cosh_(Loc where = Loc::current()) &;                     ///< assign() of what cosh() gives
  Tensor& exp2_(Loc where = Loc::current()) &;                     ///< assign() of what exp2() gives
  Tensor& expm1_(Loc where = Loc::current()) &;                    ///< assign() of what expm1() gives
  Tensor& log1p_(Loc where = Loc::current()) &;                    ///< assign() of what log1p() gives
  Tensor& log2_(Loc where = Loc::current()) &;                     ///< assign() of what log2() gives
  Tensor& log10_(Loc where = Loc::current()) &;                    ///< assign() of what log10() gives
  Tensor& erf_(Loc where = Loc::current()) &;                      ///< assign() of what erf() gives
  Tensor& frac_(Loc where = Loc::current()) &;                     ///< assign() of what frac() gives
  Tensor& sign_(Loc where = Loc::current()) &;                     ///< assign() of what sign() gives
  Tensor& logical_not_(Loc where = Loc::current()) &;              ///< assign() of what logical_not() gives
  Tensor& bitwise_not_(Loc where = Loc::current()) &;              ///< assign() of what bitwise_not() gives
  Tensor& nan_to_num_(double nan = 0.0, std::optional<double> posinf = {}, std::optional<double> neginf = {},
                      Loc where = Loc::current()) &;                ///< assign() of what nan_to_num() gives
  Tensor& cumsum_(int64_t axis, Loc where = Loc::current()) &;      ///< assign() of what cumsum() gives
  Tensor& cumprod_(int64_t axis, Loc where = Loc::current()) &;     ///< assign() of what cumprod() gives
  Tensor& triu_(int64_t offset = 0, Loc where = Loc::current()) &;  ///< assign() of what triu() gives
  Tensor& tril_(int64_t offset = 0, Loc where = Loc::current()) &;  ///< assign() of what tril() gives
  Tensor& lerp_(Arg end, Arg weight) &;                             ///< assign() of what lerp() gives
  Tensor& addcmul_(Arg a, Arg b, Arg value = 1) &;                  ///< assign() of what addcmul() gives
  Tensor& addcdiv_(Arg a, Arg b, Arg value = 1) &;                  ///< assign() of what addcdiv() gives
  Tensor& addmm_(Arg a, Arg b, Arg beta = 1, Arg alpha = 1) &;      ///< assign() of what addmm() gives
  Tensor& addmv_(Arg a, Arg x, Arg beta = 1, Arg alpha = 1) &;      ///< assign() of what addmv() gives
  Tensor& baddbmm_(Arg a, Arg b, Arg beta = 1, Arg alpha = 1) &;    ///< assign() of what baddbmm() gives
  Tensor& masked_scatter_(const Tensor& mask, Arg source,
                          Loc where = Loc::current()) &;  ///< assign() of what masked_scatter() gives
  Tensor& clamp_min_(Arg lo) &;                           ///< assign() of what clamp_min() gives
  Tensor& clamp_max_(Arg hi) &;                           ///< assign() of what clamp_max() gives
  /// Draws of uniform(low, high), from the default generator or another.
  Tensor& uniform_(double low = 0, double high = 1, Generator* generator = nullptr, Loc where = Loc::current()) &;
  /// Draws of normal(mean, deviation).
  Tensor& normal_(double mean = 0, double deviation = 1, Generator* generator = nullptr, Loc where = Loc::current()) &;
  /// Draws of exponential(rate).
  Tensor& exponential_(double rate = 1, Generator* generator = nullptr, Loc where = Loc::current()) &;
  /// Draws of log_normal(mean, deviation).
  Tensor& log_normal_(double mean = 1, double deviation = 2, Generator* generator = nullptr,
                      Loc where = Loc::current()) &;
  /// Draws of cauchy(location, scale).
  Tensor& cauchy_(double location = 0, double scale = 1, Generator* generator = nullptr, Loc where = Loc::current()) &;
  /// Draws of geometric(p).
  Tensor& geometric_(double p, Generator* generator = nullptr, Loc where = Loc::current()) &;
  /// Draws of bernoulli(p), 0 and 1.
  Tensor& bernoulli_(double p = 0.5, Generator* generator = nullptr, Loc where = Loc::current()) &;
  /// The same with a probability for each element.
  Tensor& bernoulli_(const Tensor& p, Generator* generator = nullptr, Loc where = Loc::current()) &;
  /// Draws of randint(low, high), in a float tensor too.
  Tensor& random_(int64_t low, int64_t high, Generator* generator = nullptr, Loc where = Loc::current()) &;
  Tensor& random_(int64_t high, Loc where = Loc::current()) &;  ///< random_(0, high)
  /// Forgets the history: the value stays, and a leaf that requires grad no longer does.
  Tensor& detach_(Loc where = Loc::current()) &;
  /// Writes the number to the diagonal of a matrix. UsageError unless it has two axes.
  Tensor& fill_diagonal_(Arg value) &;
  Tensor& scatter_(int64_t axis, const Tensor& index, Arg value,
                   Loc where = Loc::current()) &;  ///< assign() of what scatter() gives
  Tensor& scatter_add_(int64_t axis, const Tensor& index, Arg value,
                       Loc where = Loc::current()) &;  ///< assign() of what scatter_add() gives
  Tensor& scatter_reduce_(int64_t axis, const Tensor& index, Arg value, Choice<ScatterReduce> reduce,
                          bool include_self = true,
                          Loc where = Loc::current()) &;  ///< assign() of what scatter_reduce() gives
  Tensor& put_(const Tensor& index, Arg source, bool accumulate = false,
               Loc where = Loc::current()) &;  ///< assign() of what put() gives
  Tensor& index_reduce_(int64_t axis, const Tensor& index, Arg source, Choice<ScatterReduce> reduce,
                        bool include_self = true,
                        Loc where = Loc::current()) &;  ///< assign() of what index_reduce() gives
  Tensor& index_add_(int64_t axis, const Tensor& index, Arg source,
                     Loc where = Loc::current()) &;  ///< assign() of what index_add() gives
  Tensor& index_add_(int64_t axis, const Tensor& index, Arg source, Arg alpha) &;  ///< the same
  Tensor& index_copy_(int64_t axis, const Tensor& index, Arg source,
                      Loc where = Loc::current()) &;  ///< assign() of what index_copy() gives
  Tensor& index_fill_(int64_t axis, const Tensor& index, Arg value,
                      Loc where = Loc::current()) &;  ///< assign() of what index_fill() gives
  /// Writes the value where at(items) reads: `x.index_put_({Slice{}, t}, v)`. accumulate: adds it, for an element that
  /// is named several times each of its values.
  Tensor& index_put_(const std::vector<Index>& items, Arg value, bool accumulate = false, Loc where = Loc::current()) &;
  /// The same of a vector of tensors, one for each of the first axes.
  template <std::same_as<Tensor> T>
  Tensor& index_put_(const std::vector<T>& indices, Arg value, bool accumulate = false, Loc where = Loc::current()) & {
    return put_at_tensors(indices, value, accumulate, where);
  }

 protected:
  InPlaceMethods() = default;

 private:
  Tensor& put_at_tensors(const std::vector<Tensor>& indices, Arg value, bool accumulate, Loc where);
  Tensor& self();
};

}  // namespace sinter::inline v0
