// Which instructions take turns, and what keeps its place.
#include <algorithm>

#include "codegen/cpu/cpu_passes.h"
#include "codegen/ssa/block_writer.h"
#include "unit/codegen_support.h"

using namespace codegen_test;
using codegen::InstCode, codegen::Id, codegen::Inst, codegen::Instructions;

namespace {

constexpr int kSteps = 20;

/// Memory that is read (slot 0), and memory that is read and stored (slot 1).
struct Program {
  Instructions code;
  codegen::BlockWriter emit;

  Program() : emit((code.slots = {{DType::F32, false}, {DType::F32, true}}, code.params = 2, code)) {}
  Id load(int slot, int64_t at, InstCode from = InstCode::Load) {
    Inst n{from, {DType::F32, 16}, {emit.number(at)}};
    n.imm = slot;
    return slot == 0 ? emit.value(std::move(n)) : emit.insert_here(std::move(n));
  }
  /// A chain of so many additions.
  Id chain(Id x, int steps = kSteps) {
    for (int i = 0; i < steps; ++i) x = emit.alu(Op::Add, {DType::F32, 16}, {x, x});
    return x;
  }
  Id store(int64_t at, Id value) {
    Inst n{InstCode::Store, {}, {emit.number(at), value}};
    n.imm = 1;
    return emit.insert_here(std::move(n));
  }
  std::vector<Id> interleaved(size_t block = 0) {
    const Instructions made = codegen::interleave(code);
    verify(made);
    CHECK(std::is_permutation(made.blocks[block].begin(), made.blocks[block].end(), code.blocks[block].begin(),
                              code.blocks[block].end()));
    return made.blocks[block];
  }
};

long place(const std::vector<Id>& block, Id id) { return std::find(block.begin(), block.end(), id) - block.begin(); }

}  // namespace

TEST_CASE("copies of a long computation take turns", "[codegen][interleave]") {
  Program p;
  const Id first = p.chain(p.load(0, 0)), stored = p.store(0, first), second = p.chain(p.load(0, 16));
  p.store(16, second);
  REQUIRE(place(p.code.blocks[0], second) - place(p.code.blocks[0], first) > kSteps);
  const std::vector<Id> block = p.interleaved();
  CHECK(std::abs(place(block, second) - place(block, first)) <= 3);
  CHECK(place(block, stored) > place(block, second) - 3);
}

TEST_CASE("chains of one computation go on side by side, the longest first", "[codegen][interleave]") {
  Program p;
  const Id early = p.chain(p.load(0, 0), 5), first = p.chain(early, 5), longer = p.chain(p.load(0, 16), 15),
           second = p.chain(longer, 5);
  p.store(0, p.emit.alu(Op::Mul, {DType::F32, 16}, {first, second}));
  const std::vector<Id> block = p.interleaved();
  CHECK(place(block, first) > place(block, longer));
  CHECK(std::abs(place(block, early) - place(block, longer)) <= 2);
}

TEST_CASE("short computations stay as they are", "[codegen][interleave]") {
  Program p;
  for (const int64_t at : {0, 16, 32}) p.store(at, p.chain(p.load(0, at), 5));
  CHECK(p.interleaved() == p.code.blocks[0]);
}

TEST_CASE("what reads memory or an accumulator that changes keeps its place", "[codegen][interleave]") {
  Program p;
  const Id before = p.load(1, 0), stored = p.store(16, p.chain(before)), after = p.load(1, 16),
           later = p.store(0, p.chain(after));
  Inst zero{InstCode::Accumulator, {DType::F32, 16}, {p.chain(p.load(0, 0), 1)}};
  const Id sum = p.emit.insert_here(std::move(zero));
  std::vector<Id> held, assigned;
  for (int i = 0; i < 2; ++i) {
    held.push_back(p.emit.insert_here({InstCode::AccumulatorRead, {DType::F32, 16}, {sum}}));
    assigned.push_back(p.emit.insert_here({InstCode::AccumulatorWrite, {}, {sum, p.chain(held.back())}}));
  }
  const std::vector<Id> block = p.interleaved();
  const std::vector<Id> order{before, stored, after, later, sum, held[0], assigned[0], held[1], assigned[1]};
  CHECK(std::is_sorted(order.begin(), order.end(), [&](Id a, Id b) { return place(block, a) < place(block, b); }));
}

TEST_CASE("values that both copies need come first, and nothing passes a loop", "[codegen][interleave]") {
  Program p;
  const Id shared = p.chain(p.load(0, 0));
  p.store(0, p.chain(p.emit.alu(Op::Mul, {DType::F32, 16}, {shared, shared})));
  p.store(16, p.chain(shared));
  const Id loop_index = p.emit.open_loop(p.emit.number(0), p.emit.number(4), 1, "");
  const Id inside = p.store(32, p.load(1, 0));
  p.emit.close();
  const Id behind = p.load(1, 32);
  p.store(48, p.chain(behind));
  const std::vector<Id> block = p.interleaved();  // verified: no value is used before it is made
  CHECK(place(block, behind) > place(block, loop_index));
  CHECK(p.interleaved(1).back() == inside);
}
