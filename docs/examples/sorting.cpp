// Elements in order. A line that begins with //> is what the statement above it prints.
#include <sinter/sinter.h>

#include <iostream>

namespace sn = sinter;

int main() {
  //! [sorting]
  sn::Tensor x = sn::from({{3.0, 1.0, 2.0}, {4.0, 6.0, 5.0}});
  auto [values, indices] = sort(x, 1);
  std::cout << values << ' ' << indices << '\n';
  //> [[1. 2. 3.]
  //>  [4. 5. 6.]] [[1 2 0]
  //>  [0 2 1]]
  std::cout << topk(x, 2, 1).values << ' ' << median(x) << ' ' << quantile(x, 0.5) << '\n';
  //> [[3. 2.]
  //>  [6. 5.]] 3.0 3.5
  std::cout << searchsorted(sn::from({1.0, 3.0, 5.0}), sn::from({0.0, 3.0, 9.0})) << '\n';
  //> [0 1 3]
  //! [sorting]

  //! [counting]
  sn::Tensor words = sn::from({2, 0, 2, 5});
  auto [different, inverse, counts] = unique(words);
  std::cout << different << ' ' << inverse << ' ' << counts << ' ' << bincount(words) << '\n';
  //> [0 2 5] [1 0 1 2] [1 2 1] [1 0 2 0 0 1]
  //! [counting]
}
