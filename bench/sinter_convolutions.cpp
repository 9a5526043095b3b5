// Convolutions and their gradients, one at a time: what a step of a convolutional net consists of.
#include "sinter_cases.h"

namespace sn = sinter;

namespace bench {
namespace {

/// conv:KIND:NxCxHxW:KxRxS[:STRIDExPADDINGxGROUPS]: images of C planes under K filters of R x S; without the last part
/// every place of images without a border, in one group. The kind is forward, data (the gradient of the images, given
/// that of the result) or filter (that of the filters).
BenchCase convolution(const Arguments& arguments) {
  const auto x_sizes = arguments.sizes(2), w_sizes = arguments.sizes(3);
  const std::string& kind = arguments.text(1);
  const auto options = arguments.parts.size() > 4 ? arguments.sizes(4) : std::vector<int64_t>{1, 0, 1};
  const int64_t stride = options.at(0), padding = options.at(1), groups = options.at(2);
  const auto windows = [&](int64_t size, int64_t window) { return (size + 2 * padding - window) / stride + 1; };
  const sn::Shape result{x_sizes.at(0), w_sizes.at(0), windows(x_sizes.at(2), w_sizes.at(1)),
                         windows(x_sizes.at(3), w_sizes.at(2))};
  const sn::Tensor x = input({x_sizes[0], x_sizes[1], x_sizes[2], x_sizes[3]}, 1),
                   w = input({w_sizes[0], x_sizes[1] / groups, w_sizes[1], w_sizes[2]}, 2);
  const auto convolved = [=] { return conv2d(x, w, {}, {.stride = stride, .padding = padding, .groups = groups}); };
  if (kind == "forward") return evaluate(convolved);
  const sn::Tensor seed = input(result, 3);
  sn::Tensor wanted = kind == "data" ? x : w;
  wanted.requires_grad();
  return evaluate([=] { return gradient(convolved(), {wanted}, seed)[0]; });
}

}  // namespace

std::map<std::string, CaseFamily> convolutions() { return {{"conv", {convolution}}}; }

}  // namespace bench
