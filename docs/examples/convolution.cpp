// Convolution and pooling. A line that begins with //> is what the statement above it prints.
#include <sinter/sinter.h>

#include <iostream>

namespace sn = sinter;

int main() {
  //! [convolution]
  sn::Tensor image = sn::arange(16, sn::float32).reshape({1, 1, 4, 4});
  sn::Tensor edge = sn::from({{-1.0, 1.0}}).reshape({1, 1, 1, 2});  // the difference to the right neighbour
  std::cout << conv2d(image, edge)[0][0][0] << ' ' << to_string(conv2d(image, edge, {}, {.stride = 2}).shape()) << '\n';
  //> [1. 1. 1.] [1, 1, 2, 2]
  std::cout << max_pool2d(image, 2)[0][0] << '\n' << avg_pool2d(image, 4).item() << '\n';
  //> [[ 5.  7.]
  //>  [13. 15.]]
  //> 7.5
  //! [convolution]
}
