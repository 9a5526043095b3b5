// Activations as layers, for nn::Sequential. Each calls the function of its name; what they compute stands there, in
// activations.h and normalization.h. ReLU is in layers.h.
#pragma once

#include <cstdint>

#include "sinter/activations.h"
#include "sinter/elementwise.h"
#include "sinter/nn/function_layer.h"
#include "sinter/normalization.h"

namespace sinter::inline v0::nn {

/// x.
struct Identity {
  Tensor operator()(const Tensor& x, Loc = Loc::current()) const { return x; }
  SINTER_EMPTY_MODULE()
};
/// sigmoid().
struct Sigmoid : FunctionLayer<"Sigmoid", sigmoid> {};
/// tanh().
struct Tanh : FunctionLayer<"Tanh", tanh> {};
/// silu().
struct SiLU : FunctionLayer<"SiLU", silu> {};
/// selu().
struct SELU : FunctionLayer<"SELU", selu> {};
/// relu6().
struct ReLU6 : FunctionLayer<"ReLU6", relu6> {};
/// softsign().
struct Softsign : FunctionLayer<"Softsign", softsign> {};
/// mish().
struct Mish : FunctionLayer<"Mish", mish> {};
/// logsigmoid().
struct LogSigmoid : FunctionLayer<"LogSigmoid", logsigmoid> {};
/// tanhshrink().
struct Tanhshrink : FunctionLayer<"Tanhshrink", tanhshrink> {};
/// hardsigmoid().
struct Hardsigmoid : FunctionLayer<"Hardsigmoid", hardsigmoid> {};
/// hardswish().
struct Hardswish : FunctionLayer<"Hardswish", hardswish> {};
/// gelu().
struct GELU {
  explicit GELU(Choice<Gelu> form = Gelu::Exact) : form(form) {}
  SINTER_LAYER_CALL("GELU", gelu(x, form))
  Gelu form;
  SINTER_EMPTY_MODULE()
};
/// leaky_relu().
struct LeakyReLU {
  explicit LeakyReLU(double slope = 0.01) : slope(slope) {}
  SINTER_LAYER_CALL("LeakyReLU", leaky_relu(x, slope))
  double slope;
  SINTER_EMPTY_MODULE()
};
/// elu().
struct ELU {
  explicit ELU(double alpha = 1) : alpha(alpha) {}
  SINTER_LAYER_CALL("ELU", elu(x, alpha))
  double alpha;
  SINTER_EMPTY_MODULE()
};
/// celu().
struct CELU {
  explicit CELU(double alpha = 1) : alpha(alpha) {}
  SINTER_LAYER_CALL("CELU", celu(x, alpha))
  double alpha;
  SINTER_EMPTY_MODULE()
};
/// hardtanh().
struct Hardtanh {
  explicit Hardtanh(double lo = -1, double hi = 1) : lo(lo), hi(hi) {}
  SINTER_LAYER_CALL("Hardtanh", hardtanh(x, lo, hi))
  double lo, hi;
  SINTER_EMPTY_MODULE()
};
/// threshold().
struct Threshold {
  Threshold(double bound, double value) : bound(bound), value(value) {}
  SINTER_LAYER_CALL("Threshold", sinter::threshold(x, bound, value))
  double bound, value;
  SINTER_EMPTY_MODULE()
};
/// softplus().
struct Softplus {
  explicit Softplus(double beta = 1, double threshold = 20) : beta(beta), threshold(threshold) {}
  SINTER_LAYER_CALL("Softplus", softplus(x, beta, threshold))
  double beta, threshold;
  SINTER_EMPTY_MODULE()
};
/// hardshrink().
struct Hardshrink {
  explicit Hardshrink(double lambda = 0.5) : lambda(lambda) {}
  SINTER_LAYER_CALL("Hardshrink", hardshrink(x, lambda))
  double lambda;
  SINTER_EMPTY_MODULE()
};
/// softshrink().
struct Softshrink {
  explicit Softshrink(double lambda = 0.5) : lambda(lambda) {}
  SINTER_LAYER_CALL("Softshrink", softshrink(x, lambda))
  double lambda;
  SINTER_EMPTY_MODULE()
};
/// glu().
struct GLU {
  explicit GLU(int64_t axis = -1) : axis(axis) {}
  SINTER_LAYER_CALL("GLU", glu(x, axis))
  int64_t axis;
  SINTER_EMPTY_MODULE()
};
/// softmax().
struct Softmax {
  explicit Softmax(int64_t axis = -1) : axis(axis) {}
  SINTER_LAYER_CALL("Softmax", softmax(x, axis))
  int64_t axis;
  SINTER_EMPTY_MODULE()
};
/// log_softmax().
struct LogSoftmax {
  explicit LogSoftmax(int64_t axis = -1) : axis(axis) {}
  SINTER_LAYER_CALL("LogSoftmax", log_softmax(x, axis))
  int64_t axis;
  SINTER_EMPTY_MODULE()
};
/// softmin().
struct Softmin {
  explicit Softmin(int64_t axis = -1) : axis(axis) {}
  SINTER_LAYER_CALL("Softmin", softmin(x, axis))
  int64_t axis;
  SINTER_EMPTY_MODULE()
};
/// prelu() with slopes that are learned: weight [count], one or as many as x has channels.
struct PReLU {
  explicit PReLU(int64_t count = 1, double slope = 0.25, Loc where = Loc::current());
  SINTER_LAYER_CALL("PReLU", prelu(x, weight))
  Tensor weight;
  SINTER_MODULE(weight)
};
/// rrelu(): slopes are drawn in training.
struct RReLU {
  explicit RReLU(double lower = 1.0 / 8, double upper = 1.0 / 3) : lower(lower), upper(upper) {}
  SINTER_LAYER_CALL("RReLU", rrelu(x, lower, upper, training))
  double lower, upper;
  bool training = true;
  SINTER_EMPTY_MODULE()
};
/// softmax() over the channels of [n, channels, h, w] or [channels, h, w]. UsageError for another rank.
struct Softmax2d {
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
  SINTER_EMPTY_MODULE()
};

}  // namespace sinter::inline v0::nn
