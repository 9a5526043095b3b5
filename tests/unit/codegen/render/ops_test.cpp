// Every elementwise op on every type, scalar and as a vector, against the evaluator that defines it.
#include <algorithm>
#include <cmath>
#include <limits>

#include "codegen/render/c_spelling.h"
#include "ir/short_float.h"
#include "runtime/program/host_target.h"
#include "unit/codegen_support.h"

using namespace codegen_test;

namespace {

constexpr DType kTypes[] = {DType::Bool, DType::U8,  DType::I8,  DType::U16,  DType::I16, DType::U32, DType::I32,
                            DType::U64,  DType::I64, DType::F16, DType::BF16, DType::F32, DType::F64};

/// Numbers at which operations differ, by type.
std::vector<Scalar> specials(DType dtype) {
  std::vector<Scalar> list;
  if (is_bool(dtype)) return {Scalar::of(dtype, 0), Scalar::of(dtype, 1)};
  if (is_float(dtype)) {
    constexpr double inf = std::numeric_limits<double>::infinity();
    for (double v : {0.0,
                     -0.0,
                     1.0,
                     -1.0,
                     0.5,
                     -0.5,
                     1.5,
                     2.5,
                     -2.5,
                     0.3,
                     -0.7,
                     3.14159,
                     -7.25,
                     127.5,
                     255.7,
                     256.0,
                     -129.0,
                     8388607.5,
                     -8388609.0,
                     2147483647.0,
                     2147483648.0,
                     -2147483649.0,
                     4294967296.0,
                     9.3e18,
                     1.9e19,
                     -9.3e18,
                     4503599627370495.5,
                     1e30,
                     1e-30,
                     1e-42,
                     5e-324,
                     65519.996,
                     65520.0,
                     65535.0,
                     6.1e-5,
                     8.9e-8,
                     2.98e-8,
                     3.395e38,
                     0x1.0080001p0,
                     16777217.0,
                     0x1.8080000000001p24,
                     -140.0,
                     -1060.0,
                     inf,
                     -inf,
                     std::nan("")})
      list.push_back(Scalar::of(dtype, v));
    return list;
  }
  const int64_t top = static_cast<int64_t>(~uint64_t{0} >> (64 - 8 * size_of(dtype) + (is_unsigned(dtype) ? 0 : 1)));
  for (int64_t v : {int64_t{0}, int64_t{1}, int64_t{2}, int64_t{3}, int64_t{7}, int64_t{31}, int64_t{33}, int64_t{63},
                    int64_t{100}, top, top - 1})
    list.push_back(Scalar::of(dtype, v));
  if (!is_unsigned(dtype))
    for (int64_t v : {int64_t{-1}, int64_t{-2}, int64_t{-3}, int64_t{-7}, int64_t{-100}, -top, -top - 1})
      list.push_back(Scalar::of(dtype, v));
  return list;
}

Array array_of(DType dtype, const std::vector<Scalar>& list) {
  Array a(dtype, {static_cast<int64_t>(list.size())});
  for (size_t i = 0; i < list.size(); ++i) a.set(static_cast<int64_t>(i), list[i]);
  return a;
}

/// All pairs (x over the inner, y over the outer index) or, for three sources, a third that turns with both.
struct Operands {
  std::vector<Scalar> x, y, z;
};
Operands operands(DType dtype) {
  const std::vector<Scalar> s = specials(dtype);
  Operands o;
  for (size_t i = 0; i < s.size(); ++i)
    for (size_t j = 0; j < s.size(); ++j)
      o.x.push_back(s[j]), o.y.push_back(s[i]), o.z.push_back(s[(3 * i + 5 * j + 1) % s.size()]);
  // Products that are too large for the type, but are not infinite: an infinite summand decides.
  if (is_float(dtype))
    for (double sign : {1.0, -1.0}) {
      const double large = dtype == DType::F64 ? 1e200 : dtype == DType::F16 ? 6e4 : 1e30;
      const double inf = std::numeric_limits<double>::infinity();
      o.x.push_back(Scalar::of(dtype, large));
      o.y.push_back(Scalar::of(dtype, sign * large));
      o.z.push_back(Scalar::of(dtype, -sign * inf));
    }
  return o;
}

/// Operands of Ldexp: numbers that half of any exponent in question leaves normal, and whole exponents.
Operands scalings(DType dtype, Operands o) {
  const double most = dtype == DType::F64 ? 2040 : dtype == DType::F16 ? 24 : 248;
  for (Scalar& x : o.x) {
    const double v = x.as_double();
    if (v != 0 && std::isfinite(v) && !(std::fabs(v) >= 0.25 && std::fabs(v) < 4))
      x = Scalar::of(dtype, std::copysign(1.7, v));
  }
  for (Scalar& y : o.y)
    y = Scalar::of(dtype, std::isnan(y.as_double()) ? 3 : std::clamp(std::round(y.as_double()), -most, most));
  return o;
}

/// Operands of FarRemainder: finite numbers above 0.
Operands quotients(DType dtype, Operands o) {
  for (std::vector<Scalar>* numbers : {&o.x, &o.y})
    for (Scalar& n : *numbers) {
      const double v = std::fabs(n.as_double());
      n = Scalar::of(dtype, v > 0 && std::isfinite(v) ? v : 0.7);
    }
  return o;
}

/// The ops that have a meaning on a type and are C's business.
std::vector<Op> ops_on(DType dtype) {
  std::vector<Op> list;
  for (int i = 0; i < kOpCount; ++i) {
    const Op op = static_cast<Op>(i);
    if (!is_alu(op) || has(op, kDecomposed) || op == Op::Cast || op == Op::Bitcast || op == Op::Check) continue;
    if (has(op, kFloat) && !is_float(dtype)) continue;
    if (has(op, kInteger) && is_float(dtype)) continue;
    if (is_bool(dtype) && (op == Op::Sub || op == Op::Neg || op == Op::Abs || op == Op::Shl || op == Op::Shr ||
                           op == Op::IDiv || op == Op::Mod))
      continue;
    if (is_float(dtype) && op == Op::Not) continue;
    if (op == Op::Threefry && dtype != DType::U64) continue;
    list.push_back(op);
  }
  return list;
}

/// One store per op of the type, all on the same operands.
void build(KernelHarness& b, DType dtype) {
  Operands o = operands(dtype);
  const int64_t n = static_cast<int64_t>(o.x.size());
  std::vector<Scalar> truth;
  for (int64_t i = 0; i < n; ++i) truth.push_back(Scalar::of(DType::Bool, i % 3 == 0 ? 1 : 0));
  UOp x = b.buffer(array_of(dtype, o.x)), y = b.buffer(array_of(dtype, o.y)), z = b.buffer(array_of(dtype, o.z)),
      c = b.buffer(array_of(DType::Bool, truth));
  UOp i = b.outer(n);
  UOp X = b.at(x, {i}), Y = b.at(y, {i}), Z = b.at(z, {i}), C = b.at(c, {i});
  std::vector<UOp> stores;
  auto put = [&](UOp v) { stores.push_back(b.put(b.buffer(Array(v->dtype, {n})), {i}, v)); };
  for (Op op : ops_on(dtype)) {
    if (op == Op::Where)
      put(where(C, X, Y));
    else if (op == Op::Ldexp) {
      const Operands s = scalings(dtype, o);
      const UOp significand = b.buffer(array_of(dtype, s.x)), exponent = b.buffer(array_of(dtype, s.y));
      put(ldexp(b.at(significand, {i}), b.at(exponent, {i})));
    } else if (op == Op::FarRemainder) {
      const Operands s = quotients(dtype, o);
      const UOp dividend = b.buffer(array_of(dtype, s.x)), divisor = b.buffer(array_of(dtype, s.y));
      put(alu(op, {Z, b.at(dividend, {i}), b.at(divisor, {i})}));
    } else if (info(op).arity == 1)
      put(alu(op, {X}));
    else if (info(op).arity == 2)
      put(alu(op, {X, Y}));
    else
      put(alu(op, {X, Y, Z}));
  }
  for (DType to : kTypes) {
    if (to != dtype) put(cast(X, to));
    if (to != dtype && size_of(to) == size_of(dtype)) put(bitcast(X, to));
  }
  put(cast(cast(i, DType::I64), dtype));
  b.stores(std::move(stores));
}

}  // namespace

TEST_CASE("every op on every type: scalar", "[codegen]") {
  for (DType dtype : kTypes) {
    INFO(name_of(dtype));
    KernelHarness b;
    build(b, dtype);
    b.check();
  }
}

TEST_CASE("every op on every type: 16 lanes", "[codegen]") {
  for (DType dtype : kTypes) {
    INFO(name_of(dtype));
    KernelHarness b;
    build(b, dtype);
    b.check({codegen::Lanes{0, 16}});
  }
}

TEST_CASE("every op that no expansion removes has a spelling in C", "[codegen]") {
  for (DType dtype : kTypes)
    for (Op op : ops_on(dtype)) {
      if (ir::is_short_float(dtype)) continue;  // these are computed in float32
      const bool logic = is_bool(dtype) && (op == Op::Add || op == Op::Mul || op == Op::Max ||
                                            op == Op::Min);  // legalize makes And and Or of them
      INFO(info(op).name << " on " << name_of(dtype));
      CHECK((logic || codegen::spelled_in_c(op, dtype)));
    }
}

TEST_CASE("machines without FMA and rounding instructions compute the same bits", "[codegen]") {
  for (DType dtype : {DType::F16, DType::BF16, DType::F32, DType::F64}) {
    KernelHarness b;
    build(b, dtype);
    std::vector<runtime::KernelBuffer> buffers;
    std::vector<Array> mine;
    for (Array& a : b.arrays) mine.push_back(copy(a));
    for (Array& a : b.arrays) buffers.push_back({a.data, a.dtype, a.shape});
    runtime::interpret_kernel(b.kernel.sink, {.params = buffers});
    runtime::Target target = runtime::host_target();
    target.isa = "x86-64";
    target.vector_bytes = 16;
    target.fma = target.masks = false;
    const runtime::KernelSource source = codegen::generate_source(b.kernel, target);
    auto program = runtime::compile({&source, 1}, target).at(0);
    uint32_t error = 0;
    std::vector<void*> bufs{&error};
    for (Array& a : mine) bufs.push_back(a.data.data());
    program->entry()(bufs.data(), nullptr, 0, b.kernel.outer[0].value());
    for (size_t slot = 0; slot < mine.size(); ++slot)
      for (int64_t i = 0; i < mine[slot].numel(); ++i) {
        const size_t bytes = size_of(mine[slot].dtype), at = static_cast<size_t>(i) * bytes;
        if (!same(mine[slot].dtype, &mine[slot].data[at], &b.arrays[slot].data[at]))
          FAIL(name_of(dtype) << " slot " << slot << " at " << i << ": " << mine[slot].at(i).as_double()
                              << " instead of " << b.arrays[slot].at(i).as_double());
      }
  }
}
