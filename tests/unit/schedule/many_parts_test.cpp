// Thousands of small tensors in one plan: joined, cut, and differentiated. How many bodies that takes depends on how
// many forms there are among them, not on how many tensors.
#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "catch.h"
#include "explain.h"
#include "on_cpu.h"
#include "runtime/cuda/context.h"
#include "schedule/schedule.h"
#include "sinter/debug.h"
#include "sinter/sinter.h"
#include "unit/runtime_support.h"

using namespace sinter;

namespace {

/// What the plans since are made of.
class Made final : public schedule::ScheduleObserver {
 public:
  void after_schedule(const schedule::PlanGraph&, const schedule::Partition&, const schedule::KernelSchedule& made,
                      schedule::Policy) override {
    bodies += made.kernels.size();
    launches += made.plan.launches.size();
  }

  size_t bodies = 0, launches = 0;
};

/// Rows x columns numbers, which tell the parts apart.
struct Part {
  int64_t rows, columns;
  float at(int64_t r, int64_t c, int64_t number) const {
    return static_cast<float>((number * 31 + r * columns + c) % 251);
  }
};

struct Form {
  const char* name;
  int64_t axis;
  size_t count, bodies;                                                             ///< the most that it may take
  std::function<Part(int64_t)> part;                                                ///< number i
  std::function<Tensor(Tensor, int64_t)> of = [](Tensor x, int64_t) { return x; };  ///< what is joined, equal to it
};

const std::vector<Form>& forms() {
  static const std::vector<Form> all = {
      {"equal shapes", 0, 3000, 12, [](int64_t) { return Part{1, 4}; }},
      {"along the inner axis", 1, 3000, 12, [](int64_t) { return Part{2, 3}; }},
      {"of many rows", 0, 100, 12, [](int64_t) { return Part{64, 5}; }},
      {"three shapes", 0, 3000, 300, [](int64_t i) { return Part{1 + (i * i / 7) % 3, 4}; }},
      {"a shape each", 1, 300, 360, [](int64_t i) { return Part{1, 1 + i}; }},
      {"some empty", 0, 3000, 300, [](int64_t i) { return Part{(i * i / 7) % 3, 4}; }},
      {"expressions", 0, 3000, 12, [](int64_t) { return Part{1, 4}; },
       [](Tensor x, int64_t) { return (x + 1.0) * 2.0 / 2.0 - 1.0; }},
      {"several types", 0, 3000, 24, [](int64_t) { return Part{1, 4}; },
       [](Tensor x, int64_t i) { return i % 3 == 0   ? x
                                        : i % 3 == 1 ? x.to(int32)
                                                     : x.to(uint8); }},
      {"slices of one tensor", 0, 3000, 24, [](int64_t) { return Part{1, 4}; },
       [](Tensor x, int64_t) { return cat({x, x}, 0).slice(0, {1, 2}); }},
  };
  return all;
}

std::vector<Tensor> parts_of(const Form& form, size_t count, Device device = Device::cpu()) {
  std::vector<Tensor> parts;
  for (int64_t i = 0; i < static_cast<int64_t>(count); ++i) {
    const Part p = form.part(i);
    std::vector<float> numbers;
    for (int64_t r = 0; r < p.rows; ++r)
      for (int64_t c = 0; c < p.columns; ++c) numbers.push_back(p.at(r, c, i));
    parts.push_back(from(numbers, {p.rows, p.columns}, device).realize());
  }
  return parts;
}

std::vector<float> joined(const Form& form, size_t count) {
  std::vector<float> out;
  const int64_t rows = form.axis == 1 ? form.part(0).rows : 1;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t i = 0; i < static_cast<int64_t>(count); ++i) {
      const Part p = form.part(i);
      for (int64_t r = form.axis == 1 ? row : 0; r < (form.axis == 1 ? row + 1 : p.rows); ++r)
        for (int64_t c = 0; c < p.columns; ++c) out.push_back(p.at(r, c, i));
    }
  return out;
}

Tensor joined_tensor(const Form& form, const std::vector<Tensor>& parts) {
  std::vector<Tensor> made;
  for (size_t i = 0; i < parts.size(); ++i) made.push_back(form.of(parts[i], static_cast<int64_t>(i)));
  return cat(made, form.axis);
}

}  // namespace

TEST_CASE("cat of thousands of small tensors takes a few bodies and launches", "[tensor][schedule][many-parts]") {
  for (const Form& form : forms()) {
    INFO(form.name);
    const std::vector<Tensor> parts = parts_of(form, form.count);
    const Made made;
    CHECK(joined_tensor(form, parts).to_vector<float>() == joined(form, form.count));
    CHECK(made.bodies <= form.bodies);
    CHECK(made.launches <= 8);
  }
}

TEST_CASE("cat of any number of tensors joins them in their order, whoever runs it", "[tensor][many-parts]") {
  const debug::Executor before = debug::executor();
  for (const Form& form : forms())
    for (const size_t count : {2, 8, 9, 16, 30, 31, 33, 257}) {
      INFO(form.name << ", " << count);
      const std::vector<Tensor> parts = parts_of(form, count);
      for (const debug::Executor executor :
           {debug::Executor::Compiled, debug::Executor::Unfused, debug::Executor::Interpreter}) {
        if (count > 100 && executor == debug::Executor::Unfused) continue;  // a kernel for each selection
        debug::set_executor(executor);
        CHECK(joined_tensor(form, parts).to_vector<float>() == joined(form, count));
      }
      debug::set_executor(before);
    }
}

TEST_CASE("a few joined tensors and what is made of them are one kernel", "[tensor][schedule][many-parts]") {
  for (const size_t count : {2, 8}) {
    const std::vector<Tensor> parts = parts_of(forms()[0], count);
    const Made made;
    (cat(parts, 0) * 2.0 + 1.0).realize();
    CHECK(made.bodies == 1);
    CHECK(made.launches == 1);
  }
}

TEST_CASE("gradients of thousands of joined tensors share their bodies", "[tensor][schedule][many-parts]") {
  const OnCpu cpu;
  const Form& form = forms()[0];
  const size_t count = 3000;
  std::vector<Tensor> parts = parts_of(form, count);
  for (Tensor& p : parts) p.requires_grad();
  const Tensor weights = (arange(static_cast<int64_t>(count) * 4) % 253).to(float32).reshape({-1, 4}).realize();
  const Made made;
  (cat(parts, 0) * weights).sum().backward();
  std::vector<Tensor> gradients;
  for (const Tensor& p : parts) gradients.push_back(p.grad());
  realize_all(gradients);
  CHECK(made.bodies <= 48);
  CHECK(made.launches <= 8);
  for (size_t i = 0; i < count; i += 97) {
    const auto first = static_cast<int64_t>(i) * 4;
    const auto at = [&](int64_t n) { return static_cast<float>((first + n) % 253); };
    CHECK(gradients[i].to_vector<float>() == std::vector<float>{at(0), at(1), at(2), at(3)});
  }
}

TEST_CASE("slices that differ in where they begin share one body", "[schedule][many-parts]") {
  const int64_t rows = 1000;
  const Tensor x = arange(rows * 6).to(float32).reshape({rows, 6}).realize();
  for (const int64_t axis : {0, 1}) {
    const Tensor of = axis == 0 ? x : x.transpose(0, 1).contiguous().realize();
    std::vector<Tensor> slices = of.split(1, axis);
    for (Tensor& s : slices) s = s * 2.0;
    const Made made;
    realize_all(slices);
    CHECK(made.bodies <= 2);
    for (size_t i = 0; i < slices.size(); i += 37) {
      std::vector<float> expected;
      for (int c = 0; c < 6; ++c) expected.push_back(static_cast<float>((i * 6 + static_cast<size_t>(c)) * 2));
      CHECK(slices[i].to_vector<float>() == expected);
    }
  }
}

TEST_CASE("a jitted function joins thousands of tensors", "[tensor][jit][many-parts]") {
  const OnCpu cpu;
  const Form& form = forms()[0];
  const std::vector<Tensor> parts = parts_of(form, 1000);
  auto f = jit([&](const Tensor& y) { return cat(parts, 0) + y; });
  for (int turn = 0; turn < 4; ++turn) {
    std::vector<float> expected = joined(form, 1000);
    for (float& e : expected) e += static_cast<float>(turn);
    CHECK(f(full({4}, static_cast<double>(turn)).realize()).to_vector<float>() == expected);
  }
}

TEST_CASE("cat of hundreds of small tensors takes a few bodies on a GPU", "[cuda][schedule][many-parts]") {
  const runtime_test::ScopedEnv device("SINTER_DEVICE", "cuda-sim");
  const Form& form = forms()[0];
  const std::vector<Tensor> parts = parts_of(form, 300, Device::cuda());
  const Made made;
  CHECK(cat(parts, 0).to_vector<float>() == joined(form, 300));
  CHECK(made.bodies <= 12);
  CHECK(made.launches <= 8);
}

TEST_CASE("rows of a tensor share a kernel on a GPU, which reads them in vectors", "[schedule]") {
  constexpr int64_t kRows = 1024;
  for (const int64_t parts : {4, 12}) {
    const Tensor x = zeros({parts * kRows, 512}).contiguous().realize();
    std::vector<Tensor> asked;
    for (int64_t i = 0; i < parts; ++i) asked.push_back(x.index({Slice(i * kRows, (i + 1) * kRows)}) * 2);
    const plan::KernelSources made = testing::explain(asked, runtime::cuda_target({}));
    REQUIRE(made.sources.size() == 1);
    INFO(made.sources[0].text);
    CHECK(made.scheduled.kernels[0].outer == std::vector<Dim>{kRows * 512});
    CHECK(made.sources[0].text.find("f32x4") != std::string::npos);
    for (const runtime::PlanStep& step : made.scheduled.plan.steps) {
      REQUIRE(step.outer.size() == 1);
      CHECK(step.outer[0].fixed == kRows * 512);
    }
  }
}
