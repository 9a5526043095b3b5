// Conversions to and from the 16-bit floats: the evaluator against all numbers of the types, compiled kernels of every
// instruction set against the evaluator.
#include "ir/short_float.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "codegen/tune/choose_opts.h"
#include "runtime/program/host_target.h"
#include "unit/codegen/cuda_support.h"

using namespace codegen_test;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

/// The finite numbers of a type from 0 up, by their digits and exponents; then the one that would come next.
std::vector<double> ladder(DType dtype) {
  const int digits = dtype == DType::F16 ? 10 : 7, bias = dtype == DType::F16 ? 15 : 127;
  std::vector<double> all;
  for (int exponent = 0; exponent <= 2 * bias; ++exponent)
    for (int d = 0; d < 1 << digits; ++d)
      all.push_back(std::ldexp(d + (exponent ? 1 << digits : 0), std::max(exponent, 1) - bias - digits));
  all.push_back(std::ldexp(1, bias + 1));
  return all;
}

/// Floats and doubles around every number of the type and around every middle of two, of both signs.
template <class T>
std::vector<T> near_ties(DType dtype) {
  const std::vector<double> all = ladder(dtype);
  std::vector<T> out{static_cast<T>(kInf), static_cast<T>(-kInf), static_cast<T>(std::nan("")),
                     std::numeric_limits<T>::max(), std::numeric_limits<T>::denorm_min()};
  for (size_t i = 0; i + 1 < all.size(); ++i)
    for (double at : {all[i], (all[i] + all[i + 1]) / 2}) {
      const T exact = static_cast<T>(at), none = 0;
      if (static_cast<double>(exact) != at) continue;  // the middle of two of bfloat16's smallest
      for (T v : {exact, std::nextafter(exact, static_cast<T>(kInf)), std::nextafter(exact, none)}) {
        out.push_back(v);
        out.push_back(-v);
      }
    }
  return out;
}

Array every_number(DType dtype) {
  Array a(dtype, {1 << 16});
  for (size_t i = 0; i < a.as<uint16_t>().size(); ++i) a.as<uint16_t>()[i] = static_cast<uint16_t>(i);
  return a;
}

/// A kernel that casts each array to `to` of its own.
void build_casts(KernelHarness& b, std::vector<std::pair<Array, DType>> casts) {
  std::vector<UOp> stores;
  for (auto& [from, to] : casts) {
    const int64_t n = from.numel();
    UOp x = b.buffer(std::move(from)), i = b.inner(n, static_cast<int>(stores.size()));
    stores.push_back(b.put(b.buffer(Array(to, {n})), {i}, cast(b.at(x, {i}), to)));
  }
  b.stores(std::move(stores));
}

}  // namespace

TEST_CASE("bits of 16-bit floats and back: every number", "[short]") {
  for (DType dtype : {DType::F16, DType::BF16}) {
    const std::vector<double> all = ladder(dtype);
    const uint16_t infinity = dtype == DType::F16 ? 0x7c00 : 0x7f80;
    REQUIRE(all.size() == infinity + 1u);
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
      const double value = short_float_value(dtype, static_cast<uint16_t>(bits));
      const uint32_t size = bits & 0x7fff;
      const double want = size < infinity ? all[size] : size == infinity ? kInf : std::nan("");
      const bool right =
          std::signbit(value) == (bits > 0x7fff) && (std::fabs(value) == want || (want != want && value != value));
      if (!right || short_float_bits(dtype, value) != bits)
        FAIL(name_of(dtype) << " " << bits << " is " << value << " and comes back as "
                            << short_float_bits(dtype, value));
    }
  }
}

TEST_CASE("doubles round to the nearer of two 16-bit floats, from their middle to the even one", "[short]") {
  for (DType dtype : {DType::F16, DType::BF16}) {
    const std::vector<double> all = ladder(dtype);
    for (size_t i = 0; i + 1 < all.size(); ++i) {
      const double middle = (all[i] + all[i + 1]) / 2;
      const std::pair<double, size_t> cases[] = {
          {middle, i + (i & 1)}, {std::nextafter(middle, 0), i}, {std::nextafter(middle, kInf), i + 1}};
      for (auto [value, nearest] : cases)
        if (short_float_bits(dtype, value) != nearest || short_float_bits(dtype, -value) != (nearest | 0x8000))
          FAIL(name_of(dtype) << ": " << value << " became " << short_float_bits(dtype, value) << ", not " << nearest);
    }
  }
}

TEST_CASE("compiled conversions of 16-bit floats have the evaluator's bits", "[short][codegen]") {
  const DType dtype = GENERATE(DType::F16, DType::BF16);
  const bool vectors = GENERATE(false, true);
  INFO(name_of(dtype) << (vectors ? " in vectors" : ""));
  const std::vector<float> floats = near_ties<float>(dtype);
  const std::vector<double> doubles = near_ties<double>(dtype);
  KernelHarness b;
  build_casts(b, {{every_number(dtype), DType::F32},
                  {every_number(dtype), DType::F64},
                  {Array::of<float>({static_cast<int64_t>(floats.size())}, floats), dtype},
                  {Array::of<double>({static_cast<int64_t>(doubles.size())}, doubles), dtype}});
  std::vector<Opt> opts;
  for (int id = 0; vectors && id < 4; ++id) opts.push_back(codegen::Lanes{id, 16});
  const std::vector<Array> before = b.interpret();
  runtime::Target target = runtime::host_target();
  const std::string widest = target.isa;
  auto run = [&] {
    const runtime::KernelSource source = codegen::generate_source(b.kernel, target, opts);
    INFO(target.key() << "\n" << source.text);
    b.compare(target.isa, *runtime::compile({&source, 1}, target).at(0), before);
  };
  for (const char* isa : {"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    target.isa = isa;
    target.fma = target.isa == "x86-64-v3" || target.isa == "x86-64-v4";
    target.masks = target.isa == "x86-64-v4";
    run();
    if (isa == widest) break;
  }
  runtime_test::ScopedEnv cc("SINTER_CC", "gcc");
  target = runtime::host_target();
  run();
}

TEST_CASE("a GPU's conversions of 16-bit floats have the evaluator's bits", "[short][codegen][cuda]") {
  const SimulatedGpu gpu;
  const DType dtype = GENERATE(DType::F16, DType::BF16);
  INFO(name_of(dtype));
  KernelHarness b;
  const std::vector<float> floats = near_ties<float>(dtype);
  const std::vector<double> doubles = near_ties<double>(dtype);
  build_casts(b, {{every_number(dtype), DType::F32},
                  {every_number(dtype), DType::F64},
                  {Array::of<float>({static_cast<int64_t>(floats.size())}, floats), dtype},
                  {Array::of<double>({static_cast<int64_t>(doubles.size())}, doubles), dtype}});
  const std::vector<Array> before = b.interpret();
  const codegen::NormalizedKernel normalized = codegen::normalize(b.kernel);
  const runtime::KernelSource source =
      codegen::generate_source(normalized, gpu.target(), codegen::choose_opts(normalized.main, gpu.target()), {});
  INFO(source.text);
  gpu.compare(b, "heuristic", *runtime::compile({&source, 1}, gpu.target()).at(0), before);
}
