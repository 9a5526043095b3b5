// Numerical programs as people write them with tensors.
#include "sinter_cases.h"

namespace sn = sinter;

namespace bench {
namespace {

/// nbody:N: accelerations of N bodies by gravity, from the differences of all pairs of places.
BenchCase accelerations(const Arguments& arguments) {
  const int64_t n = arguments.sizes(1).at(0);
  return evaluate([place = input({n, 3}, 1), mass = input({n}, 2)] {
    const sn::Tensor apart = place.unsqueeze(0) - place.unsqueeze(1);
    const sn::Tensor squares = (apart * apart).sum(2) + 1e-2;
    return (apart * (mass / (squares * sqrt(squares))).unsqueeze(2)).sum(1);
  });
}

/// kmeans:NxDxK: the sums of the points of each of K clusters, N points of D numbers.
BenchCase cluster_sums(const Arguments& arguments) {
  const auto s = arguments.sizes(1);
  return evaluate([points = input({s.at(0), s.at(1)}, 1), cluster = sn::from(labels(s.at(0), s.at(2))), k = s.at(2)] {
    const sn::Tensor in = (cluster.unsqueeze(1) == sn::arange(k)).to(sn::float32);
    return matmul(in.transpose(0, 1), points);
  });
}

}  // namespace

std::map<std::string, CaseFamily> programs() { return {{"nbody", {accelerations}}, {"kmeans", {cluster_sums}}}; }

}  // namespace bench
