#include "codegen/tune/choose_opts.h"

#include "codegen/tune/gpu/last_block.h"
#include "codegen/tune/gpu/tuner.h"
#include "codegen/tune/heuristic/heuristic.h"

namespace sinter::codegen {

std::vector<Opt> choose_opts(const Kernel& kernel, const runtime::Target& target) {
  return target.cuda() ? tune_for_gpu(kernel, target) : cpu_heuristic(kernel, target);
}

std::vector<Opt> choose_epilogue_opts(const Kernel& epilogue, const Kernel& main, const std::vector<Opt>& opts,
                                      const runtime::Target& target) {
  return target.cuda() ? tune_epilogue(epilogue, main, opts, target) : cpu_heuristic(epilogue, target);
}

}  // namespace sinter::codegen
