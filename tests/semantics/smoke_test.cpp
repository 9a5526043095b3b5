#include "catch.h"
#include "sinter/debug.h"
#include "sinter/sinter.h"
#include "sinter/gradient.h"
using namespace sinter;
TEST_CASE("smoke") {
  auto before = debug::counters();
  {
  Tensor a = from({1.0, 2.0, 3.0}), b = ones({3});
  CHECK((a + b * 2).to_vector<float>() == std::vector<float>{3, 4, 5});
  a += 1;
  CHECK(a.to_vector<float>() == std::vector<float>{2, 3, 4});
  a.at({Slice{0, 2}}) = b.at({Slice{1, 3}});
  CHECK(a.to_vector<float>() == std::vector<float>{1, 1, 4});
  Tensor w = from({1.0, 2.0, 3.0}); w.requires_grad();
  Tensor loss = (w * w * a).sum();
  loss.backward();
  CHECK(w.grad().to_vector<float>() == std::vector<float>{2, 4, 24});
  CHECK(loss.item() == 1 + 4 + 36);
  }
  auto after = debug::counters();
  CHECK(before.live_nodes == after.live_nodes);
  CHECK(before.live_buffers == after.live_buffers);
}
