// Kernels as the scheduler hands them over: loops over points, gates, scatters, several stores, symbolic sizes, Opts.
#include "codegen/kernel/access.h"
#include "ir/walk.h"
#include "runtime/program/host_target.h"
#include "sinter/error.h"
#include "unit/codegen_support.h"

using namespace codegen_test;
using codegen::Lanes;
using codegen::Unroll;

namespace {

Array indices(std::vector<int64_t> shape, std::vector<int64_t> values) {
  Array a(DType::I64, std::move(shape));
  for (size_t i = 0; i < values.size(); ++i) a.set(static_cast<int64_t>(i), Scalar::of(DType::I64, values[i]));
  return a;
}

/// A row-major product with bias and relu.
KernelHarness product(int64_t m, int64_t n, int64_t k) {
  KernelHarness b;
  UOp x = b.buffer(random_array(DType::F32, {m, k}, 1)), y = b.buffer(random_array(DType::F32, {k, n}, 2)),
      c = b.buffer(random_array(DType::F32, {n}, 3));
  UOp out = b.buffer(Array(DType::F32, {m, n}));
  UOp i = b.outer(m), j = b.outer(n), r = b.over(k, 2);
  UOp sum = b.reduce(Combine::Dot, {b.at(x, {i, r}), b.at(y, {r, j})}, {r});
  b.stores({b.put(out, {i, j}, maximum(sum + b.at(c, {j}), like(sum, 0.0)))});
  return b;
}

}  // namespace

TEST_CASE("points in any number of dims, in any pieces", "[codegen]") {
  for (auto [p, q, r] : {std::tuple<int64_t, int64_t, int64_t>{5, 7, 3}, {1, 4, 6}, {4, 1, 1}, {1, 1, 1}}) {
    KernelHarness b;
    UOp x = b.buffer(random_array(DType::F32, {p, q, r}, 1)), out = b.buffer(Array(DType::F32, {r, p, q}));
    UOp i = b.outer(p), j = b.outer(q), k = b.outer(r);
    b.stores({b.put(out, {k, i, j}, b.at(x, {i, j, k}) + cast(i * b.index(100) + k, DType::F32))});
    b.check({}, false);
  }
  KernelHarness scalar;
  UOp x = scalar.buffer(random_array(DType::F32, {9}, 1)), out = scalar.buffer(Array(DType::F32, {}));
  UOp k = scalar.over(9, 0);
  scalar.stores({scalar.put(out, {}, scalar.reduce(Combine::Add, {scalar.at(x, {k})}, {k}))});
  scalar.check();
}

TEST_CASE("address arithmetic stands outside the loops that do not change it", "[codegen]") {
  KernelHarness b = product(6, 9, 20);
  const std::string text = b.check();
  const size_t inner = text.find("// outer range 1"), row = text.find(" * 20");
  CHECK(count(text, " * 20") == 1);
  CHECK(row < inner);
}

TEST_CASE("a gated load does not touch memory where its gate is closed", "[codegen]") {
  KernelHarness b;  // one element of padding left and two right
  UOp x = b.buffer(random_array(DType::F32, {3, 5}, 1)), out = b.buffer(Array(DType::F32, {3, 8}));
  UOp i = b.outer(3), j = b.outer(8);
  UOp gate = le(b.index(1), j) & lt(j, b.index(6));
  b.stores({b.put(out, {i, j}, b.at(x, {i, j - b.index(1)}, gate, constant(b.g(), DType::F32, -3.0)))});
  b.check();
  b.check({Lanes{1, 4}});

  KernelHarness far;  // the address outside the gate is no memory at all
  UOp y = far.buffer(random_array(DType::F32, {4}, 1)), o = far.buffer(Array(DType::F32, {64}));
  UOp k = far.outer(64);
  far.stores({far.put(
      o, {k}, far.at(y, {k * far.index(int64_t{1} << 40)}, lt(k, far.index(1)), constant(far.g(), DType::F32, 7.0)))});
  far.check();
  far.check({Lanes{0, 8}});
}

TEST_CASE("a sum of products under a gate goes over what that leaves of its loops", "[codegen]") {
  for (const int64_t step : {1, 3}) {
    INFO("step " << step);
    KernelHarness b;
    UOp x = b.buffer(random_array(DType::F32, {6}, 1)), w = b.buffer(random_array(DType::F32, {4, 3}, 2)),
        out = b.buffer(Array(DType::F32, {12, 3}));
    UOp i = b.outer(12), c = b.outer(3), k = b.over(4, 2), zero = constant(b.g(), DType::F32, 0);
    UOp at = i - k * b.index(step), gate = le(b.index(0), at) & lt(at, b.index(6));
    b.stores({b.put(out, {i, c},
                    b.reduce(Combine::Dot, {where(gate, b.at(w, {k, c}), zero), b.at(x, {at}, gate, zero)}, {k}))});
    for (const std::vector<Opt>& opts : {std::vector<Opt>{}, {Lanes{1, 2}}, {codegen::Split{2, 2}}}) {
      const std::string text = b.check(opts);
      CHECK(count(text, "sn_max_i64(") > 0);
    }
    CHECK(count(b.check({Lanes{0, 4}}), "sn_max_i64(") == 0);  // lanes differ in what it leaves
  }

  KernelHarness far;  // where no turn is left, the address is no memory at all
  UOp y = far.buffer(random_array(DType::F32, {4}, 1)), z = far.buffer(random_array(DType::F32, {5}, 2)),
      o = far.buffer(Array(DType::F32, {8}));
  UOp i = far.outer(8), k = far.over(5, 1), zero = constant(far.g(), DType::F32, 0);
  UOp gate = lt(i * far.index(8) + k, far.index(4));
  far.stores({far.put(
      o, {i},
      far.reduce(Combine::Dot,
                 {where(gate, far.at(z, {k}), zero), far.at(y, {i * far.index(int64_t{1} << 40)}, gate, zero)}, {k}))});
  CHECK(count(far.check(), "sn_min_i64(") > 0);
}

TEST_CASE("gather: an index out of range raises the error word and is gated", "[codegen]") {
  for (bool bad : {false, true}) {
    KernelHarness b;
    UOp table = b.buffer(random_array(DType::F32, {6, 4}, 1)),
        where_ = b.buffer(indices({5}, {3, 0, bad ? 6 : 5, 2, 1})), out = b.buffer(Array(DType::F32, {5, 4}));
    UOp i = b.outer(5), j = b.outer(4);
    UOp row = cast(b.at(where_, {i}), DType::Index);
    UOp ok = le(b.index(0), row) & lt(row, b.index(6));
    UOp checked = b.g().make({Op::Check, DType::Index, {}, {row, ok}, int64_t{0}});
    b.stores({b.put(out, {i, j}, b.at(table, {checked, j}, ok, constant(b.g(), DType::F32, 0.0)))});
    b.check();
    b.check({Lanes{1, 4}});
    CHECK(b.error == (bad ? 1u : 0u));
  }
}

TEST_CASE("gather: lanes are checked together, and those whose gates are open are one instruction", "[codegen]") {
  constexpr int64_t kRows = 70;  // no multiple of any number of lanes
  for (const DType dtype : {DType::U8, DType::F16, DType::I32, DType::F32, DType::U64, DType::F64})
    for (const int lanes : {2, 8, 16, 32, 64})
      for (const int64_t bad : {int64_t{-1}, int64_t{0}, int64_t{13}, kRows - 1}) {  // whose index is out of range
        INFO(name_of(dtype) << ", " << lanes << " lanes, bad " << bad);
        KernelHarness b;
        Array numbers(DType::I64, {kRows});
        for (int64_t i = 0; i < kRows; ++i) numbers.set(i, Scalar::of(DType::I64, i == bad ? 9 : i * 5 % 9));
        UOp table = b.buffer(random_array(dtype, {kRows, 9, 3}, 1)), which = b.buffer(std::move(numbers)),
            out = b.buffer(Array(dtype, {kRows, 3}));
        UOp i = b.outer(kRows), j = b.outer(3), column = cast(b.at(which, {i}), DType::Index),
            ok = lt(column, b.index(9));
        UOp checked = b.g().make({Op::Check, DType::Index, {}, {column, ok}, int64_t{2}});
        b.stores({b.put(out, {i, j}, b.at(table, {i, checked, j}, ok, b.at(table, {i, b.index(1), j})))});
        const std::string text = b.check({Lanes{0, lanes}, Unroll{0, 2}}, bad == 13);
        const bool vector = runtime::host_target().masks && lanes >= 8 && size_of(dtype) >= 4;
        CHECK((count(text, "sn_gather_") > 0) == vector);
        CHECK((count(text, "if (!(sn_bits_") > 0) == vector);
        CHECK(b.error == (bad < 0 ? 0u : 4u));
      }
}

TEST_CASE("lanes apart are stored by calls in a remainder beside many whole steps", "[codegen]") {
  for (int size : {104, 92}) {
    KernelHarness b;
    UOp x = b.buffer(random_array(DType::F32, {size, 16, 5}, 1)), out = b.buffer(Array(DType::F32, {size, 16, 5}));
    UOp i = b.outer(16), c = b.outer(5), j = b.inner(size, 2);
    b.stores({b.put(out, {j, i, c}, b.at(x, {j, i, c}) + 1.0)});
    CHECK(count(b.check({Lanes{0, 16}, Unroll{2, 12}}), "sn_store_apart_f32x16(p") == (size == 104 ? 8 : 0));
  }
}

TEST_CASE("scatter: a zero fill, then sums in the order of the tokens", "[codegen]") {
  KernelHarness b;
  UOp grad = b.buffer(random_array(DType::F32, {9, 4}, 1)),
      token = b.buffer(indices({9}, {3, 0, 3, 3, 1, 0, 9, -1, 3})), out = b.buffer(random_array(DType::F32, {5, 4}, 2));
  UOp col = b.outer(4), row = b.inner(5, 1), t = b.inner(9, 2);
  UOp at = cast(b.at(token, {t}), DType::Index);
  UOp ok = le(b.index(0), at) & lt(at, b.index(5));
  b.stores({b.put(out, {row, col}, constant(b.g(), DType::F32, 0.0)),
            b.put(out, {at, col}, b.at(grad, {t, col}), true, ok)});
  const std::string text = b.check();
  CHECK(loops(text) == 3);
  b.check({Lanes{0, 4}});
  b.check({Unroll{2, 3}});
}

TEST_CASE("sums into memory have lanes along a loop that no element crosses", "[codegen]") {
  for (const bool crosses : {false, true}) {
    INFO(crosses);
    KernelHarness b;
    UOp grad = b.buffer(random_array(DType::F32, {3, 9, 8}, 1)),
        token = b.buffer(indices({9}, {3, 0, 3, 3, 1, 0, 2, 4, 3})),
        out = b.buffer(random_array(DType::F32, {3, 5, 16}, 2));
    UOp block = b.outer(3), col = b.inner(8, 1), t = b.inner(9, 2);
    UOp at = cast(b.at(token, {t}), DType::Index);
    b.stores({b.put(out, {block, at, crosses ? col + t : col}, b.at(grad, {block, t, col}), true)});
    CHECK((count(b.check({Lanes{1, 8}}), "f32x8") > 0) == !crosses);
    b.check({Unroll{1, 4}});
  }
}

TEST_CASE("stores in order: in place, and a load of what an earlier store wrote", "[codegen]") {
  KernelHarness b;  // Adam's moment, then the parameter, which reads the new moment from memory
  UOp m = b.buffer(random_array(DType::F32, {4, 6}, 1)), p = b.buffer(random_array(DType::F32, {4, 6}, 2)),
      g = b.buffer(random_array(DType::F32, {4, 6}, 3));
  UOp i = b.outer(4), j = b.outer(6);
  UOp rate = b.arg(Scalar::of(DType::F32, 0.1), DType::F32);
  b.stores({b.put(m, {i, j}, b.at(m, {i, j}) * 0.9 + b.at(g, {i, j}) * 0.1),
            b.put(p, {i, j}, b.at(p, {i, j}) - rate * b.at(m, {i, j}))});
  b.check();
  b.check({Lanes{1, 4}, Unroll{0, 2}});

  KernelHarness row;  // a row is summed before it is overwritten
  UOp x = row.buffer(random_array(DType::F32, {3, 7}, 4));
  UOp r = row.outer(3), c = row.inner(7, 1), k = row.over(7, 2);
  UOp sum = row.reduce(Combine::Add, {row.at(x, {r, k})}, {k});
  row.stores({row.put(x, {r, c}, row.at(x, {r, c}) / sum)});
  row.check();

  KernelHarness again;  // the same expression after the store is another value
  UOp y = again.buffer(random_array(DType::F32, {5}, 5)), z = again.buffer(Array(DType::F32, {5}));
  UOp q = again.outer(5);
  again.stores({again.put(y, {q}, again.at(y, {q}) + 1.0), again.put(z, {q}, again.at(y, {q}) + 1.0)});
  again.check();
}

TEST_CASE("a store that lacks outer ranges runs at their first index only", "[codegen]") {
  KernelHarness b;
  UOp x = b.buffer(random_array(DType::F32, {4, 5}, 1)), out = b.buffer(Array(DType::F32, {4, 5})),
      rows = b.buffer(Array(DType::F32, {4}));
  UOp columns = b.buffer(random_array(DType::F32, {5}, 2)), total = b.buffer(random_array(DType::F32, {}, 3)),
      fill = b.buffer(random_array(DType::F32, {5, 3}, 4));
  UOp i = b.outer(4), j = b.outer(5), k = b.over(5, 3), l = b.over(4, 2), f = b.inner(3, 4);
  UOp row = b.reduce(Combine::Add, {b.at(x, {i, k})}, {k}), column = b.reduce(Combine::Max, {b.at(x, {l, j})}, {l});
  b.stores({b.put(out, {i, j}, b.at(x, {i, j}) * 2.0), b.put(rows, {i}, row),
            b.put(columns, {j}, b.at(columns, {j}) + column),
            b.put(total, {}, b.at(total, {}) + b.reduce(Combine::Add, {b.at(x, {l, k})}, {l, k})),
            b.put(fill, {j, f}, b.at(fill, {j, f}) + 1.0)});
  b.check();
  b.check({Unroll{0, 3}});
}

TEST_CASE("symbolic sizes", "[codegen]") {
  for (int64_t n : {0, 1, 7, 64}) {
    Var batch("batch", 0, 64), width("width", 1, 100);
    Dim rows = batch(n), cols = width(13);
    KernelHarness b;
    UOp x = b.buffer(random_array(DType::F32, {n, 13}, 1), Shape{rows, cols}),
        out = b.buffer(Array(DType::F32, {n, 13}), Shape{rows, cols}),
        mean = b.buffer(Array(DType::F32, {13}), Shape{cols});
    UOp j = b.outer(cols), i = b.inner(rows, 1), k = b.over(rows, 2);
    UOp sum = b.reduce(Combine::Add, {b.at(x, {k, j})}, {k}, n == 7 ? ReductionTree{4, 8} : ReductionTree{});
    UOp average = sum / cast(b.size(rows), DType::F32);
    b.stores({b.put(out, {i, j}, b.at(x, {i, j}) - average), b.put(mean, {j}, average)});
    b.check({}, n == 7);
  }
}

TEST_CASE("launch arguments of every type", "[codegen]") {
  KernelHarness b;
  std::vector<UOp> stores;
  UOp i = b.outer(2);
  for (DType d : {DType::Bool, DType::U8, DType::I8, DType::I16, DType::U32, DType::I32, DType::U64, DType::I64,
                  DType::F32, DType::F64}) {
    UOp a = b.arg(Scalar::of(d, is_unsigned(d) ? 1.0 : -3.5), d);
    stores.push_back(b.put(b.buffer(Array(d, {2})), {i}, a));
  }
  b.stores(std::move(stores));
  b.check();
}

TEST_CASE("Opts change the loops and not one bit", "[codegen]") {
  KernelHarness b = product(13, 37, 11);
  const std::string plain = b.check();
  CHECK(count(plain, "f32x16") == 0);
  const std::string tiled = b.check({Unroll{0, 4}, Lanes{1, 16}});
  CHECK(count(tiled, "f32x16 acc") == 10);  // 4 copies, and the one row that is left; each once more for 5 columns
  b.check({Lanes{1, 8}});
  b.check({Unroll{1, 5}});
  b.check({Unroll{0, 2}, Unroll{1, 3}});

  KernelHarness dots;  // reductions with lanes of their own beside register copies
  UOp x = dots.buffer(random_array(DType::F32, {6, 40}, 1)), y = dots.buffer(random_array(DType::F32, {10, 40}, 2)),
      out = dots.buffer(Array(DType::F32, {6, 10}));
  UOp i = dots.outer(6), j = dots.outer(10), k = dots.over(40, 2);
  dots.stores(
      {dots.put(out, {i, j}, dots.reduce(Combine::Dot, {dots.at(x, {i, k}), dots.at(y, {j, k})}, {k}, {16, 0}))});
  dots.check({Unroll{1, 4}});
  dots.check({Unroll{0, 2}, Unroll{1, 4}});
  dots.check({Lanes{1, 16}});  // a chain per element of the ReductionTree, each a vector
  dots.check({Lanes{0, 4}, Unroll{2, 16}});
}

TEST_CASE("numbers of Opts that nothing has are refused", "[codegen]") {
  KernelHarness b = product(13, 37, 11);
  constexpr int64_t kHuge = INT64_MAX;
  constexpr int kHugeInt = INT32_MAX;
  const std::vector<UOp> nodes = topological(codegen::normalize(b.kernel).main.sink);
  const auto load = std::find_if(nodes.begin(), nodes.end(),
                                 [](UOp n) { return n->op == Op::Load && codegen::indices_of(n).size() == 2; });
  const int place = static_cast<int>(load - nodes.begin());  // of a factor
  refused(b, {Lanes{1, 3}}, "2, 4, 8, ... 256 elements");
  refused(b, {Unroll{7, 2}}, "no range of that id");
  refused(b, {codegen::TaskBlock{0, kHuge}}, "2^57 values");
  refused(b, {codegen::Split{2, kHuge}}, "2^57 values");
  refused(b, {codegen::TileCopy{place, {{2, kHugeInt}}}}, "a loop that has loops inside");
  refused(b, {codegen::TileCopy{place, {{2, -1, 1, 1, 65536, 65536}}}}, "1 to 1024 threads");
  refused(b, {codegen::ThreadBind{0, 65536, 65536}}, "2 to 1024 threads");
  refused(b, {codegen::ThreadBind{0, 4, 1}}, "on GPUs only");
  refused(b, {codegen::Prefetch{place, 2, kHuge}}, "distance is too large");
}

TEST_CASE("vectors along an inner range, with strided and scattered accesses", "[codegen]") {
  KernelHarness b;
  UOp x = b.buffer(random_array(DType::F32, {19, 5}, 1)),
      t = b.buffer(indices({19}, {4, 0, 1, 2, 3, 4, 4, 0, 1, 3, 2, 1, 0, 4, 3, 2, 1, 0, 2})),
      out = b.buffer(Array(DType::F32, {5, 19})), flipped = b.buffer(Array(DType::F32, {5, 19}));
  UOp i = b.outer(5), j = b.inner(19, 1);
  UOp v = b.at(x, {j, i}) + b.at(x, {idiv(j * b.index(7), b.index(8)), mod(i + j, b.index(5))}) +
          b.at(x, {b.index(3), cast(b.at(t, {j}), DType::Index)});
  b.stores({b.put(out, {i, j}, v), b.put(flipped, {i, b.index(18) - j}, v * cast(j, DType::F32))});
  b.check();
  b.check({Lanes{1, 8}});
}

TEST_CASE("equal kernels have equal names, others different ones", "[codegen]") {
  const runtime::Target target = runtime::reference_target();
  const runtime::KernelSource a = codegen::generate_source(product(6, 9, 20).kernel, target),
                              b = codegen::generate_source(product(6, 9, 20).kernel, target),
                              c = codegen::generate_source(product(6, 9, 21).kernel, target);
  CHECK(a.name == b.name);
  CHECK(a.text == b.text);
  CHECK(a.name != c.name);
  CHECK(a.name.starts_with("test_"));
  CHECK_FALSE(a.has_epilogue);
}

TEST_CASE("kernels that share a translation unit compute what they do alone", "[codegen]") {
  runtime_test::FreshCache cache;
  runtime::Target target = runtime::host_target();
  target.threads = 1;  // two units at most
  std::vector<KernelHarness> benches;
  std::vector<runtime::KernelSource> sources;
  for (int64_t n : {3, 4, 5}) {
    benches.push_back(product(n, 9, 20));
    sources.push_back(codegen::generate_source(benches.back().kernel, target));
  }
  const auto programs = runtime::compile(sources, target);
  for (size_t i = 0; i < sources.size(); ++i) {
    CHECK(programs[i]->name() == sources[i].name);
    const std::vector<Array> before = benches[i].interpret();
    benches[i].compare("of a shared unit", *programs[i], before);
  }
}

TEST_CASE("a kernel may have any number of loops", "[codegen]") {
  KernelHarness b;
  UOp x = b.buffer(random_array(DType::I32, {3, 200}, 1)), out = b.buffer(Array(DType::I32, {3}));
  UOp i = b.outer(3), total;
  for (int id = 1; id < 180; ++id) {
    UOp r = b.over(1 + id % 5, id);
    UOp sum = b.reduce(Combine::Add, {b.at(x, {i, r * b.index(id % 7)})}, {r});
    total = total ? total * b.reduce(Combine::Max, {sum}, {b.over(2, 1000 + id)}) : sum;
  }
  b.stores({b.put(out, {i}, total)});
  b.check();
}

TEST_CASE("names of variables do not reach the text", "[codegen]") {
  KernelHarness b;
  const Var n("rows\n}; int evil; /* \\", 1, 40);
  UOp x = b.buffer(random_array(DType::F32, {40}, 1), {n(40)}), out = b.buffer(Array(DType::F32, {40}), {n(40)});
  UOp i = b.outer(n(40));
  b.stores({b.put(out, {i}, b.at(x, {i}) * b.at(x, {i}))});
  const std::string text = b.check();
  for (size_t at = text.find("evil"); at != std::string::npos; at = text.find("evil", at + 1)) {
    const size_t line = text.rfind('\n', at) + 1;
    CHECK(text.substr(line, at - line).find("//") != std::string::npos);
  }
  CHECK(text.find('\\') == std::string::npos);
}

TEST_CASE("malformed kernels are refused", "[codegen]") {
  KernelHarness b;
  UOp x = b.buffer(random_array(DType::F32, {4}, 1)), out = b.buffer(Array(DType::F32, {4}));
  UOp i = b.outer(4), k = b.over(4, 1);
  b.stores({b.put(out, {i}, b.at(x, {k}))});  // a reduced range that no REDUCE closes
  CHECK_THROWS_AS(codegen::generate_source(b.kernel, runtime::host_target()), InternalError);
}
