// Norms and distances. A line that begins with //> is what the statement above it prints.
#include <sinter/sinter.h>

#include <cmath>
#include <iostream>

namespace sn = sinter;

int main() {
  //! [norms]
  sn::Tensor x = sn::from({{3.0, 4.0}, {0.0, -2.0}});
  std::cout << vector_norm(x, 2, 1) << ' ' << norm(x, 1) << ' ' << norm(x, INFINITY, 0) << ' ' << matrix_norm(x, 1)
            << '\n';
  //> [5. 2.] 9.0 [3. 4.] 6.0
  std::cout << linalg_norm(x, 2, 1) << ' ' << linalg_norm(x, "fro") << ' ' << linalg_norm(x, 1) << '\n';
  //> [5. 2.] 5.3851647 6.0
  std::cout << normalize(x) << '\n';
  //> [[ 0.6  0.8]
  //>  [ 0.  -1. ]]
  std::cout << cdist(x, sn::from({{0.0, 0.0}})) << ' ' << pdist(x, 1) << ' ' << cosine_similarity(x[0], x[1], 0)
            << '\n';
  //> [[5.]
  //>  [2.]] [9.] -0.8
  //! [norms]
}
