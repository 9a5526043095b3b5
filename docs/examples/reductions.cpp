// From many numbers to few. A line that begins with //> is what the statement above it prints.
#include <sinter/sinter.h>

#include <iostream>

namespace sn = sinter;

int main() {
  //! [reductions]
  sn::Tensor x = sn::from({{1.0, 2.0, 3.0}, {4.0, 6.0, 5.0}});
  std::cout << x.sum() << ' ' << x.sum(0) << ' ' << x.mean(-1) << ' ' << x.max({0, 1}) << '\n';
  //> 21.0 [5. 8. 8.] [2. 5.] 6.0
  std::cout << x.argmax(1) << ' ' << x.var(1) << ' ' << x.var(1, 0).sum() << ' ' << (x > 1.0).all(1) << '\n';
  //> [2 1] [1. 1.] 1.3333334 [False  True]
  std::cout << x - x.mean(1, true) << '\n';  // keepdim, so that it broadcasts back
  //> [[-1.  0.  1.]
  //>  [-1.  1.  0.]]
  //! [reductions]

  //! [scans]
  std::cout << cumsum(x, 1) << '\n';
  //> [[ 1.  3.  6.]
  //>  [ 4. 10. 15.]]
  //! [scans]
}
