// Convolutions and their gradients, one at a time: what a step of a convolutional net consists of.
#include "sinter_cases.h"

namespace sn = sinter;

namespace bench {
namespace {

sn::Shape joined(std::initializer_list<int64_t> first, std::span<const int64_t> rest) {
  std::vector<int64_t> sizes(first);
  sizes.insert(sizes.end(), rest.begin(), rest.end());
  return sn::Shape(sizes);
}

/// The convolution, or a gradient of it: data, of the images, given that of the result; filter, of the filters.
BenchCase part_of(const std::string& kind, const std::function<sn::Tensor(sn::Tensor, sn::Tensor)>& convolve,
                  const sn::Tensor& x, const sn::Tensor& w) {
  if (kind == "forward") return evaluate([=] { return convolve(x, w); });
  const sn::Tensor seed = input(convolve(x, w).shape(), 3);
  sn::Tensor wanted = kind == "data" ? x : w;
  wanted.requires_grad();
  return evaluate([=] { return gradient(convolve(x, w), {wanted}, seed)[0]; });
}

/// conv:KIND:NxCxHxW:KxRxS[:STRIDExPADDINGxGROUPS]: images of C planes under K filters of R x S; without the last part
/// every place of images without a border, in one group. conv3d has a depth before H and R. conv-transpose makes K
/// planes of C.
template <sn::Tensor (*kConvolve)(sn::Arg, const sn::Tensor&, const sn::Tensor&, const sn::ConvOptions&)>
BenchCase convolution(const Arguments& arguments) {
  const auto images = arguments.sizes(2), filters = arguments.sizes(3);
  const auto options = arguments.parts.size() > 4 ? arguments.sizes(4) : std::vector<int64_t>{1, 0, 1};
  const sn::Shape x(images), w = joined({filters.at(0), images.at(1) / options.at(2)}, std::span(filters).subspan(1));
  const auto convolve = [=](const sn::Tensor& a, const sn::Tensor& b) {
    return kConvolve(a, b, {}, {.stride = options[0], .padding = options[1], .groups = options[2]});
  };
  return part_of(arguments.text(1), convolve, input(x, 1), input(w, 2));
}
BenchCase transposed_convolution(const Arguments& arguments) {
  const auto images = arguments.sizes(2), filters = arguments.sizes(3), options = arguments.sizes(4);
  const sn::Shape x(images), w = joined({images.at(1), filters.at(0)}, std::span(filters).subspan(1));
  const auto convolve = [=](const sn::Tensor& a, const sn::Tensor& b) {
    return conv_transpose2d(a, b, {}, {.stride = options.at(0), .padding = options.at(1)});
  };
  return part_of(arguments.text(1), convolve, input(x, 1), input(w, 2));
}

}  // namespace

std::map<std::string, CaseFamily> convolutions() {
  return {{"conv", {convolution<sn::conv2d>}},
          {"conv3d", {convolution<sn::conv3d>}},
          {"conv-transpose", {transposed_convolution}}};
}

}  // namespace bench
