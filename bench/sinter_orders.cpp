// What depends on the order of elements: sorting, and scans along an axis.
#include "sinter_cases.h"

namespace sn = sinter;

namespace bench {
namespace {

/// sort:N: the values in order. argsort:N: their indices, of equal ones in the order they have.
BenchCase sorted(const Arguments& arguments) {
  const sn::Tensor x = input({arguments.sizes(1).at(0)}, 1);
  return evaluate([=] { return sort(x).values; });
}
BenchCase sorted_indices(const Arguments& arguments) {
  const sn::Tensor x = input({arguments.sizes(1).at(0)}, 1);
  return evaluate([=] { return argsort(x); });
}

/// topk:NxK: the K largest of N, and where they are. The values are compared: which of equal ones is taken is not said.
BenchCase largest(const Arguments& arguments) {
  const auto s = arguments.sizes(1);
  const sn::Tensor x = input({s.at(0)}, 1);
  BenchCase both = evaluate_all([x, k = s.at(1)] {
    const sn::Ranked top = topk(x, k);
    return std::vector{top.values, top.indices};
  });
  both.check = [x, k = s.at(1)] { return fingerprint(topk(x, k).values.to_vector<float>()); };
  return both;
}

/// median:N.
BenchCase middle(const Arguments& arguments) {
  const sn::Tensor x = input({arguments.sizes(1).at(0)}, 1);
  return evaluate([=] { return median(x); });
}

/// cumsum:SHAPE:AXIS.
BenchCase running_sums(const Arguments& arguments) {
  const sn::Tensor x = input(sn::Shape(arguments.sizes(1)), 1);
  return evaluate([x, axis = arguments.sizes(2).at(0)] { return cumsum(x, axis); });
}

}  // namespace

std::map<std::string, CaseFamily> orders() {
  return {{"sort", {sorted}},
          {"argsort", {sorted_indices}},
          {"topk", {largest}},
          {"median", {middle}},
          {"cumsum", {running_sums}}};
}

}  // namespace bench
