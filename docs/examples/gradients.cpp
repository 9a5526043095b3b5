// Gradients. A line that begins with //> is what the statement above it prints.
#include <sinter/sinter.h>

#include <iostream>

namespace sn = sinter;

int main() {
  //! [backward]
  sn::Tensor w = sn::from({1.0, 2.0}).requires_grad();
  sn::Tensor loss = (w * w * sn::from({1.0, 10.0})).sum();
  loss.backward();
  std::cout << loss << ' ' << w.grad() << '\n';  // computed together, here
  //> 41.0 [ 2. 40.]
  (w * 3.0).sum().backward();  // adds to what is there
  std::cout << w.grad() << '\n';
  //> [ 5. 43.]
  {
    sn::no_grad guard;
    w -= w.grad() * 0.1;
  }
  w.zero_grad();
  std::cout << w << ' ' << w.has_grad() << '\n';
  //> [ 0.5       -2.3000002] 0
  //! [backward]

  //! [gradient]
  sn::Tensor x = sn::from({1.0, 2.0, 3.0}).requires_grad();
  sn::Tensor first = sn::gradient(pow(x, 3).sum(), {x})[0];
  sn::Tensor second = sn::gradient(first.sum(), {x})[0];  // of any order
  std::cout << first << ' ' << second << '\n';
  //> [ 3. 12. 27.] [ 6. 12. 18.]
  //! [gradient]
}
