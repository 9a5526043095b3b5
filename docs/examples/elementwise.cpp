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
            << sigmoid(x * 0.0) << '\n'
            << log10(sn::from({1.0, 100.0, 1000.0})) << '\n'
            << nan_to_num(sqrt(x), -1) << '\n';
  //> [0. 0. 4.]
  //> [1. 1. 1.]
  //> [1. 0. 2.]
  //> [-0.  0.  0.]
  //> [0.5 0.5 0.5]
  //> [0. 2. 3.]
  //> [-1.  0.  2.]
  //! [functions]

  //! [several]
  std::cout << maximum(x, 0.5) << '\n' << clamp(x, 0, 1) << '\n' << where(x > 0, x, -1.0) << '\n' << pow(x, 2) << '\n';
  std::cout << hypot(3.0, x) << '\n' << masked_fill(x, x < 0, 7) << '\n' << lerp(x, 10, 0.5) << '\n';
  //> [0.5 0.5 4. ]
  //> [0. 0. 1.]
  //> [-1. -1.  4.]
  //> [ 1.  0. 16.]
  //> [3.1622777 3.        5.       ]
  //> [7. 0. 4.]
  //> [4.5 5.  7. ]
  //! [several]

  //! [named]
  sn::Tensor whole = sn::from({-7, 7, 8});
  std::cout << add(x, 1, 2) << '\n' << div(whole, 2, sn::RoundingMode::Trunc) << '\n' << bitwise_and(whole, 6) << '\n';
  //> [1. 2. 6.]
  //> [-3  3  4]
  //> [0 6 0]
  //! [named]

  //! [aliases]
  std::cout << clip(x, 0, 1) << '\n' << multiply(whole, 2) << '\n' << whole.neg() << '\n';
  //> [0. 0. 1.]
  //> [-14  14  16]
  //> [ 7 -7 -8]
  //! [aliases]

  //! [logic]
  std::cout << logical_and(x, x < 1.0) << '\n' << logical_not(x) << '\n' << isfinite(x / 0.0) << '\n';
  //> [ True False False]
  //> [False  True False]
  //> [False False False]
  std::cout << isclose(x, x + 1e-9) << '\n' << equal(x, x + 1) << '\n';
  //> [ True  True  True]
  //> 0
  //! [logic]
}
