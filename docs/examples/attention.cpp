// Attention and layers made of it. A line that begins with //> is what the statement above it prints.
#include <sinter/nn/transformer.h>
#include <sinter/sinter.h>

#include <iostream>

namespace sn = sinter;

int main() {
  //! [attention]
  sn::Tensor q = sn::ones({2, 3, 4}), keys = sn::zeros({2, 5, 4}),
             values = sn::arange(10).to(sn::float32).reshape({2, 5, 1});
  std::cout << scaled_dot_product_attention(q, keys, values)[0].flatten() << '\n';  // all keys weigh the same
  //> [2. 2. 2.]
  std::cout << scaled_dot_product_attention(q, keys, values, {.is_causal = true})[0].flatten() << '\n';
  //> [0.  0.5 1. ]
  std::cout << rotary_embedding(sn::from({{1.0, 0.0}, {1.0, 0.0}}), {.offset = 0})[0]
            << '\n';  // position 0 turns nothing
  //> [1. 0.]
  sn::nn::TransformerEncoderLayer layer(8, 2, {.dim_feedforward = 16, .dropout = 0});
  std::cout << layer(sn::randn({4, 6, 8})).shape() << '\n';
  //> [4, 6, 8]
  //! [attention]

  //! [transformer]
  sn::nn::Transformer net(8, 2, 1, 1, {.dim_feedforward = 16, .dropout = 0});
  std::cout << net(sn::ones({4, 6, 8}), sn::ones({4, 3, 8}), {.target = {.is_causal = true}}).shape() << '\n';
  //> [4, 3, 8]
  //! [transformer]
}
