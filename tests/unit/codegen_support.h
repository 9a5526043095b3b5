// A kernel on buffers, run by the interpreter and by what codegen writes for it: with the compiler of this process and,
// but under sanitizers, with gcc, in one piece and in several. All must agree to the bit.
#pragma once

#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "catch.h"
#include "codegen/codegen.h"
#include "codegen/normalize/normalize.h"
#include "codegen/tune/choose_opts.h"
#include "interp/interpreter.h"
#include "ir/build.h"
#include "ir/sanitizer_build.h"
#include "ir/scalar_eval.h"
#include "ir/walk.h"
#include "runtime/exec/buffer.h"
#include "runtime/program/host_target.h"
#include "runtime_support.h"

namespace codegen_test {

using namespace sinter;
using namespace sinter::ir;
using codegen::Opt;
using runtime::Array;

struct KernelHarness {
  codegen::Kernel kernel{"test", std::make_shared<Arena>(), {}, {}, {}, 0, {}};
  std::vector<Array> arrays;
  std::vector<Scalar> args;
  std::map<std::string, int64_t> vars;
  uint32_t error = 0;  ///< what the interpreter raised

  Graph& g() { return *kernel.graph; }
  UOp buffer(Array a) {
    const Shape shape(a.shape);
    return buffer(std::move(a), shape);
  }
  UOp buffer(Array a, const Shape& shape) {
    arrays.push_back(std::move(a));
    return param(g(), kernel.params++, arrays.back().dtype, shape);
  }
  UOp index(int64_t i) { return constant(g(), DType::Index, i); }
  UOp size(const Dim& d) {
    if (!d.symbolic()) return index(d.value());
    if (std::find(kernel.vars.begin(), kernel.vars.end(), d.var()) == kernel.vars.end()) kernel.vars.push_back(d.var());
    vars[d.var().name()] = d.value();
    return variable(g(), d.var(), DType::Index);
  }
  UOp outer(const Dim& n) {
    kernel.outer.push_back(n);
    return range(size(n), static_cast<int>(kernel.outer.size()) - 1, AxisKind::Outer);
  }
  UOp inner(const Dim& n, int id) { return range(size(n), id, AxisKind::Inner); }
  UOp over(const Dim& n, int id) { return range(size(n), id, AxisKind::Inner); }
  UOp arg(Scalar value, DType dtype) {
    args.push_back(value);
    kernel.args.push_back(dtype);
    return argument(g(), static_cast<int64_t>(args.size()) - 1, dtype);
  }
  UOp at(UOp p, std::vector<UOp> i) { return load(p, i); }
  UOp at(UOp p, std::vector<UOp> i, UOp gate, UOp other) { return load(p, i, gate, other); }
  UOp put(UOp p, std::vector<UOp> i, UOp v, bool add = false, UOp gate = {}) {
    return store(p, i, v, add ? ScatterMode::Add : ScatterMode{}, gate);
  }
  UOp reduce(Combine c, std::vector<UOp> values, std::vector<UOp> ranges, ReductionTree tree = {}, int result = 0) {
    return reduce_over(c, values, ranges, tree, result);
  }
  UOp scan(Combine c, std::vector<UOp> values, std::vector<UOp> ranges, int result = 0) {
    return scan_over(c, values, ranges, result);
  }
  void stores(std::vector<UOp> list) { kernel.sink = sink(g(), std::move(list)); }

  /// Runs everything on copies of the arrays and compares; leaves the interpreter's results in `arrays` (a kernel that
  /// is is_expensive() is compared with itself in pieces). Returns the text.
  std::string check(const std::vector<Opt>& opts = {}, bool gcc = true);
  /// Lets the interpreter work on the arrays; returns them as they were before.
  std::vector<Array> interpret();
  /// What a program, launched whole and in pieces, makes of `before` must be what lies in the arrays now.
  void compare(const std::string& what, const runtime::Program& program, const std::vector<Array>& before);
  /// The arrays as somebody else made them must be what lies in the bench's now.
  void require_equal(const std::string& what, const std::vector<Array>& mine) const;

  /// The numbers that a kernel gets.
  std::vector<int64_t> arguments() const {
    std::vector<int64_t> values;
    for (const Var& v : kernel.vars) values.push_back(vars.at(v.name()));
    for (size_t i = 0; i < args.size(); ++i) values.push_back(static_cast<int64_t>(to_bits(kernel.args[i], args[i])));
    return values;
  }
  int64_t points(const runtime::Program& program) const {
    std::vector<int64_t> sizes;
    for (const Dim& d : kernel.outer) sizes.push_back(d.value());
    return program.task_count(sizes);
  }

 private:
  /// What a program makes of `before`, launched from cut to cut.
  std::vector<Array> launch(const runtime::Program& program, const std::vector<Array>& before,
                            const std::vector<int64_t>& cuts, uint32_t& raised);
  std::vector<Array> copies() const;
  /// Whether the interpreter would take seconds under a sanitizer, which looks at what kernels touch, not at what they
  /// compute.
  bool is_expensive() const;
};

/// Equal bits, or both NaN.
inline bool same(DType dtype, const std::byte* a, const std::byte* b) {
  if (std::memcmp(a, b, size_of(dtype)) == 0) return true;
  auto nan = [&](const std::byte* p) {
    return is_float(dtype) && std::isnan(runtime::load_scalar(dtype, p).as_double());
  };
  return nan(a) && nan(b);
}

inline Array copy(const Array& a) {
  Array c(a.dtype, a.shape);
  c.data = a.data;
  return c;
}

inline std::vector<Array> KernelHarness::copies() const {
  std::vector<Array> out;
  for (const Array& a : arrays) out.push_back(copy(a));
  return out;
}

inline bool KernelHarness::is_expensive() const {
  constexpr double kTurns = 1 << 22;
  double turns = 1;
  for (UOp n : topological(kernel.sink))
    if (n->op == Op::Range && n->src[0]->op == Op::Const)
      turns *= static_cast<double>(n->src[0]->scalar().as_int());
    else if (n->op == Op::Range && n->src[0]->op == Op::Var)
      turns *= static_cast<double>(vars.at(n->src[0]->get<Var>().name()));
  return kSanitizer != Sanitizer::None && turns > kTurns;
}

inline std::vector<Array> KernelHarness::launch(const runtime::Program& program, const std::vector<Array>& before,
                                                const std::vector<int64_t>& cuts, uint32_t& raised) {
  std::vector<Array> mine;
  for (const Array& a : before) mine.push_back(copy(a));
  std::vector<void*> bufs{&raised};
  for (Array& a : mine) bufs.push_back(a.data.data());
  const auto scratch = runtime::Buffer::allocate(static_cast<size_t>(program.scratch()));
  bufs.push_back(scratch->data());
  const std::vector<int64_t> values = arguments();
  for (size_t i = 0; i + 1 < cuts.size(); ++i)
    REQUIRE(program.entry()(bufs.data(), values.data(), cuts[i], cuts[i + 1]) == 0);
  if (program.epilogue()) REQUIRE(program.epilogue()(bufs.data(), values.data(), 0, 1) == 0);
  return mine;
}

inline void KernelHarness::require_equal(const std::string& what, const std::vector<Array>& mine) const {
  for (size_t slot = 0; slot < mine.size(); ++slot) {
    const size_t bytes = size_of(mine[slot].dtype);
    size_t wrong = 0, first = 0;
    for (size_t i = 0; i * bytes < mine[slot].data.size(); ++i)
      if (!same(mine[slot].dtype, mine[slot].data.data() + i * bytes, arrays[slot].data.data() + i * bytes) &&
          wrong++ == 0)
        first = i;
    if (wrong) {
      Scalar got = mine[slot].at(static_cast<int64_t>(first)), want = arrays[slot].at(static_cast<int64_t>(first));
      FAIL(fmt::format("{}: slot {} differs in {} elements, first at {}: {} instead of {}", what, slot, wrong, first,
                       got.as_double(), want.as_double()));
    }
  }
}

inline void KernelHarness::compare(const std::string& what, const runtime::Program& program,
                                   const std::vector<Array>& before) {
  const int64_t n = points(program);
  std::vector<int64_t> cuts{0};
  std::mt19937 rng(7);
  while (cuts.back() < n)
    cuts.push_back(std::min(n, cuts.back() + 1 + static_cast<int64_t>(rng() % static_cast<unsigned>(n / 3 + 1))));
  const auto agree = [&](const char* how, const std::vector<int64_t>& list) {
    uint32_t raised = 0;
    const std::vector<Array> mine = launch(program, before, list, raised);
    CHECK(raised == error);
    require_equal(what + how, mine);
  };
  agree(", whole", {0, n});
  if (n > 1) agree(", in pieces", cuts);
}

inline std::vector<Array> KernelHarness::interpret() {
  std::vector<Array> before = copies();
  std::vector<runtime::KernelBuffer> buffers;
  for (Array& a : arrays) buffers.push_back({a.data, a.dtype, a.shape});
  for (UOp sink : {kernel.sink, kernel.epilogue_sink})
    if (sink)
      runtime::interpret_kernel(
          codegen::expand_math(g(), sink),
          {.params = buffers, .vars = vars, .args = args, .error = &error, .lower_combine = codegen::expand_math});
  return before;
}

inline std::string KernelHarness::check(const std::vector<Opt>& opts, bool gcc) {
  const bool pieces_only = is_expensive();
  const std::vector<Array> before = pieces_only ? copies() : interpret();
  std::string text;
  auto run = [&](const char* what) {
    const runtime::Target target = runtime::host_target();
    const runtime::KernelSource source = codegen::generate_source(kernel, target, opts);
    if (text.empty()) text = source.text;
    INFO(what << ":\n" << source.text);
    const auto program = runtime::compile({&source, 1}, target).at(0);
    if (pieces_only) arrays = launch(*program, before, {0, points(*program)}, error = 0);
    compare(what, *program, before);
  };
  run("the compiler of this process");
  // GCC instruments nothing here: what it makes of a kernel is looked at by the release build's tests.
  if (gcc && kSanitizer == Sanitizer::None) {
    runtime_test::ScopedEnv cc("SINTER_CC", "gcc");
    run("gcc");
  }
  return text;
}

/// How often `what` occurs.
inline int count(const std::string& text, const std::string& what) {
  int n = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

/// Those that test before a turn and those that test behind it.
inline int loops(const std::string& text) { return count(text, "for (i64") + count(text, "} while ("); }

/// The reference target with another machine's registers.
inline runtime::Target reference_machine(const char* isa, int vector_bytes, int registers) {
  runtime::Target target = runtime::reference_target();
  target.isa = isa;
  target.vector_bytes = vector_bytes;
  target.vector_registers = registers;
  target.masks = vector_bytes == 64;
  target.fma = std::string_view(isa) != "x86-64-v2";
  return target;
}

/// The reference target with so many threads.
inline runtime::Target with_threads(int threads) {
  runtime::Target target = runtime::reference_target();
  target.threads = threads;
  return target;
}

/// What the heuristic asks for, and whether that contains a text.
inline std::vector<Opt> chosen(const KernelHarness& b, const runtime::Target& target = runtime::reference_target()) {
  return codegen::choose_opts(codegen::normalize(b.kernel).main, target);
}
inline bool has(const std::vector<Opt>& opts, const std::string& text) {
  UNSCOPED_INFO(to_string(opts));
  return to_string(opts).find(text) != std::string::npos;
}

/// The place of a value in the normalized kernel: the last one that `wanted` holds for.
template <class Wanted>
int place_of(const KernelHarness& b, Wanted wanted) {
  const std::vector<UOp> nodes = topological(codegen::normalize(b.kernel).main.sink);
  int found = -1;
  for (size_t i = 0; i < nodes.size(); ++i)
    if (wanted(nodes[i])) found = static_cast<int>(i);
  REQUIRE(found >= 0);
  return found;
}

inline Array random_array(DType dtype, std::vector<int64_t> shape, unsigned seed) {
  std::mt19937_64 rng(seed);
  Array a(dtype, std::move(shape));
  const int64_t n = a.numel();
  for (int64_t i = 0; i < n; ++i) {
    const double unit = static_cast<double>(rng() >> 11) / 9007199254740992.0;
    a.set(i, is_float(dtype) ? Scalar::of(dtype, unit * 2 - 1)
                             : Scalar::of(dtype, static_cast<int64_t>(rng() % 21) - (is_unsigned(dtype) ? 0 : 10)));
  }
  return a;
}

/// A list that no kernel may have, and what the message says of it. The host's target, unless one is given.
inline void refused(const KernelHarness& b, const std::vector<Opt>& opts, const char* why,
                    const runtime::Target& target = runtime::host_target()) {
  INFO(codegen::to_string(opts));
  CHECK_THROWS_WITH(codegen::generate_source(b.kernel, target, opts), Catch::Matchers::Contains(why));
  CHECK_THROWS_AS(codegen::generate_source(b.kernel, target, opts), codegen::IllegalOpt);
}

}  // namespace codegen_test
