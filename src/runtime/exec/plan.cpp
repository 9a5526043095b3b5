// A plan as text.
#include "runtime/exec/plan.h"

#include <fmt/format.h>

#include <string_view>

#include "runtime/exec/arena.h"

namespace sinter::runtime {
namespace {

std::string text(const std::vector<PlanDim>& dims) {
  std::string s;
  for (const PlanDim& d : dims)
    s += (s.empty() ? "" : ", ") + (d.var < 0 ? fmt::format("{}", d.fixed) : fmt::format("var{}", d.var));
  return "[" + s + "]";
}

std::string text(const PlanBuffer& b) {
  constexpr std::string_view kKinds[] = {"slot", "output", "scratch", "kept"};
  std::string s = fmt::format("{} {} {}", kKinds[static_cast<size_t>(b.kind)], name_of(b.dtype), text(b.shape));
  if (b.kind == PlanBuffer::Kind::Scratch) s += fmt::format(" from launch {} to {}", b.first, b.last);
  return s;
}

}  // namespace

void SizePolynomial::add(const Term& term) {
  for (Term& t : terms)
    if (t.vars == term.vars) {
      t.factor += term.factor;
      return;
    }
  terms.push_back(term);
}

double SizePolynomial::at(const std::vector<int64_t>& vars) const {
  double sum = 0;
  for (const Term& t : terms) {
    double product = t.factor;
    for (int v : t.vars) product *= static_cast<double>(vars[v]);
    sum += product;
  }
  return sum;
}

void set_lifetimes(Plan& plan) {
  std::vector<char> seen(plan.buffers.size(), 0);
  size_t step = 0;
  for (size_t l = 0; l < plan.launches.size(); ++l)
    for (int i = 0; i < plan.launches[l]; ++i, ++step)
      for (int b : plan.steps[step].buffers) {
        PlanBuffer& buffer = plan.buffers[b];
        if (!seen[b]) buffer.first = static_cast<int>(l);
        seen[b] = 1;
        buffer.last = static_cast<int>(l);
      }
}

std::string to_string(const Plan& plan) {
  const PlanMemory memory = memory_of(plan);
  std::string s =
      fmt::format("launches: {} of {} kernels, {} buffers; {} bytes of outputs, {} of scratch in {}{}\n",
                  plan.launches.size(), plan.steps.size(), plan.buffers.size(), memory.outputs, memory.scratch,
                  memory.arena, memory.invariants ? fmt::format(", {} kept", memory.invariants) : "");
  for (size_t l = 0; l < plan.invariant_launches.size(); ++l)
    s += plan.invariant_launches[l].empty()
             ? fmt::format("  launch {} once\n", l)
             : fmt::format("  launch {} again when b{} changed\n", l, fmt::join(plan.invariant_launches[l], " or b"));
  for (size_t i = 0; i < plan.buffers.size(); ++i) s += fmt::format("  b{} {}\n", i, text(plan.buffers[i]));
  size_t launch = 0;
  int left = plan.launches.empty() ? 0 : plan.launches[0];
  for (const PlanStep& step : plan.steps) {
    for (; left == 0; left = plan.launches[launch]) ++launch;
    --left;
    s += fmt::format("  launch {}: kernel {} over {} on b{}, writes b{}", launch, step.program, text(step.outer),
                     fmt::join(step.buffers, " b"), fmt::join(step.writes, " b"));
    if (!step.args.empty()) s += fmt::format(", arguments {}", fmt::join(step.args, " "));
    if (!step.offsets.empty()) s += fmt::format(", at {}", fmt::join(step.offsets, " "));
    s += "\n";
  }
  return s + fmt::format("  outputs b{}\n", fmt::join(plan.outputs, " b"));
}

}  // namespace sinter::runtime
