// Which indices get 32 bits, at the edges of what these hold.
#include "catch.h"
#include "codegen/gpu/gpu_passes.h"

using namespace sinter;
using codegen::Id;
using codegen::Inst;
using codegen::InstCode;
using codegen::Instructions;
using codegen::Type;
using ir::Op;

namespace {

constexpr int64_t kMost = (int64_t{1} << 31) - 1;
const Type kIndex{DType::Index, 1}, kIndex32{DType::Index, 1, true};

/// Instructions that stand in the body, or, from a loop on, in that.
struct Program {
  Instructions code;
  size_t open = 0;

  Program() {
    code.blocks.resize(1);
    code.slots.push_back({DType::F32, true});
    code.params = 1;
  }
  Id add(Inst inst) {
    code.insts.push_back(std::move(inst));
    code.blocks[open].push_back(static_cast<Id>(code.insts.size()) - 1);
    return code.blocks[open].back();
  }
  Id number(int64_t v, DType dtype = DType::Index) {
    Inst n{InstCode::Const, {dtype, 1}, {}};
    n.number = ir::Scalar::of(dtype, v);
    return add(std::move(n));
  }
  Id alu(Op op, DType dtype, std::vector<Id> src) {
    return add({.code = InstCode::Alu, .type = {dtype, 1}, .src = std::move(src), .op = op});
  }
  Id loop(Id begin, Id end, int64_t step) {
    Inst n{InstCode::Loop, kIndex, {begin, end}};
    n.imm = step;
    n.block = static_cast<int>(code.blocks.size());
    const Id id = add(std::move(n));
    code.blocks.emplace_back();
    open = code.blocks.size() - 1;
    return id;
  }
  void store(Id at) {
    Inst value{InstCode::Const, {DType::F32, 1}, {}};
    value.number = ir::Scalar::of(DType::F32, 1.0);
    const Id one = add(std::move(value));
    add({InstCode::Store, {}, {at, one}});
  }
  Instructions narrow(int64_t points = kMost, const std::vector<Var>& vars = {}) const {
    codegen::verify(code);
    Instructions made = codegen::narrow_indices(code, points, vars);
    codegen::verify(made);
    return made;
  }
};

}  // namespace

TEST_CASE("indices of loops are narrow where 32 bits hold all of them", "[codegen]") {
  struct Case {
    int64_t end, step, factor;
    bool loop, product;
  };
  for (const Case& c :
       {Case{100, 1, 1000, true, true}, Case{1 << 20, 1, 1 << 11, true, true},
        Case{(1 << 20) + 1, 1, 1 << 11, true, false},
        Case{kMost, 1, 1, false, true},  // the variable goes on to kMost + 1 at most, its last value fits
        Case{kMost - 1, 1, 1, true, true}, Case{kMost - 3, 4, 1, false, true}, Case{kMost - 4, 4, 1, true, true},
        Case{kMost + 2, 1, 1, false, false}, Case{100, 1, -(int64_t{1} << 30), true, false}}) {
    INFO(c.end << " by " << c.step << " times " << c.factor);
    Program made;
    const Id begin = made.number(0), end = made.number(c.end), factor = made.number(c.factor);
    const Id loop = made.loop(begin, end, c.step), product = made.alu(Op::Mul, DType::Index, {loop, factor});
    made.store(product);
    const Instructions code = made.narrow();
    CHECK(code[loop].type == (c.loop ? kIndex32 : kIndex));
    CHECK(code[product].type == (c.product ? kIndex32 : kIndex));
  }
}

TEST_CASE("quotients of points are those of 32 bits, as far as a launch has such points", "[codegen]") {
  Program made;
  const Id begin = made.add({InstCode::Begin, kIndex, {}}), end = made.add({InstCode::End, kIndex, {}}),
           five = made.number(5, DType::U64);
  const Id point = made.loop(begin, end, 1), wide = made.alu(Op::Cast, DType::U64, {point});
  const Id row = made.alu(Op::IDiv, DType::U64, {wide, five}), index = made.alu(Op::Cast, DType::Index, {row});
  const Id length = made.number(1 << 20), at = made.alu(Op::Mul, DType::Index, {index, length});
  made.store(at);
  const Instructions few = made.narrow(5000), many = made.narrow(kMost);
  for (const Instructions* code : {&few, &many}) {
    CHECK((*code)[point].type == kIndex32);
    CHECK((*code)[row].type == Type{DType::U32, 1});
    CHECK((*code)[index].type == kIndex32);
  }
  CHECK(few[at].type == kIndex32);
  CHECK(many[at].type == kIndex);
}

TEST_CASE("symbolic sizes are as wide as their bounds", "[codegen]") {
  Program made;
  const Id begin = made.number(0), size = made.add({InstCode::Var, kIndex, {}}), length = made.number(1 << 10);
  const Id loop = made.loop(begin, size, 1), at = made.alu(Op::Mul, DType::Index, {loop, length});
  made.store(at);
  const Instructions small = made.narrow(1, {Var("n", 1, 1 << 20)}), large = made.narrow(1, {Var("n", 1, 1 << 22)});
  CHECK(small[loop].type == kIndex32);
  CHECK(small[at].type == kIndex32);
  CHECK(large[loop].type == kIndex32);
  CHECK(large[at].type == kIndex);
}
