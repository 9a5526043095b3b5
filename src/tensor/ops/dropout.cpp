// Dropout of elements and channels.
#include "sinter/dropout.h"

#include <cmath>

#include "tensor/core/axes.h"
#include "tensor/core/operands.h"

namespace sinter::inline v0 {
namespace {

using namespace tensor;

/// What shares one draw.
enum class DropUnit : uint8_t { Element, Channel, ChannelOfOne };

/// bool, in the shape of x: true where it is dropped. One draw for each element; or for each channel, the second axis,
/// or the first if x has no axis of samples.
UOp dropped(UOp x, double p, DropUnit unit, Generator* generator, Loc where) {
  Shape drawn = x->shape;
  if (unit != DropUnit::Element)
    for (size_t i = unit == DropUnit::Channel ? 2 : 1; i < drawn.rank(); ++i) drawn[i] = Dim(1);
  UOp mask = node_of(bernoulli(p, drawn, {.generator = generator, .device = x->device}, where));
  return broadcast_to(mask, x->shape);
}

/// The operand of a call that drops such units.
UOp drop_operand(const Arg& x, double p, DropUnit unit) {
  if (!(p >= 0 && p <= 1))
    usage_error("p is {}, the probability that something is dropped; give one in [{}, {}]", p, 0, 1);
  UOp n = float_operand(x);
  if (unit == DropUnit::Channel && n->rank() < 2)
    usage_error("{} has no axis of channels; give [n, channels, ...]", describe(n));
  return n;
}

Tensor drop(const Arg& x, double p, bool training, DropUnit unit, Generator* generator) {
  UOp n = drop_operand(x, p, unit);
  if (!training || p == 0) return wrap(n);
  UOp mask = dropped(n, p, unit, generator, x.where());
  return wrap(where(mask, like(n, 0.0), n * (p < 1 ? 1.0 / (1.0 - p) : 0.0)));
}

/// Of x of `rank` axes or one less, where `one_sample`: the axis of samples is the one that lacks.
Tensor drop_channels(const Arg& x, double p, bool training, size_t rank, bool one_sample, const char* shapes,
                     Generator* generator) {
  UOp n = float_operand(x);
  if (n->rank() != rank && n->rank() + 1 != rank)
    usage_error("{} has {} axes; give {}", describe(n), n->rank(), shapes);
  const bool single = one_sample && n->rank() < rank;
  return drop(x, p, training, single ? DropUnit::ChannelOfOne : DropUnit::Channel, generator);
}

Tensor alpha_drop(const Arg& x, double p, bool training, DropUnit unit, Generator* generator) {
  UOp given = drop_operand(x, p, unit);
  if (!training || p == 0) return wrap(given);
  if (p == 1) return wrap(given * 0.0);
  UOp n = to_compute_type(given), mask = dropped(n, p, unit, generator, x.where());
  constexpr double kLowest = 1.7580993408473766;  // -selu(-infinity)
  const double scale = 1 / std::sqrt((kLowest * kLowest * p + 1) * (1 - p)), shift = scale * kLowest * p;
  UOp out = where(mask, like(n, shift - scale * kLowest), n * scale + shift);
  return wrap(cast(out, given->dtype));
}

}  // namespace

// The functions of the header, and what each drops.
#define SINTER_DROPOUT(name, dropped)                                 \
  Tensor name(Arg x, double p, bool training, Generator* generator) { \
    Call call(#name, x.where());                                      \
    return dropped;                                                   \
  }
SINTER_DROPOUT(dropout, drop(x, p, training, DropUnit::Element, generator))
SINTER_DROPOUT(feature_dropout, drop(x, p, training, DropUnit::Channel, generator))
SINTER_DROPOUT(dropout1d, drop_channels(x, p, training, 3, true, "[n, channels, l] or [channels, l]", generator))
SINTER_DROPOUT(dropout2d, drop_channels(x, p, training, 4, false, "[n, channels, h, w] or [n, channels, l]", generator))
SINTER_DROPOUT(dropout3d,
               drop_channels(x, p, training, 5, true, "[n, channels, d, h, w] or [channels, d, h, w]", generator))
SINTER_DROPOUT(alpha_dropout, alpha_drop(x, p, training, DropUnit::Element, generator))
SINTER_DROPOUT(feature_alpha_dropout, alpha_drop(x, p, training, DropUnit::Channel, generator))
#undef SINTER_DROPOUT

}  // namespace sinter::inline v0
