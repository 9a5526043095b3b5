// An index out of range on the simulated GPU is named as on the CPU: the index, the elements there are, the axis, the
// call (SEMANTICS F6).
#include "catch.h"

#include <fmt/core.h>

#include <functional>
#include <limits>
#include <vector>

#include "sinter/sinter.h"
#include "unit/runtime_support.h"

using namespace sinter;

namespace {

using I64 = std::vector<int64_t>;

/// A call that picks by an index of 4 numbers, on the index's device.
struct Pick {
  const char* call;
  int64_t size, axis;  ///< as the text names them
  std::function<Tensor(const Tensor& index)> of;
  const char* classes = "";  ///< what the text says of classes
};

Tensor table(const Tensor& index, const Shape& shape) {
  return arange(shape.numel(), float32, index.device()).reshape(shape);
}

const std::vector<Pick>& picks() {
  static const std::vector<Pick> all = {
      {"gather", 5, 0, [](const Tensor& i) { return gather(table(i, {5}), 0, i); }},
      {"gather", 7, 1, [](const Tensor& i) { return gather(table(i, {4, 7}), 1, i.unsqueeze(1).expand({4, 3})); }},
      {"take_along_dim", 6, 1, [](const Tensor& i) { return take_along_dim(table(i, {3, 6}), i.unsqueeze(0), 1); }},
      {"index_select", 5, 0, [](const Tensor& i) { return index_select(table(i, {5, 3}), 0, i); }},
      {"index_select", 3, 1, [](const Tensor& i) { return index_select(table(i, {5, 3}), 1, i); }},
      {"index", 3, 1, [](const Tensor& i) { return table(i, {5, 3}).index({Slice{}, i}); }},
      {"index_put", 3, 1,
       [](const Tensor& i) { return index_put(zeros({2, 3}, float32, i.device()), {i * 0, i}, 2.0); }},
      {"embedding", 9, 0, [](const Tensor& i) { return embedding(i.reshape({2, 2}), table(i, {9, 40})); }},
      {"index", 5, 0, [](const Tensor& i) { return table(i, {5, 2}).index({i}); }},
      {"index", 4, 1, [](const Tensor& i) { return table(i, {5, 4}).index({i * 0, i}); }},
      {"scatter_add", 6, 0, [](const Tensor& i) { return scatter_add(zeros({6}, float32, i.device()), 0, i, 2.0); }},
      {"scatter", 6, 0, [](const Tensor& i) { return scatter(zeros({6}, float32, i.device()), 0, i, 2.0); }},
      {"index_put", 6, 0, [](const Tensor& i) { return index_put(zeros({6, 2}, float32, i.device()), {i}, 2.0); }},
      {"one_hot", 4, 1, [](const Tensor& i) { return one_hot(i, 4); }, " (a class is 0 to 3)"},
      {"cross_entropy", 3, 1, [](const Tensor& i) { return cross_entropy(table(i, {4, 3}), i); },
       " (a class is 0 to 2; ignore_index is -100)"},
      {"nll_loss", 3, 1, [](const Tensor& i) { return nll_loss(table(i, {4, 3}), i); },
       " (a class is 0 to 2; ignore_index is -100)"},
      {"embedding", 9, 0, [](const Tensor& i) { return embedding(i, table(i, {9, 300})).sum(0); }},
  };
  return all;
}

struct Bad {
  DType dtype;
  int64_t index;
};
const std::vector<Bad> kBad = {{int64, 9},
                               {int64, std::numeric_limits<int64_t>::max()},
                               {int64, std::numeric_limits<int64_t>::min()},
                               {int64, -11},
                               {int32, 1 << 30},
                               {int32, -1000},
                               {int16, 300},
                               {int8, -128},
                               {uint8, 255},
                               {uint32, int64_t{1} << 31}};

Tensor numbers(const I64& values, DType dtype, Device device) {
  return from(values, {static_cast<int64_t>(values.size())}, device).to(dtype).realize();
}
Tensor bad_index(const Bad& bad, Device device) { return numbers({0, 1, bad.index, 1}, bad.dtype, device); }
Tensor good_index(DType dtype, Device device) { return numbers({0, 1, 2, 1}, dtype, device); }

/// What the first read says; the second one says nothing.
std::string said(const Tensor& t) {
  std::string text;
  for (int i = 0; i < 2; ++i) try {
      t.to_vector<float>();
    } catch (const UsageError& e) {
      CHECK(i == 0);
      text = e.what();
    }
  return text;
}

/// How a value comes about that is read, made by `of` of an index on the device.
struct Way {
  const char* name;
  std::function<std::string(const Pick& pick, const Bad& bad, Device device)> text;
};

const std::vector<Way>& ways() {
  using F = std::function<Tensor(const Tensor&)>;
  static const std::vector<Way> all = {
      {"at once", [](const Pick& p, const Bad& b, Device d) { return said(p.of(bad_index(b, d)).to(float32)); }},
      {"when the index is gone, from what was made of it",
       [](const Pick& p, const Bad& b, Device d) {
         Tensor y = p.of(bad_index(b, d)).to(float32);
         y.realize();
         const Tensor z = (y * 2.0).realize();
         y = good_index(b.dtype, d);
         for (int i = 0; i < 4; ++i) bad_index({b.dtype, 100}, d);  // where the memory would be taken again
         return said(z);
       }},
      {"an index that the plan computes",
       [](const Pick& p, const Bad& b, Device d) {
         const Tensor half = numbers({0, 0, 1, 0}, boolean, d);
         return said(p.of(where(half, bad_index(b, d), good_index(b.dtype, d)).flip(0)).to(float32));
       }},
      {"a jitted function's first call",
       [](const Pick& p, const Bad& b, Device d) {
         auto f = jit(F([&](const Tensor& i) { return p.of(i).to(float32) * 3.0; }));
         return said(f(bad_index(b, d)));
       }},
      {"a jitted function's replays",
       [](const Pick& p, const Bad& b, Device d) {
         auto f = jit(F([&](const Tensor& i) { return p.of(i).to(float32) * 3.0; }));
         for (int i = 0; i < 3; ++i) CHECK(said(f(good_index(b.dtype, d))).empty());
         std::string all;
         for (int i = 0; i < 2; ++i) {
           all += said(f(bad_index(b, d))) + "\n";
           CHECK(said(f(good_index(b.dtype, d))).empty());
         }
         return all;
       }},
  };
  return all;
}

}  // namespace

TEST_CASE("an index out of range on a GPU is named as on the CPU", "[cuda][index]") {
  const runtime_test::ScopedEnv device("SINTER_DEVICE", "cuda-sim");
  size_t turn = 0;
  for (const Pick& p : picks())
    for (size_t w = 0; w < ways().size(); ++w)
      for (int times = 0; times < (w == 0 ? 3 : 1); ++times) {
        const Way& way = ways()[w];
        const Bad& bad = kBad[turn++ % kBad.size()];
        INFO(p.call << " along axis " << p.axis << " of " << p.size << ", index " << bad.index << " of " << bad.dtype
                    << ", " << way.name);
        const std::string cpu = way.text(p, bad, Device::cpu()), gpu = way.text(p, bad, Device::cuda());
        CHECK(gpu == cpu);
        if (w + 1 == ways().size()) {
          CHECK_THAT(gpu, Catch::Contains("an index of a jitted function was out of range"));
          continue;
        }
        CHECK_THAT(gpu,
                   Catch::Contains(fmt::format("index {} is out of range for {} elements along axis {}{}, in {} at ",
                                               bad.index, p.size, p.axis, p.classes, p.call)));
        CHECK_THAT(gpu, Catch::Contains("run_error_test.cpp:"));
      }
}

TEST_CASE("of several indexes out of range a GPU names the one that the CPU names", "[cuda][index]") {
  const runtime_test::ScopedEnv device("SINTER_DEVICE", "cuda-sim");
  const auto text = [](Device d) {
    const Tensor i = numbers({1, 8, 0, 9}, int64, d), j = numbers({70, 1, 2, 3}, int32, d);
    const Tensor a = index_select(table(i, {4}), 0, i), b = index_select(table(i, {4}), 0, j);
    return said(a * 2.0 + b);
  };
  CHECK(text(Device::cuda()) == text(Device::cpu()));
  CHECK_THAT(text(Device::cuda()), Catch::Contains("index 8 is out of range for 4 elements along axis 0"));
}

TEST_CASE("an index tensor of symbolic size is named on a GPU as on the CPU", "[cuda][index]") {
  const runtime_test::ScopedEnv device("SINTER_DEVICE", "cuda-sim");
  const Var n("n", 1, 8);
  for (const int64_t rows : {3, 5}) {
    const auto text = [&](Device d) {
      I64 at(static_cast<size_t>(rows), 2);
      at.back() = -17;
      return said(index_select(table(numbers({0}, int64, d), {4}), 0, from(at, {n(rows)}, d) + 1) * 2.0);
    };
    CHECK(text(Device::cuda()) == text(Device::cpu()));
    CHECK_THAT(text(Device::cuda()), Catch::Contains("index -16 is out of range for 4 elements along axis 0"));
  }
}

TEST_CASE("an index tensor that was overwritten since leaves the call's name", "[cuda][index]") {
  const runtime_test::ScopedEnv device("SINTER_DEVICE", "cuda-sim");
  Tensor i = numbers({1, 8, 0, 9}, int64, Device::cuda());
  const Tensor x = index_select(table(i, {4}), 0, i).realize();
  i -= 7;  // in place, although what i was is held for the text
  i.realize();
  const std::string text = said(x);
  CHECK_THAT(text, Catch::Contains("an index is out of range, in index_select at "));
  CHECK_THAT(said(index_select(table(i, {4}), 0, i)), Catch::Contains("index -6 is out of range for 4 elements"));
}

TEST_CASE("index tensors are held until a GPU has said whether they fit", "[cuda][index]") {
  const runtime_test::ScopedEnv device("SINTER_DEVICE", "cuda-sim");
  const Tensor weights = table(numbers({0}, int64, Device::cuda()), {9, 4}).realize();
  const auto live = [] { return debug::counters().live_buffers; };
  const uint64_t before = live();
  {
    const Tensor x = embedding(good_index(int64, Device::cuda()), weights).realize();
    CHECK(live() == before + 3);  // x, its error word, the index
    x.to_vector<float>();
    CHECK(live() == before + 1);
  }
  CHECK(live() == before);
  { const Tensor unread = embedding(good_index(int64, Device::cuda()), weights).realize(); }
  CHECK(live() == before);
  // More than is worth holding: an index that is a part of 9 MiB.
  Tensor large = from(I64(9 << 17, 11), {9 << 15, 4}, Device::cuda());
  const Tensor x = embedding(large.index({3}), weights).realize();
  large = weights;
  CHECK(live() == before + 2);
  CHECK_THAT(said(x), Catch::Contains("an index is out of range, in embedding at "));
}

TEST_CASE("index tensors are held no longer when a GPU's memory runs out", "[cuda][index]") {
  const runtime_test::ScopedEnv device("SINTER_DEVICE", "cuda-sim");
  const Tensor weights = table(numbers({0}, int64, Device::cuda()), {9, 4}).realize();
  Tensor large = from(I64(size_t{1} << 19, 11), Device::cuda());  // 4 MiB
  const Tensor x = embedding(large.index({3}), weights).realize();
  large = weights;
  const uint64_t live = memory::report().devices.at(1).allocated;
  const runtime_test::ScopedEnv limit("SINTER_MEMORY_LIMIT", std::to_string(live + (1 << 20)));
  const Tensor y = ones({1 << 20}, float32, Device::cuda()).contiguous().realize();
  CHECK(y.index({5}).item() == 1);
  CHECK_THAT(said(x), Catch::Contains("an index is out of range, in embedding at "));
  CHECK_THROWS_AS(ones({1 << 20}, float32, Device::cuda()).contiguous().realize(), OutOfMemory);
}
