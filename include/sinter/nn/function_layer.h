// Layers that call one function of the library. Errors in it are of the layer, at its caller's place.
#pragma once

#include "sinter/call.h"
#include "sinter/nn/module.h"

namespace sinter::inline v0::nn {

/// A function of one tensor as a layer.
template <CallName name, Tensor (*function)(Arg)>
struct FunctionLayer {
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const {
    const CallScope call(name.text, where);
    return function(x);
  }
  SINTER_EMPTY_MODULE()
};

}  // namespace sinter::inline v0::nn
