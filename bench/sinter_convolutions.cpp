// Convolutions and their gradients, one at a time: what a step of a convolutional net consists of.
#include "sinter_cases.h"

namespace sn = sinter;

namespace bench {
namespace {

/// conv:KIND:NxCxHxW:KxRxS: images of C planes under K filters of R x S, neither padded nor strided. The kind is forward, data (the
/// gradient of the images, given that of the result) or filter (that of the filters).
Work convolution(const Arguments& arguments) {
  const auto x_sizes = arguments.sizes(2), w_sizes = arguments.sizes(3);
  const std::string& kind = arguments.text(1);
  const sn::Shape result{x_sizes.at(0), w_sizes.at(0), x_sizes.at(2) - w_sizes.at(1) + 1, x_sizes.at(3) - w_sizes.at(2) + 1};
  const sn::Tensor x = input({x_sizes[0], x_sizes[1], x_sizes[2], x_sizes[3]}, 1), w = input({w_sizes[0], x_sizes[1], w_sizes[1], w_sizes[2]}, 2);
  if (kind == "forward") return evaluate([=] { return conv2d(x, w); });
  const sn::Tensor seed = input(result, 3);
  sn::Tensor wanted = kind == "data" ? x : w;
  wanted.requires_grad();
  return evaluate([=] { return gradient(conv2d(x, w), {wanted}, seed)[0]; });
}

}  // namespace

std::map<std::string, Family> convolutions() { return {{"conv", {convolution}}}; }

}  // namespace bench
