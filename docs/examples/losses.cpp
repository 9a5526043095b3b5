// Losses. A line that begins with //> is what the statement above it prints.
#include <sinter/sinter.h>

#include <iostream>

namespace sn = sinter;

int main() {
  //! [losses]
  sn::Tensor logits = sn::from({{0.0, 0.0}, {0.0, 50.0}}), classes = sn::from({0, 1});
  std::cout << cross_entropy(logits, classes, {.reduction = sn::Reduction::None}) << '\n';
  //> [ 0.6931472 -0.       ]
  std::cout << cross_entropy(logits, classes, {.ignore_index = 0}) << ' '
            << cross_entropy(logits, softmax(logits)[0].expand({2, 2})) << '\n';
  //> 0.0 12.846574
  std::cout << mse_loss(sn::from({1.0, 3.0}), sn::from({0.0, 1.0})) << ' '
            << l1_loss(sn::from({1.0, 3.0}), sn::from({0.0, 1.0}), {.reduction = sn::Reduction::Sum}) << '\n';
  //> 2.5 3.0
  std::cout << cross_entropy(logits, classes, {.weight = sn::from({1.0, 3.0}), .label_smoothing = 0.5}) << '\n'
            << smooth_l1_loss(sn::from({1.0, 3.0}), sn::from({0.5, 1.0}), {.beta = 2, .reduction = sn::Reduction::None})
            << '\n';
  //> 3.3849301
  //> [0.0625 1.    ]
  sn::Tensor speech = log_softmax(sn::zeros({5, 2, 4}));  // [time, n, classes]
  std::cout << ctc_loss(speech, sn::from({{1, 2}, {3, 0}}), {5, 3}, {2, 1}) << '\n';
  //> 2.0275927
  //! [losses]
}
