// Convolution and pooling. A line that begins with //> is what the statement above it prints.
#include <sinter/sinter.h>

#include <iostream>
#include <optional>

namespace sn = sinter;

int main() {
  //! [convolution]
  sn::Tensor image = sn::arange(16, sn::float32).reshape({1, 1, 4, 4});
  sn::Tensor edge = sn::from({{-1.0, 1.0}}).reshape({1, 1, 1, 2});  // the difference to the right neighbour
  std::cout << conv2d(image, edge)[0][0][0] << ' ' << to_string(conv2d(image, edge, {}, {.stride = 2}).shape()) << '\n';
  //> [1. 1. 1.] [1, 1, 2, 2]
  sn::Tensor spots = sn::from({{1.0, 2.0}}).reshape({1, 1, 1, 2}),
             stamp = sn::from({{1.0, 10.0}}).reshape({1, 1, 1, 2});
  std::cout << conv_transpose2d(spots, stamp, {}, {.stride = 2})[0][0] << '\n';
  //> [[ 1. 10.  2. 20.]]
  //! [convolution]

  //! [padding]
  std::cout << pad(sn::from({1, 2, 3}), {{2, 1}}, sn::PadMode::Reflect) << ' '
            << pad(sn::from({1, 2, 3}), {{2, 1}}, sn::PadMode::Circular) << '\n';
  //> [3 2 1 2 3 2] [2 3 1 2 3 1]
  //! [padding]

  //! [pooling]
  std::cout << max_pool2d(image, 2)[0][0] << '\n' << avg_pool2d(image, 4).item() << '\n';
  //> [[ 5.  7.]
  //>  [13. 15.]]
  //> 7.5
  const auto [largest, place] = max_pool2d_with_indices(image, 2);
  std::cout << place[0][0] << '\n' << adaptive_avg_pool2d(image, {1, 3})[0][0] << '\n';
  //> [[ 5  7]
  //>  [13 15]]
  //> [[6.5 7.5 8.5]]
  std::cout << adaptive_avg_pool2d(image, {1, std::nullopt})[0][0] << '\n'
            << max_unpool2d(largest, place, 2)[0][0] << '\n';
  //> [[6. 7. 8. 9.]]
  //> [[ 0.  0.  0.  0.]
  //>  [ 0.  5.  0.  7.]
  //>  [ 0.  0.  0.  0.]
  //>  [ 0. 13.  0. 15.]]
  //! [pooling]

  //! [resampling]
  std::cout << interpolate(edge, {.size = {1, 4}, .mode = sn::ResampleMode::Bilinear})[0][0] << ' '
            << to_string(pixel_unshuffle(image, 2).shape()) << '\n';
  //> [[-1.  -0.5  0.5  1. ]] [1, 4, 2, 2]
  //! [resampling]
}
