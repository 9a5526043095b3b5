// Dropout. A line that begins with //> is what the statement above it prints.
#include <sinter/sinter.h>

#include <iostream>

namespace sn = sinter;

int main() {
  //! [dropout]
  sn::Generator generator(1);
  sn::Tensor x = sn::ones({2, 3, 2});
  std::cout << dropout(x[0], 0.5, true, &generator) << '\n' << dropout1d(x, 0.5, true, &generator)[1] << '\n';
  //> [[2. 0.]
  //>  [2. 2.]
  //>  [2. 0.]]
  //> [[2. 2.]
  //>  [2. 2.]
  //>  [0. 0.]]
  std::cout << (dropout(x, 0.5, false) == x).all() << '\n';  // not while it is evaluated
  //> True
  //! [dropout]
}
