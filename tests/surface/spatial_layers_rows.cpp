// Layers of nn with windows, and norms: parameters are inputs of the rows.
#include "sinter/create.h"
#include "sinter/nn/conv.h"
#include "sinter/nn/layers.h"
#include "sinter/nn/norm.h"
#include "sinter/nn/pad_layers.h"
#include "surface/row.h"

#include <optional>

using namespace sinter;

namespace {

using surface::indices;
using surface::Input;
using surface::Row;
using surface::Tensors;
using surface::without_gradients;

Tensor given(Shape shape) { return zeros(shape); }

/// A row of a layer whose weight and bias are the second and the third input.
template <class Layer>
Row layer_row(const std::string& name, Layer layer, const std::string& arguments, std::vector<Input> inputs) {
  std::string parameters;
  if (inputs.size() > 1) parameters += "'weight': y";
  if (inputs.size() > 2) parameters += ", 'bias': z";
  return {name,
          [layer](const Tensors& x) {
            Layer mine = layer;
            if constexpr (requires { mine.weight; }) {
              if (x.size() > 1) mine.weight = x[1];
              if (x.size() > 2) mine.bias = x[2];
            }
            return mine(x[0]);
          },
          "torch.func.functional_call(torch.nn." + name + "(" + arguments + "), {" + parameters + "}, (x,))",
          {std::move(inputs)}};
}

/// The running statistics after a step of training, and what they make of the input then.
template <class Layer>
Row running_row(const std::string& name, Layer (*make)(), const std::string& arguments, Input input) {
  Row row{name + " statistics",
          [make](const Tensors& x) -> Tensors {
            Layer layer = make();
            layer(x[0]);
            layer.training = false;
            return {layer.running_mean, layer.running_var, layer(x[0])};
          },
          "(lambda m: (m(x.float()), m.running_mean, m.running_var, m.eval()(x.float()))[1:])(torch.nn." + name + "(" +
              arguments + "))",
          {{input}}};
  return without_gradients(row);
}

/// The running statistics after two batches without momentum, and what they make of the first.
template <class Layer>
Row cumulative_row(const std::string& name, Layer (*make)(), const std::string& arguments, Input first, Input second) {
  Row row{name + " cumulative",
          [make](const Tensors& x) -> Tensors {
            Layer layer = make();
            layer(x[0]);
            layer(x[1]);
            layer.training = false;
            return {layer.running_mean, layer.running_var, layer.num_batches_tracked, layer(x[0])};
          },
          "(lambda m: (m(x.float()), m(y.float()), m.running_mean, m.running_var, m.num_batches_tracked, "
          "m.eval()(x.float()))[2:])(torch.nn." +
              name + "(" + arguments + "))",
          {{first, second}}};
  return without_gradients(row);
}

/// The sizes behind those of samples and channels.
PerAxis places_of(const Tensor& x) {
  const auto size = [&](int64_t axis) { return x.size(axis).value(); };
  return x.rank() == 3   ? PerAxis{size(2)}
         : x.rank() == 4 ? PerAxis{size(2), size(3)}
                         : PerAxis{size(2), size(3), size(4)};
}

/// What max pooling left, back in its place.
template <class Layer, class Pool>
Row unpool_row(const std::string& name, const Layer& layer, Pool pool, const std::string& function, Shape shape) {
  return {
      name,
      [=](const Tensors& x) {
        const auto [values, places] = pool(x[0], 2, {});
        return layer(values, places, places_of(x[0]));
      },
      "(lambda p: torch.nn." + name + "(2)(*p, output_size=x.shape))(F." + function + "(x, 2, return_indices=True))",
      {{Input(shape)}}};
}

Row bag_row(nn::BagMode mode, const std::string& word, std::vector<int64_t> offsets) {
  return {"EmbeddingBag " + word,
          [mode, offsets](const Tensors& x) -> Tensors {
            nn::EmbeddingBag bag(5, 3, {.mode = mode}), padded(5, 3, {.mode = mode, .padding_idx = 2});
            bag.weight = padded.weight = x[0];
            const Tensor begins = from(offsets);
            return {bag(x[1].reshape({2, 4})), bag(x[1], begins), padded(x[1].reshape({2, 4})), padded(x[1], begins)};
          },
          "(lambda o: (F.embedding_bag(y.reshape(2, 4), x, mode='" + word + "'), F.embedding_bag(y, x, o, mode='" +
              word + "'), F.embedding_bag(y.reshape(2, 4), x, mode='" + word +
              "', padding_idx=2), F.embedding_bag(y, x, o, mode='" + word +
              "', padding_idx=2)))(torch.tensor([0, 3, 3, 4]))",
          {{{5, 3}, indices({8}, 5)}}};
}

Row weighted_bag_row() {
  return {"EmbeddingBag weighted",
          [](const Tensors& x) -> Tensors {
            nn::EmbeddingBag bag(5, 3, {.mode = nn::BagMode::Sum, .include_last_offset = true});
            bag.weight = x[0];
            return {bag(x[1], from({0, 3, 8}), x[2])};
          },
          "F.embedding_bag(y, x, torch.tensor([0, 3, 8]), mode='sum', per_sample_weights=z, include_last_offset=True)",
          {{{5, 3}, indices({8}, 5), {8}}}};
}

const surface::Family kLayers(
    "spatial_layers",
    {
        layer_row("Conv1d", nn::Conv1d(2, 2, 3, {.padding = 1, .padding_mode = PadMode::Reflect}),
                  "2, 2, 3, padding=1, padding_mode='reflect'", {{1, 2, 4}, {2, 2, 3}, {2}}),
        layer_row("Conv2d", nn::Conv2d(2, 1, 2, {.padding = {1, 0}, .padding_mode = PadMode::Circular}),
                  "2, 1, 2, padding=(1, 0), padding_mode='circular'", {{1, 2, 2, 3}, {1, 2, 2, 2}, {1}}),
        layer_row("Conv3d", nn::Conv3d(1, 2, {1, 2, 3}, {.padding = "same", .padding_mode = PadMode::Replicate}),
                  "1, 2, (1, 2, 3), padding='same', padding_mode='replicate'", {{1, 1, 2, 2, 3}, {2, 1, 1, 2, 3}, {2}}),
        layer_row("ConvTranspose1d", nn::ConvTranspose1d(2, 2, 3, {.stride = 2}), "2, 2, 3, stride=2",
                  {{1, 2, 3}, {2, 2, 3}, {2}}),
        layer_row("ConvTranspose2d", nn::ConvTranspose2d(2, 2, 2, {.stride = 2, .groups = 2}),
                  "2, 2, 2, stride=2, groups=2", {{1, 2, 2, 2}, {2, 1, 2, 2}, {2}}),
        layer_row("ConvTranspose3d", nn::ConvTranspose3d(1, 2, 2, {.padding = 1}), "1, 2, 2, padding=1",
                  {{1, 1, 2, 2, 3}, {1, 2, 2, 2, 2}, {2}}),
        layer_row("MaxPool1d", nn::MaxPool1d(2), "2", {{1, 2, 5}}),
        layer_row("MaxPool3d", nn::MaxPool3d(2, {.stride = 1}), "2, 1", {{1, 1, 2, 3, 2}}),
        unpool_row("MaxUnpool1d", nn::MaxUnpool1d(2), max_pool1d_with_indices, "max_pool1d", {1, 2, 5}),
        unpool_row("MaxUnpool2d", nn::MaxUnpool2d(2), max_pool2d_with_indices, "max_pool2d", {1, 1, 4, 3}),
        unpool_row("MaxUnpool3d", nn::MaxUnpool3d(2), max_pool3d_with_indices, "max_pool3d", {1, 1, 2, 3, 4}),
        layer_row("AvgPool1d", nn::AvgPool1d(2), "2", {{1, 2, 5}}),
        layer_row("AvgPool3d", nn::AvgPool3d(2, {.stride = 1}), "2, 1", {{1, 1, 2, 3, 2}}),
        layer_row("LPPool1d", nn::LPPool1d(2, 2), "2, 2", {{1, 2, 5}}),
        layer_row("LPPool2d", nn::LPPool2d(2, 2), "2, 2", {{1, 1, 4, 2}}),
        layer_row("AdaptiveAvgPool1d", nn::AdaptiveAvgPool1d(2), "2", {{1, 2, 3}}),
        layer_row("AdaptiveAvgPool2d", nn::AdaptiveAvgPool2d({2, 1}), "(2, 1)", {{1, 1, 3, 2}}),
        layer_row("AdaptiveAvgPool3d", nn::AdaptiveAvgPool3d({1, std::nullopt, 1}), "(1, None, 1)", {{1, 1, 3, 2, 2}}),
        layer_row("AdaptiveMaxPool1d", nn::AdaptiveMaxPool1d(2), "2", {{1, 2, 3}}),
        layer_row("AdaptiveMaxPool2d", nn::AdaptiveMaxPool2d({2, 1}), "(2, 1)", {{1, 1, 3, 2}}),
        layer_row("AdaptiveMaxPool3d", nn::AdaptiveMaxPool3d(1), "1", {{1, 1, 3, 2, 2}}),
        layer_row("Upsample", nn::Upsample({.scale_factor = 2}), "scale_factor=2", {{1, 1, 2, 3}}),
        layer_row("PixelShuffle", nn::PixelShuffle(2), "2", {{1, 4, 1, 2}}),
        layer_row("PixelUnshuffle", nn::PixelUnshuffle(2), "2", {{1, 1, 2, 4}}),
        layer_row("ChannelShuffle", nn::ChannelShuffle(2), "2", {{1, 4, 1, 2}}),
        layer_row("Unfold", nn::Unfold(2, {.stride = 2}), "2, stride=2", {{1, 1, 2, 4}}),
        layer_row("Fold", nn::Fold({2, 3}, 2), "(2, 3), 2", {{1, 4, 2}}),
        layer_row("LocalResponseNorm", nn::LocalResponseNorm(2, 0.1), "2, 0.1", {{1, 4, 2}}),
        layer_row("ReflectionPad1d", nn::ReflectionPad1d({{2, 1}}), "(2, 1)", {{1, 2, 4}}),
        layer_row("ReflectionPad2d", nn::ReflectionPad2d(1), "1", {{1, 1, 2, 3}}),
        layer_row("ReflectionPad3d", nn::ReflectionPad3d({{1, 0}, {0, 1}, {2, 1}}), "(2, 1, 0, 1, 1, 0)", {{1, 1, 2, 2, 3}}),
        layer_row("ReplicationPad1d", nn::ReplicationPad1d(2), "2", {{1, 2, 3}}),
        layer_row("ReplicationPad2d", nn::ReplicationPad2d({{1, 0}, {2, 3}}), "(2, 3, 1, 0)", {{1, 1, 2, 2}}),
        layer_row("ReplicationPad3d", nn::ReplicationPad3d(1), "1", {{1, 1, 1, 2, 1}}),
        layer_row("CircularPad1d", nn::CircularPad1d({{1, 3}}), "(1, 3)", {{1, 2, 3}}),
        layer_row("CircularPad2d", nn::CircularPad2d(1), "1", {{1, 1, 2, 3}}),
        layer_row("CircularPad3d", nn::CircularPad3d({{1, 1}, {0, 2}, {1, 0}}), "(1, 0, 0, 2, 1, 1)", {{1, 1, 1, 2, 2}}),
        layer_row("ZeroPad1d", nn::ZeroPad1d({{1, 2}}), "(1, 2)", {{2, 3}}),
        layer_row("ZeroPad2d", nn::ZeroPad2d({{1, 0}, {0, 2}}), "(0, 2, 1, 0)", {{1, 2, 2}}),
        layer_row("ZeroPad3d", nn::ZeroPad3d(1), "1", {{1, 1, 1, 2, 1}}),
        layer_row("ConstantPad1d", nn::ConstantPad1d(1, 2), "1, 2", {{2, 3}}),
        layer_row("ConstantPad2d", nn::ConstantPad2d({{1, 0}, {0, 2}}, 2), "(0, 2, 1, 0), 2", {{1, 2, 2}}),
        layer_row("ConstantPad3d", nn::ConstantPad3d(1, 2), "1, 2", {{1, 1, 1, 2, 1}}),
        layer_row("BatchNorm1d", nn::BatchNorm1d(2, {.track_running_stats = false}), "2, track_running_stats=False",
                  {{3, 2}, {2}, {2}}),
        layer_row("BatchNorm3d", nn::BatchNorm3d(2, {.track_running_stats = false}), "2, track_running_stats=False",
                  {{2, 2, 1, 2, 2}, {2}, {2}}),
        layer_row("InstanceNorm1d", nn::InstanceNorm1d(2, {.affine = true}), "2, affine=True", {{2, 2, 3}, {2}, {2}}),
        layer_row("InstanceNorm2d", nn::InstanceNorm2d(2), "2", {{2, 2, 3}}),
        layer_row("InstanceNorm3d", nn::InstanceNorm3d(2), "2", {{1, 2, 2, 1, 3}}),
        layer_row("LayerNorm", nn::LayerNorm(3, {.bias = false}), "3, bias=False", {{2, 3}, {3}}),
        layer_row("GroupNorm", nn::GroupNorm(2, 4, nn::GroupNormOptions{.affine = false}), "2, 4, affine=False",
                  {{2, 4, 2}}),
        running_row<nn::BatchNorm1d>("BatchNorm1d", [] { return nn::BatchNorm1d(3); }, "3", {4, 3, 2}),
        running_row<nn::BatchNorm3d>("BatchNorm3d", [] { return nn::BatchNorm3d(2, {.momentum = 0.5}); },
                                     "2, momentum=0.5", {2, 2, 1, 2, 2}),
        cumulative_row<nn::BatchNorm1d>("BatchNorm1d", [] { return nn::BatchNorm1d(3, {.momentum = std::nullopt}); },
                                        "3, momentum=None", {4, 3, 2}, {5, 3, 1}),
        running_row<nn::InstanceNorm2d>(
            "InstanceNorm2d", [] { return nn::InstanceNorm2d(2, {.track_running_stats = true}); },
            "2, track_running_stats=True", {2, 2, 3, 2}),
        // The gradient, which the row of padding does not get, is in tests/unit/nn/module_test.cpp.
        without_gradients({"Embedding padding_idx",
                           [](const Tensors& x) {
                             nn::Embedding layer(5, 3, {.padding_idx = -4});
                             layer.weight = x[0];
                             return layer(x[1]);
                           },
                           "F.embedding(y, x, padding_idx=1)",
                           {{{5, 3}, indices({2, 4}, 5)}}}),
        bag_row(nn::BagMode::Sum, "sum", {0, 3, 3, 4}),
        bag_row(nn::BagMode::Mean, "mean", {0, 3, 3, 4}),
        bag_row(nn::BagMode::Max, "max", {0, 3, 3, 4}),
        weighted_bag_row(),
    },
    {
        SURFACE_BAD("Conv3d", nn::Conv3d(3, 4, 2, {.groups = 2}), "3 channels", "2 groups"),
        SURFACE_BAD("ConvTranspose1d", nn::ConvTranspose1d(4, 3, 2, {.groups = 2}), "3 out", "2 groups"),
        SURFACE_BAD("ConvTranspose2d", nn::ConvTranspose2d(4, 4, {2, 2, 2}), "3 sizes", "2 axes"),
        SURFACE_BAD("ConvTranspose3d", nn::ConvTranspose3d(2, 4, 2)(given({1, 3, 2, 2, 2})), "3 channels", "takes 2"),
        SURFACE_BAD("MaxPool1d", nn::MaxPool1d(3)(given({1, 2, 2})), "3 taps", "has 2"),
        SURFACE_BAD("MaxUnpool1d", nn::MaxUnpool1d(2)(given({1, 2, 2}), zeros({1, 2, 2}, int64), 8), "output_size is 8",
                    "come from 4"),
        SURFACE_BAD("MaxUnpool2d", nn::MaxUnpool2d(2)(given({2, 3, 4}), zeros({2, 3, 5}, int64)), "[2, 3, 4]", "[2, 3, 5]"),
        SURFACE_BAD("MaxUnpool3d", nn::MaxUnpool3d(2)(given({2, 3}), zeros({2, 3}, int64)), "2 axes", "[2, 3]"),
        SURFACE_BAD("AdaptiveAvgPool2d", nn::AdaptiveAvgPool2d({2, 2, 2})(given({1, 1, 3, 3})), "3 sizes", "2 axes"),
        SURFACE_BAD("ReflectionPad1d", nn::ReflectionPad1d({{1, 1}, {1, 1}}), "2 pairs", "1 axes"),
        SURFACE_BAD("ZeroPad2d", nn::ZeroPad2d({{1, -2}, {0, 0}}), "1", "-2"),
        SURFACE_BAD("ReflectionPad2d", nn::ReflectionPad2d(3)(given({1, 2, 3})), "3", "[1, 2, 3]"),
        SURFACE_BAD("CircularPad1d", nn::CircularPad1d(3)(given({1, 2})), "3", "[1, 2]"),
        SURFACE_BAD("ConstantPad2d", nn::ConstantPad2d({{1, 1}}, 2), "1 pairs", "2 axes"),
        SURFACE_BAD("Upsample", nn::Upsample({})(given({1, 1, 3, 3})), "{}", "give one"),
        SURFACE_BAD("PixelShuffle", nn::PixelShuffle(3)(given({1, 4, 2, 2})), "4 elements", "blocks of 9"),
        SURFACE_BAD("BatchNorm1d", nn::BatchNorm1d(3)(given({2, 4})), "[2, 4]", "[n, 3]"),
        SURFACE_BAD("BatchNorm3d", nn::BatchNorm3d(3)(given({1, 3, 1, 1, 1})), "[1, 3, 1, 1, 1]: 1;", "eval"),
        SURFACE_BAD("InstanceNorm2d", nn::InstanceNorm2d(3)(given({1, 2, 3, 3})), "[1, 2, 3, 3]", "[n, 3, h, w]"),
        SURFACE_BAD("Embedding", nn::Embedding(4, 3, {.padding_idx = 4}), "is 4", "4 rows"),
        SURFACE_BAD("EmbeddingBag", nn::EmbeddingBag(4, 3)(given({4})), "[4]", "none"),
        SURFACE_BAD("EmbeddingBag", nn::EmbeddingBag(4, 3)(given({4}), given({2}), given({4})), "[4]", "only sums"),
    });

}  // namespace
