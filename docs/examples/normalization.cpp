// Softmax and its relatives. A line that begins with //> is what the statement above it prints.
#include <sinter/sinter.h>

#include <iostream>

namespace sn = sinter;

int main() {
  //! [normalization]
  sn::Tensor x = sn::from({{0.0, 0.0}, {1000.0, 0.0}});  // no overflow
  std::cout << softmax(x) << '\n' << log_softmax(x)[1] << ' ' << logsumexp(x, 1)[1] << '\n';
  //> [[0.5 0.5]
  //>  [1.  0. ]]
  //> [    0. -1000.] 1000.0
  std::cout << layer_norm(sn::from({{1.0, 3.0}, {5.0, 5.0}}), {2}, {}, {}, 0.0)[0] << '\n';
  //> [-1.  1.]
  //! [normalization]
}
