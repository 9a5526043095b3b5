// Which loads of neighbors become one access, and what those give.
#include <map>

#include "catch.h"
#include "codegen/gpu/gpu_passes.h"

using namespace sinter;
using codegen::Id;
using codegen::Inst;
using codegen::InstCode;
using codegen::Instructions;
using ir::Op;

namespace {

/// Loads from a buffer in a loop whose variable is a multiple of `step`. Slot 0 is read, slot 1 written.
struct Program {
  Instructions code;
  Id loop = codegen::kNone;
  size_t open = 0;

  explicit Program(int64_t step) {
    code.blocks.resize(2);
    code.slots = {{DType::F32, false}, {DType::F32, true}, {.dtype = DType::F32, .written = true, .tile = 64}};
    code.params = 2;
    const Id from = number(0), to = number(64);
    loop = add({.code = InstCode::Loop, .type = {DType::Index, 1}, .src = {from, to}, .imm = step, .block = 1});
    open = 1;
  }
  Id add(Inst inst) {
    code.insts.push_back(std::move(inst));
    code.blocks[open].push_back(static_cast<Id>(code.insts.size()) - 1);
    return code.blocks[open].back();
  }
  Id number(int64_t v) { return add({InstCode::Const, {DType::Index, 1}, {}, 0, ir::Scalar::of(DType::Index, v)}); }
  void load(int64_t constant, int64_t slot = 0) {
    const Id at =
        add({.code = InstCode::Alu, .type = {DType::Index, 1}, .src = {loop, number(constant)}, .op = Op::Add});
    const Id value = add({InstCode::Load, {DType::F32, 1}, {at}, slot});
    add({InstCode::Store, {}, {at, value}, 1});
  }
  /// The constant that an index adds to the loop's variable.
  int64_t constant_of(const Instructions& in, Id index) const {
    if (index == loop) return 0;
    const Inst& sum = in[index];
    REQUIRE((sum.op == Op::Add && sum.src[0] == loop));
    return in[sum.src[1]].number.as_int();
  }
  /// Lanes and number of the loads, which give each store what it had before.
  std::map<int, int> widths() const {
    codegen::verify(code);
    const Instructions made = codegen::widen_loads(code);
    codegen::verify(made);
    for (Id id : code.blocks[1]) {
      const Inst& store = code[id];
      if (store.code != InstCode::Store) continue;
      const Inst& before = code[store.src[1]];
      const Inst& now = made[store.src[1]];
      const bool part = now.code == InstCode::Part;
      const Inst& load = part ? made[now.src[0]] : now;
      CHECK(load.imm == before.imm);
      CHECK(constant_of(made, load.src[0]) + (part ? now.imm : 0) == constant_of(code, before.src[0]));
    }
    std::map<int, int> all;
    for (const auto& block : made.blocks)
      for (Id id : block)
        if (made[id].code == InstCode::Load) ++all[made[id].type.lanes];
    return all;
  }
};

std::map<int, int> widths(int64_t step, const std::vector<int64_t>& constants, int64_t slot = 0) {
  Program p(step);
  for (const int64_t c : constants) p.load(c, slot);
  return p.widths();
}

using Widths = std::map<int, int>;

}  // namespace

TEST_CASE("loads of neighbors are one access of 16 bytes", "[codegen]") {
  CHECK(widths(4, {0, 1, 2, 3}) == Widths{{4, 1}});
  CHECK(widths(8, {3, 1, 2, 0}) == Widths{{4, 1}});
  CHECK(widths(4, {0, 1, 2, 3, 4, 5, 6, 7, 64, 65, 66, 67}) == Widths{{4, 3}});
  CHECK(widths(2, {0, 1, 2, 3}) == Widths{{1, 4}});  // not aligned
  CHECK(widths(4, {1, 2, 3, 4}) == Widths{{1, 4}});
  CHECK(widths(4, {0, 2, 4, 6}) == Widths{{1, 4}});
}

TEST_CASE("a buffer has wide accesses only, or none", "[codegen]") {
  CHECK(widths(4, {0, 1, 2, 3, 4}) == Widths{{1, 5}});
  CHECK(widths(4, {0, 1, 2, 3, 8, 9}) == Widths{{1, 6}});
  CHECK(widths(4, {0, 1, 2, 3, 0}) == Widths{{1, 5}});
}

TEST_CASE("loads stay apart where threads have few registers", "[codegen]") {
  const auto widths_at = [](int threads, int blocks) {
    Program p(4);
    for (const int64_t c : {0, 1, 2, 3}) p.load(c);
    p.code.threads = threads, p.code.occupancy = blocks;
    return p.widths();
  };
  CHECK(widths_at(256, 2) == Widths{{4, 1}});
  CHECK(widths_at(64, 12) == Widths{{1, 4}});
}

TEST_CASE("only buffers that nobody writes are read ahead", "[codegen]") {
  CHECK(widths(4, {0, 1, 2, 3}, 1) == Widths{{1, 4}});
  CHECK(widths(4, {0, 1, 2, 3}, 2) == Widths{{1, 4}});
}
