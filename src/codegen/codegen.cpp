// The pass list of code generation, in order. Each pass is verified, and logged if it changed something.
#include "codegen/codegen.h"

#include <fmt/core.h>

#include "codegen/cpu/cpu_passes.h"
#include "codegen/emit/emit.h"
#include "codegen/gpu/gpu_passes.h"
#include "codegen/nest/loop_tree.h"
#include "codegen/nest/prefetch.h"
#include "codegen/nest/ring.h"
#include "codegen/nest/statement.h"
#include "codegen/nest/thread_digits.h"
#include "codegen/normalize/normalize.h"
#include "codegen/pass_check.h"
#include "codegen/rule_log.h"
#include "codegen/tune/choose_opts.h"
#include "ir/ceil_div.h"
#include "ir/dump.h"
#include "ir/verify.h"
#include "rewrite/rewriter.h"
#include "rewrite/rules/rules.h"
#include "runtime/base/log.h"

namespace sinter::codegen {
namespace {

constexpr int kExtremesWithNaN = 80;                      ///< from this sm on a GPU has max.NaN and min.NaN
constexpr int64_t kMaxGridSize = (int64_t{1} << 31) - 1;  ///< limit of a GPU launch

/// Logs `text()` as the result of a pass.
template <class Text>
void log_pass(const Kernel& kernel, std::string_view pass, Text text, int level = 5) {
  if (runtime::logging(level)) runtime::log(level, fmt::format("-- {} after {}\n{}", kernel.name, pass, text()));
}

/// Applies a graph-to-graph pass: verifies `made` and installs it as the kernel's sink.
template <class Check>
void run_pass(Kernel& kernel, std::string_view pass, UOp made, Check verify) {
  verify(made);
  const bool changed = !(made == kernel.sink);
  kernel.sink = made;
  if (changed) log_pass(kernel, pass, [&] { return ir::dump(made); });
}

/// A pass whose result has another form than its input.
template <class T, class Check, class Text>
T run_pass(const Kernel& kernel, std::string_view pass, T made, Check verify, Text text) {
  verify(made);
  log_pass(kernel, pass, [&] { return text(made); });
  return made;
}

/// Runs all graph-to-graph passes.
Kernel normalize_graph(const Kernel& given, const runtime::Target& target) {
  Kernel kernel = given;
  ir::Graph& g = *kernel.graph;
  auto kernel_form = [](std::string_view pass) { return [pass](UOp sink) { ir::verify_kernel(sink, pass); }; };
  ir::verify_kernel(kernel.sink, "codegen");
  PassCheck values(kernel);
  run_pass(kernel, "simplify", ir::rewrite(g, kernel.sink, ir::simplify_rules(), "codegen"), kernel_form("simplify"));
  values.require_same_stores(kernel.sink, "simplify");
  run_pass(kernel, "short floats", widen_short_floats(g, kernel.sink), kernel_form("short floats"));
  values.require_same_stores(kernel.sink, "short floats");
  run_pass(kernel, "math", expand_math(g, kernel.sink), kernel_form("math"));
  values.rebase(kernel.sink);
  if (!target.cuda()) {  // GPU threads would have to synchronize on each other's stores
    run_pass(kernel, "reload", reload_stores(kernel), kernel_form("reload"));
    values.require_same_stores(kernel.sink, "reload");
  }
  run_pass(kernel, "reductions", split_reductions(g, kernel.sink), verify_reductions);
  values.require_same_stores(kernel.sink, "reductions");
  run_pass(kernel, "legalize", legalize(g, kernel.sink), verify_legal);
  values.require_same_stores(kernel.sink, "legalize");
  run_pass(kernel, "predicates", select_by_predicate(g, kernel.sink), verify_legal);
  values.require_same_stores(kernel.sink, "predicates");
  return kernel;
}

/// Upper bound on the tasks of a launch. `blocks`: values of each outer range that one task covers.
int64_t max_tasks_of(const Kernel& kernel, const std::vector<int64_t>& blocks) {
  int64_t tasks = 1;
  for (size_t i = 0; i < blocks.size(); ++i)
    tasks *= std::clamp<int64_t>(ceil_div(kernel.outer[i].bound(), blocks[i]), 1, kMaxGridSize / tasks + 1);
  return std::min(tasks, kMaxGridSize);
}

/// `blocks` receives the number of values of each outer range that one task covers.
Instructions lower(const Kernel& kernel, const runtime::Target& target, const std::vector<Opt>& opts,
                   std::vector<int64_t>& blocks) {
  const LoopSchedule schedule = make_loop_schedule(kernel, opts);
  if (target.cuda() && !(schedule.nontemporal.empty() && schedule.prefetches.empty()))
    refuse(to_string(opts), "nontemporal and prefetch are for CPUs");
  if (!target.cuda() && (schedule.threads > 1 || schedule.occupancy || schedule.last_block))
    refuse(to_string(opts), "threads share a block, and blocks a multiprocessor, on GPUs only");
  if (!opts.empty()) log_pass(kernel, "schedule", [&] { return to_string(opts); }, 3);
  for (UOp r : schedule.outer) blocks.push_back(schedule.of(r).block);

  FreeRanges ranges;
  auto text = [](const auto& made) { return to_string(made); };
  Statements statements = run_pass(
      kernel, "statements", make_statements(kernel, schedule, ranges), [&](const auto& s) { verify(s, ranges); }, text);
  std::vector<LoopItem> tree = make_loop_tree(statements);
  verify(tree, statements);
  pipeline_ring_fills(tree, statements);
  verify(tree, statements, RingFills::Pipelined);
  add_barriers(tree, statements, schedule);
  verify(tree, statements, RingFills::Pipelined);
  verify_barriers(tree, statements, schedule);
  log_pass(kernel, "loop tree", [&] { return to_string(tree); });
  if (!schedule.prefetches.empty()) {
    place_prefetches(tree, statements, schedule, ranges);
    log_pass(kernel, "prefetches", [&] { return to_string(statements); });
  }
  const auto legal = [](const Instructions& code) { verify(code); };
  Instructions code =
      run_pass(kernel, "emit", emit_kernel(kernel, target, schedule, statements, tree, ranges), legal, text);
  if (!target.cuda()) {
    if (Instructions pipelined = software_pipeline(code, target.vector_registers);
        pipelined.insts.size() != code.insts.size())
      code = run_pass(kernel, "pipeline", std::move(pipelined), legal, text);
    Instructions interleaved = interleave(code);
    return interleaved.blocks == code.blocks ? code
                                             : run_pass(kernel, "interleave", std::move(interleaved), legal, text);
  }
  code = run_pass(kernel, "scalarize", scalarize(code), legal, text);
  code = run_pass(kernel, "wide loads", widen_loads(code), legal, text);
  if (target.sm >= kExtremesWithNaN) code = run_pass(kernel, "zero signs", relax_zero_signs(code), legal, text);
  return run_pass(kernel, "index32", narrow_indices(code, max_tasks_of(kernel, blocks), kernel.vars), legal, text);
}

}  // namespace

NormalizedKernel normalize(const Kernel& kernel, const runtime::Target& target) {
  log_rules();
  NormalizedKernel made{normalize_graph(kernel, target), std::nullopt};
  if (kernel.epilogue_sink) made.epilogue_kernel = normalize_graph(make_epilogue_kernel(kernel, target), target);
  return made;
}

std::vector<Opt> choose_epilogue_opts(const NormalizedKernel& kernel, const runtime::Target& target,
                                      const std::vector<Opt>& opts) {
  if (!kernel.epilogue_kernel) return {};
  return choose_epilogue_opts(*kernel.epilogue_kernel, kernel.main, opts, target);
}

LoweredKernel lower(const NormalizedKernel& kernel, const runtime::Target& target, const std::vector<Opt>& opts,
                    const std::vector<Opt>& epilogue_opts) {
  LoweredKernel made;
  made.main = lower(kernel.main, target, opts, made.blocks);
  if (made.main.last_block) refuse(to_string(opts), "only an epilogue runs in the last block of another kernel");
  if (!kernel.epilogue_kernel) return made;
  std::vector<int64_t> blocks;
  made.epilogue_kernel = lower(*kernel.epilogue_kernel, target, epilogue_opts, blocks);
  const int threads = made.main.threads, last = made.epilogue_kernel->threads;
  if (made.epilogue_kernel->last_block && last != threads && (last > threads || last % kWarp))
    refuse(to_string(epilogue_opts), fmt::format("they are not some warps of the {} threads of a block", threads));
  if (made.epilogue_kernel->last_block && !always_has_tasks(kernel.main))
    refuse(to_string(epilogue_opts), "the main kernel may have no block");
  for (size_t i = 0; i < blocks.size(); ++i)
    made.epilogue_blocks *= ceil_div(kernel.epilogue_kernel->outer[i].value(), blocks[i]);
  return made;
}

runtime::KernelSource render(const LoweredKernel& code, const std::string& name, const runtime::Target& target) {
  const auto text = target.cuda() ? render_cuda : render_c;
  runtime::KernelSource source = text(code.main, code.epilogue_kernel ? &*code.epilogue_kernel : nullptr, name, target);
  source.blocks = code.blocks;
  source.epilogue_blocks = code.epilogue_blocks;
  return source;
}

runtime::KernelSource generate_source(const NormalizedKernel& kernel, const runtime::Target& target,
                                      const std::vector<Opt>& opts, const std::vector<Opt>& epilogue_opts) {
  return render(lower(kernel, target, opts, epilogue_opts), kernel.main.name, target);
}

runtime::KernelSource generate_source(const Kernel& kernel, const runtime::Target& target) {
  if (is_opaque(kernel)) return opaque_source(kernel, target);
  const NormalizedKernel made = normalize(kernel, target);
  const std::vector<Opt> opts = choose_opts(made.main, target);
  return generate_source(made, target, opts, choose_epilogue_opts(made, target, opts));
}

runtime::KernelSource generate_source(const Kernel& kernel, const runtime::Target& target,
                                      const std::vector<Opt>& opts) {
  if (is_opaque(kernel)) return opaque_source(kernel, target);
  return generate_source(normalize(kernel, target), target, opts, {});
}

}  // namespace sinter::codegen
