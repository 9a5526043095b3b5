// From tensors to C++ numbers, and what goes wrong. A line that begins with //> is what the statement above it prints.
#include <sinter/sinter.h>

#include <iostream>

namespace sn = sinter;

int main() {
  //! [reading]
  sn::Tensor x = sn::arange(4).reshape({2, 2});  // nothing is computed yet
  std::vector<int64_t> numbers = x.to_vector<int64_t>();
  std::cout << numbers[3] << ' ' << x.sum().item<int64_t>() << ' ' << x.sum().item() << '\n' << x << '\n';
  //> 3 6 6
  //> [[0 1]
  //>  [2 3]]
  sn::Tensor y = x + 1, z = x * 2;
  realize(y, z);  // both in one plan; otherwise each read computes what it needs
  //! [reading]

  //! [denormal]
  const sn::Tensor tiny = (sn::ones({2}) * 1e-30).realize();
  sn::set_flush_denormal(true);
  std::cout << (tiny * 1e-10).max() << ' ' << (tiny * 1e-5 > 0.0).all() << '\n';
  //> 0.0 True
  sn::set_flush_denormal(false);
  std::cout << ((tiny * 1e-10) > 0.0).all() << '\n';
  //> True
  //! [denormal]

  //! [errors]
  try {
    matmul(x, sn::ones({3, 2}));
  } catch (const sn::UsageError& e) {
    std::cout << e.what() << '\n';
    //> matmul: inner sizes differ: float32 [2, 2] x float32 [3, 2], 2 against 3; ...
    //>   at ...reading.cpp:32
  }
  //! [errors]
}
