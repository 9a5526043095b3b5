// How accesses pass through the caches: stores past them, loads that are asked for early.
#include <sstream>

#include "codegen/kernel/access.h"
#include "ir/walk.h"
#include "runtime/program/host_target.h"
#include "sinter/error.h"
#include "skip.h"
#include "unit/codegen/choice.h"
#include "unit/codegen/products.h"

using namespace codegen_test;
using codegen::TaskBlock, codegen::Lanes, codegen::NonTemporal, codegen::Prefetch, codegen::Unroll;

namespace {

/// out[i, j] = 2 * in[i, j]
KernelHarness doubled(DType dtype, int64_t rows, int64_t columns) {
  KernelHarness b;
  UOp in = b.buffer(random_array(dtype, {rows, columns}, 1)), out = b.buffer(Array(dtype, {rows, columns}));
  UOp i = b.outer(rows), j = b.outer(columns), x = b.at(in, {i, j});
  b.stores({b.put(out, {i, j}, x + x)});
  return b;
}

/// The first of that op; of the LOADs of a slot, if one is given.
int place_of(const codegen::Kernel& kernel, Op op, int64_t slot = -1) {
  const std::vector<UOp> nodes = topological(codegen::normalize(kernel).main.sink);
  const auto wanted = [&](UOp n) { return n->op == op && (slot < 0 || codegen::slot_of(n) == slot); };
  const auto found = std::find_if(nodes.begin(), nodes.end(), wanted);
  REQUIRE(found != nodes.end());
  return static_cast<int>(found - nodes.begin());
}

std::vector<Prefetch> prefetches_in(const std::vector<Opt>& opts) {
  std::vector<Prefetch> out;
  for (const Opt& o : opts)
    if (const auto* p = std::get_if<Prefetch>(&o)) out.push_back(*p);
  return out;
}

}  // namespace

TEST_CASE("stores past the caches write whole vectors, others at the edges", "[codegen][memory]") {
  for (const DType dtype : {DType::U8, DType::F16, DType::F32, DType::I64}) {
    const int lanes = 64 / static_cast<int>(size_of(dtype));
    for (const int64_t tail : {0, lanes / 2}) {
      INFO(name_of(dtype) << ", tail " << tail);
      KernelHarness b =
          doubled(dtype, tail ? 1 : 3, 3 * lanes + tail);  // a second row would have to begin at a multiple, too
      const std::string text = b.check({Lanes{1, lanes}, Unroll{1, 2}, NonTemporal{0}});
      CHECK(count(text, "__builtin_nontemporal_store") == 3);
      CHECK(count(text, "__builtin_ia32_sfence();") == 1);
    }
  }
}

TEST_CASE("rows that are transposed go past the caches", "[codegen][memory][transpose]") {
  const auto written = [](int lanes, int copies) {
    KernelHarness b;
    UOp in = b.buffer(random_array(DType::F32, {48, 20}, 1)), out = b.buffer(Array(DType::F32, {20, 48}));
    UOp i = b.outer(20), j = b.outer(48);
    b.stores({b.put(out, {i, j}, b.at(in, {j, i}))});
    return b.check({Lanes{0, lanes}, Unroll{1, copies}, NonTemporal{0}});
  };
  for (const int copies : {16, 8, 4, 32}) CHECK(count(written(16, copies), "__builtin_nontemporal_store") > 0);
  // Of vectors of half a line those of one line follow one another.
  for (const int copies : {8, 16, 24}) {
    INFO(copies);
    std::istringstream text(written(8, copies));
    int lines = 0, halves = 0;
    std::string before;
    for (std::string line; std::getline(text, line);) {
      const size_t call = line.find("__builtin_nontemporal_store(");
      if (call == std::string::npos) continue;
      const size_t from = line.find("*)(", call) + 3;
      const std::string place = line.substr(from, line.rfind("));") - from);
      ++halves;
      lines += place == before + " + 8";
      before = place;
    }
    CHECK(halves > 0);
    CHECK(lines * 2 == (copies == 8 ? 0 : copies == 24 ? halves / 3 * 2 : halves));
  }
}

TEST_CASE("a carried sum does not rest where its store goes past the caches", "[codegen][memory]") {
  KernelHarness b;
  UOp x = b.buffer(random_array(DType::F32, {9, 64}, 1)), out = b.buffer(Array(DType::F32, {64}));
  UOp j = b.inner(64, 2), k = b.over(9, 1);
  b.stores({b.put(out, {j}, b.reduce(Combine::Add, {b.at(x, {k, j})}, {k}))});
  CHECK(count(b.check({Lanes{2, 16}}), "p2[") == 0);
  CHECK(count(b.check({Lanes{2, 16}, NonTemporal{0}}), "p2[64]") == 1);  // a tile
}

TEST_CASE("copies that are accessed together stay within a panel", "[codegen][memory]") {
  KernelHarness b = doubled(DType::F32, 3, 48);
  const int load = place_of(b.kernel, Op::Load);
  const auto staged = [&](int lanes, int unroll) { return codegen::TileCopy{load, {{1, -1, lanes, unroll}}, 8}; };
  b.check({TaskBlock{1, 48}, staged(2, 4)});
  b.check({Lanes{1, 4}, Unroll{1, 2}, TaskBlock{1, 48}, staged(4, 2)});
  refused(b, {TaskBlock{1, 48}, staged(2, 8)}, "panels of 8 do not fit");
  refused(b, {Lanes{1, 4}, Unroll{1, 3}, TaskBlock{1, 48}, staged(2, 4)}, "panels of 8 do not fit");
}

TEST_CASE("a tile's copies have lanes along one range", "[codegen][memory]") {
  KernelHarness b = doubled(DType::F32, 32, 48);
  const int load = place_of(b.kernel, Op::Load);
  const auto staged = [&](int first, int second) { return codegen::TileCopy{load, {{0, -1, first}, {1, -1, second}}}; };
  b.check({TaskBlock{0, 32}, TaskBlock{1, 48}, staged(1, 16)});
  refused(b, {TaskBlock{0, 32}, TaskBlock{1, 48}, staged(16, 16)}, "lanes along one range");
}

TEST_CASE("loads whose gates differ from lane to lane read what their masks leave", "[codegen][memory]") {
  for (const DType dtype : {DType::U8, DType::F16, DType::I32, DType::F64})
    for (const int lanes : {2, 4, 8, 16, 32, 64}) {
      INFO(name_of(dtype) << ", " << lanes << " lanes");
      KernelHarness b;  // in, padded by 3 in front and 5 behind with what another one holds
      UOp in = b.buffer(random_array(dtype, {3, 70}, 1)), other = b.buffer(random_array(dtype, {78}, 2)),
          out = b.buffer(Array(dtype, {3, 78}));
      UOp i = b.outer(3), j = b.outer(78), gate = le(b.index(3), j) & lt(j, b.index(73));
      b.stores({b.put(out, {i, j}, b.at(in, {i, j - b.index(3)}, gate, b.at(other, {j})))});
      const std::string text = b.check({Lanes{1, lanes}, Unroll{1, 2}});
      const runtime::Target& host = runtime::host_target();
      const bool vector =
          host.masks || (host.has_masked_loads(size_of(dtype)) && size_of(dtype) * static_cast<size_t>(lanes) >= 16);
      CHECK((count(text, "sn_where_") > 0) == vector);
    }
}

TEST_CASE("copies ask for what the bounds of their indices leave open, and load without a branch",
          "[codegen][memory]") {
  const auto [dtype, border] = GENERATE(values<std::pair<DType, double>>({{DType::F32, -0.0},
                                                                          {DType::F64, -HUGE_VAL},
                                                                          {DType::F16, 1.5},
                                                                          {DType::BF16, -1.5},
                                                                          {DType::I8, 7},
                                                                          {DType::U64, 3},
                                                                          {DType::Bool, 1}}));
  KernelHarness b;  // x between borders
  const int64_t size = 18;
  UOp x = b.buffer(random_array(dtype, {size}, 1)), out = b.buffer(Array(dtype, {size + 2}));
  UOp i = b.outer(size + 2), one = b.index(1), inside = le(one, i) & lt(i, b.index(size + 1));
  b.stores({b.put(out, {i}, b.at(x, {i - one}, inside, constant(b.g(), Scalar::of(dtype, border), dtype)))});
  const std::string text = b.check({Unroll{0, 4}, TaskBlock{0, size + 2}});
  CHECK(count(text, "1 <= ") == 1);        // of the first copy
  CHECK(count(text, " < 19") == 1);        // of the last one
  CHECK(count(text, "sn_load_if_") >= 5);  // its definition names it thrice
}

TEST_CASE("nt is refused where a store is no whole vector, or read", "[codegen][memory]") {
  KernelHarness b = doubled(DType::F32, 6, 40);  // a row is no multiple of 16 elements
  refused(b, {Lanes{1, 16}, NonTemporal{0}}, "not aligned");
  refused(b, {NonTemporal{0}}, "contiguous");
  refused(b, {Lanes{0, 4}, NonTemporal{0}}, "contiguous");
  refused(b, {Lanes{1, 2}, NonTemporal{0}}, "16 to 64 bytes");
  refused(b, {Lanes{1, 32}, NonTemporal{0}}, "16 to 64 bytes");
  refused(b, {Lanes{1, 8}, NonTemporal{1}}, "no such store");
  refused(b, {Lanes{1, 8}, NonTemporal{0}, NonTemporal{0}}, "already");
  CHECK_NOTHROW(codegen::generate_source(b.kernel, runtime::reference_target(), {Lanes{1, 8}, NonTemporal{0}}));
  refused(b, {Lanes{0, 4}, Unroll{1, 6}, NonTemporal{0}}, "not aligned");

  KernelHarness shifted;
  UOp out = shifted.buffer(Array(DType::F32, {65})), i = shifted.outer(64);
  shifted.stores({shifted.put(out, {i + shifted.index(1)}, cast(i, DType::F32))});
  refused(shifted, {Lanes{0, 16}, NonTemporal{0}}, "not aligned");

  KernelHarness own;
  UOp x = own.buffer(random_array(DType::F32, {64}, 1)), r = own.outer(64);
  own.stores({own.put(x, {r}, own.at(x, {r}) * 2.0)});
  refused(own, {Lanes{0, 16}, NonTemporal{0}}, "reads that buffer");

  KernelHarness added;
  UOp y = added.buffer(Array(DType::F32, {64})), s = added.inner(64, 1);
  added.stores({added.put(y, {s}, constant(added.g(), DType::F32, 1.0), true)});
  refused(added, {Lanes{1, 16}, NonTemporal{0}}, "adds");

  KernelHarness gated;
  UOp z = gated.buffer(Array(DType::F32, {64})), q = gated.outer(64);
  gated.stores({gated.put(z, {q}, cast(q, DType::F32), false, lt(q, gated.index(40)))});
  refused(gated, {Lanes{0, 16}, NonTemporal{0}}, "predicate");

  CHECK_THROWS_WITH(codegen::generate_source(b.kernel, runtime::cuda_target({}), {Lanes{1, 4}, NonTemporal{0}}),
                    Catch::Matchers::Contains("for CPUs"));
}

TEST_CASE("loads ask for lines further on, whether they exist or not", "[codegen][memory]") {
  for (const int64_t distance : {1, 1000, -3}) {
    KernelHarness b = doubled(DType::F64, 5, 40);
    const int load = place_of(b.kernel, Op::Load);
    const std::string text = b.check({Lanes{1, 16}, Prefetch{load, 0, distance}});
    CHECK(count(text, "__builtin_prefetch(") == 4);  // two lines in the loop, two at its end
  }
  KernelHarness narrow = doubled(DType::F32, 5, 64);  // two vectors of a line
  const std::string text = narrow.check({Lanes{1, 8}, Unroll{1, 4}, Prefetch{place_of(narrow.kernel, Op::Load), 0, 1}});
  CHECK(count(text, "__builtin_prefetch(") == 2);

  KernelHarness b = doubled(DType::F32, 5, 40);
  const int load = place_of(b.kernel, Op::Load);
  refused(b, {Prefetch{load + 1, 0, 1}}, "no load");
  refused(b, {Prefetch{load, 7, 1}}, "no range of that id");
  refused(b, {Prefetch{load, 0, 0}}, "is 0");
  refused(b, {Prefetch{load, 0, 1}, Prefetch{load, 1, 1}}, "already");

  KernelHarness scattered;
  UOp x = scattered.buffer(random_array(DType::F32, {64}, 1)), out = scattered.buffer(Array(DType::F32, {64})),
      i = scattered.outer(64);
  scattered.stores({scattered.put(out, {i}, scattered.at(x, {mod(i * scattered.index(3), scattered.index(64))}))});
  refused(scattered, {Prefetch{place_of(scattered.kernel, Op::Load), 0, 1}}, "no constant stride");
}

TEST_CASE("of the loops that read a row one may ask ahead alone", "[codegen][memory]") {
  // A row's largest, the sum of what the others are below it, and what they are of that: three loops.
  KernelHarness b;
  UOp x = b.buffer(random_array(DType::F32, {6, 64}, 1)), out = b.buffer(Array(DType::F32, {6, 64}));
  UOp i = b.outer(6), j = b.inner(64, 1), load = b.at(x, {i, j});
  UOp most = b.reduce(Combine::Max, {load}, {j}, {16, 0});
  UOp sum = b.reduce(Combine::Add, {load - most}, {j}, {16, 0});
  b.stores({b.put(out, {i, j}, load * sum)});
  const int place = place_of(b.kernel, Op::Load);
  const auto asking = [&](int number) {
    const std::string text = b.check({Lanes{1, 16}, Prefetch{place, 0, 2, number}}), loop = "// inner range 1";
    std::vector<int> counts;
    for (size_t at = text.find(loop), next = 0; at != std::string::npos; at = next) {
      next = text.find(loop, at + 1);
      counts.push_back(count(text.substr(at, next - at), "__builtin_prefetch("));
    }
    return counts;
  };
  CHECK(asking(-1) == std::vector{1, 1, 1});
  CHECK(asking(0) == std::vector{1, 0, 0});
  CHECK(asking(1) == std::vector{0, 1, 0});
  CHECK(asking(7) == std::vector{0, 0, 1});

  KernelHarness still;  // what does not move in the loops is read before both
  UOp y = still.buffer(random_array(DType::F32, {64}, 1)), z = still.buffer(random_array(DType::F32, {64}, 1)),
      made = still.buffer(Array(DType::F32, {64}));
  UOp r = still.outer(64), k = still.inner(64, 1), one = still.at(z, {r}), each = still.at(y, {k});
  UOp first = still.reduce(Combine::Max, {each * one}, {k}, {16, 0});
  still.stores({still.put(made, {r}, still.reduce(Combine::Add, {each - first + one}, {k}, {16, 0}))});
  const int number = place_of(still.kernel, Op::Load, 1);
  CHECK(count(still.check({Lanes{1, 16}, Prefetch{number, 0, 16, 1}}), "__builtin_prefetch(") == 1);

  refused(b, {Prefetch{place, 0, 2, -2}}, "from 0");
}

TEST_CASE("where the last cache is far the second loop over a row asks for the next page alone", "[codegen][memory]") {
  using Asked = std::pair<int64_t, int>;
  const auto only = [](const std::vector<Opt>& opts) {
    const std::vector<Prefetch> found = prefetches_in(opts);
    REQUIRE(found.size() == 1);
    return Asked{found[0].distance, found[0].loop};
  };
  // As many loops over each row, which is one range, or `parts` of them that follow each other.
  const auto asked = [&](int64_t rows, int64_t columns, int loops, const runtime::Target& target, int64_t parts = 1) {
    KernelHarness b;
    UOp x = b.buffer(Array(DType::F32, {rows, parts, columns})), out = b.buffer(Array(DType::F32, {rows}));
    UOp i = b.outer(rows), c = b.inner(parts, 1), j = b.inner(columns, 2), load = b.at(x, {i, c, j});
    const auto reduce = [&](Combine how, UOp value) { return b.reduce(how, {value}, {c, j}, {16, 0}); };
    UOp sum = reduce(Combine::Max, load);
    if (loops > 1) sum = reduce(Combine::Add, load - sum);
    if (loops > 2) sum = reduce(Combine::Min, load * sum);
    b.stores({b.put(out, {i}, sum)});
    return only(chosen(b, target));
  };
  CHECK(asked(8192, 1024, 3, far_l3()) == Asked{1024, 1});
  CHECK(asked(8192, 1024, 2, far_l3()) == Asked{1024, 1});
  CHECK(asked(8192, 1024, 1, far_l3()) == Asked{512, -1});
  CHECK(asked(4096, 2048, 2, far_l3()) == Asked{1024, 1});
  CHECK(asked(2048, 4096, 2, far_l3()) == Asked{2048, -1});  // a page further is this row
  CHECK(asked(1024, 1024, 2, far_l3(), 8) == Asked{2048, -1});
  CHECK(asked(8192, 1024, 2, runtime::reference_target()) == Asked{2048, -1});

  const KernelHarness elementwise = doubled(DType::F32, 16384, 1024);
  CHECK(only(chosen(elementwise, far_l3())) == Asked{512, -1});
  CHECK(only(chosen(elementwise, runtime::reference_target())) == Asked{2048, -1});
}

TEST_CASE("sums ask ahead for rows that come from memory one by one", "[codegen][memory]") {
  // What the heuristic asks for in a kernel that sums columns from..to of each row, or of a row at some other place.
  const auto asked = [](int64_t rows, int64_t columns, int64_t from, int64_t to, bool scattered = false) {
    KernelHarness b;
    UOp x = b.buffer(Array(DType::F32, {rows, columns})), out = b.buffer(Array(DType::F32, {rows}));
    UOp i = b.outer(rows), j = b.inner(to - from, 1);
    const UOp row = scattered ? mod(i * b.index(3), b.index(rows)) : i;
    b.stores({b.put(out, {i}, b.reduce(Combine::Add, {b.at(x, {row, j + b.index(from)})}, {j}, {16, 0}))});
    return prefetches_in(chosen(b));
  };
  const auto along = [](const std::vector<Prefetch>& found) {
    REQUIRE(found.size() == 1);
    return std::pair(found[0].range, found[0].distance);
  };
  CHECK(along(asked(4096, 1024, 0, 1024)) == std::pair(1, int64_t{2048}));  // two pages, whatever row that is
  CHECK(along(asked(512, 16384, 9, 16000)) == std::pair(1, int64_t{2048}));
  CHECK(along(asked(4096, 1024, 100, 700)) == std::pair(0, int64_t{3}));  // rows that do not follow each other
  CHECK(asked(512, 1024, 0, 1024).empty());                               // in the second cache or near it
  CHECK(asked(4096, 1024, 0, 1024, true).empty());                        // nobody knows where the next row lies
}

TEST_CASE("an elementwise store asks ahead for its only operand that fills the last cache", "[codegen][memory]") {
  const auto sum = [](int64_t rows, int64_t of_other) {
    KernelHarness b;
    UOp x = b.buffer(Array(DType::F32, {rows, 1024})), y = b.buffer(Array(DType::F32, {of_other, 1024})),
        out = b.buffer(Array(DType::F32, {rows, 1024}));
    UOp i = b.outer(rows), j = b.outer(1024);
    b.stores({b.put(out, {i, j}, b.at(x, {i, j}) + b.at(y, {of_other > 1 ? i : b.index(0), j}))});
    return Choice(b).prefetches();
  };
  CHECK(Choice(doubled(DType::F32, 8192, 1024)).prefetches() == 1);
  CHECK(Choice(doubled(DType::F32, 4096, 1024)).prefetches() == 0);  // it may lie in a cache
  CHECK(sum(8192, 1) == 1);
  CHECK(sum(8192, 8192) == 0);
}

TEST_CASE("what is written to many rows at a time goes past the caches from half of the last one on",
          "[codegen][memory][transpose]") {
  const auto turned = [](int64_t rows, int64_t columns = 1024, DType dtype = DType::F32) {
    KernelHarness b;
    UOp in = b.buffer(Array(dtype, {columns, rows})), out = b.buffer(Array(dtype, {rows, columns}));
    UOp i = b.outer(rows), j = b.outer(columns);
    b.stores({b.put(out, {i, j}, b.at(in, {j, i}))});
    return Choice(b);
  };
  const Choice large = turned(4096), small = turned(2048);
  CHECK((large.copies(1) == 32 && large.stores_past_caches()));
  CHECK((small.copies(1) == 16 && !small.stores_past_caches()));
  for (const auto& [dtype, copies] : {std::pair{DType::F64, 16}, {DType::F16, 32}, {DType::U8, 64}}) {  // whole lines
    const Choice c = turned(16384, 4096, dtype);
    INFO(to_string(c.opts()));
    CHECK(c.copies(1) == copies);
    CHECK(c.stores_past_caches());
  }
  // Short rows are read no more than 32 at a time either.
  CHECK(turned(256, 65536).is_whole(0));
  CHECK_FALSE(turned(256, 65536).is_blocked(1));
  CHECK_FALSE(Choice(doubled(DType::F32, 4096, 1024)).stores_past_caches());
}

TEST_CASE("sums of windows with a border ask ahead, for each line once", "[codegen][memory]") {
  // out[i, j]: the sum of x[i, stride * j] and its eight neighbours, 0 outside.
  const auto windows = [](int64_t rows, int64_t columns, int64_t stride = 1) {
    KernelHarness b;
    UOp x = b.buffer(random_array(DType::F32, {rows, columns}, 1)),
        out = b.buffer(Array(DType::F32, {rows, columns / stride}));
    UOp i = b.outer(rows), j = b.outer(columns / stride), di = b.inner(3, 2), dj = b.inner(3, 3);
    UOp row = i + di - b.index(1), column = j * b.index(stride) + dj - b.index(1);
    const auto in = [&](UOp at, int64_t size) { return lt(b.index(-1), at) & lt(at, b.index(size)); };
    UOp value = b.at(x, {row, column}, in(row, rows) & in(column, columns), constant(b.g(), DType::F32, 0.0));
    b.stores({b.put(out, {i, j}, b.reduce(Combine::Add, {value}, {di, dj}))});
    return b;
  };
  for (const int64_t stride : {1, 2}) {
    const KernelHarness large = windows(2048, 1024, stride);
    const std::vector<Prefetch> asked = prefetches_in(chosen(large));
    REQUIRE(asked.size() == 1);
    CHECK((asked[0].range == 1 && asked[0].distance == 2048 / stride));
    CHECK(prefetches_in(chosen(large, reference_machine("x86-64-v2", 16, 16))).empty());  // lanes one by one
  }
  const KernelHarness small = windows(64, 64);
  CHECK(prefetches_in(chosen(small)).empty());

  KernelHarness b = windows(6, 64);
  const int load = place_of(b.kernel, Op::Load);
  const std::string text = b.check({Lanes{1, 16}, Unroll{0, 2}, Unroll{3, 3}, Prefetch{load, 1, 2048}});
  if (!runtime::host_target().masks) SKIP_TEST("no AVX-512");  // whose loads of 16 lanes these places count
  // The function; for each of two rows, two places where all rows exist, and three where some do not.
  CHECK(count(text, "sn_where_f32x16(") == 1 + 2 * 2 + 2 * 3);
  CHECK(count(text, "__builtin_prefetch(") == 2 * 2);  // in both versions, the first place asks for the others' lines
}
