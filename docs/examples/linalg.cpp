// Decompositions and equations. A line that begins with //> is what the statement above it prints.
#include <sinter/sinter.h>

#include <iostream>

namespace sn = sinter;

int main() {
  //! [decompositions]
  sn::Tensor a = sn::from({{2.0, 1.0}, {1.0, 2.0}});
  auto [values, vectors] = eigh(a);
  std::cout << values << ' ' << det(a) << ' ' << svdvals(a) << '\n';
  //> [1. 3.] 3.0 [3. 1.]
  std::cout << round(matmul(vectors * values, vectors.t())) << '\n';
  //> [[2. 1.]
  //>  [1. 2.]]
  std::cout << cholesky(sn::from({{4.0, 2.0}, {2.0, 2.0}})) << '\n';
  //> [[2. 0.]
  //>  [1. 1.]]
  //! [decompositions]

  //! [equations]
  sn::Tensor b = sn::from({3.0, 0.0});
  std::cout << solve(a, b) << ' ' << inverse(sn::from({{2.0, 0.0}, {0.0, 4.0}})) << '\n';
  //> [ 2. -1.] [[0.5  0.  ]
  //>  [0.   0.25]]
  sn::Tensor points = sn::from({{0.0, 1.0}, {1.0, 1.0}, {2.0, 1.0}});  // a line through three points
  std::cout << round(lstsq(points, sn::from({{1.0}, {3.0}, {5.0}})).solution) << '\n';
  //> [[2.]
  //>  [1.]]
  try {
    solve(sn::zeros({2, 2}), b).realize().to_vector<float>();
  } catch (const sn::Error& e) { std::cout << std::string(e.what()).substr(0, 46) << '\n'; }
  //> to_vector: the matrix float32 [2, 2] is singul
  //! [equations]
}
