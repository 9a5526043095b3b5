// Sums in blocks of what their kernel stores: computed once, for the store.
#include "codegen/normalize/normalize.h"
#include "ir/walk.h"
#include "unit/codegen_support.h"

using namespace codegen_test;

namespace {

enum class Case { Plain, OneChain, Adds, Overwrites, ReadBefore, Copies, OuterCopies };

/// sums[i] = sum over j, k of v; out[i, j, k] = v, or several copies of it.
KernelHarness summed(Case which) {
  KernelHarness b;
  UOp x = b.buffer(random_array(DType::F32, {5, 12, 10}, 1)), out = b.buffer(random_array(DType::F32, {5, 12, 10}, 2)),
      sums = b.buffer(Array(DType::F32, {5})), first = b.buffer(Array(DType::F32, {5, 12, 10}));
  UOp i = b.outer(5), j = b.inner(12, 1), k = b.inner(10, 2);
  UOp v = b.at(x, {i, j, k}) * b.at(x, {i, j, k}) + 1.5;
  std::vector<UOp> list;
  if (which == Case::ReadBefore) list.push_back(b.put(first, {i, j, k}, b.at(out, {i, j, k})));
  if (which == Case::Overwrites) list.push_back(b.put(x, {i, j, k}, b.at(x, {i, j, k}) * 2.0));
  list.push_back(b.put(sums, {i}, b.reduce(Combine::Add, {v}, {j, k}, {1, which == Case::OneChain ? 0 : 40}) * 0.5));
  if (which == Case::Copies || which == Case::OuterCopies)
    list.push_back(b.put(b.buffer(Array(DType::F32, {5, 12, 10, 3})),
                         {i, j, k, which == Case::Copies ? b.inner(3, 3) : b.outer(3)}, v));
  else
    list.push_back(b.put(out, {i, j, k}, v, which == Case::Adds));
  b.stores(std::move(list));
  return b;
}

/// Whether a sum loads what it adds, and nothing else.
bool loads_only(UOp sink) {
  for (UOp n : topological(sink))
    if (n->op == Op::Reduce) return n->src[0]->op == Op::Load;
  return false;
}

}  // namespace

TEST_CASE("a sum in blocks reads back what its kernel stores", "[codegen]") {
  KernelHarness b = summed(Case::Plain);
  const UOp made = codegen::reload_stores(b.kernel);
  CHECK(loads_only(made));
  CHECK(made->src[0] == b.kernel.sink->src[1]);  // the store comes first
  b.check();
  summed(Case::Plain).check({codegen::Lanes{2, 8}});
}

TEST_CASE("a sum reads nothing back that is stored otherwise, too late, or several times", "[codegen]") {
  for (const Case which :
       {Case::OneChain, Case::Adds, Case::Overwrites, Case::ReadBefore, Case::Copies, Case::OuterCopies}) {
    INFO(static_cast<int>(which));
    KernelHarness b = summed(which);
    CHECK(codegen::reload_stores(b.kernel) == b.kernel.sink);
    b.check();
  }
}
