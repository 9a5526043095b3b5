// Transposes one turn ahead: what moves where, and which loops stay as they are.
#include <algorithm>

#include "codegen/cpu/cpu_passes.h"
#include "codegen/emit/register_transpose.h"
#include "codegen/ssa/block_writer.h"
#include "unit/codegen_support.h"

using namespace codegen_test;
using codegen::InstCode, codegen::Id, codegen::Inst, codegen::Instructions, codegen::Type;

namespace {

constexpr int kColumns = 4;
constexpr Type kVector{DType::F32, 4};

/// A loop to `end`, in which 4 rows of slot `rows` become 4 columns; each, or its negative, is multiplied by 3 elements
/// of slot 0 and added to 3 accumulators.
struct Program {
  Instructions code;
  codegen::BlockWriter emit;
  Id loop = 0;
  std::vector<Id> sums, updates;

  explicit Program(int64_t end, int rows = 0, bool negated = false)
      : emit((code.slots = {{DType::F32, false}, {DType::F32, true}}, code.params = 2, code)) {
    for (int i = 0; i < 3; ++i) {
      Inst zero{
          InstCode::Accumulator, kVector, {emit.splat(emit.constant(DType::F32, ir::Scalar::of(DType::F32, 0)), 4)}};
      zero.imm = 1;
      sums.push_back(emit.insert_here(std::move(zero)));
    }
    loop = emit.open_loop(emit.number(0), emit.number(end), kColumns, "");
    std::vector<Id> vectors;
    for (int i = 0; i < 4; ++i) vectors.push_back(load(rows, kVector, emit.index(Op::Add, loop, emit.number(100 * i))));
    std::vector<Id> factors = codegen::columns_of(emit, vectors);
    if (negated)
      for (Id& f : factors) f = emit.alu(Op::Neg, kVector, {f});
    for (int i = 0; i < 3; ++i)
      for (int k = 0; k < kColumns; ++k) {
        const Id by =
            emit.splat(load(0, {DType::F32, 1}, emit.index(Op::Add, loop, emit.number(1000 + 10 * i + k))), 4);
        const Id held = emit.insert_here({InstCode::AccumulatorRead, kVector, {sums[static_cast<size_t>(i)]}});
        updates.push_back(emit.insert_here(
            {InstCode::AccumulatorWrite,
             {},
             {sums[static_cast<size_t>(i)], emit.alu(Op::Fma, kVector, {factors[static_cast<size_t>(k)], by, held})}}));
      }
    emit.close();
  }
  Id load(int slot, Type type, Id at) {
    Inst n{InstCode::Load, type, {at}};
    n.imm = slot;
    return slot == 0 ? emit.value(std::move(n)) : emit.insert_here(std::move(n));
  }
  Instructions pipelined(int registers = 32) const {
    Instructions made = codegen::software_pipeline(code, registers);
    verify(made);
    return made;
  }
};

std::vector<InstCode> codes(const Instructions& code, int block) {
  std::vector<InstCode> out;
  for (Id id : code.blocks[static_cast<size_t>(block)]) out.push_back(code[id].code);
  return out;
}
long count_of(const std::vector<InstCode>& codes, InstCode code) {
  return std::count(codes.begin(), codes.end(), code);
}

}  // namespace

TEST_CASE("transposes are done one turn ahead, spread among the multiplications", "[codegen][pipeline]") {
  const Program p(40);
  const Instructions made = p.pipelined();
  const std::vector<InstCode> before = codes(made, 0), inside = codes(made, made[p.loop].block);
  CHECK(count_of(before, InstCode::Interleave) == 8);  // those of the first turn,
  CHECK(count_of(inside, InstCode::Interleave) == 8);  // and of the next one
  CHECK(count_of(before, InstCode::Accumulator) == 3 + kColumns);
  CHECK(count_of(inside, InstCode::AccumulatorWrite) == 3 * kColumns + kColumns);
  long updates = 0, most = 0, run = 0;
  for (InstCode c : inside) {
    if (c == InstCode::AccumulatorWrite) ++updates, run = 0;
    if (c == InstCode::Interleave) {
      CHECK(updates >= 3);  // the first column has been used up
      most = std::max(most, ++run);
    }
  }
  CHECK(most <= 2);
}

TEST_CASE("what stands between a column and its product moves nothing back", "[codegen][pipeline]") {
  const Program p(40, 0, true);
  const Instructions made = p.pipelined();
  const std::vector<InstCode> inside = codes(made, made[p.loop].block);
  CHECK(count_of(codes(made, 0), InstCode::Interleave) == 8);
  CHECK(count_of(inside, InstCode::Interleave) == 8);  // of the next turn alone
}

TEST_CASE("each sum of a pipelined loop keeps its order, and no turn reads behind the last", "[codegen][pipeline]") {
  const Program p(40);
  const Instructions made = p.pipelined();
  const std::vector<Id>& body = made.blocks[static_cast<size_t>(made[p.loop].block)];
  for (Id sum : p.sums) {
    std::vector<Id> before, after;
    for (Id u : p.updates)
      if (p.code[u].src[0] == sum) before.push_back(u);
    for (Id id : body)
      if (made[id].code == InstCode::AccumulatorWrite && made[id].src[0] == sum) after.push_back(id);
    CHECK(after == before);
  }
  const auto next = std::find_if(body.begin(), body.end(), [&](Id id) { return made[id].op == Op::Min; });
  REQUIRE(next != body.end());
  CHECK(made[made[*next].src[1]].number.as_int() == 36);
}

TEST_CASE("loops of one turn, of memory that changes and of many sums stay as they are", "[codegen][pipeline]") {
  const auto same = [](const Program& p, int registers = 32) { return p.pipelined(registers).blocks == p.code.blocks; };
  CHECK_FALSE(same(Program(8)));
  CHECK(same(Program(4)));
  CHECK(same(Program(40, 1)));
  CHECK(same(Program(40), 10));
}
