// U-Net with batch norms: a class for each pixel. Ronneberger, Fischer and Brox, MICCAI 2015.
#pragma once

#include <sinter/sinter.h>

namespace bench {

/// Two convolutions of 3 x 3, each with a batch norm and relu.
struct DoubleConv {
  DoubleConv(int64_t in, int64_t out)
      : conv1(in, out, 3, {.padding = 1, .bias = false}),
        conv2(out, out, 3, {.padding = 1, .bias = false}),
        norm1(out),
        norm2(out) {}
  sinter::Tensor operator()(const sinter::Tensor& x) const { return relu(norm2(conv2(relu(norm1(conv1(x)))))); }
  sinter::nn::Conv2d conv1, conv2;
  sinter::nn::BatchNorm2d norm1, norm2;
  SINTER_MODULE(conv1, norm1, conv2, norm2)
};

/// A transposed convolution of 2 x 2 with stride 2: each pixel becomes four, and no two pixels meet in one.
struct Upsample {
  Upsample(int64_t in, int64_t out)
      : weight(sinter::nn::init::kaiming_uniform({in, out, 2, 2}).requires_grad()),
        bias(sinter::zeros({out}).requires_grad()) {}
  sinter::Tensor operator()(const sinter::Tensor& x) const {
    const sinter::Tensor y = sinter::einsum("nchw,ckab->nkhawb", {x, weight});
    return y.flatten(4, 5).flatten(2, 3) + bias.reshape({-1, 1, 1});
  }
  sinter::Tensor weight, bias;
  SINTER_MODULE(weight, bias)
};

struct UNet {
  sinter::Tensor operator()(const sinter::Tensor& x) const {
    const sinter::Tensor a = down1(x), b = down2(max_pool2d(a, 2)), c = down3(max_pool2d(b, 2));
    sinter::Tensor h = bottom(max_pool2d(c, 2));
    h = up3(sinter::cat({c, wider3(h)}, 1));
    h = up2(sinter::cat({b, wider2(h)}, 1));
    h = up1(sinter::cat({a, wider1(h)}, 1));
    return out(h);
  }
  DoubleConv down1{3, 32}, down2{32, 64}, down3{64, 128}, bottom{128, 256};
  Upsample wider3{256, 128}, wider2{128, 64}, wider1{64, 32};
  DoubleConv up3{256, 128}, up2{128, 64}, up1{64, 32};
  sinter::nn::Conv2d out{32, 10, 1};
  SINTER_MODULE(down1, down2, down3, bottom, wider3, up3, wider2, up2, wider1, up1, out)
};

}  // namespace bench
