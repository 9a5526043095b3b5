// Element types, sizes and their texts.
#include <sstream>

#include "catch.h"
#include "sinter/device.h"
#include "sinter/dtype.h"
#include "sinter/error.h"
#include "sinter/shape.h"

using namespace sinter;

TEST_CASE("promotion is symmetric, idempotent and follows the table") {
  for (int i = 0; i <= static_cast<int>(DType::F64); ++i)
    for (int j = 0; j <= static_cast<int>(DType::F64); ++j) {
      auto a = static_cast<DType>(i), b = static_cast<DType>(j);
      CHECK(promote(a, b) == promote(b, a));
      CHECK(promote(a, promote(a, b)) == promote(a, b));
    }
  CHECK(promote(DType::I64, DType::F32) == DType::F32);
  CHECK(promote(DType::U8, DType::I8) == DType::I16);
  CHECK(promote(DType::U64, DType::I64) == DType::I64);
  CHECK(promote(DType::F16, DType::BF16) == DType::F32);
  CHECK(promote(DType::Bool, DType::U8) == DType::U8);
}

TEST_CASE("a symbolic size matches only itself") {
  Var batch("batch", 1, 256);
  CHECK(batch(96) == Var("batch", 1, 256)(96));
  CHECK_FALSE(batch(96) == batch(95));
  CHECK_FALSE(batch(96) == Dim(96));
  CHECK(batch(7).bound() == 256);
  CHECK_THROWS_AS(static_cast<int64_t>(batch(7)), UsageError);
  CHECK_THROWS_AS(batch(257), UsageError);
  CHECK_THROWS_AS(Var("n", 3, 2), UsageError);
  CHECK(to_string(Shape{batch(7), 10}) == "[batch=7, 10]");
}

TEST_CASE("a shape is indexed from both ends and counts its elements with care") {
  const Shape shape{2, 3, 4};
  CHECK(shape[-1] == 4);
  CHECK(shape[size_t{0}] == 2);
  CHECK(shape[-3] == shape[0]);
  for (int axis : {3, -4}) CHECK_THROWS_AS(shape[axis], UsageError);
  CHECK_THROWS_AS(shape[~size_t{0}], UsageError);
  CHECK_THROWS_AS(Shape()[0], UsageError);
  Shape other = shape;
  other[-2] = 7;
  CHECK(other == Shape{2, 7, 4});

  constexpr int64_t most = Shape::kMaxElements;
  CHECK(Shape{most}.numel() == most);
  CHECK(Shape{0, most}.numel() == 0);
  for (const Shape& large :
       {Shape{most, 2}, Shape{0, most, 2}, Shape{most + 1}, Shape{int64_t{1} << 32, int64_t{1} << 32}}) {
    CHECK_FALSE(large.countable());
    CHECK_THROWS_AS(large.numel(), UsageError);
    CHECK_THROWS_AS(large.bound(), UsageError);
  }
  CHECK_FALSE(Shape{Var("n", 0, most + 1)(1)}.countable());
}

TEST_CASE("sizes are integers of any type, and values print themselves") {
  const size_t n = 3;
  CHECK(Shape{n, 4u, short{2}} == Shape{3, 4, 2});
  CHECK(Shape{n}[0] == n);
  CHECK_FALSE(Dim(-1) == ~size_t{0});
  std::ostringstream text;
  text << Shape{2, Var("batch", 1, 8)(3)} << ' ' << Dim(7) << ' ' << float32 << ' ' << Device::cpu();
  CHECK(text.str() == "[2, batch=3] 7 float32 cpu");
}
