// Random kernels under random Opts, against the interpreter to the bit. CODEGEN_FUZZ sets how many kernels,
// CODEGEN_SEED the first.
#include "cases.h"
#include "codegen/tune/choose_opts.h"
#include "random_kernels.h"
#include "runtime/program/host_target.h"
#include "sinter/error.h"

using namespace codegen_test;

TEST_CASE("random kernels under random Opts", "[codegen][opts]") {
  const auto first = number("CODEGEN_SEED", 1);
  const auto kernels = number("CODEGEN_FUZZ", cases(100));
  const runtime::Target target = runtime::host_target();
  int legal = 0, refused = 0, transposed = 0;
  std::map<std::string, int> used;
  for (unsigned seed = first; seed < first + kernels; ++seed) {
    INFO("CODEGEN_SEED=" << seed);
    KernelGenerator maker(seed, true);
    KernelHarness b = maker.make();
    const codegen::NormalizedKernel normalized = codegen::normalize(b.kernel);
    std::vector<std::vector<Opt>> lists{{}, codegen::choose_opts(normalized.main, target)};
    for (int i = 0; i < 6; ++i) lists.push_back(maker.opts(normalized.main));
    std::vector<runtime::KernelSource> sources;
    std::vector<std::string> names;
    for (size_t i = 0; i < lists.size(); ++i) try {
        sources.push_back(codegen::generate_source(normalized, target, lists[i], {}));
        names.push_back(to_string(lists[i]));
        transposed += count(sources.back().text, "sn_odd1_") > 0;
        for (const Opt& o : lists[i]) {
          ++used[to_string(o).substr(0, to_string(o).find('('))];
          const auto* unroll = std::get_if<codegen::Unroll>(&o);
          used["copies apart"] += unroll && unroll->distance > 1;
        }
        legal += i > 1;
      } catch (const codegen::IllegalOpt& e) {
        INFO(to_string(lists[i]));
        if (i < 2) FAIL(e.what());
        ++refused;
      }
    const std::vector<Array> before = b.interpret();
    const auto programs = runtime::compile(sources, target);
    for (size_t i = 0; i < programs.size(); ++i) {
      INFO(sources[i].text);
      b.compare(names[i], *programs[i], before);
    }
  }
  WARN(legal << " legal lists, " << refused << " refused");
  if (kernels < 100) return;
  CHECK(legal * 2 >= static_cast<int>(5 * kernels));
  INFO(transposed << " kernels transpose in registers");
  CHECK(transposed >= static_cast<int>(kernels / 20));
  for (const char* opt : {"lanes", "unroll", "cut", "split", "order", "materialize", "tile_copy", "block",
                          "nontemporal", "prefetch", "copies apart"}) {
    INFO(opt << ": " << used[opt]);
    CHECK(used[opt] >= static_cast<int>(kernels / 40));
  }
}
