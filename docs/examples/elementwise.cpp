// Operators and functions of elements. A line that begins with //> is what the statement above it prints.
#include <sinter/sinter.h>

#include <iostream>

namespace sn = sinter;

int main() {
  //! [operators]
  sn::Tensor a = sn::from({{1, 2, 3}, {4, 5, 6}}), row = sn::from({10, 20, 30});
  std::cout << a + row << '\n' << a / 2 << '\n' << -a % 4 << '\n' << (a > 2) << '\n';
  //> [[11 22 33]
  //>  [14 25 36]]
  //> [[0.5 1.  1.5]
  //>  [2.  2.5 3. ]]
  //> [[3 2 1]
  //>  [0 3 2]]
  //> [[False False  True]
  //>  [ True  True  True]]
  //! [operators]

  //! [functions]
  sn::Tensor x = sn::from({-1.0, 0.0, 4.0});
  std::cout << relu(x) << '\n'
            << exp(x * 0.0) << '\n'
            << sqrt(abs(x)) << '\n'
            << round(x / 8) << '\n'
            << sigmoid(x * 0.0) << '\n';
  //> [0. 0. 4.]
  //> [1. 1. 1.]
  //> [1. 0. 2.]
  //> [-0.  0.  0.]
  //> [0.5 0.5 0.5]
  //! [functions]

  //! [several]
  std::cout << maximum(x, 0.5) << '\n' << clamp(x, 0, 1) << '\n' << where(x > 0, x, -1.0) << '\n' << pow(x, 2) << '\n';
  //> [0.5 0.5 4. ]
  //> [0. 0. 1.]
  //> [-1. -1.  4.]
  //> [ 1.  0. 16.]
  //! [several]

  //! [logic]
  std::cout << logical_and(x, x < 1.0) << '\n' << logical_not(x) << '\n' << isfinite(x / 0.0) << '\n';
  //> [ True False False]
  //> [False  True False]
  //> [False False False]
  //! [logic]
}
