// From many numbers to few. A line that begins with //> is what the statement above it prints.
#include <sinter/sinter.h>

#include <cmath>
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

  //! [functions]
  std::cout << sum(x, 0) << ' ' << sn::std(x, 1) << ' ' << count_nonzero(x > 2.0) << '\n';
  //> [5. 8. 8.] [1. 1.] 4
  auto [least, most] = aminmax(x, 1);
  std::cout << least << ' ' << most << ' ' << nanmean(sn::from({1.0, NAN, 3.0})) << '\n';
  //> [1. 4.] [3. 6.] 2.0
  //! [functions]

  //! [scans]
  std::cout << cumsum(x, 1) << '\n';
  //> [[ 1.  3.  6.]
  //>  [ 4. 10. 15.]]
  const auto [values, indices] = cummax(x, 1);
  std::cout << values[1] << ' ' << indices[1] << ' ' << cumprod(x, 1)[0] << ' ' << trapezoid(x, 0.5) << '\n';
  //> [4. 6. 6.] [0 1 1] [1. 2. 6.] [2.   5.25]
  //! [scans]
}
