// Writing. A line that begins with //> is what the statement above it prints.
#include <sinter/sinter.h>

#include <iostream>

namespace sn = sinter;

int main() {
  //! [state]
  sn::Tensor x = sn::zeros({2, 3}), alias = x, second = x.clone();
  sn::Tensor before = x + 0.0;
  x.at({0, sn::Slice{1}}) = sn::from({5.0, 6.0});  // a part
  x += 1.0;                                        // all of it
  std::cout << alias << '\n' << before[0] << ' ' << second[0] << '\n';
  //> [[1. 6. 7.]
  //>  [1. 1. 1.]]
  //> [0. 0. 0.] [0. 0. 0.]
  sn::Tensor swapped = x[0].clone();
  x.at({0}) = x.at({1});
  x.at({1}) = swapped;
  std::cout << x << '\n';
  //> [[1. 1. 1.]
  //>  [1. 6. 7.]]
  //! [state]
}
