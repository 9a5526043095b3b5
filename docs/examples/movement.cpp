// Other shapes of the same numbers. A line that begins with //> is what the statement above it prints.
#include <sinter/sinter.h>

#include <iostream>

namespace sn = sinter;

int main() {
  //! [movement]
  sn::Tensor x = sn::arange(6).reshape({2, 3});
  std::cout << x.transpose() << '\n' << x.reshape({-1}) << '\n' << x.flip(1) << '\n' << x.pad({{1, 0}}) << '\n';
  //> [[0 3]
  //>  [1 4]
  //>  [2 5]]
  //> [0 1 2 3 4 5]
  //> [[2 1 0]
  //>  [5 4 3]]
  //> [[0 0 1 2]
  //>  [0 3 4 5]]
  std::cout << x[1] << ' ' << x.index({sn::ellipsis, -1}) << ' ' << x.slice(1, {.step = 2}).shape()[1].value() << '\n';
  //> [3 4 5] [2 5] 2
  std::cout << to_string(x.unsqueeze(0).expand({4, -1, -1}).shape()) << ' ' << x.split(2, 1).size() << '\n';
  //> [4, 2, 3] 2
  //! [movement]

  //! [joining]
  std::cout << sn::cat({x, x[0].unsqueeze(0)}) << '\n' << to_string(sn::stack({x, x}, -1).shape()) << '\n';
  //> [[0 1 2]
  //>  [3 4 5]
  //>  [0 1 2]]
  //> [2, 3, 2]
  //! [joining]
}
