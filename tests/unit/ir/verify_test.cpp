// Well-formed graphs of each level pass; each broken one is refused with the pass, the node and the reason.
#include <functional>

#include "catch.h"
#include "ir/build.h"
#include "ir/verify.h"
#include "sinter/error.h"

using namespace sinter;
using namespace sinter::ir;
using Catch::Contains;

namespace {

UOp index(Graph& g, int64_t n) { return constant(g, DType::Index, n); }

/// sum over k of a[i, k] * 2, gated, into c[i]
UOp good_kernel(Graph& g) {
  UOp a = param(g, 0, DType::F32, {4, 8}), c = param(g, 1, DType::F32, {4});
  UOp i = range(index(g, 4), 0, AxisKind::Outer), k = range(index(g, 8), 0, AxisKind::Inner);
  UOp gate = lt(k, index(g, 5));
  UOp x = load(a, std::vector<UOp>{i, k}, gate, constant(g, DType::F32, 0.0)) * 2.0;
  UOp sum = reduce_over(Combine::Add, std::vector<UOp>{x}, std::vector<UOp>{k}, {});
  return sink(g, {store(c, std::vector<UOp>{i}, sum, {}, lt(i, index(g, 3)))});
}

void refuse(std::function<void()> verify, const std::string& why) {
  CHECK_THROWS_WITH(verify(), Contains("broken pass") && Contains(why) && Contains("sinter-ir 1"));
}
void refuse_tensor(UOp root, const std::string& why) {
  refuse([&] { verify_tensor(std::vector<UOp>{root}, "broken pass"); }, why);
}
void refuse_kernel(UOp root, const std::string& why) {
  refuse([&] { verify_kernel(root, "broken pass"); }, why);
}

}  // namespace

TEST_CASE("verify accepts what the builders make", "[rewrite][verify]") {
  Arena g;
  Var batch("batch", 1, 16);
  UOp x = g.make({Op::Data, DType::F32, {batch(4), 6}, {}});
  UOp i = shrink(arange(g, 12), {{0, 6}});
  UOp y = pad(flip(permute(reshape(x, {4, 2, 3}), {1, 0, 2}), {0, 2}), {{0, 2}, {1, 5}, {0, 3}}, {2, 6, 3});
  UOp z = where(lt(y, like(y, 0.0)), exp(y), expand(sum(y * 2.0, {2}), {2, 6, 3}, {2}));
  UOp r = gather(reshape(sum(z, {0, 1}), {3}), shrink(i, {{0, 2}}), 0);
  const std::vector<UOp> roots{r, bound_size(g, batch(4)),
                               scatter_add(full(g, {3}, DType::F32, 0.0), shrink(i, {{0, 2}}), r, 0),
                               cast(z, DType::I32)};
  CHECK_NOTHROW(verify_tensor(roots, "test"));
  CHECK_THROWS_WITH(verify_plan(roots, "plan lookup"),
                    Contains("after pass plan lookup") && Contains("Data") && Contains("no op of this level"));
  UOp p = param(g, 0, DType::F32, {batch(4), 6}), at = argument(g, 0, DType::Index);
  UOp moved = g.make({Op::Shrink, DType::F32, {2, 3}, {p, at, at}, Region{{0, 2}, {0, 3}}});
  CHECK_NOTHROW(verify_plan(std::vector<UOp>{moved, p}, "test"));
  CHECK_NOTHROW(verify_kernel(good_kernel(g), "test"));
}

TEST_CASE("verify refuses broken tensor graphs", "[rewrite][verify]") {
  Arena g;
  UOp x = full(g, {2, 3}, DType::F32, 1.0), b = full(g, {2, 3}, DType::Bool, 1.0);
  auto make = [&](Op op, DType dtype, Shape shape, std::vector<UOp> src, Attr attr = {}) {
    return g.make({op, dtype, shape, src, attr});
  };
  refuse_tensor(make(Op::Sub, DType::F32, {2, 3}, {x}), "has 1 sources");
  refuse_tensor(make(Op::Add, DType::F32, {2, 3}, {x, b}), "type");
  refuse_tensor(make(Op::Add, DType::F32, {2, 3}, {x, full(g, {3}, DType::F32, 1.0)}), "differs in shape");
  refuse_tensor(make(Op::Lt, DType::F32, {2, 3}, {x, x}), "is not bool");
  refuse_tensor(make(Op::Where, DType::F32, {2, 3}, {x, x, x}), "condition");
  refuse_tensor(make(Op::Exp, DType::Bool, {2, 3}, {b}), "no float");
  refuse_tensor(make(Op::Shl, DType::F32, {2, 3}, {x, x}), "on floats");
  refuse_tensor(make(Op::Bitcast, DType::F64, {2, 3}, {x}), "another size");
  refuse_tensor(make(Op::Neg, DType::F32, {2, 3}, {x}, int64_t{3}), "attribute");
  refuse_tensor(make(Op::Const, DType::I32, {}, {}, Scalar::of(DType::F32, 1.0)), "attribute");
  refuse_tensor(make(Op::Const, DType::F32, {2}, {}, Scalar::of(DType::F32, 1.0)), "scalar with a shape");
  refuse_tensor(make(Op::Reshape, DType::F32, {7}, {x}), "number of elements");
  refuse_tensor(make(Op::Permute, DType::F32, {3, 2}, {x}, Ints{1, 1}), "no permutation");
  refuse_tensor(make(Op::Expand, DType::F32, {4, 3}, {x}, Ints{0}), "other axes differ");
  refuse_tensor(make(Op::Expand, DType::F32, {2, 3, 4}, {x}, Ints{3}), "repeats along axis 3");
  refuse_tensor(make(Op::Expand, DType::F32, {5, 2, 4, 3}, {x}, Ints{2, 0}), "out of order");
  refuse_tensor(make(Op::Shrink, DType::F32, {1, 3}, {x}, Region{{2, 3}, {0, 3}}), "leaves axis 0");
  refuse_tensor(make(Op::Pad, DType::F32, {4, 3}, {x}, Region{{0, 3}, {0, 3}}), "another size on axis 0");
  refuse_tensor(make(Op::Flip, DType::F32, {2, 3}, {x}, Ints{2}), "flips axis 2");
  refuse_tensor(make(Op::Window, DType::F32, {2, 3}, {x}, WindowAttr{1, 1}), "without taps");
  refuse_tensor(make(Op::Window, DType::F32, {2, 2}, {x}, WindowAttr{0, 1}), "axis 1 has another size");
  refuse_tensor(make(Op::Window, DType::F32, {2, 3}, {x}, Ints{0, 1}), "attribute");
  refuse_tensor(make(Op::Reduce, DType::F32, {2, 1}, {x}, ReduceAttr{Combine::Add, {1}, {}}), "are gone");
  refuse_tensor(make(Op::Reduce, DType::F32, {2, 3}, {x}, ReduceAttr{}), "reduces no axis");
  refuse_tensor(make(Op::Reduce, DType::F32, {2}, {x}, ReduceAttr{Combine::Add, {1, 1}, {}}), "or twice");
  refuse_tensor(make(Op::Gather, DType::F32, {4, 4}, {x, full(g, {4, 4}, DType::I64, 0.0)}, int64_t{0}),
                "differs on axis 1");
  refuse_tensor(make(Op::Param, DType::F32, {2}, {}, int64_t{0}), "no op of this level");
  refuse_tensor(make(Op::Copy, DType::F64, {2, 3}, {x}), "differs in type");
}

TEST_CASE("verify refuses broken kernels", "[rewrite][verify]") {
  Arena g;
  UOp a = param(g, 0, DType::F32, {4}), zero = constant(g, DType::F32, 0.0);
  UOp i = range(index(g, 4), 0, AxisKind::Outer), k = range(index(g, 4), 0, AxisKind::Inner);
  auto at = [](UOp n) { return std::vector<UOp>{n}; };
  auto stored = [&](UOp value) { return sink(g, {store(a, at(i), value)}); };
  refuse_kernel(zero, "a kernel is a SINK");
  refuse_kernel(sink(g, {zero}), "holds STOREs");
  refuse_kernel(stored(load(a, at(k))), "again and again");
  refuse_kernel(stored(reduce_over(Combine::Add, at(load(a, at(k))), at(i), {})), "no inner range");
  refuse_kernel(stored(reduce_over(Combine::Add, at(zero), at(k), {3, 0})), "impossible tree");
  refuse_kernel(stored(g.make({Op::Load, DType::F32, {}, {a}})), "1 sources for 1 dims");
  refuse_kernel(stored(load(a, at(constant(g, DType::I64, 0)))), "index 0 is not of dtype index");
  refuse_kernel(stored(load(a, at(i), zero, zero)), "predicate that is not bool");
  refuse_kernel(stored(full(g, {}, DType::F32, 1.0) + load(param(g, 0, DType::F32, {5}), at(i))), "share a slot");
  refuse_kernel(stored(cast(range(i, 1, AxisKind::Outer), DType::F32)), "bounded by no Const");
  refuse_kernel(stored(cast(range(k, 1, AxisKind::Inner), DType::F32)), "more than sizes");
  UOp late = range(index(g, 4), 1, AxisKind::Inner);
  UOp inside =
      reduce_over(Combine::Add, at(load(param(g, 1, DType::F32, {4, 4}), std::vector<UOp>{k, late})), at(k), {4, 0});
  refuse_kernel(sink(g, {store(a, at(late), inside)}), "comes before one around it");
  refuse_kernel(stored(cast(range(index(g, 5), 0, AxisKind::Outer), DType::F32)), "share an id");
  refuse_kernel(stored(g.make({Op::Exp, DType::F32, {2}, {zero}})), "has a shape in a kernel");
  refuse_kernel(stored(g.make({Op::Reduce, DType::F32, {}, {zero}, ReduceAttr{Combine::Add, {0}, {}}})),
                "reduces axes in a kernel");
}
