// Looking for what went wrong. A line that begins with //> is what the statement above it prints.
#include <sinter/sinter.h>

#include <iostream>

namespace sn = sinter;

int main() {
  //! [anomaly]
  sn::Tensor x = sn::from({4.0, 0.0}).requires_grad();
  try {
    const sn::debug::detect_anomaly watch;
    const sn::Tensor root = sn::sqrt(x);
    sn::gradient(root.sum(), {x})[0].realize();  // 1 / (2 sqrt(0))
  } catch (const sn::AnomalyError& e) {
    const sn::Anomaly& a = e.anomaly();
    std::cout << a.call << ' ' << a.backward << ' ' << a.index[0] << ' ' << a.value << '\n';
    //> sqrt 1 1 inf
  }
  //! [anomaly]
}
