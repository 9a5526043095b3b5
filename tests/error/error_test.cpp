// Bad input: one table of calls, the error's type, both values that it must name, and this file and line.
#include <fmt/core.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "catch.h"
#include "sinter/data.h"
#include "sinter/sinter.h"

using namespace sinter;

namespace {

struct Case {
  const char* name;  ///< the call's, at the head of the text
  uint32_t line;
  std::function<void()> call;
  const char* first;  ///< both values
  const char* second;
};

// The call stands on the line of its macro, which the error has to report.
#define BAD(name, expression, first, second) {name, __LINE__, [] { static_cast<void>(expression); }, first, second}

constexpr int64_t kHuge = int64_t{1} << 32, kMost = Shape::kMaxElements, kLarge = int64_t{1} << 61;

Tensor f(Shape shape) { return zeros(shape); }
Tensor ints(Shape shape) { return zeros(shape, int64); }
Tensor bools(Shape shape) { return zeros(shape, boolean); }
Tensor batched() { return zeros({Var("batch", 1, 8)(3), 4}); }
Tensor leaf(Shape shape) {
  Tensor x = ones(shape);
  x.requires_grad();
  return x;
}
/// A handle that lives as long as the call.
Tensor& kept(Tensor&& t) { return t; }
/// A loss whose graph a backward() has used up.
Tensor spent() {
  Tensor loss = leaf({2}).sum();
  loss.backward();
  return loss;
}

// clang-format off
const Case kCases[] = {
    // -- settings
    BAD("set_float32_matmul_precision", set_float32_matmul_precision("tf32"), "\"tf32\"", "\"high\""),

    // -- shapes that do not broadcast
    BAD("operator+", f({2, 3}) + f({4}), "[2, 3]", "[4]"),
    BAD("operator-", f({2, 3}) - f({2, 4}), "[2, 3]", "[2, 4]"),
    BAD("operator*", f({2}) * f({3}), "[2]", "[3]"),
    BAD("operator/", f({5, 1, 2}) / f({4, 3}), "[5, 1, 2]", "[4, 3]"),
    BAD("operator<", f({2}) < f({3}), "[2]", "[3]"),
    BAD("operator==", f({2, 2}) == f({3, 2}), "[2, 2]", "[3, 2]"),
    BAD("operator&", bools({2}) & bools({3}), "[2]", "[3]"),
    BAD("maximum", maximum(f({2}), f({3})), "[2]", "[3]"),
    BAD("where", where(bools({2}), f({3}), 0.0), "[2]", "[3]"),
    BAD("clamp", clamp(f({2}), f({3}), 1.0), "[2]", "[3]"),
    BAD("logical_and", logical_and(f({2}), f({3})), "[2]", "[3]"),
    BAD("broadcast", broadcast({f({2}), f({3})}), "[2]", "[3]"),
    BAD("operator+", batched() + f({3, 4}), "batch=3 against 3", "a symbolic size matches only itself and 1"),
    BAD("expand", f({2, 3}).expand({4, 3}), "[2, 3]", "[4, 3]"),
    BAD("expand", f({2, 3}).expand({3}), "[2, 3]", "[3]"),
    BAD("expand", f({3}).expand({-1, 3}), "[3]", "-1"),
    // -- products
    BAD("matmul", matmul(f({2, 3}), f({4, 5})), "[2, 3]", "[4, 5]"),
    BAD("matmul", matmul(f({3}), f({4})), "3 against 4", "the only one of the second"),
    BAD("matmul", matmul(f({2, 2, 3}), f({5, 3, 4})), "[2, 2, 3]", "[5, 3, 4]"),
    BAD("matmul", matmul(f({}), f({2})), "float32 []", "float32 [2]"),
    BAD("dot", dot(f({2}), f({3})), "[2]", "[3]"),
    BAD("dot", dot(f({2, 2}), f({2})), "[2, 2]", "[2]"),
    BAD("einsum", einsum("ij,jk->ik", {f({2, 3}), f({4, 5})}), "3", "4"),
    BAD("einsum", einsum("ij,jk", {f({2, 3})}), "2 operands", "1 are given"),
    BAD("einsum", einsum("ij", {f({2, 3, 4})}), "2 letters", "3 axes"),
    BAD("einsum", einsum("i1->i", {f({2, 3})}), "'1'", "i1->i"),
    BAD("einsum", einsum("ij->ik", {f({2, 3})}), "'k'", "ij->ik"),
    BAD("einsum", einsum("ii->i", {f({2, 3})}), "2", "3"),
    BAD("einsum", einsum("a...b...", {f({1, 2, 3, 4})}), "2 times", "a...b..."),
    BAD("einsum", einsum("......i", {f({1, 2, 3, 4})}), "2 times", "......i"),
    BAD("einsum", einsum("i->i...j", {f({2})}), "'j'", "i->i...j"),
    BAD("einsum", einsum("...i,...j->......", {f({2, 3}), f({2, 3})}), "2 times", "......"),
    // -- convolution and pooling
    BAD("conv2d", conv2d(f({1, 3, 8, 8}), f({4, 2, 3, 3})), "3 channels", "takes 2"),
    BAD("conv2d", conv2d(f({1, 4, 8, 8}), f({6, 2, 3, 3}), {}, {.groups = 4}), "6 output channels", "4 groups"),
    BAD("conv2d", conv2d(f({1, 4, 8, 8}), f({6, 2, 3, 3}), {}, {.groups = 0}), "groups is 0", "at least 1"),
    BAD("conv2d", conv2d(f({1, 4, 8, 8}), f({0, 3, 3, 3}), {}, {.groups = INT64_MAX}), "4 channels", "takes 3"),
    BAD("conv2d", conv2d(f({1, 2, 8, 4}), f({6, 2, 3, 5})), "5 elements", "[1, 2, 8, 4]"),
    BAD("conv2d", conv2d(f({1, 2, 8, 8}), f({6, 2, 3, 3}), {}, {.dilation = 4}), "9 elements", "dilation 4"),
    BAD("conv2d", conv2d(f({8, 8}), f({6, 2, 3, 3})), "[8, 8]", "[n, channels, height, width]"),
    BAD("conv2d", conv2d(f({1, 2, 8, 8}), f({6, 2, 3})), "[6, 2, 3]", "3 axes"),
    BAD("conv2d", conv2d(f({1, 2, 8, 8}), f({6, 2, 3, 3}), f({5})), "[5]", "6 channels"),
    BAD("conv2d", conv2d(f({1, 2, 8, 8}), f({6, 2, 3, 3}), {}, {.stride = 0}), "stride is 0", "at least 1"),
    BAD("conv2d", conv2d(f({1, 2, 8, 8}), f({6, 2, 3, 3}), {}, {.padding = {1, -1}}), "padding is -1", "at least 0"),
    BAD("conv2d", conv2d(f({1, 2, 8, 8}), f({6, 2, 3, 3}), {}, {.stride = {1, 2, 1}}), "{1, 2, 1}", "2 axes"),
    BAD("conv1d", conv1d(f({1, 2, 8, 8}), f({6, 2, 3})), "[1, 2, 8, 8]", "[n, channels, length]"),
    BAD("conv1d", conv1d(zeros({1, 2, Var("length", 4, 9)(7)}), f({6, 2, 3})), "length=7", "axis"),
    BAD("max_pool2d", max_pool2d(f({1, 3, 4, 4}), 5), "5 elements", "[1, 3, 4, 4]"),
    BAD("max_pool2d", max_pool2d(f({1, 3, 4, 4}), 2, {.padding = 2}), "padding 2", "covers 2: a window would see nothing else; give at most 1"),
    BAD("max_pool2d", max_pool2d(f({1, 3, 4, 4}), 2, {.padding = INT64_MAX}), "padding 9223372036854775807", "give at most 1"),
    BAD("max_pool2d", max_pool2d(f({4, 4}), 2), "[4, 4]", "[n, channels, height, width]"),
    BAD("avg_pool2d", avg_pool2d(f({1, 3, 4, 4}), {2, 0}), "size is 0", "at least 1"),
    // -- more elements than can be counted, be they there or not
    BAD("zeros", zeros({kHuge, kHuge}), "[4294967296, 4294967296]", "2^56"),
    BAD("zeros", zeros({0, kHuge, kHuge}), "[0, 4294967296, 4294967296]", "2^56"),
    BAD("zeros", zeros({Var("n", 0, INT64_MAX)(1)}), "n=1", "2^56"),
    BAD("matmul", matmul(ones({1 << 20, 1 << 20}), ones({1 << 20, 1 << 20})), "[1048576, 1048576, 1048576]", "2^56"),
    BAD("conv2d", conv2d(ones({1 << 20, 1 << 20, 1024, 1}), ones({1024, 1 << 20, 1, 1})), "1048576", "2^56"),
    BAD("from", from(std::vector<double>{}, {kLarge}), "[2305843009213693952]", "2^56"),
    BAD("from", from(static_cast<const float*>(nullptr), {kHuge, kHuge}), "[4294967296, 4294967296]", "2^56"),
    BAD("reshape", f({0}).reshape({kHuge, kHuge}), "[4294967296, 4294967296]", "2^56"),
    BAD("reshape", f({0}).reshape({-1, kHuge, kHuge}), "4294967296", "2^56"),
    BAD("expand", f({1, 1}).expand({kHuge, kHuge}), "[4294967296, 4294967296]", "2^56"),
    BAD("operator+", f({kHuge, 1}) + f({1, kHuge}), "[4294967296, 4294967296]", "2^56"),
    BAD("where", where(bools({kHuge, 1}), f({1, kHuge}), 0.0), "[4294967296, 4294967296]", "2^56"),
    BAD("matmul", matmul(f({kHuge, 1}), f({1, kHuge})), "4294967296", "2^56"),
    BAD("einsum", einsum("i,j->ij", {f({kHuge}), f({kHuge})}), "4294967296", "2^56"),
    BAD("pad", f({2}).pad({{INT64_MAX - 5, 10}}), "[9223372036854775807]", "2^56"),
    BAD("pad", f({2, 2}).pad({{0, kHuge}, {kHuge, 0}}), "[4294967298, 4294967298]", "2^56"),
    BAD("cat", cat({f({kMost}), f({kMost})}), "[144115188075855872]", "2^56"),
    BAD("stack", stack({f({kMost}), f({kMost})}), "[2, 72057594037927936]", "2^56"),
    BAD("arange", arange(0, INT64_MAX), "[9223372036854775807]", "2^56"),
    BAD("linspace", linspace(0, 1, INT64_MAX), "[9223372036854775807]", "2^56"),
    BAD("eye", eye(kHuge), "[4294967296, 4294967296]", "2^56"),
    BAD("rand", rand({kHuge, kHuge}), "[4294967296, 4294967296]", "2^56"),
    BAD("one_hot", one_hot(ints({kHuge}), kHuge), "[4294967296, 4294967296]", "2^56"),
    BAD("embedding", embedding(ints({kHuge}), f({3, kHuge})), "[4294967296, 4294967296]", "2^56"),
    BAD("index", f({3, kHuge}).index({ints({kHuge})}), "[4294967296, 4294967296]", "2^56"),
    BAD("conv1d", conv1d(f({1, 2, 8}), zeros({Var("out", 1, 8)(3), 2, 2})), "out=3", "axis 0"),
    BAD("conv1d", conv1d(f({1, 2, 8}), zeros({3, Var("in", 1, 8)(2), 2})), "in=2", "axis 1"),
    BAD("conv1d", conv1d(f({1, 1, 8}), f({1, 1, 3}), {}, {.padding = INT64_MAX}), "9223372036854775807", "2^56"),
    BAD("conv1d", conv1d(f({1, 1, 8}), f({1, 1, 3}), {}, {.dilation = INT64_MAX}), "9223372036854775807", "axis 2"),
    BAD("take_along_dim", take_along_dim(f({2, kHuge}), ints({kHuge, 1}), 0), "[4294967296, 4294967296]", "2^56"),
    BAD("Conv2d", nn::Conv2d(2, 4, 3)(f({1, 3, 8, 8})), "3 channels", "takes 2"),
    BAD("Conv2d", nn::Conv2d(3, 4, 3, {.groups = 2}), "3 channels", "2 groups"),
    BAD("Conv2d", nn::Conv2d(3, 4, {3, 3, 3}), "3 sizes", "2 axes"),
    BAD("Conv1d", nn::Conv1d(0, 4, 3), "in is 0", "at least 1"),
    BAD("Conv2d", nn::Conv2d(1, 1, {int64_t{1} << 40, int64_t{1} << 40}), "1099511627776", "2^56"),
    BAD("MaxPool2d", nn::MaxPool2d(3)(f({1, 1, 2, 2})), "3 elements", "[1, 1, 2, 2]"),
    // -- normalisation, attention, recurrent cells
    BAD("rms_norm", rms_norm(f({2, 3}), {3}, f({2})), "[2]", "[3]"),
    BAD("group_norm", group_norm(f({2, 6, 4}), 4), "6 channels", "4 groups"),
    BAD("group_norm", group_norm(zeros({2, 6, 4}, float16), 4), "float16 [2, 6, 4]", "4 groups"),
    BAD("group_norm", group_norm(f({6}), 2), "[6]", "[n, channels, ...]"),
    BAD("batch_norm", batch_norm(f({2, 3}), f({4}), f({4})), "[4]", "[3]"),
    BAD("batch_norm", batch_norm(f({2, 3}), f({3}), {}), "mean", "variance"),
    BAD("BatchNorm2d", nn::BatchNorm2d(3)(f({2, 4, 1, 1})), "[2, 4, 1, 1]", "[n, 3, h, w]"),
    BAD("BatchNorm2d", nn::BatchNorm2d(3)(f({1, 3, 1, 1})), "[1, 3, 1, 1]: 1;", "eval"),
    BAD("BatchNorm2d", nn::BatchNorm2d(3)(f({0, 3, 4, 4})), "[0, 3, 4, 4]: 0;", "eval"),
    BAD("GroupNorm", nn::GroupNorm(4, 6), "6 channels", "4 groups"),
    BAD("RMSNorm", nn::RMSNorm(4)(f({2, 3})), "[2, 3]", "[4]"),
    BAD("scaled_dot_product_attention", scaled_dot_product_attention(f({2, 3}), f({2, 4}), f({2, 4})), "float32 [2, 3]", "float32 [2, 4]"),
    BAD("scaled_dot_product_attention", scaled_dot_product_attention(f({2, 3}), f({4, 3}), f({5, 3})), "[4, 3]", "[5, 3]"),
    BAD("scaled_dot_product_attention", scaled_dot_product_attention(f({2, 3}), f({4, 3}), f({4, 3}), {.attn_mask = bools({3, 4})}), "[3, 4]", "[2, 4]"),
    BAD("scaled_dot_product_attention", scaled_dot_product_attention(f({2, 3}), f({4, 3}), f({4, 3}), {.attn_mask = ints({2, 4})}), "int64 [2, 4]", "bool"),
    BAD("scaled_dot_product_attention", scaled_dot_product_attention(f({2, 3}), f({4, 3}), f({4, 3}), {.dropout_p = 1.0}), "dropout_p is 1", "[0, 1)"),
    BAD("rotary_embedding", rotary_embedding(f({2, 3})), "[2, 3]", "odd size 3"),
    BAD("rotary_embedding", rotary_embedding(zeros({2, 3}, float16)), "float16 [2, 3]", "odd size 3"),
    BAD("rotary_embedding", rotary_embedding(f({2, 4}), {.base = -1}), "base is -1", "above 0"),
    BAD("rotary_embedding", rotary_embedding(f({2, 4}), {.base = std::numeric_limits<double>::infinity()}), "base is inf", "finite"),
    BAD("MultiheadAttention", nn::MultiheadAttention(8, 3), "size 8", "3 heads"),
    BAD("MultiheadAttention", nn::MultiheadAttention(0, 2), "size is 0", "at least 1"),
    BAD("MultiheadAttention", nn::MultiheadAttention(8, 0), "heads is 0", "at least 1"),
    BAD("MultiheadAttention", nn::MultiheadAttention(8, 2, {.dropout = 1.5}), "1.5", "[0, 1]"),
    BAD("TransformerEncoderLayer", nn::TransformerEncoderLayer(0, 2), "size is 0", "at least 1"),
    BAD("TransformerEncoderLayer", nn::TransformerEncoderLayer(8, 2, {.dim_feedforward = 0}), "dim_feedforward is 0", "at least 1"),
    BAD("TransformerEncoderLayer", nn::TransformerEncoderLayer(8, 2, {.dropout = -1}), "-1", "[0, 1]"),
    BAD("clip_grad_norm_", nn::clip_grad_norm_({leaf({2})}, 1, std::numeric_limits<double>::quiet_NaN()), "p is nan", "above 0"),
    BAD("MultiheadAttention", nn::MultiheadAttention(8, 2)(f({4, 6})), "[4, 6]", "[8]"),
    BAD("LSTMCell", nn::LSTMCell(3, 4)(f({2, 3}), {f({2, 5}), f({2, 4})}), "the state h of LSTMCell has shape [2, 5]", "[4]"),
    BAD("LSTMCell", nn::LSTMCell(3, 4)(f({2, 3}), {f({2, 4}), f({2, 5})}), "the state c of LSTMCell has shape [2, 5]", "[4]"),
    BAD("GRUCell", nn::GRUCell(3, 4)(f({2, 4}), f({2, 4})), "[2, 4]", "[3]"),
    BAD("RNNCell", nn::RNNCell(3, 0), "hidden is 0", "at least 1"),
    BAD("LSTMCell", nn::LSTMCell(3, int64_t{1} << 62), "hidden is 4611686018427387904", "2^56"),
    // -- axes out of range or twice
    BAD("sum", f({2, 3}).sum(2), "axis 2", "[2, 3]"),
    BAD("sum", f({2, 3}).sum({0, -2}), "axis 0", "[2, 3]"),
    BAD("mean", f({2, 3}).mean(-3), "axis -3", "[2, 3]"),
    BAD("max", f({}).max(0), "axis 0", "float32 []"),
    BAD("argmax", f({2}).argmax(1), "axis 1", "[2]"),
    BAD("softmax", softmax(f({2, 3}), 2), "axis 2", "[2, 3]"),
    BAD("logsumexp", logsumexp(f({2}), 4), "axis 4", "[2]"),
    BAD("transpose", f({3}).transpose(), "axis -2", "[3]"),
    BAD("permute", f({2, 3}).permute({0, 0}), "axis 0", "[2, 3]"),
    BAD("permute", f({2, 3}).permute({0}), "1 axes", "[2, 3]"),
    BAD("movedim", f({2, 3}).movedim(0, 5), "axis 5", "[2, 3]"),
    BAD("squeeze", f({1, 3}).squeeze(2), "axis 2", "[1, 3]"),
    BAD("unsqueeze", f({3}).unsqueeze(3), "axis 3", "[3]"),
    BAD("flip", f({3}).flip(1), "axis 1", "[3]"),
    BAD("flatten", f({2, 3}).flatten(1, 0), "axis 1", "axis 0"),
    BAD("size", f({2, 3}).size(2), "axis 2", "[2, 3]"),
    BAD("cat", cat({f({2}), f({2})}, 1), "axis 1", "[2]"),
    // -- indices out of range
    BAD("operator[]", f({3})[3], "index 3", "3 elements"),
    BAD("operator[]", f({3})[-4], "index -4", "3 elements"),
    BAD("operator[]", f({3})[0.5], "0.5", "[3]"),
    BAD("operator[]", f({})[0], "1 items", "0 axes"),
    BAD("index", f({2, 3}).index({0, 3}), "index 3", "3 elements"),
    BAD("index", f({2}).index({0, 1}), "2 items", "1 axes"),
    BAD("index", f({2}).index({ellipsis, ellipsis}), "2 ellipses", "[2]"),
    BAD("index", f({3}).index({bools({2})}), "[2]", "float32 [3]"),
    BAD("index", f({3}).index({f({2})}), "float32 [2]", "integer"),
    BAD("index", f({3, 3}).index({ints({2}), ints({3})}), "[2]", "[3]"),
    BAD("slice", f({3}).slice(0, {0, 2, 0}), "step 0", "[3]"),
    BAD("slice", f({3}).slice(1, {0, 2}), "axis 1", "[3]"),
    // -- picking
    BAD("gather", gather(f({2, 3}), 0, ints({2})), "[2, 3]", "[2]"),
    BAD("gather", gather(f({2, 3}), 0, ints({1, 4})), "[1, 4]", "[2, 3]"),
    BAD("gather", gather(f({2}), 0, f({2})), "integer", "float32 [2]"),
    BAD("take_along_dim", take_along_dim(f({2, 3}), ints({4, 1}), 1), "[2, 1]", "[4, 1]"),
    BAD("scatter_add", scatter_add(f({4}), 0, ints({2}), f({3})), "[3]", "[2]"),
    BAD("scatter_add", scatter_add(f({4, 2}), 0, ints({2, 3}), 1.0), "[2, 3]", "[4, 2]"),
    BAD("index_select", index_select(f({3}), 0, ints({1, 1})), "[1, 1]", "2 axes"),
    BAD("embedding", embedding(ints({2}), f({3})), "[3]", "rank is 1"),
    BAD("embedding", embedding(f({2}), f({3, 4})), "float32 [2]", "integer"),
    BAD("one_hot", one_hot(ints({2}), 0), "0 classes", "[2]"),
    // -- types that an op has no meaning for
    BAD("operator-", bools({2}) - bools({2}), "bool [2]", "to(int64)"),
    BAD("operator-", -bools({2}), "bool [2]", "~"),
    BAD("operator%", bools({2}) % true, "bool [2]", "the bool true"),
    BAD("floor_divide", floor_divide(bools({2}), bools({2})), "bool [2]", "to(int64)"),
    BAD("operator&", f({2}) & ints({2}), "float32 [2]", "int64 [2]"),
    BAD("operator|", f({2}) | true, "float32 [2]", "the bool true"),
    BAD("operator^", ints({2}) ^ 1.5, "int64 [2]", "1.5"),
    BAD("operator~", ~f({2}), "float32 [2]", "integers or bool"),
    BAD("operator<<", bools({2}) << true, "bool [2]", "the bool true"),
    BAD("operator>>", f({2}) >> 1, "float32 [2]", "the number 1"),
    BAD("where", where(f({2}), 1, 2), "float32 [2]", "bool"),
    BAD("relu", relu(bools({2})), "bool [2]", "numbers"),
    BAD("pow", pow(ints({2}), -1), "int64 [2]", "-1"),
    BAD("pow", pow(ints({2}), ints({3})), "[2]", "[3]"),
    BAD("operator+", zeros({2}, uint8) + 300, "300", "uint8"),
    BAD("operator==", zeros({2}, uint8) == -1, "-1", "uint8"),
    BAD("to", f({2}).to(DType::F8E4M3), "float8_e4m3", "float16"),
    BAD("to", f({2}).to(Device::cuda(1000)), "cuda:1000", "CUDA"),
    BAD("zeros", zeros({2}, DType::F8E5M2), "float8_e5m2", "bfloat16"),
    BAD("rand", rand({2}, {.dtype = int64}), "int64", "randint"),
    BAD("randint", randint(0, 3, {2}, {.dtype = float32}), "float32", "integer"),
    BAD("bernoulli", bernoulli(0.5, {2}, {.dtype = float32}), "bool", "float32"),
    // -- sizes and numbers
    BAD("reshape", f({2, 3}).reshape({4, 2}), "6 elements", "8"),
    BAD("reshape", f({2, 3}).reshape({4, -1}), "6 elements", "4"),
    BAD("reshape", f({2, 3}).reshape({-1, -1}), "axes 0", "1"),
    BAD("reshape", f({6}).reshape({-2, 3}), "[-2, 3]", "-2"),
    BAD("reshape", batched().reshape({12}), "batch=3", "[12]"),
    BAD("flatten", batched().flatten(), "batch=3", "joined"),
    BAD("slice", batched().slice(0, {0, 2}), "batch=3", "sliced"),
    BAD("split", batched().split(2), "batch=3", "split"),
    BAD("operator[]", batched()[0], "batch=3", "indexed"),
    BAD("pad", batched().pad({{1, 0}, {0, 0}}), "batch=3", "padded"),
    BAD("cat", cat({batched(), batched()}), "batch=3", "joined"),
    BAD("pad", f({3}).pad({{1, 1}, {1, 1}}), "2 pairs", "[3]"),
    BAD("pad", f({3}).pad({{-1, 0}}), "{-1, 0}", "[3]"),
    BAD("pad", ints({3}).pad({{1, 0}}, 0.5), "0.5", "int64"),
    BAD("cat", cat({}), "0 tensors", "at least 1"),
    BAD("cat", cat({f({2, 3}), f({2, 4})}), "[2, 3]", "[2, 4]"),
    BAD("cat", cat({f({}), f({})}), "float32 []", "stack"),
    BAD("stack", stack({f({2}), f({3})}), "[2]", "[3]"),
    BAD("stack", stack({f({2}), f({2})}, 2), "axis 2", "[2]"),
    BAD("split", f({3}).split(0), "size 0", "[3]"),
    BAD("chunk", f({3}).chunk(0), "0 chunks", "[3]"),
    BAD("max", f({0, 3}).max(0), "[0, 3]", "axis 0"),
    BAD("argmin", f({0}).argmin(), "[0]", "axis 0"),
    BAD("from", from(std::vector<float>{1, 2, 3}, {2, 2}), "holds 4 elements", "3 were given"),
    BAD("from_bytes", from_bytes("12345678", 9, float32, {2}), "8 bytes", "9 bytes were given"),
    BAD("from", from({{1, 2}, {3}}), "a list of 1", "one of 2"),
    BAD("from", from({{1, 2}, 3}), "ragged", "depth 1"),
    BAD("from", from({1, 300}, uint8), "300", "uint8"),
    BAD("full", full({2}, 300, int8), "300", "int8, which holds -128 to 127; choose a dtype"),
    BAD("full", full({2}, -1, uint64), "-1", "uint64, which holds 0 to 18446744073709551615"),
    BAD("full", full({2}, ~uint64_t{0}, int64), "18446744073709551615", "int64, which holds -9223372036854775808 to 9223372036854775807"),
    BAD("zeros", zeros({2, -3}), "[2, -3]", "-3"),
    BAD("ones", ones({int64_t{1} << 40, int64_t{1} << 40}), "1099511627776", "2^56"),
    BAD("full", full({2}, 1.5, int32), "the number 1.5", "int32, which holds whole numbers from -2147483648 to 2147483647; round it"),
    BAD("full", full({2}, 1e20, int32), "the number 1e+20", "int32"),
    BAD("full", full({2}, std::nan(""), uint8), "the number nan", "uint8"),
    BAD("full", full({2}, 9223372036854775808.0, int64), "9.223372036854776e+18", "to 9223372036854775807"),
    BAD("full_like", full_like(ints({3}), -0.5), "the number -0.5", "int64"),
    BAD("from", from({1.0, 2.5}, int16), "the number 2.5", "int16, which holds whole numbers from -32768 to 32767"),
    BAD("number", number(0.5, int32), "the number 0.5", "int32"),
    BAD("full", full({2}, f({3})), "float32 [3]", "[2]"),
    BAD("arange", arange(0, 5, 0), "step of 0", "5"),
    BAD("arange", arange(0.0, 1.0, 0.0), "from 0 to 1", "steps of 0"),
    BAD("linspace", linspace(0, 1, -1), "-1 numbers", "0 to 1"),
    BAD("eye", eye(-2), "-2 rows", "-1 columns"),
    BAD("randint", randint(5, 5, {2}), "[5, 5)", "low < high"),
    BAD("randint", randint(0, 300, {2}, {.dtype = uint8}), "299", "uint8"),
    BAD("rand", rand({-1}), "[-1]", "-1"),
    BAD("bernoulli", bernoulli(1.5, {2}), "1.5", "[0, 1]"),
    // -- losses and layers
    BAD("layer_norm", layer_norm(f({2, 3}), {4}), "[2, 3]", "[4]"),
    BAD("layer_norm", layer_norm(f({2, 3}), {3}, f({2})), "float32 [2]", "[3]"),
    BAD("cross_entropy", cross_entropy(f({2, 3}), ints({3})), "shape [2]", "int64 [3]"),
    BAD("cross_entropy", cross_entropy(f({2, 3}), f({2, 4})), "[2, 3]", "[2, 4]"),
    BAD("cross_entropy", cross_entropy(zeros({2, 3}, float16), ints({5})), "float16 [2, 3]", "int64 [5]"),
    BAD("cross_entropy", cross_entropy(zeros({2, 3}, float16), f({2, 4})), "float16 [2, 3]", "[2, 4]"),
    BAD("cross_entropy", cross_entropy(f({2, 3}), f({2, 3}), {.ignore_index = 1}), "ignore_index 1", "[2, 3]"),
    BAD("cross_entropy", cross_entropy(f({}), ints({})), "float32 []", "[n, classes]"),
    BAD("nll_loss", nll_loss(f({2, 3}), f({2})), "integer", "float32 [2]"),
    BAD("mse_loss", mse_loss(f({2, 1}), f({2})), "[2, 1]", "[2]"),
    BAD("l1_loss", l1_loss(f({3}), f({2})), "[3]", "[2]"),
    BAD("binary_cross_entropy_with_logits", binary_cross_entropy_with_logits(f({3}), f({})), "[3]", "[]"),
    // -- reading, state, gradients
    BAD("item", f({2}).item(), "[2]", "2 elements"),
    BAD("item", (f({}) + 0.5).item<int32_t>(), "0.5", "int32"),
    BAD("to_vector", f({2}).to_vector<double>(), "float32", "float64"),
    BAD("assign", kept(f({2})).assign(f({3})), "[3]", "[2]"),
    BAD("assign", kept(f({3})).assign(f({2, 3})), "[2, 3]", "[3]"),
    BAD("assign", kept(ints({2})).assign(0.5), "0.5", "an integer tensor (int64 [2])"),
    BAD("operator+=", kept(f({2})) += f({3}), "[2]", "[3]"),
    BAD("operator+=", kept(ints({2})) += 1.5, "float32 [2]", "an integer tensor (int64 [2]); make the tensor a float one first, by Tensor(0.0)"),
    BAD("assign", kept(bools({2})).assign(1), "an integer value", "make the tensor an integer one first, by Tensor(0)"),
    BAD("at", kept(f({3})).at({3}) = 1.0, "index 3", "3 elements"),
    BAD("at", kept(f({3})).at({Slice{0, 2}}) = f({3}), "[3]", "[2]"),
    BAD("at", kept(f({3})).at({ints({2})}) = f({3}), "[3]", "[2]"),
    BAD("at", kept(f({3})).at({bools({2})}) = 1.0, "[2]", "float32 [3]"),
    BAD("at", kept(ints({3})).at({ints({2})}) = 1.5, "1.5", "int64 [3]"),
    BAD("requires_grad", ints({2}).requires_grad(), "int64 [2]", "float32"),
    BAD("requires_grad", (leaf({2}) * 2).requires_grad(), "float32 [2]", "detach()"),
    BAD("requires_grad", (leaf({2}) * 2).requires_grad(false), "float32 [2]", "detach()"),
    BAD("requires_grad", leaf({2}).clone().requires_grad(), "float32 [2]", "detach()"),
    BAD("backward", (leaf({2}) * 2).backward(), "[2]", "[]"),
    BAD("backward", f({}).backward(), "float32 []", "requires_grad"),
    BAD("backward", spent().backward(), "backward", "keep_graph"),
    BAD("grad", leaf({2}).grad(), "no gradient", "backward()"),
    BAD("grad", f({2}).grad(), "float32 [2] does not require grad", "call requires_grad() on it"),
    BAD("grad", leaf({2}).to(float64).grad(), "float64 [2] is the result of to at ", "retain_grad()"),
    BAD("gradient", gradient(leaf({2}) * 2, {leaf({2})}), "[2]", "seed"),
    // -- handles
    BAD("operator+", Tensor() + 1, "empty handle", "assign"),
    BAD("matmul", matmul(f({2, 2}), Tensor()), "empty handle", "assign"),
    BAD("shape", Tensor().shape(), "empty handle", "assign"),
    BAD("dtype", Tensor().dtype(), "empty handle", "assign"),
    BAD("clone", Tensor().clone(), "empty handle", "assign"),
    BAD("to_string", Tensor().to_string(), "empty handle", "assign"),
    BAD("realize", realize(f({2}), Tensor()), "empty handle", "assign"),
    BAD("realize", realize(2.0), "2", "number"),
    BAD("save", nn::save({{"a", f({2})}, {"b", Tensor()}}, "unwritten"), "\"b\"", "empty handle"),
    BAD("save", nn::save({{"__metadata__", f({2})}}, "unwritten"), "\"__metadata__\"", "another name"),
    BAD("save", nn::save({{"a", f({2})}, {"a", f({3})}}, "unwritten"), "\"a\"", "twice"),
    BAD("load", nn::load({{"a", f({2})}, {"a", f({2})}}, {{"a", f({2})}}), "\"a\"", "twice"),
    BAD("load", nn::load({{"a", f({2})}}, {{"a", f({2})}, {"a", f({3})}}), "\"a\"", "twice"),
    BAD("Dataset", data::Dataset({1, 2, 3}, {1}, 1, 2, 0, 1), "3 pixels", "1 images of 1 x 2"),
    BAD("Dataset", data::Dataset(std::vector<uint8_t>(784), {1}, -28, -28, 0, 1), "-28 x -28", "at least 1"),
    BAD("Dataset", data::Dataset({1, 2}, {1}, 1, 2, 0.5, 0), "mean 0.5 and std 0", "above 0"),
    BAD("to_string", embedding(from({4}), f({3, 2})).to_string(), "index 4", "3 elements"),
    BAD("backward", (leaf({2}) * 2).backward(f({3})), "float32 [3]", "float32 [2]"),
    // -- sizes and optimisers
    BAD("Var \"n\"", Var("n", 5, 1), "[5, 1]", "0 <= min <= max"),
    BAD("Var \"n\"", Var("n", 1, 5)(9), "9", "[1, 5]"),
    BAD("SGD", optim::SGD(std::vector<Tensor>()), "0 parameters", "at least 1"),
    BAD("SGD", optim::SGD({leaf({2})}, {.lr = -1}), "lr", "-1"),
    BAD("SGD", optim::SGD({leaf({2})}, {.momentum = 0.5, .dampening = -0.5}), "dampening", "-0.5"),
    BAD("SGD", optim::SGD({leaf({2})}, {.momentum = 0.5, .dampening = std::numeric_limits<double>::quiet_NaN()}), "dampening", "nan"),
    BAD("Adam", optim::Adam({f({2})}), "parameter 0", "requires_grad()"),
    BAD("AdamW", optim::AdamW({leaf({2}) * 2}), "no leaf", "leaves"),
    BAD("SGD", optim::SGD({leaf({2})}, {.momentum = -0.5}), "momentum", "-0.5"),
    BAD("SGD", optim::SGD({leaf({2})}, {.nesterov = true}), "nesterov", "momentum"),
    BAD("Adam", optim::Adam({leaf({2})}, {.beta2 = 1.5}), "beta2 is 1.5", "[0, 1)"),
    BAD("AdamW", optim::AdamW({leaf({2})}, {.weight_decay = -2}), "weight_decay", "-2"),
    BAD("load", optim::Adam({leaf({2})}).load(optim::Adam({leaf({3})}).state_dict()), "[2]", "[3]"),
    BAD("zeros_like", zeros_like(Tensor()), "empty handle", "assign"),
    BAD("set_grad", leaf({2}).set_grad(f({3})), "float32 [3]", "float32 [2]"),
    BAD("Linear", nn::Linear(0, 2), "in is 0", "at least 1"),
    BAD("Linear", nn::Linear(3, 2)(f({4, 5})), "[4, 5]", "[3]"),
    BAD("Embedding", nn::Embedding(3, -1), "size is -1", "at least 1"),
    BAD("Embedding", nn::Embedding(3, 2)(f({4})), "float32 [4]", "integer"),
    BAD("LayerNorm", nn::LayerNorm(3)(f({4, 5})), "[4, 5]", "[3]"),
    BAD("Dropout", nn::Dropout(1.5), "1.5", "[0, 1]"),
    BAD("ReLU", nn::ReLU()(Tensor()), "empty handle", "assign"),
    BAD("Flatten", nn::Flatten()(f({4})), "axis 1", "[4]"),
    BAD("Sequential", nn::Sequential(nn::ReLU(), nn::Linear(3, 2))(f({4, 5})), "[4, 5]", "[3]"),
    BAD("einsum", einsum("a...b...", {f({1, 2, 3, 4})}), "a...b...", "..."),
};
// clang-format on

}  // namespace

TEST_CASE("bad calls name both values, the call, and the caller's file and line", "[error]") {
  CHECK(std::size(kCases) >= 60);
  for (const Case& c : kCases) {
    INFO(c.name << " on line " << c.line);
    bool thrown = false;
    try {
      c.call();
    } catch (const UsageError& e) {
      thrown = true;
      std::string text = e.what();
      INFO(text);
      CHECK(std::string(e.where().file_name()) == __FILE__);
      CHECK(e.where().line() == c.line);
      const std::string place = fmt::format("{}:{}", e.where().file_name(), c.line);
      const size_t at = text.find(place);
      REQUIRE(at != text.npos);
      text.erase(at, place.size());  // which has digits too
      CHECK(text.starts_with(std::string(c.name) + ": "));
      text.erase(0, std::string_view(c.name).size());
      CHECK(text.find(c.first) != text.npos);
      CHECK(text.find(c.second) != text.npos);
    }
    CHECK(thrown);
  }
}

TEST_CASE("an index tensor out of range throws once, at the first host read", "[error]") {
  Tensor x = from({1.0, 2.0, 3.0});
  Tensor picked = x[from({0, 3})];
  CHECK_THROWS_AS(picked.to_vector<float>(), UsageError);
  CHECK(picked.to_vector<float>().size() == 2);
}

TEST_CASE("the text names the index, the elements there are, and the call that used it", "[error]") {
  const Tensor x = arange(12).reshape({3, 4}), i = from({0, -5});
  i.realize();
  const auto text_of = [](const Tensor& t) -> std::string {
    try {
      t.to_vector<int64_t>();
    } catch (const UsageError& e) { return e.what(); }
    return {};
  };
  const auto says = [&](const Tensor& t, const std::vector<std::string>& parts) {
    const std::string text = text_of(t);
    INFO(text);
    for (const std::string& part : parts) CHECK(text.find(part) != text.npos);
  };
  const int line = __LINE__ + 1;
  const Tensor picked = gather(x, 1, from({{0}, {7}}));
  says(picked * 2, {"index 7 ", " 4 elements", "axis 1", "in gather at", fmt::format("error_test.cpp:{}", line)});
  says(x[i] + 1, {"index -5 ", " 3 elements"});
  says(x[x.argmax(1) + 1] + x[from({1})], {"index 4 ", " 3 elements"});  // an index that the plan computes
  says(one_hot(from({9}), 3), {"index 9 ", " 3 elements"});
  says(scatter_add(zeros({2}, int64), 0, from({1, 2}), 1), {"index 2 ", " 2 elements", "in scatter_add"});
  Tensor at = from({0, 1});  // overwritten by the run that used it
  Tensor late = x[at + 2];
  at.realize();
  at += 5;
  says(late, {"out of range"});
  says(x[at], {"index 5 ", " 3 elements"});
}

TEST_CASE("an error inside a layer reports the layer's caller", "[error]") {
  auto layer = [](Arg x) {
    CallScope scope("Layer", x);
    return matmul(x, zeros({5, 2})) + 1;
  };
  try {
    layer(zeros({2, 3}));
    FAIL("no error");
  } catch (const UsageError& e) {
    CHECK(e.where().line() == __LINE__ - 3);
    CHECK(std::string(e.what()).starts_with("Layer: "));
    CHECK(std::string(e.what()).find("[2, 3]") != std::string::npos);
  }
}

TEST_CASE("a failed call leaves nothing behind", "[error]") {
  Tensor x = ones({2, 3});
  for (int i = 0; i < 3; ++i) CHECK_THROWS_AS(exp(x * 2) + ones({4}), UsageError);
  CHECK((x + 1).shape() == Shape{2, 3});
}
