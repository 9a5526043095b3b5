// The order of the unrolled copies of a tile.
#include <set>
#include <sstream>

#include "unit/codegen_support.h"

using namespace codegen_test;

TEST_CASE("the elements of a tile's rows pass by its vectors, whichever range comes first", "[codegen][emit]") {
  const bool lanes_first = GENERATE(false, true);
  KernelHarness b;  // x [k, m] times y [k, n], and the lanes lie along m
  const int64_t m = 48, n = 32, k = 20;
  UOp x = b.buffer(random_array(DType::F32, {k, m}, 1)), y = b.buffer(random_array(DType::F32, {k, n}, 2)),
      out = b.buffer(Array(DType::F32, {n, m}));
  const UOp first = b.outer(lanes_first ? m : n), second = b.outer(lanes_first ? n : m), l = b.over(k, 2),
            i = lanes_first ? first : second, j = lanes_first ? second : first;
  b.stores({b.put(out, {j, i}, b.reduce(Combine::Dot, {b.at(x, {l, i}), b.at(y, {l, j})}, {l}))});
  const int lanes = lanes_first ? 0 : 1;
  const std::vector<Opt> opts{codegen::Lanes{lanes, 16}, codegen::Unroll{lanes, 3}, codegen::Unroll{1 - lanes, 8}};
  const runtime::Target target = runtime::reference_target();
  std::istringstream text(codegen::generate_source(codegen::normalize(b.kernel, target), target, opts, {}).text);
  std::vector<std::string> elements;  // of each multiply-add, the factor that is a broadcast
  std::set<std::string> broadcasts;
  for (std::string line; std::getline(text, line);) {
    if (const size_t at = line.find(" = sn_splat"); at != std::string::npos)
      broadcasts.insert(line.substr(line.rfind(' ', at - 1) + 1, at - line.rfind(' ', at - 1) - 1));
    const size_t open = line.find("elementwise_fma(");
    if (open == std::string::npos) continue;
    const size_t begin = open + 16, comma = line.find(", ", begin);
    const std::string a = line.substr(begin, comma - begin),
                      c = line.substr(comma + 2, line.find(", ", comma + 2) - comma - 2);
    elements.push_back(broadcasts.contains(a) ? a : c);
  }
  REQUIRE(elements.size() % 24 == 0);
  REQUIRE(!elements.empty());
  CHECK(std::set(elements.begin(), elements.begin() + 3).size() == 1);
  CHECK(std::set(elements.begin(), elements.begin() + 24).size() == 8);
  b.check(opts, false);
}
