// Products of matrices and more. A line that begins with //> is what the statement above it prints.
#include <sinter/sinter.h>

#include <iostream>

namespace sn = sinter;

int main() {
  //! [products]
  sn::Tensor a = sn::from({{1.0, 2.0}, {3.0, 4.0}}), v = sn::from({1.0, -1.0});
  std::cout << matmul(a, a) << '\n' << matmul(a, v) << ' ' << dot(v, v) << '\n';
  //> [[ 7. 10.]
  //>  [15. 22.]]
  //> [-1. -1.] 2.0
  std::cout << to_string(matmul(sn::ones({5, 1, 2, 3}), sn::ones({4, 3, 7})).shape()) << '\n';
  //> [5, 4, 2, 7]
  std::cout << sn::einsum("ij->ji", {a}) << '\n'
            << sn::einsum("i,ij,j->", {v, a, v}) << ' ' << sn::einsum("ii", {a}) << '\n';
  //> [[1. 3.]
  //>  [2. 4.]]
  //> 0.0 5.0
  std::cout << outer(v, v) << ' ' << kron(v, sn::ones({2})) << ' ' << tensordot(a, a) << '\n';
  //> [[ 1. -1.]
  //>  [-1.  1.]] [ 1.  1. -1. -1.] 30.0
  std::cout << linear(sn::ones({3, 2}), a, v) << '\n';  // x a^T + v
  //> [[4. 6.]
  //>  [4. 6.]
  //>  [4. 6.]]
  std::cout << cross(sn::from({1.0, 0.0, 0.0}), sn::from({0.0, 1.0, 0.0})) << '\n';
  //> [0. 0. 1.]
  //! [products]

  //! [chains]
  std::cout << addmm(v, a, a, 1, 0.5) << '\n' << matrix_power(a, 3) << '\n' << sn::multi_dot({v, a, a, v}) << '\n';
  //> [[ 4.5  4. ]
  //>  [ 8.5 10. ]]
  //> [[ 37.  54.]
  //>  [ 81. 118.]]
  //> 4.0
  //! [chains]
}
