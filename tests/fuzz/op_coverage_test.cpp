// The op table of random programs against ops.def: what no case makes is tested by no random program.
#include <set>

#include "catch.h"
#include "ir/walk.h"
#include "random_program.h"
#include "tensor/core/cell.h"

using namespace sinter;
using ir::Op;

namespace {

/// Made by the compiler, not by tensor calls.
bool made_later(Op op) {
  return op == Op::Fma || op == Op::Bitcast || op == Op::Check || op == Op::Ldexp || op == Op::FarRemainder;
}

}  // namespace

TEST_CASE("every op that tensor calls make has a case in random programs", "[programs][ops]") {
  std::set<Op> met;
  for (uint64_t seed = 1; seed <= 20; ++seed)
    for (const fuzz::OpCase& c : fuzz::op_cases()) {
      fuzz::ProgramBuilder r(seed, c.in_exact && (seed % 2 || !c.in_real));
      const fuzz::Item x = c.make(r);
      const ir::GraphScope scope;
      const ir::UOp root = tensor::node_of(x.t);
      for (ir::UOp n : ir::topological(root)) met.insert(n->op);
    }
  for (int i = 0; i < ir::kOpCount; ++i) {
    const Op op = static_cast<Op>(i);
    const ir::OpClass cls = ir::info(op).cls;
    const bool computes = cls == ir::OpClass::Alu || cls == ir::OpClass::Movement || cls == ir::OpClass::Reduce ||
                          cls == ir::OpClass::Pick;
    if (!computes || made_later(op)) continue;
    INFO(ir::info(op).name << ": add a case to tests/fuzz/op_cases.cpp");
    CHECK(met.count(op) == 1);
  }
}
