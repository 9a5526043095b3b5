// Memory that is strided along lanes and lies side by side along register copies: whole rows, transposed in registers.
#include <sys/mman.h>
#include <unistd.h>

#include "codegen/emit/register_transpose.h"
#include "codegen/ssa/block_writer.h"
#include "runtime/program/host_target.h"
#include "sinter/error.h"
#include "unit/codegen_support.h"

using namespace codegen_test;

namespace {

using codegen::Lanes, codegen::Unroll;

/// out[i, j] = in[j, i]
KernelHarness transposed(DType dtype, int64_t rows, int64_t columns) {
  KernelHarness b;
  UOp in = b.buffer(random_array(dtype, {columns, rows}, 1)), out = b.buffer(Array(dtype, {rows, columns}));
  UOp i = b.outer(rows), j = b.outer(columns);
  b.stores({b.put(out, {i, j}, b.at(in, {j, i}))});
  return b;
}

/// Memory that ends where a page begins that nobody may read or write.
class Guarded {
 public:
  explicit Guarded(const Array& a) : bytes_(a.data.size()) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    size_ = (bytes_ + page - 1) / page * page;
    start_ = static_cast<std::byte*>(
        mmap(nullptr, size_ + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(start_ != MAP_FAILED);
    REQUIRE(mprotect(start_ + size_, page, PROT_NONE) == 0);
    size_ += page;
    std::memcpy(data(), a.data.data(), bytes_);
  }
  ~Guarded() { munmap(start_, size_); }
  Guarded(const Guarded&) = delete;
  std::byte* data() { return start_ + size_ - static_cast<size_t>(sysconf(_SC_PAGESIZE)) - bytes_; }

 private:
  size_t bytes_, size_ = 0;
  std::byte* start_ = nullptr;
};

/// Runs a kernel of two buffers, the second of which it stores, under opts, in memory that it must not leave.
void check_guarded(KernelHarness& b, const std::vector<codegen::Opt>& opts) {
  const runtime::Target target = runtime::host_target();
  const auto program = runtime::compile({{codegen::generate_source(b.kernel, target, opts)}}, target);
  const std::vector<Array> before = b.interpret();
  Guarded in(before[0]), out(before[1]);
  uint32_t raised = 0;
  void* bufs[] = {&raised, in.data(), out.data(), nullptr};
  REQUIRE(program.at(0)->entry()(bufs, nullptr, 0, b.points(*program.at(0))) == 0);
  CHECK(std::memcmp(out.data(), b.arrays[1].data.data(), b.arrays[1].data.size()) == 0);
}

}  // namespace

TEST_CASE("loads and stores strided along the lanes are transposed in registers", "[codegen][transpose]") {
  for (const DType dtype : {DType::U8, DType::BF16, DType::F32, DType::I64})
    for (const int lanes : {4, 8, 16})
      for (const bool store : {false, true}) {
        INFO(name_of(dtype) << ", " << lanes << " lanes along the range that the " << (store ? "load" : "store")
                            << " has contiguous");
        KernelHarness b = transposed(dtype, 2 * lanes + 3, 2 * lanes + 1);  // tails of copies and of lanes
        const std::string text = b.check({Lanes{store ? 0 : 1, lanes}, Unroll{store ? 1 : 0, lanes}});
        const bool unpacked = store && size_of(dtype) * static_cast<size_t>(lanes) == 16;
        CHECK(count(text, unpacked ? "sn_transpose2_" : "sn_odd1_") > 0);
      }
}

TEST_CASE("copies that are fewer or more than the lanes, and no power of two, are transposed in groups",
          "[codegen][transpose]") {
  for (const int copies : {2, 3, 6, 13, 20})
    for (const bool store : {false, true})
      for (const bool bytes : {false, true}) {
        INFO(copies << " copies of " << (bytes ? "bytes" : "floats"));
        KernelHarness b = transposed(bytes ? DType::U8 : DType::F32, 45, 45);
        const std::string text = b.check({Lanes{store ? 0 : 1, bytes ? 16 : 8}, Unroll{store ? 1 : 0, copies}});
        CHECK(count(text, bytes && store ? "sn_transpose2_" : "sn_odd1_") > 0);
      }
}

TEST_CASE("a transposed operand of a product, with a limit that is known at the launch only", "[codegen][transpose]") {
  const Dim rows = Var("m", 1, 64)(37), columns = 21;
  KernelHarness b;
  UOp x = b.buffer(random_array(DType::F32, {37, 21}, 1), Shape{rows, columns});
  UOp w = b.buffer(random_array(DType::F32, {21}, 2), Shape{columns});
  UOp out = b.buffer(Array(DType::F32, {37}), Shape{rows});
  UOp i = b.outer(rows), k = b.over(columns, 1);
  b.stores({b.put(out, {i}, b.reduce(Combine::Dot, {b.at(x, {i, k}), b.at(w, {k})}, {k}))});
  const std::string text = b.check({Lanes{0, 16}, Unroll{1, 8}});
  CHECK(count(text, "sn_odd1_") > 0);
}

TEST_CASE("gates: one for all rows is kept, one that differs between rows is not transposed", "[codegen][transpose]") {
  for (const int gated : {0, 1, 2}) {
    INFO("range " << gated);
    KernelHarness b;
    UOp in = b.buffer(random_array(DType::F32, {3, 19, 18}, 1)), out = b.buffer(Array(DType::F32, {3, 18, 19}));
    UOp r[] = {b.outer(3), b.outer(18), b.outer(19)};
    UOp open = lt(b.index(1), r[gated]);
    b.stores({b.put(out, {r[0], r[1], r[2]}, b.at(in, {r[0], r[2], r[1]}, open, constant(b.g(), DType::F32, 2.5)))});
    const std::string text = b.check({Lanes{2, 8}, Unroll{1, 8}});
    CHECK((count(text, "sn_odd1_") > 0) == (gated == 0));
  }
}

TEST_CASE("a value that replaces what it is made from, both strided along the lanes", "[codegen][transpose]") {
  KernelHarness b;
  UOp x = b.buffer(random_array(DType::F32, {20, 24}, 1)), y = b.buffer(random_array(DType::F32, {24, 20}, 2));
  UOp z = b.buffer(Array(DType::F32, {24, 20}));
  UOp i = b.outer(24), j = b.outer(20), sum = b.at(x, {j, i}) + b.at(y, {i, j});
  b.stores({b.put(x, {j, i}, sum), b.put(z, {i, j}, b.at(x, {j, i}) * 2.0)});
  CHECK(count(b.check({Lanes{1, 16}, Unroll{0, 8}}), "sn_odd1_") > 0);
}

TEST_CASE("rows and columns that do not exist are not touched", "[codegen][transpose]") {
  for (const bool store : {false, true}) {
    KernelHarness b = transposed(DType::F32, 21, 23);
    check_guarded(b, {Lanes{store ? 0 : 1, 16}, Unroll{store ? 1 : 0, 16}});
  }
}

TEST_CASE("loads of few elements apart are wide, and touch nothing behind the last one", "[codegen][transpose]") {
  for (const DType dtype : {DType::U8, DType::F32, DType::I64})
    for (const int64_t stride : {2, 3, 4, 5})
      for (const int64_t n : {3, 16, 21}) {
        INFO(name_of(dtype) << ", stride " << stride << ", " << n << " elements");
        auto strided = [&](const Dim& size) {
          KernelHarness b;
          UOp in = b.buffer(random_array(dtype, {stride * (n - 1) + 1}, 1)), out = b.buffer(Array(dtype, {n}));
          UOp i = b.outer(size);
          b.stores({b.put(out, {i}, b.at(in, {i * b.index(stride)}))});
          return b;
        };
        KernelHarness b = strided(n);
        check_guarded(b, {Lanes{0, 16}});
        for (const Dim& size : {Dim(n), Var("n", 1, 64)(n)})
          CHECK((count(strided(size).check({Lanes{0, 8}, Unroll{0, 2}}, n == 21), "sn_transpose") > 0) == (stride < 5));
      }
}

TEST_CASE("lanes few elements apart under a gate each are wide loads too, which touch nothing where the gate is closed",
          "[codegen][transpose]") {
  for (const DType dtype : {DType::U8, DType::F32, DType::I64})
    for (const int64_t stride : {2, 3, 4, 5})
      for (const int64_t from : {-stride - 1, int64_t{-1}, int64_t{1}}) {
        INFO(name_of(dtype) << ", stride " << stride << " from " << from);
        const int64_t n = 37, size = stride * 30;
        auto padded = [&](const Dim& points) {
          KernelHarness b;
          UOp in = b.buffer(random_array(dtype, {size}, 1)), out = b.buffer(Array(dtype, {n}));
          UOp i = b.outer(points), at = i * b.index(stride) + b.index(from);
          UOp value = b.at(in, {at}, le(b.index(0), at) & lt(at, b.index(size)), cast(b.index(7), dtype));
          b.stores({b.put(out, {i}, value)});
          return b;
        };
        KernelHarness b = padded(n);
        check_guarded(b, {Lanes{0, 16}});
        for (const Dim& points : {Dim(n), Var("n", 1, 64)(n)}) {
          const std::string text = padded(points).check({Lanes{0, 16}, Unroll{0, 2}}, from == -1);
          CHECK((stride == 5 || count(text, "sn_gather_") == 0));
        }
      }
}

TEST_CASE("copies that fill what lies between the lanes are loaded and stored in one piece", "[codegen][transpose]") {
  for (const int64_t copies : {2, 3, 4})
    for (const bool gated : {false, true})
      for (const Dim& size : {Dim(16), Dim(21), Var("n", 1, 64)(37)}) {
        INFO(copies << " copies, " << (gated ? "gated" : "not gated") << ", " << size.value() << " elements");
        KernelHarness b;
        const int64_t n = size.value();
        UOp in = b.buffer(random_array(DType::F32, {2, n, copies}, 1), Shape{2, size, copies}),
            out = b.buffer(Array(DType::F32, {2, n, copies}), Shape{2, size, copies});
        UOp r = b.outer(2), i = b.outer(size), k = b.outer(copies), two = constant(b.g(), DType::F32, 2.0);
        b.stores(
            {b.put(out, {r, i, k}, (gated ? b.at(in, {r, i, k}, lt(r, b.index(1)), two) : b.at(in, {r, i, k})) * 2.0)});
        const std::string text = b.check({Lanes{1, 16}, Unroll{2, static_cast<int>(copies)}});
        CHECK(count(text, fmt::format("sn_transpose{}_16_", copies)) > 0);
      }
}

TEST_CASE("copies that reach beyond the next lane are loaded in pieces that do not", "[codegen][transpose]") {
  for (const int64_t stride : {2, 3, 4})
    for (const int64_t copies : {3, 5, 8}) {
      INFO(copies << " copies, stride " << stride);
      KernelHarness b;
      UOp in = b.buffer(random_array(DType::F32, {stride * 36 + copies}, 1)),
          out = b.buffer(Array(DType::F32, {copies, 37}));
      UOp k = b.outer(copies), i = b.outer(37);
      b.stores({b.put(out, {k, i}, b.at(in, {i * b.index(stride) + k}))});
      const std::string text = b.check({Lanes{1, 16}, Unroll{0, static_cast<int>(copies)}});
      CHECK(count(text, fmt::format("sn_transpose{0}_{0}_", stride)) > 0);
      CHECK(count(text, "sn_odd1_") == 0);  // rows of copies
    }
}

TEST_CASE("more bytes than a byte can number are transposed in one piece", "[codegen][transpose]") {
  KernelHarness b;
  UOp in = b.buffer(random_array(DType::U8, {131, 8}, 1)), out = b.buffer(Array(DType::U8, {131, 8}));
  UOp i = b.outer(131), k = b.outer(8);
  b.stores({b.put(out, {i, k}, b.at(in, {i, k}) + constant(b.g(), DType::U8, 1))});
  CHECK(count(b.check({Lanes{0, 64}, Unroll{1, 8}}), "sn_transpose8_64_") > 0);
}

TEST_CASE("a kernel that writes between the lanes loads them one by one", "[codegen][transpose]") {
  KernelHarness b;
  UOp x = b.buffer(random_array(DType::F32, {16, 2}, 1)), i = b.outer(16);
  b.stores({b.put(x, {i, b.index(0)}, b.at(x, {i, b.index(0)}) * 2.0)});
  CHECK(count(b.check({Lanes{0, 16}}), "sn_transpose") == 0);
}

TEST_CASE("transposed lanes are checked", "[codegen][transpose]") {
  using namespace codegen;
  Instructions code;
  BlockWriter emit(code);
  const Id four = emit.splat(emit.constant(DType::F32, Scalar::of(DType::F32, 1)), 4);
  const std::vector<Id> made = transpose_vectors(emit, {four, four}, 2);
  CHECK_NOTHROW(verify(code));
  for (const int64_t columns : {0, 3, 16}) {
    Instructions broken = code;
    broken[made[0]].imm = columns;
    CHECK_THROWS_AS(verify(broken), InternalError);
  }
  Instructions broken = code;
  broken[made[1]].number = Scalar::of(DType::Index, 2);
  CHECK_THROWS_AS(verify(broken), InternalError);
}

TEST_CASE("interleaved lanes are checked", "[codegen][transpose]") {
  using namespace codegen;
  Instructions code;
  BlockWriter emit(code);
  const Id four = emit.splat(emit.constant(DType::F32, Scalar::of(DType::F32, 1)), 4);
  const Id odd = emit.interleave(four, four, 2, true),
           joined = emit.value({InstCode::Pack, {DType::F32, 8}, {four, odd}});
  CHECK_NOTHROW(verify(code));
  for (const int64_t block : {0, 3, 4, -4}) {
    Instructions broken = code;
    broken[odd].imm = block;
    CHECK_THROWS_AS(verify(broken), InternalError);
  }
  Instructions broken = code;
  broken[joined].type.lanes = 16;
  CHECK_THROWS_AS(verify(broken), InternalError);
}

TEST_CASE("elements that several lanes get are loaded once, and none behind the last one", "[codegen][emit]") {
  for (const int64_t repeats : {2, 4, 8})
    for (const int64_t columns : {8, 16, 22, 40}) {
      KernelHarness b;  // out [i, j] = in [i, j / repeats]
      const int64_t stored = (columns + repeats - 1) / repeats;
      UOp in = b.buffer(random_array(DType::F32, {3, stored}, 1)), out = b.buffer(Array(DType::F32, {3, columns}));
      UOp i = b.outer(3), j = b.outer(columns);
      b.stores({b.put(out, {i, j}, b.at(in, {i, idiv(j, b.index(repeats))}))});
      INFO(repeats << " of " << columns);
      const std::string text = b.check({Lanes{1, 8}}, false);
      if (columns % 8 == 0)
        CHECK(count(text, "p0[") == (repeats == 8 ? 1 : 0));  // vectors, or one element for all lanes
      check_guarded(b, {Lanes{1, 8}});
    }
}
