// Every op of ops.def has all its parts: an op added without one of them fails here, with the place where it is
// missing. (That random programs make it is tests/fuzz/op_coverage_test.cpp's; that its gradient is right,
// adjoint_test.cpp's.)
#include <set>

#include "catch.h"
#include "codegen/codegen.h"
#include "codegen/normalize/normalize.h"
#include "gradient/adjoint.h"
#include "interp/interpreter.h"
#include "ir/build.h"
#include "ir/dump.h"
#include "ir/lapack_call.h"
#include "ir/scalar_eval.h"
#include "ir/short_float.h"
#include "ir/sort_runs.h"
#include "ir/verify.h"
#include "ir/walk.h"
#include "ir_text/parse.h"
#include "ir_text/words.h"
#include "sinter/error.h"

using namespace sinter;
using namespace sinter::ir;

namespace {

constexpr DType kTypes[] = {DType::F32, DType::F64, DType::F16, DType::BF16, DType::I32, DType::U64, DType::Bool};

/// An elementwise op on sources of a type; null where it has no meaning.
UOp elementwise(Op op, const std::vector<UOp>& x) {
  if (op == Op::Threefry && x[0]->dtype != DType::U64) return {};
  try {
    if (op == Op::Cast) return cast(x[0], x[0]->dtype == DType::I64 ? DType::F32 : DType::I64);
    if (op == Op::Bitcast)
      return size_of(x[0]->dtype) == 4 ? bitcast(x[0], x[0]->dtype == DType::I32 ? DType::F32 : DType::I32) : UOp();
    UOp made = alu(op, x);
    const std::vector<Scalar> ones(x.size(), Scalar::of(x.back()->dtype, 1));
    evaluate(op, made->dtype, x.back()->dtype, ones);
    return made;
  } catch (const InternalError&) { return {}; }
}

/// A tensor or plan graph whose root is the op; null for ops of kernels.
UOp sample(Graph& g, Op op, DType dtype) {
  UOp x = param(g, 0, dtype, {2, 3}), index = full(g, {2, 3}, DType::I64, 1);
  if (is_alu(op) && op != Op::Check) {
    std::vector<UOp> src(static_cast<size_t>(info(op).arity), x);
    if (op == Op::Where) src[0] = full(g, {2, 3}, DType::Bool, 1);
    return elementwise(op, src);
  }
  const Region box{{0, 1}, {1, 3}};
  switch (op) {
    case Op::Const: return constant(g, dtype, 1);
    case Op::Arange: return arange(g, 3);
    case Op::Var: return variable(g, Var("n", 1, 8), DType::I64);
    case Op::Num: return g.make({op, dtype, {}, {}, Scalar::of(dtype, 1)});
    case Op::Data: return g.make({op, dtype, {2, 3}, {}});
    case Op::Param: return x;
    case Op::Arg: return argument(g, 0, dtype);
    case Op::Reshape: return reshape(x, {3, 2});
    case Op::Permute: return permute(x, {1, 0});
    case Op::Expand: return broadcast_to(x, {4, 2, 3});
    case Op::Shrink: return shrink(x, box);
    case Op::Pad: return pad(x, {{1, 3}, {0, 3}}, {4, 3});
    case Op::Flip: return flip(x, {1});
    case Op::Window: return slide(x, 0, -1, 4);
    case Op::Reduce: return reduce(Combine::Max, x, {1});
    case Op::Scan: return scan(Combine::Add, x, 1);
    case Op::Gather: return gather(x, index, 1);
    case Op::Scatter: return scatter(x, index, x, 1, is_bool(dtype) ? ScatterMode::Set : ScatterMode::Mul);
    case Op::Sort: return sort_positions(x, 1, 2, true);
    case Op::Lapack: return is_lapack_type(dtype) ? lapack({LapackRoutine::Qr}, {x}).rows : UOp();
    case Op::Leaf: return g.make({op, dtype, {2, 3}, {x}});
    case Op::Detach: return g.make({op, dtype, {2, 3}, {x}});
    case Op::After: return g.make({op, dtype, {2, 3}, {x, shrink(x, box)}, box});
    case Op::Contiguous: return contiguous(x);
    case Op::Custom: return g.make({op, dtype, {2, 3}, {x, index}, int64_t{0}});
    case Op::Barrier: return barrier(x, index);
    case Op::Tf32: return tf32(x);
    case Op::Copy: return g.make({op, dtype, {2, 3}, {x}});
    default: return {};
  }
}

UOp number(Graph& g, int64_t n) { return constant(g, DType::Index, n); }

/// c[i] += sum over k of f(a[i, k], ..) where i < 2: every op of kernels, and `op`.
codegen::Kernel kernel(Op op, DType dtype) {
  codegen::Kernel k{"sample", std::make_shared<Arena>(), {}, {}, {}, 2, {Dim(4)}};
  Graph& g = *k.graph;
  if (op == Op::SortRuns) {
    const SortRuns step{.row = 8, .group = 8, .words = sort_words(dtype), .count = 8};
    k.sink = sink(g, {sort_runs(param(g, 1, DType::I64, {4, 8}), param(g, 0, dtype, {4, 8}), step)});
    return k;
  }
  if (op == Op::CallLapack) {
    if (is_lapack_type(dtype))
      k.sink = sink(g, {lapack_in_kernel({LapackRoutine::Svd, kValuesOnly}, param(g, 0, dtype, {4, 2}),
                                         {param(g, 1, dtype, {4, 2, 3})})});
    return k;
  }
  UOp i = range(number(g, 4), 0, AxisKind::Outer), j = range(number(g, 8), 1, AxisKind::Inner);
  UOp a = load(param(g, 0, dtype, {4, 8}), std::vector<UOp>{i, j}), gate = lt(i, number(g, 2));
  UOp value = a;
  if (is_alu(op) && op != Op::Check) {
    std::vector<UOp> src(static_cast<size_t>(info(op).arity), a);
    if (op == Op::Where) src[0] = gate;
    value = elementwise(op, src);
    if (!value) return k;
  }
  UOp sum =
      cast(reduce_over(Combine::Max, std::vector<UOp>{to_compute_type(value)}, std::vector<UOp>{j}, {}), value->dtype);
  UOp checked = g.make({Op::Check, DType::Index, {}, {i, gate}, int64_t{0}});
  k.sink = sink(g, {store(param(g, 1, value->dtype, {4}), std::vector<UOp>{checked}, sum, {}, gate)});
  return k;
}

bool of_kernels(Op op) {
  return op == Op::SortRuns || op == Op::CallLapack || op == Op::Range || op == Op::Load || op == Op::Store ||
         op == Op::Check || op == Op::Sink;
}
/// Not in plans: the samples stand on a Param, which tensor graphs do not have.
bool tensors_only(Op op) {
  return op == Op::Num || op == Op::Data || op == Op::Leaf || op == Op::Detach || op == Op::Custom;
}

template <class F>
void for_each_op(F f) {
  for (int i = 0; i < kOpCount; ++i) {
    INFO(info(static_cast<Op>(i)).name);
    f(static_cast<Op>(i));
  }
}

}  // namespace

TEST_CASE("every op has a name of its own and a meaning", "[ops]") {
  std::set<std::string_view> names;
  for_each_op([&](Op op) {
    CHECK(names.insert(info(op).name).second);
    CHECK_FALSE(info(op).meaning.empty());
    Op found{};
    CHECK((op_named(info(op).name, found) && found == op));
  });
}

TEST_CASE("ops are batched as their class says", "[ops]") {
  for_each_op([](Op op) {
    const Batching how = info(op).batching;
    switch (info(op).cls) {
      case OpClass::Alu: CHECK(how == (op == Op::Check ? Batching::None : Batching::Map)); break;
      case OpClass::Movement: CHECK(how == Batching::Move); break;
      case OpClass::Reduce: CHECK(how == Batching::Fold); break;
      case OpClass::Pick: CHECK(how == Batching::Pick); break;
      case OpClass::Memory:
      case OpClass::Control: CHECK(how == Batching::None); break;
      default: CHECK((how != Batching::Fold && how != Batching::Pick)); break;
    }
  });
}

TEST_CASE("the ops that say so are associative and commutative on integers, and no others", "[ops]") {
  const int64_t numbers[] = {-7, -1, 0, 1, 2, 3, 100};
  for_each_op([&](Op op) {
    if (!is_alu(op) || info(op).arity != 2 || info(op).result != ResultType::Same || has(op, kFloat)) return;
    const auto of = [op](Scalar a, Scalar b) { return evaluate(op, DType::I32, std::vector<Scalar>{a, b}); };
    bool associates = true, commutes = true;
    for (int64_t i : numbers)
      for (int64_t j : numbers)
        for (int64_t k : numbers) {
          const Scalar a = Scalar::of(DType::I32, i), b = Scalar::of(DType::I32, j), c = Scalar::of(DType::I32, k);
          try {
            associates = associates && of(of(a, b), c).as_int() == of(a, of(b, c)).as_int();
            commutes = commutes && of(a, b).as_int() == of(b, a).as_int();
          } catch (const InternalError&) {
            return;  // it has no meaning on int32
          }
        }
    CHECK(has(op, kAssociative) == associates);
    CHECK(has(op, kCommutative) == commutes);
  });
}

TEST_CASE("every op is built, verified, written as text and read back", "[ops]") {
  for_each_op([](Op op) {
    int types = 0;
    for (DType dtype : kTypes) {
      Arena g, again;
      const codegen::Kernel k = of_kernels(op) ? kernel(op, dtype) : codegen::Kernel();
      UOp root = of_kernels(op) ? k.sink : sample(g, op, dtype);
      if (!root) continue;
      ++types;
      if (of_kernels(op))
        CHECK_NOTHROW(verify_kernel(root, "sample"));
      else if (!tensors_only(op))
        CHECK_NOTHROW(verify_plan(std::vector<UOp>{root}, "sample"));
      const std::string text = dump(root);
      CHECK(dump(parse(text, again)) == text);
    }
    CHECK(types > 0);  // tests/unit/ir/op_table_test.cpp: sample(); ir/verify_shape.cpp; ir_text/parse.cpp
  });
}

TEST_CASE("every op has a case in the interpreter", "[ops]") {
  for_each_op([](Op op) {
    int types = 0;
    for (DType dtype : kTypes) {
      Arena g;
      if (of_kernels(op)) {
        const codegen::Kernel k = kernel(op, dtype);
        if (!k.sink) continue;
        std::vector<runtime::Array> arrays;
        for (UOp n : topological(k.sink))
          if (n->op == Op::Param) {
            arrays.resize(std::max(arrays.size(), static_cast<size_t>(n->integer()) + 1));
            std::vector<int64_t> sizes;
            for (const Dim& d : n->shape) sizes.push_back(d.value());
            arrays[static_cast<size_t>(n->integer())] = runtime::Array(n->dtype, sizes);
          }
        std::vector<runtime::KernelBuffer> buffers;
        for (runtime::Array& a : arrays) buffers.push_back({a.data, a.dtype, a.shape});
        uint32_t error = 0;
        CHECK_NOTHROW(runtime::interpret_kernel(k.sink, {.params = buffers, .error = &error}));
        CHECK(error == (op == Op::SortRuns || op == Op::CallLapack ? 0 : 1));
        ++types;
      } else if (UOp root = sample(g, op, dtype)) {
        const runtime::Array x(dtype, {2, 3});
        const Scalar one = Scalar::of(dtype, 1);
        const runtime::GraphInputs inputs{{&x, 1}, {&one, 1}, {{"n", 3}}, {}};
        if (op != Op::Data) CHECK_NOTHROW(runtime::interpret({&root, 1}, inputs));  // Data is born with storage
        ++types;
      }
    }
    CHECK(types > 0);  // ir/scalar_eval.cpp for elementwise ops, interp/interpret_graph.cpp for others
  });
}

TEST_CASE("every elementwise op is spelled in C or expanded into such as are", "[ops]") {
  for_each_op([](Op op) {
    if (!is_alu(op)) return;
    int types = 0;
    for (DType dtype : kTypes) {
      const codegen::Kernel k = kernel(op, dtype);
      if (!k.sink) continue;
      CHECK_NOTHROW(codegen::generate_source(
          k, runtime::reference_target()));  // codegen/render/c_spelling.cpp or codegen/normalize/math.cpp
      if (has(op, kDecomposed)) CHECK(codegen::max_ulp(op, compute_type(dtype)) >= 0);
      ++types;
    }
    CHECK(types > 0);
  });
}

TEST_CASE("every op has a gradient rule or says that it has none", "[ops]") {
  for_each_op(
      [](Op op) { CHECK((autodiff::rule_of(op) != nullptr) == !has(op, kNoGrad)); });  // src/gradient/adjoint_*.cpp
}
