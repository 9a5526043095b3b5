// Picking, writing by index, and masks. A line that begins with //> is what the statement above it prints.
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
  std::cout << take(x, sn::from({5, 0})) << '\n' << one_hot(rows[0], 3) << '\n';
  //> [6 1]
  //> [0 1 0]
  std::cout << embedding_bag(sn::from({0, 1, 1}), x, sn::from({0, 1}), {.mode = sn::BagMode::Sum}) << '\n';
  //> [[ 1.  2.  3.]
  //>  [ 8. 10. 12.]]
  try {
    std::cout << embedding(sn::from({7}), x) << '\n';
  } catch (const sn::UsageError& e) {
    std::cout << "refused\n";  // what() names the index error and this line
  }
  //> refused
  //! [picking]

  //! [scattering]
  sn::Tensor places = sn::from({0, 2, 2});
  std::cout << scatter_add(sn::zeros({4}, sn::int64), 0, places, sn::from({5, 1, 2})) << '\n'
            << scatter(sn::zeros({4}, sn::int64), 0, places, sn::from({5, 1, 2})) << '\n'
            << scatter_reduce(sn::ones({4}, sn::int64), 0, places, sn::from({5, 1, 2}), sn::ScatterReduce::Amax)
            << '\n';
  //> [5 0 3 0]
  //> [5 0 2 0]
  //> [5 1 2 1]
  sn::Tensor board = sn::zeros({2, 3}, sn::int64);
  board.at({sn::from({0, 1}), sn::from({2, 0})}) = sn::from({7, 8});
  std::cout << board << '\n' << index_add(board, 1, sn::from({0, 0}), 1) << '\n';
  //> [[0 0 7]
  //>  [8 0 0]]
  //> [[ 2  0  7]
  //>  [10  0  0]]
  //! [scattering]

  //! [masks]
  sn::Tensor even = x % 2 == 0;
  std::cout << masked_select(x, even) << '\n' << nonzero(even) << '\n';
  //> [2 4 6]
  //> [[0 1]
  //>  [1 0]
  //>  [1 2]]
  x.at({even}) = 0;
  std::cout << masked_scatter(x, even, sn::from({7, 8, 9})) << '\n';
  //> [[1 7 3]
  //>  [8 5 9]]
  //! [masks]
}
