// THE list: the passes of code generation in their order, each logged when it changed something, each checked.
#include "codegen/codegen.h"

#include <fmt/core.h>

#include "codegen/cpu/interleave.h"
#include "codegen/cpu/pipeline.h"
#include "codegen/cpu/render_c.h"
#include "codegen/emit/emit.h"
#include "codegen/gpu/index32.h"
#include "codegen/gpu/render_cuda.h"
#include "codegen/gpu/scalarize.h"
#include "codegen/kernel/ceil_div.h"
#include "codegen/nest/loop_tree.h"
#include "codegen/nest/prefetch.h"
#include "codegen/nest/ring.h"
#include "codegen/nest/statement.h"
#include "codegen/nest/thread_digits.h"
#include "codegen/normalize/epilogue_kernel.h"
#include "codegen/normalize/legalize.h"
#include "codegen/normalize/math.h"
#include "codegen/normalize/predicates.h"
#include "codegen/normalize/reduce_tree.h"
#include "codegen/normalize/reload.h"
#include "codegen/normalize/short_floats.h"
#include "codegen/pass_check.h"
#include "codegen/rule_log.h"
#include "codegen/tune/heuristic/heuristic.h"
#include "ir/dump.h"
#include "ir/verify.h"
#include "rewrite/rewriter.h"
#include "rewrite/rules/rules.h"
#include "runtime/base/log.h"

namespace sinter::codegen {
namespace {

constexpr int64_t kMostBlocks = (int64_t{1} << 31) - 1;  ///< of a GPU's launch

/// Logs `text()` of a pass.
template <class Text>
void show(const Kernel& kernel, std::string_view pass, Text text, int level = 5) {
  if (runtime::logging(level)) runtime::log(level, fmt::format("-- {} after {}\n{}", kernel.name, pass, text()));
}

/// A pass from graph to graph.
template <class Check>
void step(Kernel& kernel, std::string_view pass, ir::UOp made, Check verify) {
  verify(made);
  const bool changed = !(made == kernel.sink);
  kernel.sink = made;
  if (changed) show(kernel, pass, [&] { return ir::dump(made); });
}

/// A pass that makes something new.
template <class T, class Check, class Text>
T step(const Kernel& kernel, std::string_view pass, T made, Check verify, Text text) {
  verify(made);
  show(kernel, pass, [&] { return text(made); });
  return made;
}

/// A kernel whose graph no pass will change any more.
Kernel prepared(const Kernel& given, const runtime::Target& target) {
  Kernel kernel = given;
  ir::Graph& g = *kernel.graph;
  auto kernel_form = [](std::string_view pass) { return [pass](ir::UOp sink) { ir::verify_kernel(sink, pass); }; };
  ir::verify_kernel(kernel.sink, "codegen");
  PassCheck values(kernel);
  step(kernel, "simplify", ir::rewrite(g, kernel.sink, ir::simplify_rules(), "codegen"), kernel_form("simplify"));
  values.same(kernel.sink, "simplify");
  step(kernel, "short floats", widen_short_floats(g, kernel.sink), kernel_form("short floats"));
  values.same(kernel.sink, "short floats");
  step(kernel, "math", expand_math(g, kernel.sink), kernel_form("math"));
  values.restart(kernel.sink);
  if (!target.cuda()) {  // whose threads would wait for each other's stores
    step(kernel, "read back", read_back(kernel), kernel_form("read back"));
    values.same(kernel.sink, "read back");
  }
  step(kernel, "reductions", split_reductions(g, kernel.sink), verify_reductions);
  values.same(kernel.sink, "reductions");
  step(kernel, "legalise", legalise(g, kernel.sink), verify_legal);
  values.same(kernel.sink, "legalise");
  step(kernel, "gates", select_factors(g, kernel.sink), verify_legal);
  values.same(kernel.sink, "gates");
  return kernel;
}

/// The most points that a launch of a kernel has, given how many values of each outer range one of them covers.
int64_t most_points(const Kernel& kernel, const std::vector<int64_t>& blocks) {
  int64_t points = 1;
  for (size_t i = 0; i < blocks.size(); ++i)
    points *= std::clamp<int64_t>(ceil_div(kernel.outer[i].bound(), blocks[i]), 1, kMostBlocks / points + 1);
  return std::min(points, kMostBlocks);
}

/// `blocks`: receives how many values of each outer range a point covers.
Instructions lower(const Kernel& kernel, const runtime::Target& target, const std::vector<Opt>& opts,
                   std::vector<int64_t>& blocks) {
  const Schedule schedule = make_schedule(kernel, opts);
  if (target.cuda() && !(schedule.nontemporal.empty() && schedule.ahead.empty()))
    refuse(to_string(opts), "nt and prefetch are for CPUs");
  if (!target.cuda() && schedule.threads > 1) refuse(to_string(opts), "threads share a point on GPUs only");
  if (!opts.empty()) show(kernel, "schedule", [&] { return to_string(opts); }, 3);
  for (ir::UOp r : schedule.outer) blocks.push_back(schedule.of(r).block);

  Ranges ranges;
  auto text = [](const auto& made) { return to_string(made); };
  Statements statements = step(
      kernel, "statements", make_statements(kernel, schedule, ranges), [&](const auto& s) { verify(s, ranges); }, text);
  std::vector<Item> tree = make_tree(statements);
  verify(tree, statements);
  fill_ahead(tree, statements);
  verify(tree, statements, Fills::Ahead);
  add_barriers(tree, statements, schedule);
  verify(tree, statements, Fills::Ahead);
  verify_barriers(tree, statements, schedule);
  show(kernel, "loop tree", [&] { return to_string(tree); });
  if (!schedule.ahead.empty()) {
    place_prefetches(tree, statements, schedule, ranges);
    show(kernel, "prefetches", [&] { return to_string(statements); });
  }
  const auto legal = [](const Instructions& code) { verify(code); };
  Instructions code = step(kernel, "expand", expand(kernel, target, schedule, statements, tree, ranges), legal, text);
  if (!target.cuda()) {
    if (Instructions ahead = pipeline(code, target.vector_registers); ahead.insts.size() != code.insts.size())
      code = step(kernel, "pipeline", std::move(ahead), legal, text);
    Instructions in_turns = interleave(code);
    return in_turns.blocks == code.blocks ? code : step(kernel, "interleave", std::move(in_turns), legal, text);
  }
  code = step(kernel, "scalarise", scalarise(code), legal, text);
  return step(kernel, "narrow", narrow(code, most_points(kernel, blocks), kernel.vars), legal, text);
}

}  // namespace

Prepared prepare(const Kernel& kernel, const runtime::Target& target) {
  log_rules();
  Prepared made{prepared(kernel, target), std::nullopt};
  if (kernel.finish) made.finish = prepared(finish_of(kernel, target), target);
  return made;
}

Lowered lower(const Prepared& kernel, const runtime::Target& target, const std::vector<Opt>& opts,
              const std::vector<Opt>& finish_opts) {
  Lowered made;
  made.main = lower(kernel.main, target, opts, made.blocks);
  if (!kernel.finish) return made;
  std::vector<int64_t> blocks;
  made.finish = lower(*kernel.finish, target, finish_opts, blocks);
  for (size_t i = 0; i < blocks.size(); ++i) made.finish_points *= ceil_div(kernel.finish->outer[i].value(), blocks[i]);
  return made;
}

runtime::KernelSource render(const Lowered& code, const std::string& name, const runtime::Target& target) {
  const auto text = target.cuda() ? render_cuda : render_c;
  runtime::KernelSource source = text(code.main, code.finish ? &*code.finish : nullptr, name, target);
  source.blocks = code.blocks;
  source.finish_points = code.finish_points;
  return source;
}

runtime::KernelSource write(const Prepared& kernel, const runtime::Target& target, const std::vector<Opt>& opts,
                            const std::vector<Opt>& finish_opts) {
  return render(lower(kernel, target, opts, finish_opts), kernel.main.name, target);
}

runtime::KernelSource write(const Kernel& kernel, const runtime::Target& target) {
  const Prepared made = prepare(kernel, target);
  return write(made, target, heuristic(made.main, target),
               made.finish ? heuristic(*made.finish, target) : std::vector<Opt>{});
}

runtime::KernelSource write(const Kernel& kernel, const runtime::Target& target, const std::vector<Opt>& opts) {
  return write(prepare(kernel, target), target, opts, {});
}

}  // namespace sinter::codegen
