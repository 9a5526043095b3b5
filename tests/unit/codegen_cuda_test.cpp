// Kernels for a GPU on the simulated device, against the interpreter to the bit, with everything that the simulator checks.
// CODEGEN_FUZZ sets how many random kernels, CODEGEN_SEED the first.
#include "cases.h"
#include "codegen/heuristic.h"
#include "codegen_cuda_support.h"
#include "codegen_kernels.h"
#include "sinter/error.h"

using namespace codegen_test;

TEST_CASE("random kernels for a GPU under random Opts", "[codegen][cuda]") {
  const SimulatedGpu gpu;
  const auto first = number("CODEGEN_SEED", 1);
  const auto kernels = number("CODEGEN_FUZZ", cases(60));
  int legal = 0, refused = 0;
  std::map<std::string, int> used;
  for (unsigned seed = first; seed < first + kernels; ++seed) {
    INFO("CODEGEN_SEED=" << seed);
    KernelMaker maker(seed, seed % 2 == 0);
    Bench b = maker.make();
    const codegen::Prepared prepared = codegen::prepare(b.kernel);
    std::vector<std::vector<Opt>> lists{{}, codegen::heuristic(prepared.main, gpu.target())};
    for (int i = 0; i < 4; ++i) lists.push_back(maker.opts(prepared.main, true));
    std::vector<runtime::KernelSource> sources;
    std::vector<std::string> names;
    for (size_t i = 0; i < lists.size(); ++i) try {
        sources.push_back(codegen::write(prepared, gpu.target(), lists[i], {}));
        names.push_back(to_string(lists[i]));
        for (const Opt& o : lists[i]) ++used[to_string(o).substr(0, to_string(o).find('('))];
        legal += i > 1;
      } catch (const codegen::IllegalOpt& e) {
        INFO(to_string(lists[i]));
        if (i < 2) FAIL(e.what());
        ++refused;
      }
    const std::vector<Array> before = b.interpret();
    const auto programs = runtime::compile(sources, gpu.target());
    for (size_t i = 0; i < programs.size(); ++i) {
      INFO(sources[i].text);
      gpu.compare(b, names[i], *programs[i], before);
    }
  }
  INFO(legal << " legal lists, " << refused << " refused");
  if (kernels < 50) return;
  CHECK(legal >= static_cast<int>(kernels));
  for (const char* opt : {"lanes", "unroll", "split", "order", "row", "stage", "block", "local"}) {
    INFO(opt << ": " << used[opt]);
    CHECK(used[opt] >= 8);
  }
}
