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
  std::cout << sn::arange(5).unfold(0, 3, 1) << ' ' << x.split({1, 2}, 1)[0].shape() << '\n';
  //> [[0 1 2]
  //>  [1 2 3]
  //>  [2 3 4]] [2, 1]
  //! [movement]

  //! [views]
  std::cout << narrow(x, 1, 1, 2) << ' ' << select(x, 1, -1) << ' ' << unbind(x)[1] << '\n';
  //> [[1 2]
  //>  [4 5]] [2 5] [3 4 5]
  std::cout << split(x, {1, 2}, 1)[1] << ' ' << tensor_split(sn::arange(5), 2)[0] << '\n';
  //> [[1 2]
  //>  [4 5]] [0 1 2]
  std::cout << t(x) << ' ' << to_string(unflatten(ravel(x), 0, {3, -1}).shape()) << '\n';
  //> [[0 3]
  //>  [1 4]
  //>  [2 5]] [3, 2]
  std::cout << to_string(movedim(sn::zeros({2, 3, 4}), {0, 1}, {2, 0}).shape()) << '\n';
  //> [3, 4, 2]
  //! [views]

  //! [joining]
  std::cout << sn::cat({x, x[0].unsqueeze(0)}) << '\n' << to_string(sn::stack({x, x}, -1).shape()) << '\n';
  //> [[0 1 2]
  //>  [3 4 5]
  //>  [0 1 2]]
  //> [2, 3, 2]
  std::cout << sn::vstack({x, x[1]}) << '\n' << sn::meshgrid({sn::arange(2), sn::arange(3)})[1] << '\n';
  //> [[0 1 2]
  //>  [3 4 5]
  //>  [3 4 5]]
  //> [[0 1 2]
  //>  [0 1 2]]
  //! [joining]

  //! [rearranging]
  sn::Tensor m = sn::arange(9).reshape({3, 3});
  std::cout << roll(m, 1, 1) << '\n' << rot90(x) << '\n' << triu(m) << '\n' << diagonal(m) << ' ' << trace(m) << '\n';
  //> [[2 0 1]
  //>  [5 3 4]
  //>  [8 6 7]]
  //> [[2 5]
  //>  [1 4]
  //>  [0 3]]
  //> [[0 1 2]
  //>  [0 4 5]
  //>  [0 0 8]]
  //> [0 4 8] 12
  std::cout << tile(x[0], {2}) << ' ' << repeat_interleave(x[0], 2) << ' ' << diff(x[0]) << '\n';
  //> [0 1 2 0 1 2] [0 0 1 1 2 2] [1 1]
  std::cout << pad(x[1], {{2, 1}}, sn::PadMode::Reflect) << ' ' << pad(x[1], {{2, 1}}, sn::PadMode::Circular) << '\n';
  //> [5 4 3 4 5 4] [4 5 3 4 5 3]
  //! [rearranging]
}
