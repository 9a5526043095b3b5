// A function whose plan is kept. A line that begins with //> is what the statement above it prints.
#include <sinter/sinter.h>

#include <iostream>

namespace sn = sinter;

int main() {
  //! [jit]
  sn::Tensor w = sn::from({2.0, 3.0}), total = sn::zeros({2}).contiguous().realize();
  int runs = 0;
  auto step = sn::jit([&](const sn::Tensor& x) {
    ++runs;
    total += x * w;
    return (x * w).sum();
  });
  for (double v : {1.0, 2.0, 3.0, 4.0}) std::cout << step(sn::from({v, 10.0})) << ' ';
  std::cout << "after " << runs << " runs of the function\n";
  //> 32.0 34.0 36.0 38.0 after 2 runs of the function
  w.assign(sn::from({0.0, 1.0}));  // what it reads is what stands there now
  std::cout << step(sn::from({1.0, 10.0})) << ' ' << total << '\n';
  //> 10.0 [ 20. 130.]
  //! [jit]

  //! [kept]
  // 64 columns at a time, as products of 64 rows like them best: laid out once for each version of the weight.
  sn::Tensor weight = sn::randn({256, 512}).contiguous().realize();
  auto product = sn::jit([&](const sn::Tensor& x) {
    const sn::Tensor panels = weight.reshape({256, 8, 64}).permute({1, 0, 2}).contiguous();
    return sn::matmul(x, panels.permute({1, 0, 2}).reshape({256, 512}));
  });
  const sn::Tensor batch = sn::randn({64, 256}).contiguous().realize();
  for (int call = 1; call <= 6; ++call) {
    if (call == 5) weight *= 0.5;  // a launch of its own, and the panels again
    const auto before = sn::debug::counters().launches;
    product(batch);
    std::cout << sn::debug::counters().launches - before << ' ';
  }
  std::cout << "launches\n";
  //> 2 2 2 1 3 1 launches
  //! [kept]

  //! [decode]
  // Each call writes a row and reads all rows so far: one program for all their numbers.
  sn::Tensor rows = sn::zeros({8, 2}).contiguous().realize();
  auto push = sn::jit([&](const sn::Tensor& row, const sn::Dim& n) {
    rows.at({sn::Narrow{sn::Tensor(n) - 1, 1}}) = row;
    return rows.slice(0, {0, n}).sum({0}) / sn::Tensor(n);
  });
  const sn::Var count("count", 1, 8);
  for (int64_t n = 1; n <= 5; ++n) {
    const auto before = sn::debug::counters().plan_misses;
    std::cout << push(sn::from({{static_cast<double>(n), 1.0}}), count(n));
    if (n > 2) std::cout << ' ' << sn::debug::counters().plan_misses - before << " new programs";
    std::cout << '\n';
  }
  //> [1. 1.]
  //> [1.5 1. ]
  //> [2. 1.] 0 new programs
  //> [2.5 1. ] 0 new programs
  //> [3. 1.] 0 new programs
  //! [decode]
}
