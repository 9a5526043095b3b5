// Edits of the instructions of every golden kernel, made mechanically: each must make the simulated GPU report a fault
// or give other numbers, or stands in a list with the reason why it changes nothing.
#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <vector>

#include "catch.h"
#include "codegen/codegen.h"
#include "codegen/tune/choose_opts.h"
#include "explain.h"
#include "gpu_launch.h"
#include "ir/scalar_eval.h"
#include "programs.h"
#include "runtime/cuda/context.h"
#include "runtime/cuda/image.h"
#include "runtime/cuda/simulator.h"
#include "runtime/exec/array.h"
#include "runtime/program/program.h"
#include "step_memory.h"
#include "unit/runtime_support.h"

using namespace sinter;
using codegen::Id;
using codegen::Inst;
using codegen::InstCode;
using codegen::Instructions;
using codegen::LoweredKernel;

namespace {

/// Fillings of a kernel's memory. An edit may not change a maximum that lies elsewhere, so one filling is not enough.
constexpr int kFillings = 64;

/// A kernel with the memory that it works on, in several fillings.
struct Subject {
  std::string program;
  codegen::Kernel kernel;
  std::vector<std::vector<runtime::Array>> memory;
  std::vector<uint64_t> numbers;
  std::vector<int64_t> outer;
};

void add(std::vector<Subject>& all, const golden::Program& program, const plan::KernelSources& written) {
  const runtime::Plan& plan = written.scheduled.plan;
  for (const runtime::PlanStep& step : plan.steps) {
    Subject s{program.name, written.scheduled.kernels[static_cast<size_t>(step.program)], {}, {}, {}};
    for (int filling = 0; filling < kFillings; ++filling) s.memory.push_back(memory_of(plan, step, filling));
    s.outer = fixed_sizes(step.outer);
    s.numbers = numbers_of(s.kernel);
    all.push_back(std::move(s));
  }
}

/// Operands in tiles with two slots.
std::vector<Tensor> product() {
  return {matmul(from(std::vector<float>(64 * 80), {64, 80}), from(std::vector<float>(80 * 64), {80, 64}))};
}
/// Whether an edit changes nothing in a kernel with a ring of two slots: a bound, as whether there is a next block of
/// 16 is asked at multiples of 16 only; where a register for what is fetched begins, as it is written under that
/// condition and read under the same.
bool is_equal(const std::vector<codegen::Opt>& opts, const std::string& edit) {
  const bool ring = std::any_of(opts.begin(), opts.end(), [](const codegen::Opt& o) {
    const auto* copy = std::get_if<codegen::TileCopy>(&o);
    return copy && copy->slots == 2;
  });
  return ring && (edit.starts_with("bound") || edit.starts_with("accumulator"));
}

/// Every kernel of the golden programs, and a product.
std::vector<Subject> subjects(const runtime::Target& target) {
  std::vector<Subject> all;
  for (const golden::Program& program : golden::programs())
    add(all, program, testing::explain(program.build(), target));
  add(all, {"product", product}, testing::explain(product(), target));
  return all;
}

/// What a kernel leaves in memory, or how it ended.
struct Outcome {
  std::string fault;
  std::vector<runtime::PoolVector<std::byte>> memory;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

Outcome run(const Subject& s, const LoweredKernel& code, size_t filling) {
  auto gpu = runtime::cuda::Context::get(0);
  const runtime::KernelSource source = codegen::render(code, s.kernel.name, gpu->target());
  Outcome out;
  try {
    const auto program = runtime::compile({&source, 1}, gpu->target()).at(0);
    out.memory = launched(*gpu, *program, program->task_count(s.outer), s.memory[filling], s.numbers);
  } catch (const BackendError& e) {  // the context is lost with what it held
    out.fault = e.what();
    gpu.reset();
    runtime::forget_programs();
    runtime::cuda::forget_devices();
  }
  return out;
}

/// One edit: what it is, and the instructions with it.
struct Mutant {
  std::string what;
  Instructions code;
};

Id add_first(Instructions& code, Inst inst) {
  code.insts.push_back(std::move(inst));
  const Id id = static_cast<Id>(code.insts.size()) - 1;
  code.blocks[0].insert(code.blocks[0].begin(), id);
  return id;
}
Id number(Instructions& code, DType dtype, ir::Scalar value) {
  Inst n{InstCode::Const, {dtype, 1}, {}};
  n.number = value;
  return add_first(code, std::move(n));
}
Id index(Instructions& code, int64_t v) { return number(code, DType::Index, ir::Scalar::of(DType::Index, v)); }

std::vector<Mutant> mutants(const Instructions& code) {
  std::vector<Mutant> all;
  auto edit = [&](std::string what, auto change) {
    Mutant m{std::move(what), code};
    change(m.code);
    all.push_back(std::move(m));
  };
  for (size_t b = 0; b < code.blocks.size(); ++b)
    for (size_t at = 0; at < code.blocks[b].size(); ++at) {
      const Id id = code.blocks[b][at];
      const Inst& n = code[id];
      auto constant = [&](Id s) { return code[s].code == InstCode::Const && code[s].type.dtype == DType::Index; };
      if (n.code == InstCode::Barrier)
        edit(fmt::format("barrier {} dropped", id),
             [&](Instructions& c) { c.blocks[b].erase(c.blocks[b].begin() + static_cast<std::ptrdiff_t>(at)); });
      if (n.code == InstCode::Loop && constant(n.src[1]))
        edit(fmt::format("loop {} one turn longer", id),
             [&](Instructions& c) { c[id].src[1] = index(c, code[n.src[1]].number.as_int() + n.imm); });
      if (n.code == InstCode::Alu && n.op == ir::Op::Lt)
        for (size_t s = 0; s < 2; ++s)
          if (constant(n.src[s]))
            edit(fmt::format("bound {} wider", id),
                 [&](Instructions& c) { c[id].src[s] = index(c, code[n.src[s]].number.as_int() + (s ? 1 : -1)); });
      if (n.code == InstCode::Accumulator && code[n.src[0]].code == InstCode::Const)
        edit(fmt::format("accumulator {} begins elsewhere", id), [&](Instructions& c) {
          c[id].src[0] = number(
              c, n.type.dtype,
              is_float(n.type.dtype) ? ir::Scalar::of(n.type.dtype, 3.0) : ir::Scalar::of(n.type.dtype, int64_t{3}));
        });
      const bool shared = (n.code == InstCode::Load || n.code == InstCode::Store) && n.imm >= code.params;
      if (shared)
        edit(fmt::format("shared index of {} moved on", id), [&](Instructions& c) {
          const Id one = index(c, std::max(n.type.lanes, code[n.src.back()].type.lanes));
          c.insts.push_back(
              {.code = InstCode::Alu, .type = {DType::Index, 1}, .src = {n.src[0], one}, .op = ir::Op::Add});
          const Id moved = static_cast<Id>(c.insts.size()) - 1;
          auto& block = c.blocks[b];
          block.insert(std::find(block.begin(), block.end(), id), moved);
          c[id].src[0] = moved;
        });
    }
  return all;
}

}  // namespace

TEST_CASE("edits of golden kernels for GPUs are found", "[golden][cuda]") {
  const std::vector<Subject> all = subjects(runtime::cuda_target({}));  // their tensors lie on the CPU
  const runtime_test::ScopedEnv device("SINTER_DEVICE", "cuda-sim");
  const runtime::Target target = runtime::cuda::Context::get(0)->target();
  int caught = 0;
  std::string survivors;
  for (const Subject& s : all) {
    const codegen::NormalizedKernel normalized = codegen::normalize(s.kernel, target);
    const std::vector<codegen::Opt> opts = codegen::choose_opts(normalized.main, target);
    const LoweredKernel plain =
        codegen::lower(normalized, target, opts, codegen::choose_epilogue_opts(normalized, target, opts));
    std::vector<Outcome> right;  // by filling, as far as it was asked for
    const auto is_right = [&](const LoweredKernel& code, size_t filling) {
      while (right.size() <= filling) {
        right.push_back(run(s, plain, right.size()));
        INFO(s.program << ", " << s.kernel.name << ": " << right.back().fault);
        REQUIRE(right.back().fault.empty());
      }
      return run(s, code, filling) == right[filling];
    };
    for (const bool finish : {false, true}) {
      if (finish && !plain.epilogue_kernel) continue;
      for (Mutant& m : mutants(finish ? *plain.epilogue_kernel : plain.main)) {
        LoweredKernel changed = plain;
        (finish ? *changed.epilogue_kernel : changed.main) = std::move(m.code);
        if (!finish && is_equal(opts, m.what)) continue;
        size_t filling = 0;
        while (filling < kFillings && is_right(changed, filling)) ++filling;
        if (filling == kFillings)
          survivors += fmt::format("{} {}{}: {}\n", s.program, s.kernel.name, finish ? " finish" : "", m.what);
        else
          ++caught;
      }
    }
  }
  INFO(caught << " caught; these changed nothing:\n" << survivors);
  CHECK(survivors.empty());
  CHECK(caught >= 70);
}
