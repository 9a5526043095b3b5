// What a search leaves out, when it ends, and whose decisions it takes.
#include <cstdio>

#include "cases.h"
#include "codegen/codegen.h"
#include "plan/beam_search.h"
#include "runtime/base/counters.h"
#include "runtime/program/host_target.h"
#include "skip.h"
#include "unit/codegen_support.h"
#include "unit/schedule_support.h"

using namespace codegen_test;
using plan::SearchLimits;

namespace {

/// A kernel that multiplies a matrix by the transpose of another one: far from the machine's roofs, so that a search
/// goes on.
struct Transposed {
  Dim rows = 256, columns = 256;
  DType dtype = DType::F32;
};

/// What a search said of itself.
struct Told {
  bool decided_before = false;
  size_t timed = 0, most = 0, ruled_out = 0, compiled = 0;
};

Told search(const Transposed& of, const runtime::Target& target, const SearchLimits& limits, int beam = 1) {
  schedule::testing::Program p;
  p.store(schedule::testing::transpose(p.slot({of.rows, of.columns}, of.dtype)) *
          p.slot({of.columns, of.rows}, of.dtype));
  const schedule::KernelSchedule scheduled = schedule::schedule(p.plan, target);
  REQUIRE(scheduled.kernels.size() == 1);
  const codegen::NormalizedKernel normalized = codegen::normalize(scheduled.kernels[0], target);
  const runtime_test::ScopedEnv debug("DEBUG", "2");
  runtime_test::CapturedLog log;
  const uint64_t compiles = runtime::counters().compiles;
  plan::search_opts(scheduled, 0, normalized, target, beam, limits);
  Told told;
  told.compiled = runtime::counters().compiles - compiles;
  const std::string text = log.text();
  INFO(text);
  if (text.find("decided before") != std::string::npos) return told.decided_before = true, told;
  const size_t at = text.find("; timed ");
  REQUIRE(at != std::string::npos);
  REQUIRE(std::sscanf(text.c_str() + at, "; timed %zu lists (at most %zu), ruled out %zu", &told.timed, &told.most,
                      &told.ruled_out) == 3);
  return told;
}

constexpr double kSlow = 1e-9, kFast = 1e9;  ///< peaks by which every bound is above any time, and below
constexpr double kLong = 1e9;                ///< seconds that no machine is too slow for

}  // namespace

TEST_CASE("what is bound to be slower than the best list is never compiled", "[search]") {
  const runtime_test::FreshCache cache;
  const runtime::Target& host = runtime::host_target();
  const Told none = search({}, host, {.seconds = kLong, .peak = kSlow}),
             all = search({}, host, {.seconds = kLong, .peak = kFast});
  CHECK(none.timed == 0);
  CHECK(none.ruled_out > 8);
  CHECK(none.compiled == 1);  // the heuristic's list
  CHECK(all.timed > 0);
  CHECK(all.ruled_out == 0);
  CHECK(all.compiled == 1 + all.timed);
}

TEST_CASE("a search ends when it has timed its lists, or has taken its time", "[search]") {
  const runtime_test::FreshCache cache;
  const runtime::Target& host = runtime::host_target();
  for (const int beam : {1, 2}) {
    const Told few = search({}, host, {.candidates = 3, .seconds = kLong, .peak = kFast}, beam);
    const Told late = search({}, host, {.seconds = 0, .peak = kFast}, beam);
    CHECK(few.most == 3 * static_cast<size_t>(beam));
    CHECK(few.timed > 0);
    CHECK(few.timed <= few.most);
    CHECK(few.compiled == 1 + few.timed);
    CHECK(late.timed == 0);
    CHECK(late.compiled == 1);
  }
  CHECK(search({}, host, {.seconds = kLong, .peak = kFast}).timed > 3);  // which the first bound kept
}

TEST_CASE("a decision is another machine's, kernel's or question's where anything differs on which it depends",
          "[search]") {
  const runtime_test::FreshCache cache;
  const runtime::Target& host = runtime::host_target();
  const SearchLimits limits{.seconds = 0};
  CHECK_FALSE(search({}, host, limits).decided_before);
  CHECK(search({}, host, limits).decided_before);
  const auto another = [&](const char* what, const Transposed& kernel, const runtime::Target& target,
                           const SearchLimits& other, int beam = 1) {
    INFO(what);
    CHECK_FALSE(search(kernel, target, other, beam).decided_before);
    CHECK(search(kernel, target, other, beam).decided_before);
  };
  const auto machine = [&](const char* what, const auto& change) {
    runtime::Target target = host;
    change(target);
    another(what, {}, target, limits);
  };
  machine("isa", [](runtime::Target& t) { t.isa = t.isa == "x86-64" ? "x86-64-v2" : "x86-64"; });
  machine("vectors", [](runtime::Target& t) { t.vector_bytes = t.vector_bytes == 16 ? 32 : 16; });
  machine("registers", [](runtime::Target& t) { t.vector_registers = 48 - t.vector_registers; });
  machine("multiplications", [](runtime::Target& t) { t.multiplies_per_cycle = 3 - t.multiplies_per_cycle; });
  machine("latency", [](runtime::Target& t) { ++t.multiply_latency; });
  machine("fma", [](runtime::Target& t) { t.fma = !t.fma; });
  if (host.masks)
    machine("masks",
            [](runtime::Target& t) { t.masks = false, t.vector_bytes = 16; });  // as "vectors", which has masks
  machine("l1", [](runtime::Target& t) { t.l1 *= 2; });
  machine("l2", [](runtime::Target& t) { t.l2 *= 2; });
  machine("l3", [](runtime::Target& t) { t.l3 *= 2; });
  machine("distance of l3", [](runtime::Target& t) { t.near_l3 = !t.near_l3; });
  machine("threads", [](runtime::Target& t) { t.threads = 3 - std::min(t.threads, 2); });
  machine("parallel units", [](runtime::Target& t) { ++t.parallel_units; });

  another("rows", {.rows = 128}, host, limits);
  another("columns", {.columns = 128}, host, limits);
  another("dtype", {.dtype = DType::I32}, host, limits);
  another("a symbolic size", {.columns = Var("n", 1, 256)(100)}, host, limits);
  another("its largest value", {.columns = Var("n", 1, 128)(100)}, host, limits);
  another("its smallest value", {.columns = Var("n", 2, 128)(100)}, host, limits);

  another("beam", {}, host, limits, 2);
  another("candidates", {}, host, {.candidates = 7, .seconds = 0});
  another("seconds", {}, host, {.seconds = -1});
  another("peak", {}, host, {.seconds = 0, .peak = kSlow});
  if (runtime_test::clang().empty()) SKIP_TEST("no clang");
  const runtime_test::ScopedEnv cc("SINTER_CC", runtime_test::clang());
  another("compiler", {}, runtime::host_target(), limits);
}
