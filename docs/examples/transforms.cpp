// Functions of functions. A line that begins with //> is what the statement above it prints.
#include <sinter/sinter.h>

#include <iostream>

namespace sn = sinter;

int main() {
  //! [transforms]
  const auto energy = [](const sn::Tensor& x) { return (x * x * x).sum(); };
  sn::Tensor x = sn::from({1.0, 2.0});
  std::cout << sn::grad(energy)(x) << '\n' << sn::hessian(energy)(x) << '\n';
  //> [ 3. 12.]
  //> [[ 6.  0.]
  //>  [ 0. 12.]]
  sn::Tensor batch = sn::from({{1.0, 2.0}, {0.0, -1.0}});
  std::cout << sn::vmap(sn::grad(energy))(batch) << '\n';  // one program for all rows
  //> [[ 3. 12.]
  //>  [ 0.  3.]]
  const auto spread = [](const sn::Tensor& row) { return std::vector<sn::Tensor>{row.min(), row.max()}; };
  std::cout << sn::vmap(spread)(batch)[1] << '\n';  // of several results, several
  //> [2. 0.]
  const auto work = [](const sn::Tensor& force, const sn::Tensor& way) { return (force * way).sum(); };
  std::cout << sn::grad(work, {0, 1})(x, batch[1])[0] << '\n';  // with respect to both
  //> [ 0. -1.]
  std::cout << sn::jvp(energy, x, sn::from({1.0, 0.0})).other << '\n';
  //> 3.0
  //! [transforms]
}
