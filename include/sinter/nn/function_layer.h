// Layers that call one function of the library. Errors in it are of the layer, at its caller's place.
#pragma once

#include "sinter/call.h"
#include "sinter/nn/module.h"

/// Defines the call of a layer: the value of an expression with the tensor `x`.
#define SINTER_LAYER_CALL(name, value)                                   \
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const { \
    const CallScope call(name, where);                                   \
    return value;                                                        \
  }

namespace sinter::inline v0::nn {

/// A function of one tensor as a layer.
template <CallName name, Tensor (*function)(Arg)>
struct FunctionLayer {
  SINTER_LAYER_CALL(name.text, function(x))
  SINTER_EMPTY_MODULE()
};

}  // namespace sinter::inline v0::nn
