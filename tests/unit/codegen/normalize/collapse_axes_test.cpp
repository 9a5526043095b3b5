#include <limits>

#include "codegen/normalize/normalize.h"
#include "ir/verify.h"
#include "ir/walk.h"
#include "unit/codegen_support.h"

using namespace codegen_test;

namespace {

using Sizes = std::vector<Dim>;

/// Joins, and compares with what the interpreter gave before; the sizes that are left.
Sizes joined(KernelHarness& b) {
  std::vector<Array> given = b.interpret();
  std::swap(given, b.arrays);
  codegen::collapse_axes(b.kernel);
  verify_kernel(b.kernel.sink, "collapse_axes");
  b.check({}, false);
  b.require_equal("the kernel before", given);
  const Sizes once = b.kernel.outer;
  codegen::collapse_axes(b.kernel);
  CHECK(b.kernel.outer == once);
  return once;
}

std::vector<Shape> params(const KernelHarness& b) {
  std::vector<Shape> out(static_cast<size_t>(b.kernel.params));
  for (UOp n : topological(b.kernel.sink))
    if (n->op == Op::Param) out[static_cast<size_t>(n->integer())] = n->shape;
  return out;
}

}  // namespace

TEST_CASE("ranges that go on where the next one ends are one, and dims with them", "[codegen][pieces]") {
  KernelHarness b;  // out[i, j, k, l] = x[i, j, k, l] * w[i] + their number, where x lies as [i, j * k * l]
  UOp x = b.buffer(random_array(DType::F32, {4, 30}, 1)), w = b.buffer(random_array(DType::F32, {4}, 2)),
      out = b.buffer(Array(DType::F32, {4, 2, 3, 5}));
  UOp i = b.outer(4), j = b.outer(2), k = b.outer(3), l = b.outer(5), inside = (j * b.index(3) + k) * b.index(5) + l;
  UOp number = cast(i * b.index(30) + inside, DType::F32);
  SECTION("all of them") {
    b.stores({b.put(out, {i, j, k, l}, b.at(x, {i, inside}) + number)});
    CHECK(joined(b) == Sizes{120});
    CHECK(params(b) == std::vector<Shape>{{120}, {}, {120}});
    for (UOp n : topological(b.kernel.sink))
      CHECK((n->dtype != DType::Index || n->op == Op::Range || n->op == Op::Const));
  }
  SECTION("the inner ones, where a row has a number of its own") {
    b.stores({b.put(out, {i, j, k, l}, b.at(x, {i, inside}) * b.at(w, {i}) + number)});
    CHECK(joined(b) == Sizes{4, 30});
    CHECK(params(b) == std::vector<Shape>{{4, 30}, {4}, {4, 30}});
  }
  SECTION("where an index is cut into what makes it up") {
    UOp cut = b.at(x, {idiv(i * b.index(30) + inside, b.index(30)), mod(i * b.index(30) + inside, b.index(30))});
    b.stores({b.put(out, {i, j, k, l}, cut + number)});
    CHECK(joined(b) == Sizes{120});
  }
  SECTION("not where a gate, a quotient or a value asks for one of them") {
    const int64_t which = GENERATE(0, 1, 2);
    UOp zero = constant(b.g(), DType::F32, 0.0), value = b.at(x, {i, inside});
    if (which == 0) value = b.at(x, {i, inside}, lt(k, b.index(2)), zero);
    if (which == 1) value = value + cast(idiv(k + b.index(1), b.index(2)), DType::F32);
    if (which == 2) value = value + cast(k, DType::F32);
    b.stores({b.put(out, {i, j, k, l}, value)});
    CHECK(joined(b) == Sizes{8, 3, 5});
  }
}

TEST_CASE("ranges that lie otherwise for one access stay", "[codegen][pieces]") {
  KernelHarness b;
  const int64_t n = 6, m = 4;
  UOp x = b.buffer(random_array(DType::F32, {n, m}, 1)), turned = b.buffer(random_array(DType::F32, {m, n}, 2)),
      out = b.buffer(Array(DType::F32, {n, m}));
  UOp total = b.buffer(Array(DType::F32, {n}));
  UOp i = b.outer(n), j = b.outer(m), value = b.at(x, {i, j});
  SECTION("a transposed operand") {
    b.stores({b.put(out, {i, j}, value + b.at(turned, {j, i}))});
    CHECK(joined(b) == Sizes{n, m});
  }
  SECTION("a store at the first index of one of them") {
    b.stores({b.put(out, {i, j}, value), b.put(total, {i}, b.at(x, {i, b.index(1)}))});
    CHECK(joined(b) == Sizes{n, m});
  }
  SECTION("a store at the first index of both") {
    b.stores({b.put(out, {i, j}, value), b.put(total, {b.index(2)}, b.at(x, {b.index(3), b.index(1)}))});
    CHECK(joined(b) == Sizes{n * m});
  }
  SECTION("a bound that depends on one of them") {
    UOp k = range(i + b.index(1), 2, AxisKind::Inner);
    b.stores({b.put(out, {i, j}, value + b.reduce(Combine::Add, {cast(k, DType::F32)}, {k}))});
    CHECK(joined(b) == Sizes{n, m});
  }
}

TEST_CASE("batches and rows of a product that lie in one piece are its rows", "[codegen][pieces]") {
  KernelHarness b;  // y [n, r, o] = x [n, r, c] * w [c, o]
  const int64_t n = 3, r = 5, c = 20, o = 33;
  UOp x = b.buffer(random_array(DType::F32, {n, r, c}, 1)), w = b.buffer(random_array(DType::F32, {c, o}, 2)),
      out = b.buffer(Array(DType::F32, {n, r, o}));
  UOp batch = b.outer(n), row = b.outer(r), column = b.outer(o), k = b.over(c, 3);
  b.stores({b.put(out, {batch, row, column},
                  b.reduce(Combine::Dot, {b.at(x, {batch, row, k}), b.at(w, {k, column})}, {k}))});
  CHECK(joined(b) == Sizes{n * r, o});
  CHECK(params(b) == std::vector<Shape>{{n * r, c}, {c, o}, {n * r, o}});
}

TEST_CASE("sizes that are variables keep their ranges, and what has them its dims", "[codegen][pieces]") {
  const Var size("pieces_n", 1, 9);
  KernelHarness b;
  UOp x = b.buffer(random_array(DType::F32, {7, 4, 3}, 1), {size(7), 4, 3}),
      y = b.buffer(random_array(DType::F32, {4, 3}, 2));
  UOp out = b.buffer(Array(DType::F32, {7, 4, 3}), {size(7), 4, 3});
  UOp i = b.outer(size(7)), j = b.outer(4), k = b.outer(3);
  b.stores({b.put(out, {i, j, k}, b.at(x, {i, j, k}) + b.at(y, {j, k}))});
  CHECK(joined(b) == Sizes{size(7), 4, 3});
}
