// Picking and adding by index. A line that begins with //> is what the statement above it prints.
#include <sinter/sinter.h>

#include <iostream>

namespace sn = sinter;

int main() {
  //! [picking]
  sn::Tensor x = sn::from({{1, 2, 3}, {4, 5, 6}});
  sn::Tensor rows = sn::from({1, 0, -1});
  std::cout << index_select(x, 0, rows) << '\n' << gather(x, 1, sn::from({{0}, {2}})) << '\n';
  //> [[4 5 6]
  //>  [1 2 3]
  //>  [4 5 6]]
  //> [[1]
  //>  [6]]
  std::cout << scatter_add(sn::zeros({4}, sn::int64), 0, sn::from({0, 2, 2}), sn::from({5, 1, 2})) << '\n'
            << one_hot(rows[0], 3) << '\n';
  //> [5 0 3 0]
  //> [0 1 0]
  try {
    std::cout << embedding(sn::from({7}), x) << '\n';
  } catch (const sn::UsageError& e) {
    std::cout << "refused\n";  // what() names the index error and this line
  }
  //> refused
  //! [picking]
}
