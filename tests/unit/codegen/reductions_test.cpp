// Reductions in generated code: every combine, tree and shape of loops, against the interpreter to the bit.
#include "sinter/error.h"
#include "unit/codegen_support.h"

using namespace codegen_test;

TEST_CASE("a product takes the order of its tree", "[codegen]") {
  for (ReductionTree tree : {ReductionTree{1, 0}, ReductionTree{4, 0}, ReductionTree{16, 0}, ReductionTree{1, 8},
                             ReductionTree{4, 8}, ReductionTree{16, 64}})
    for (int64_t k : {1, 5, 16, 77}) {
      INFO("lanes " << tree.lanes << " block " << tree.block << " of " << k);
      KernelHarness b;
      UOp x = b.buffer(random_array(DType::F32, {6, k}, 1)), y = b.buffer(random_array(DType::F32, {5, k}, 2)),
          out = b.buffer(Array(DType::F32, {6, 5}));
      UOp i = b.outer(6), j = b.outer(5), r = b.over(k, 2);
      b.stores({b.put(out, {i, j}, b.reduce(Combine::Dot, {b.at(x, {i, r}), b.at(y, {j, r})}, {r}, tree) * 2.0)});
      const std::string text = b.check({}, tree == ReductionTree{16, 64});
      if (tree == ReductionTree{16, 0} && k == 77) CHECK(count(text, "f32x16 acc") == 1);
    }
}

TEST_CASE("every combine on every type", "[codegen]") {
  for (DType dtype :
       {DType::F32, DType::F64, DType::I32, DType::I64, DType::U8, DType::Bool, DType::U32, DType::U64, DType::I8})
    for (Combine combine : {Combine::Add, Combine::Mul, Combine::Max, Combine::Min, Combine::Dot})
      for (ReductionTree tree : {ReductionTree{1, 0}, ReductionTree{8, 0}}) {
        INFO(name_of(dtype) << " combine " << static_cast<int>(combine) << " lanes " << tree.lanes);
        KernelHarness b;
        UOp x = b.buffer(random_array(dtype, {3, 21}, 1)), y = b.buffer(random_array(dtype, {21}, 2)),
            out = b.buffer(Array(dtype, {3}));
        UOp i = b.outer(3), k = b.over(21, 1);
        std::vector<UOp> values{b.at(x, {i, k})};
        if (combine == Combine::Dot) values.push_back(b.at(y, {k}));
        b.stores({b.put(out, {i}, b.reduce(combine, values, {k}, tree))});
        b.check({}, false);
        const std::string text =
            b.check({codegen::Lanes{1, 8},
                     codegen::Unroll{1, 2}});  // integers have a chain per lane, as floats with such a tree
        CHECK((count(text, "x8 acc") > 0) == (tree.lanes == 8 || !is_float(dtype)));
      }
}

TEST_CASE("NaN passes through max and min, and an empty reduction is the identity", "[codegen]") {
  KernelHarness b;
  Array data = random_array(DType::F32, {4, 20}, 3);
  data.set(27, Scalar::of(DType::F32, std::nan("")));
  data.set(45, Scalar::of(DType::F32, std::nan("")));
  UOp x = b.buffer(std::move(data)), top = b.buffer(Array(DType::F32, {4})), bottom = b.buffer(Array(DType::F32, {4})),
      none = b.buffer(Array(DType::F32, {4}));
  UOp i = b.outer(4), k = b.over(20, 1), zero = b.over(0, 2);
  b.stores({b.put(top, {i}, b.reduce(Combine::Max, {b.at(x, {i, k})}, {k}, {16, 0})),
            b.put(bottom, {i}, b.reduce(Combine::Min, {b.at(x, {i, k})}, {k})),
            b.put(none, {i}, b.reduce(Combine::Max, {b.at(x, {i, zero})}, {zero}, {4, 0}))});
  b.check();
}

TEST_CASE("several reduced ranges are one row-major sequence", "[codegen]") {
  for (ReductionTree tree :
       {ReductionTree{1, 0}, ReductionTree{8, 0}, ReductionTree{16, 0}, ReductionTree{1, 10}, ReductionTree{4, 32}})
    for (int64_t n : {16, 7}) {
      INFO("lanes " << tree.lanes << " block " << tree.block << " last " << n);
      KernelHarness b;
      UOp x = b.buffer(random_array(DType::F32, {3, 5, 2, n}, 1)), out = b.buffer(Array(DType::F32, {2}));
      UOp j = b.outer(2), a = b.over(3, 1), c = b.over(5, 2), d = b.over(n, 3);
      b.stores({b.put(out, {j}, b.reduce(Combine::Add, {b.at(x, {a, c, j, d})}, {a, c, d}, tree))});
      b.check({}, false);
    }
}

TEST_CASE("a reduction inside a reduction, also over the same range", "[codegen]") {
  KernelHarness b;
  UOp x = b.buffer(random_array(DType::F32, {4, 9, 6}, 1)), out = b.buffer(Array(DType::F32, {4})),
      spread = b.buffer(Array(DType::F32, {4}));
  UOp i = b.outer(4), k = b.over(9, 1), l = b.over(6, 2);
  UOp rows = b.reduce(Combine::Max, {b.at(x, {i, k, l})}, {l}, {2, 0});
  UOp mean = b.reduce(Combine::Add, {rows}, {k}) / 9.0;
  UOp off = rows - mean;
  b.stores({b.put(out, {i}, mean), b.put(spread, {i}, b.reduce(Combine::Add, {off * off}, {k}))});
  b.check();
}

TEST_CASE("softmax: siblings by dependence, one loop where there is none", "[codegen]") {
  for (int lanes : {1, 16}) {
    KernelHarness b;
    UOp x = b.buffer(random_array(DType::F32, {5, 37}, 1)), out = b.buffer(Array(DType::F32, {5, 37})),
        least = b.buffer(Array(DType::F32, {5}));
    UOp i = b.outer(5), j = b.inner(37, 1), k = b.over(37, 2);
    ReductionTree tree{lanes, 0};
    UOp top = b.reduce(Combine::Max, {b.at(x, {i, k})}, {k}, tree),
        bottom = b.reduce(Combine::Min, {b.at(x, {i, k})}, {k}, tree);
    UOp total = b.reduce(Combine::Add, {exp(b.at(x, {i, k}) - top)}, {k}, tree);
    b.stores({b.put(out, {i, j}, exp(b.at(x, {i, j}) - top) / total), b.put(least, {i}, bottom)});
    const std::string text = b.check();
    // Rows; max with min; sum of exponentials; the output. The tails of the two with lanes have a limit and no loop.
    CHECK(loops(text) == 4);
    CHECK(count(text, "// inner range 2 of 37") == 2);
    CHECK((count(text, "sn_below") > 0) == (lanes > 1));
  }
}

TEST_CASE("a reduction is computed where its free ranges are open, not further inside", "[codegen]") {
  KernelHarness b;
  UOp x = b.buffer(random_array(DType::F32, {6, 8}, 1)), y = b.buffer(random_array(DType::F32, {6, 10}, 2)),
      out = b.buffer(Array(DType::F32, {6, 10}));
  UOp i = b.outer(6), j = b.outer(10), k = b.over(8, 2);
  b.stores({b.put(out, {i, j}, b.at(y, {i, j}) * b.reduce(Combine::Add, {b.at(x, {i, k})}, {k}))});
  const std::string text = b.check({codegen::TaskBlock{1, 10}});
  const size_t reduce = text.find("// inner range 2"), inner = text.find("// outer range 1");
  REQUIRE((reduce != std::string::npos && inner != std::string::npos));
  CHECK(reduce < inner);
}

TEST_CASE("sibling loops of a row are one range", "[codegen]") {
  for (int64_t n : {1, 5, 37, 64}) {
    INFO("rows of " << n);
    KernelHarness b;
    UOp x = b.buffer(random_array(DType::F32, {6, n}, 1)), out = b.buffer(Array(DType::F32, {6, n})),
        top = b.buffer(Array(DType::F32, {6})), sums = b.buffer(Array(DType::F32, {6}));
    UOp i = b.outer(6), j = b.inner(n, 1);
    UOp v = b.at(x, {i, j}), m = b.reduce(Combine::Max, {v}, {j}, {16, 0});
    UOp e = exp(v - m), s = b.reduce(Combine::Add, {e}, {j}, {16, 0});
    b.stores({b.put(out, {i, j}, e / s), b.put(top, {i}, m), b.put(sums, {i}, s)});
    b.check();
  }
}

TEST_CASE("a block of an outer range, the last one shorter", "[codegen]") {
  for (int64_t rows : {32, 37, 3}) {
    INFO("rows " << rows);
    KernelHarness b;
    constexpr int64_t block = 8, width = 5;
    UOp x = b.buffer(random_array(DType::F32, {rows, width}, 1)), out = b.buffer(Array(DType::F32, {rows, width})),
        part = b.buffer(Array(DType::F32, {(rows + block - 1) / block, width}));
    UOp at = b.outer((rows + block - 1) / block), size = b.index(block);
    UOp bound = minimum(b.index(rows) - at * size, size);
    UOp ii = range(bound, 1, AxisKind::Inner), j = b.inner(width, 2), k = b.over(width, 3);
    UOp i = at * size + ii;
    UOp mean = b.reduce(Combine::Add, {b.at(x, {i, k})}, {k}) * 0.2;
    UOp again = range(bound, 4, AxisKind::Inner);
    UOp r = at * size + again;
    b.stores({b.put(out, {i, j}, b.at(x, {i, j}) - mean),
              b.put(part, {at, j}, b.reduce(Combine::Add, {b.at(x, {r, j}) * 2.0}, {again}))});
    b.check();
  }
}

TEST_CASE("several accumulators: every combine, tree and result", "[codegen][tuples]") {
  for (DType dtype : {DType::F32, DType::F64, DType::I32, DType::U8})
    for (Combine combine : {Combine::ArgMax, Combine::ArgMin, Combine::Moments, Combine::ExpSum})
      for (ReductionTree tree : {ReductionTree{1, 0}, ReductionTree{8, 0}, ReductionTree{16, 0}, ReductionTree{16, 32},
                                 ReductionTree{1, 10}}) {
        const bool places = combine == Combine::ArgMax || combine == Combine::ArgMin;
        if (!places && !is_float(dtype)) continue;
        INFO(name_of(dtype) << " combine " << static_cast<int>(combine) << " lanes " << tree.lanes << " block "
                            << tree.block);
        KernelHarness b;
        Array data = random_array(dtype, {3, 77}, 1);
        for (int64_t i : {5, 11, 40, 76, 80, 82}) data.set(i, Scalar::of(dtype, 11));  // ties
        UOp x = b.buffer(std::move(data)), y = b.buffer(random_array(dtype, {77}, 2));
        UOp i = b.outer(3), k = b.over(77, 1);
        std::vector<UOp> values{b.at(x, {i, k})};
        if (places) values.push_back(cast(k, DType::I64));
        if (combine == Combine::ExpSum) values.push_back(b.at(y, {k}));
        if (combine == Combine::Moments) values = {like(values[0], 1.0), values[0], like(values[0], 0.0)};
        std::vector<UOp> stores;
        for (int r = 0; r < accumulator_count(combine); ++r) {
          UOp v = b.reduce(combine, values, {k}, tree, r);
          stores.push_back(b.put(b.buffer(Array(v->dtype, {3})), {i}, v));
        }
        b.stores(std::move(stores));
        const std::string text = b.check({}, tree == ReductionTree{16, 0} && dtype == DType::F32);
        if (tree.block == 0) CHECK(count(text, "// inner range 1") == 1);  // all accumulators in one loop
      }
}

TEST_CASE("chains share the count of a Moments where each step has an element for all of them", "[codegen][tuples]") {
  const auto divisions = [](int64_t size, std::vector<codegen::Opt> opts) {  // in the text of the innermost loop
    KernelHarness b;
    UOp x = b.buffer(random_array(DType::F32, {3, 2, size}, 1)), i = b.outer(3), j = b.over(2, 1), k = b.over(size, 2);
    const UOp v = b.at(x, {i, j, k});
    std::vector<UOp> stores;
    for (int r = 0; r < 3; ++r)
      stores.push_back(
          b.put(b.buffer(Array(DType::F32, {3})), {i},
                b.reduce(Combine::Moments, {like(v, 1.0), v, like(v, 0.0)}, {j, k}, ReductionTree{16, 0}, r)));
    b.stores(std::move(stores));
    const std::string text = b.check(opts, false);
    const size_t loop = text.find("// inner range 2"), end = text.find('}', loop);
    return count(text.substr(loop, end - loop), " / ");
  };
  using namespace codegen;
  CHECK(divisions(96, {Lanes{2, 4}, Unroll{2, 4}}) == 1);
  CHECK(divisions(96, {Lanes{2, 8}, Unroll{2, 2}}) == 1);
  CHECK(divisions(96, {Lanes{2, 8}, Unroll{2, 2}, Cut{2, {32}}}) == 1);
  CHECK(divisions(96, {Lanes{2, 8}, Unroll{2, 4}}) == 2);                // two elements for each chain
  CHECK(divisions(96, {Lanes{2, 8}, Unroll{2, 2}, Unroll{0, 3}}) == 3);  // three results
  CHECK(divisions(77, {Lanes{2, 8}, Unroll{2, 2}}) == 2);
}

TEST_CASE("special numbers in several accumulators", "[codegen][tuples]") {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  for (Combine combine : {Combine::ArgMax, Combine::ArgMin, Combine::Moments, Combine::ExpSum})
    for (ReductionTree tree : {ReductionTree{1, 0}, ReductionTree{16, 0}, ReductionTree{16, 20}})
      for (double special : {inf, -inf, nan, 1e30}) {
        INFO("combine " << static_cast<int>(combine) << " lanes " << tree.lanes << " special " << special);
        KernelHarness b;
        Array data = random_array(DType::F32, {3, 37}, 1);
        for (int64_t i : {0, 20, 37 + 36}) data.set(i, Scalar::of(DType::F32, special));
        for (int64_t i = 74; i < 111; ++i) data.set(i, Scalar::of(DType::F32, special));
        UOp x = b.buffer(std::move(data));
        UOp i = b.outer(3), k = b.over(37, 1), v = b.at(x, {i, k});
        std::vector<UOp> values{v, combine == Combine::ExpSum ? like(v, 1.0) : cast(k, DType::I64)};
        if (combine == Combine::Moments) values = {like(v, 1.0), v, like(v, 0.0)};
        std::vector<UOp> stores;
        for (int r = 0; r < accumulator_count(combine); ++r) {
          UOp made = b.reduce(combine, values, {k}, tree, r);
          stores.push_back(b.put(b.buffer(Array(made->dtype, {3})), {i}, made));
        }
        b.stores(std::move(stores));
        b.check({}, false);
        if (combine == Combine::ArgMax && special == nan) {
          CHECK(b.arrays[2].at(0).as_int() == 0);  // the first NaN
          CHECK(b.arrays[2].at(1).as_int() == 36);
          CHECK(b.arrays[2].at(2).as_int() == 0);
        }
      }
}

TEST_CASE("scans emit as they go", "[codegen][scan]") {
  for (DType dtype : {DType::F32, DType::I64, DType::U8, DType::Bool})
    for (Combine combine : {Combine::Add, Combine::Mul, Combine::Max}) {
      INFO(name_of(dtype) << " combine " << static_cast<int>(combine));
      KernelHarness b;
      UOp x = b.buffer(random_array(dtype, {5, 21}, 1)), out = b.buffer(Array(dtype, {5, 21})),
          total = b.buffer(Array(dtype, {5}));
      UOp i = b.outer(5), j = b.inner(21, 1);
      UOp v = b.at(x, {i, j});
      b.stores({b.put(out, {i, j}, b.scan(combine, {v}, {j})), b.put(total, {i}, b.reduce(combine, {v}, {j}))});
      b.check({}, dtype == DType::F32);
      for (int64_t row = 0; row < 5; ++row) CHECK(b.arrays[1].at(row * 21 + 20) == b.arrays[2].at(row));
    }
}

TEST_CASE("a scan beside others: vectors across it, sums inside it, two of its prefixes, rows before it",
          "[codegen][scan]") {
  KernelHarness b;
  UOp x = b.buffer(random_array(DType::F32, {3, 9, 37}, 1)), y = b.buffer(random_array(DType::F32, {9, 6}, 2));
  UOp sums = b.buffer(Array(DType::F32, {3, 9, 37})), shifted = b.buffer(Array(DType::F32, {3, 9, 37}));
  UOp a = b.outer(3), c = b.outer(37), t = b.inner(9, 2), k = b.over(6, 3), l = b.over(9, 4);
  UOp top = b.reduce(Combine::Max, {b.at(x, {a, l, c})}, {l});
  UOp dot = b.reduce(Combine::Dot, {b.at(y, {t, k}), b.at(y, {t, k})}, {k});
  UOp prefix = b.scan(Combine::Add, {(b.at(x, {a, t, c}) - top) * dot}, {t});
  UOp most = b.scan(Combine::Max, {b.at(x, {a, t, c})}, {t});
  b.stores({b.put(sums, {a, t, c}, prefix), b.put(shifted, {a, t, c}, prefix * 2.0 + most)});
  b.check();
  b.check({codegen::Lanes{1, 16}}, false);
  b.check({codegen::Lanes{1, 8}, codegen::Unroll{1, 2}, codegen::TaskBlock{1, 16}}, false);
  refused(b, {codegen::Lanes{2, 4}}, "element by element");
  refused(b, {codegen::Unroll{2, 2}}, "element by element");
}

TEST_CASE("a scan over two ranges, and one over a single element", "[codegen][scan]") {
  KernelHarness b;
  UOp x = b.buffer(random_array(DType::F32, {4, 3, 5}, 1)), out = b.buffer(Array(DType::F32, {4, 3, 5})),
      one = b.buffer(Array(DType::F32, {4}));
  UOp i = b.outer(4), j = b.inner(3, 1), k = b.inner(5, 2), single = b.over(1, 3);
  b.stores({b.put(out, {i, j, k}, b.scan(Combine::Add, {b.at(x, {i, j, k})}, {j, k})),
            b.put(one, {i}, b.scan(Combine::Add, {b.at(x, {i, single, single})}, {single}))});
  b.check();
}
