// Which maxima may give a zero of either sign, and that no bit of what a kernel leaves depends on it.
#include "catch.h"
#include "codegen/gpu/gpu_passes.h"
#include "unit/codegen/cuda_support.h"
#include "unit/codegen_support.h"

using namespace codegen_test;
using codegen::Id;
using codegen::Inst;
using codegen::InstCode;
using codegen::Instructions;

namespace {

/// A maximum of two numbers from memory, and what is done with it. Slot 0 is a buffer, the others are tiles.
struct Program {
  Instructions code;
  Id at = codegen::kNone, a = codegen::kNone, b = codegen::kNone, maximum = codegen::kNone;

  Program() {
    code.blocks.resize(1);
    code.slots = {{DType::F32, true},
                  {.dtype = DType::F32, .written = true, .tile = 4},
                  {.dtype = DType::F32, .written = true, .tile = 4},
                  {.dtype = DType::F16, .written = true, .tile = 64}};
    code.params = 1;
    at = number(DType::Index, 0);
    a = load(0);
    b = load(0);
    maximum = alu(Op::Max, {a, b});
  }
  Id add(Inst inst) {
    code.insts.push_back(std::move(inst));
    code.blocks[0].push_back(static_cast<Id>(code.insts.size()) - 1);
    return code.blocks[0].back();
  }
  Id number(DType dtype, double v) {
    Inst n{InstCode::Const, {dtype, 1}, {}};
    n.number = is_float(dtype) ? ir::Scalar::of(dtype, v) : ir::Scalar::of(dtype, static_cast<int64_t>(v));
    return add(std::move(n));
  }
  Id alu(Op op, std::vector<Id> src, DType dtype = DType::F32) {
    return add({.code = InstCode::Alu, .type = {dtype, 1}, .src = std::move(src), .op = op});
  }
  Id load(int64_t slot) { return add({InstCode::Load, {DType::F32, 1}, {at}, slot}); }
  void store(Id value, int64_t slot = 0) { add({InstCode::Store, {}, {at, value}, slot}); }
  Id one() { return number(DType::F32, 1); }

  /// Whether the maximum may give either zero, once `value` is stored.
  bool either(Id value) {
    store(value);
    codegen::verify(code);
    return codegen::relax_zero_signs(code)[maximum].imm != 0;
  }
};

template <class Use>
bool either_zero_before(Use use) {
  Program p;
  return p.either(use(p));
}

}  // namespace

TEST_CASE("a maximum may give either zero where nothing stored depends on the sign", "[codegen]") {
  CHECK_FALSE(either_zero_before([](Program& p) { return p.maximum; }));
  CHECK_FALSE(either_zero_before([](Program& p) { return p.alu(Op::Sub, {p.a, p.maximum}); }));
  CHECK_FALSE(either_zero_before([](Program& p) { return p.alu(Op::Mul, {p.maximum, p.one()}); }));
  CHECK_FALSE(either_zero_before([](Program& p) { return p.alu(Op::Div, {p.maximum, p.a}); }));
  CHECK_FALSE(either_zero_before([](Program& p) { return p.alu(Op::Fma, {p.a, p.one(), p.maximum}); }));
  CHECK(either_zero_before([](Program& p) { return p.alu(Op::Add, {p.maximum, p.one()}); }));
  CHECK(either_zero_before([](Program& p) { return p.alu(Op::Abs, {p.maximum}); }));
  CHECK(either_zero_before(
      [](Program& p) { return p.alu(Op::Where, {p.alu(Op::Lt, {p.maximum, p.a}, DType::Bool), p.a, p.b}); }));
  CHECK(either_zero_before([](Program& p) {  // as below an exp
    const Id below = p.alu(Op::Sub, {p.a, p.maximum});
    return p.alu(Op::Fma, {below, p.alu(Op::Fma, {below, p.a, p.one()}), p.one()});
  }));
}

TEST_CASE("a divisor that is a zero gives an infinity of its sign", "[codegen]") {
  CHECK_FALSE(either_zero_before([](Program& p) {
    return p.alu(Op::Where, {p.alu(Op::Lt, {p.alu(Op::Div, {p.a, p.maximum}), p.b}, DType::Bool), p.a, p.b});
  }));
}

TEST_CASE("signs of zeros are followed through tiles, shuffles and accumulators", "[codegen]") {
  for (const bool shows : {false, true}) {
    INFO("the sign is stored: " << shows);
    const auto end = [&](Program& p, Id value) { return shows ? value : p.alu(Op::Add, {value, p.one()}); };
    CHECK(either_zero_before([&](Program& p) {
            p.store(p.maximum, 1);
            return end(p, p.load(1));
          }) == !shows);
    CHECK(either_zero_before([&](Program& p) {
            return end(p, p.add({InstCode::Shuffle, {DType::F32, 1}, {p.maximum, p.at}}));
          }) == !shows);
    CHECK(either_zero_before([&](Program& p) {  // what a load gives where its predicate is false
            const Id predicate = p.alu(Op::Lt, {p.a, p.b}, DType::Bool);
            return end(p, p.add({InstCode::Load, {DType::F32, 1}, {p.at, predicate, p.maximum}, 0}));
          }) == !shows);
    CHECK(either_zero_before([&](Program& p) {  // from tile to tile
            p.store(p.maximum, 1);
            Inst copy{InstCode::CopyAsync, {DType::F32, 1}, {p.at, p.at}, 2};
            copy.number = ir::Scalar::of(DType::Index, int64_t{1});
            p.add(std::move(copy));
            return end(p, p.load(2));
          }) == !shows);
    CHECK(either_zero_before([&](Program& p) {
            const Id sum = p.add({InstCode::Accumulator, {DType::F32, 1}, {p.a}});
            const Id read = p.add({InstCode::AccumulatorRead, {DType::F32, 1}, {sum}});  // of the last iteration
            p.add({InstCode::AccumulatorWrite, {}, {sum, p.maximum}});
            return end(p, read);
          }) == !shows);
  }
}

TEST_CASE("tensor cores and bit casts see the sign of a zero", "[codegen]") {
  CHECK_FALSE(either_zero_before([](Program& p) {
    p.store(p.alu(Op::Cast, {p.maximum}, DType::F16), 3);
    Inst rows{InstCode::LoadMatrices, {DType::U32, 4}, {p.at}, 3};
    rows.number = ir::Scalar::of(DType::Index, int64_t{0});
    p.add(std::move(rows));
    return p.a;
  }));
  CHECK_FALSE(either_zero_before([](Program& p) {
    const Id word = p.number(DType::U32, 0);
    p.add({InstCode::Mma, {DType::F32, 4}, {p.maximum, word, word, word, word, word, word}, int64_t(DType::F16)});
    return p.a;
  }));
  CHECK_FALSE(either_zero_before([](Program& p) {
    const Id bits = p.alu(Op::Bitcast, {p.maximum}, DType::U32);
    return p.alu(Op::Where, {p.alu(Op::Eq, {bits, p.number(DType::U32, 0)}, DType::Bool), p.a, p.b});
  }));
  CHECK(either_zero_before([](Program& p) {  // a cast to an integer does not
    const Id whole = p.alu(Op::Cast, {p.maximum}, DType::I32);
    return p.alu(Op::Where, {p.alu(Op::Eq, {whole, p.number(DType::I32, 0)}, DType::Bool), p.a, p.b});
  }));
}

TEST_CASE("maxima of zeros leave the bits of the interpreter on a GPU", "[codegen][cuda]") {
  const SimulatedGpu gpu;
  KernelHarness b;
  Array values(DType::F32, {4, 8});
  for (size_t i = 0; i < 32; ++i) reinterpret_cast<float*>(values.data.data())[i] = i * i % 3 == 1 ? 0.0F : -0.0F;
  UOp x = b.buffer(std::move(values)), shown = b.buffer(Array(DType::F32, {4})),
      hidden = b.buffer(Array(DType::F32, {4, 8}));
  UOp i = b.outer(4), j = b.inner(8, 1), k = b.over(8, 2), l = b.over(8, 3);
  b.stores({b.put(shown, {i}, 1.0 / b.reduce(Combine::Max, {b.at(x, {i, k})}, {k})),
            b.put(hidden, {i, j}, exp(b.at(x, {i, j}) - b.reduce(Combine::Max, {b.at(x, {i, l}) * 2.0}, {l})))});
  const std::string text = gpu.check(b, {{}})[0];
  CHECK(text.find("sn_max_f32(acc") != std::string::npos);
  CHECK(text.find("sn_nanmax_f32(acc") != std::string::npos);
}
