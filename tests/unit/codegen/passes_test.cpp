// The passes one by one: what each makes, that DEBUG=5 shows it, and that each verifier refuses what is broken.
#include "codegen/emit/emit.h"
#include "codegen/nest/loop_tree.h"
#include "codegen/normalize/normalize.h"
#include "codegen/ssa/block_writer.h"
#include "ir/walk.h"
#include "sinter/error.h"
#include "unit/codegen_support.h"

using namespace codegen_test;
using namespace sinter::codegen;

namespace {

/// Row sums and their squares: REDUCE, REDUCE, STORE, STORE.
KernelHarness rows() {
  KernelHarness b;
  UOp x = b.buffer(random_array(DType::F32, {4, 9}, 1)), sums = b.buffer(Array(DType::F32, {4})),
      squares = b.buffer(Array(DType::F32, {4}));
  UOp i = b.outer(4), k = b.over(9, 1), v = b.at(x, {i, k});
  b.stores(
      {b.put(sums, {i}, b.reduce(Combine::Add, {v}, {k})), b.put(squares, {i}, b.reduce(Combine::Dot, {v, v}, {k}))});
  return b;
}

int count(UOp root, Op op) {
  int n = 0;
  for (UOp u : topological(root)) n += u->op == op;
  return n;
}

}  // namespace

TEST_CASE("statements and their tree: sums over one range share its loop", "[codegen]") {
  KernelHarness b = rows();
  codegen::FreeRanges ranges;
  const LoopSchedule schedule = make_loop_schedule(b.kernel, {codegen::TaskBlock{0, 4}});
  Statements s = make_statements(b.kernel, schedule, ranges);
  REQUIRE(s.list.size() == 4);
  CHECK_NOTHROW(codegen::verify(s, ranges));
  const std::vector<LoopItem> tree = make_loop_tree(s);
  CHECK_NOTHROW(codegen::verify(tree, s));
  REQUIRE(tree.size() == 1);
  std::vector<LoopItem::ItemKind> order;
  for (const LoopItem& item : tree[0].body) order.push_back(item.kind);
  using W = LoopItem::ItemKind;
  CHECK(order == std::vector<W>{W::Init, W::Init, W::Loop, W::Finish, W::Finish, W::Store, W::Store});
  CHECK(tree[0].body[2].body.size() == 2);

  std::vector<LoopItem> broken = tree;  // a store before the sum that it stores
  std::swap(broken[0].body[0], broken[0].body[5]);
  CHECK_THROWS_AS(codegen::verify(broken, s), InternalError);
  broken = tree;  // an update outside its loop
  broken[0].body.push_back(broken[0].body[2].body[0]);
  CHECK_THROWS_AS(codegen::verify(broken, s), InternalError);
  broken = tree;  // a store that was lost
  broken[0].body.pop_back();
  CHECK_THROWS_AS(codegen::verify(broken, s), InternalError);
}

TEST_CASE("instructions are checked", "[codegen]") {
  KernelHarness b = rows();
  codegen::FreeRanges ranges;
  Statements s = make_statements(b.kernel, make_loop_schedule(b.kernel, {}), ranges);
  const std::vector<LoopItem> tree = make_loop_tree(s);
  const Instructions code =
      emit_kernel(b.kernel, runtime::reference_target(), make_loop_schedule(b.kernel, {}), s, tree, ranges);
  CHECK_NOTHROW(codegen::verify(code));

  Instructions broken = code;  // the body backwards: values are used before they are made
  std::reverse(broken.blocks[0].begin(), broken.blocks[0].end());
  CHECK_THROWS_AS(codegen::verify(broken), InternalError);
  broken = code;
  for (Inst& n : broken.insts)
    if (n.code == InstCode::Load) n.type.dtype = DType::F64;
  CHECK_THROWS_AS(codegen::verify(broken), InternalError);
  broken = code;
  for (MemorySlot& slot : broken.slots) slot.written = false;
  CHECK_THROWS_AS(codegen::verify(broken), InternalError);
  broken = code;
  for (Inst& n : broken.insts)
    if (n.code == InstCode::Alu) n.imm = 1;  // only a maximum or minimum may give either zero
  CHECK_THROWS_AS(codegen::verify(broken), InternalError);
}

TEST_CASE("arithmetic on known integers is done where instructions are made", "[codegen]") {
  Instructions code;
  BlockWriter emit(code);
  const Type word{DType::U32, 1}, index{DType::Index, 1};
  const auto divided = [&](Id x, Op op) {
    const Id narrow = emit.alu(Op::Cast, word, {x}), three = emit.constant(DType::U32, ir::Scalar::of(DType::U32, 3));
    return emit.alu(Op::Cast, index, {emit.alu(op, word, {narrow, three})});
  };
  CHECK(emit.is_number(divided(emit.number(7), Op::IDiv), 2));
  CHECK(emit.is_number(divided(emit.number(7), Op::Mod), 1));
  CHECK(emit.is_number(divided(emit.number((int64_t{1} << 32) + 5), Op::Mod), 2));
  CHECK(emit[divided(emit.value({InstCode::Begin, index, {}}), Op::Mod)].code == InstCode::Alu);
  const Id half = emit.constant(DType::F32, ir::Scalar::of(DType::F32, 0.5));
  CHECK(emit[emit.alu(Op::Add, {DType::F32, 1}, {half, half})].code == InstCode::Alu);
}

TEST_CASE("a tree with blocks becomes a reduction over blocks", "[codegen]") {
  KernelHarness b;
  UOp x = b.buffer(random_array(DType::F32, {5, 7}, 1)), out = b.buffer(Array(DType::F32, {}));
  UOp k = b.over(5, 0), l = b.over(7, 1);
  b.stores({b.put(out, {}, b.reduce(Combine::Add, {b.at(x, {k, l})}, {k, l}, {4, 8}))});
  CHECK_THROWS_AS(verify_reductions(b.kernel.sink), InternalError);
  const UOp split = split_reductions(b.g(), b.kernel.sink);
  CHECK_NOTHROW(verify_reductions(split));
  CHECK(count(split, Op::Reduce) == 2);
  CHECK(split_reductions(b.g(), split) == split);
}

TEST_CASE("legalize: logic for bool, short unsigned division for indices", "[codegen]") {
  KernelHarness b;
  UOp x = b.buffer(random_array(DType::Bool, {40}, 1)), out = b.buffer(Array(DType::Bool, {40}));
  UOp i = b.outer(40), at = idiv(i, b.index(3)), below = idiv(i - b.index(20), b.index(3));
  b.stores({b.put(out, {i}, (b.at(x, {at}) + b.at(x, {i})) * lt(below, b.index(0)))});
  CHECK_THROWS_AS(verify_legal(b.kernel.sink), InternalError);
  const UOp made = legalize(b.g(), b.kernel.sink);
  CHECK_NOTHROW(verify_legal(made));
  std::vector<DType> divisions;
  for (UOp u : topological(made))
    if (u->op == Op::IDiv) divisions.push_back(u->dtype);
  std::sort(divisions.begin(), divisions.end());
  CHECK(divisions == std::vector<DType>{DType::U32, DType::Index});  // what may be negative stays a floor
  CHECK((count(made, Op::And) == 1 && count(made, Op::Or) == 1 && count(made, Op::Mul) == 0));
  b.check();
}

TEST_CASE("DEBUG=5 shows what each pass made", "[codegen]") {
  KernelHarness b = rows();
  runtime_test::ScopedEnv debug("DEBUG", "5");
  runtime_test::CapturedLog log;
  codegen::generate_source(b.kernel, runtime::reference_target(), {codegen::Unroll{0, 2}});
  const std::string text = log.text();
  for (const char* pass :
       {"after schedule", "unroll(0, 2)", "after statements", "after loop tree", "loop inner 1", "after emit"})
    CHECK(text.find(pass) != std::string::npos);
  CHECK(text.find("after reductions") == std::string::npos);  // changed nothing
}
