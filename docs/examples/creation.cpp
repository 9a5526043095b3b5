// Where tensors come from. A line that begins with //> is what the statement above it prints.
#include <sinter/sinter.h>

#include <iostream>

namespace sn = sinter;

int main() {
  //! [data]
  sn::Tensor a = sn::from({{1, 2, 3}, {4, 5, 6}});  // int64 [2, 3]
  sn::Tensor b = sn::from({1.5, 2.0});              // float32 [2]
  sn::Tensor c = sn::from(std::vector<uint8_t>{1, 2, 3, 4}, {2, 2});
  std::cout << a << '\n' << b << '\n' << name_of(c.dtype()) << '\n';
  //> [[1 2 3]
  //>  [4 5 6]]
  //> [1.5 2. ]
  //> uint8
  //! [data]

  //! [patterns]
  std::cout << sn::zeros({2, 2}) << '\n' << sn::full({3}, 7) << '\n' << sn::arange(0, 1, 0.25) << '\n';
  //> [[0. 0.]
  //>  [0. 0.]]
  //> [7 7 7]
  //> [0.   0.25 0.5  0.75]
  std::cout << sn::linspace(0, 1, 3) << '\n' << sn::eye(2, 3, sn::int32) << '\n' << sn::ones_like(b) << '\n';
  //> [0.  0.5 1. ]
  //> [[1 0 0]
  //>  [0 1 0]]
  //> [1. 1.]
  //! [patterns]

  //! [number]
  sn::Tensor x = sn::from({1.0, 2.0});
  for (double scale : {2.0, 3.0, 4.0}) std::cout << x * sn::number(scale) << '\n';  // one plan, run three times
  //> [2. 4.]
  //> [3. 6.]
  //> [4. 8.]
  //! [number]

  //! [random]
  sn::manual_seed(7);
  sn::Tensor noise = sn::randn({1000});
  std::cout << (noise.mean().item() < 0.1) << ' ' << (sn::rand({2}) < 1.0) << ' ' << sn::randint(3, 4, {2}) << '\n';
  //> 1 [ True  True] [3 3]
  sn::Generator mine(7);  // of one's own: the same numbers, whatever other threads draw
  std::cout << (sn::randn({1000}, {.generator = &mine}) == noise).all() << '\n';
  //> True
  //! [random]

  //! [draws]
  sn::Tensor rates = sn::from({1.0, 100.0});
  sn::Tensor waits = exponential(rates, {1000, 2});  // a column for each rate
  std::cout << (waits.mean(0) * rates > 0.8) << ' ' << categorical(sn::from({0.0, 50.0}), 3) << '\n';
  //> [ True  True] [1 1 1]
  //! [draws]

  //! [var]
  const sn::Var batch("batch", 1, 256);
  std::vector<float> numbers(256 * 2, 1.0f);
  for (int64_t n : {256, 7, 1})  // compiled once
    std::cout << sn::from(numbers.data(), {batch(n), 2}).sum() << '\n';
  //> 512.0
  //> 14.0
  //> 2.0
  //! [var]
}
