// Which of two groups does each member of a club belong to? One member of each is known, and who knows whom: a graph
// convolutional network (Kipf and Welling, ICLR 2017; on Zachary's karate club in many tutorials). The club is drawn at
// random: members of a group know each other more often.
#include "port.h"

namespace sn = sinter;
namespace nn = sinter::nn;

constexpr int64_t kMembers = 34, kHidden = 8, kGroups = 2;

/// Edges as pairs of members, both ways and from each to itself, and the weight of each: 1 / sqrt(degrees of both).
struct Graph {
  explicit Graph(const sn::Tensor& adjacency) {
    const sn::Tensor with_self = adjacency | (sn::eye(kMembers) > 0);
    const sn::Tensor edges = nonzero(with_self);  // [edges, 2]
    from = edges.select(1, 0), to = edges.select(1, 1);
    const sn::Tensor degree = with_self.sum(1).to(sn::float32);
    weight = rsqrt(degree[from] * degree[to]).unsqueeze(1);
    sn::realize(from, to, weight);
  }
  sn::Tensor from, to, weight;  ///< int64 [edges], int64 [edges], [edges, 1]
};

/// Each member's features, transformed, are summed over its neighbors.
struct GraphConv {
  GraphConv(int64_t in, int64_t out) : linear(in, out, /*bias=*/false), bias(sn::zeros({out}).requires_grad()) {}
  nn::Linear linear;
  sn::Tensor bias;
  SINTER_MODULE(linear, bias)
  sn::Tensor operator()(const sn::Tensor& x, const Graph& graph) const {
    const sn::Tensor h = linear(x);  // [members, out]
    const sn::Tensor messages = graph.weight * index_select(h, 0, graph.from);
    return index_add(zeros_like(h), 0, graph.to, messages) + bias;
  }
};

struct Gcn {
  GraphConv conv1{kMembers, kHidden}, conv2{kHidden, kGroups};
  SINTER_MODULE(conv1, conv2)
  sn::Tensor operator()(const sn::Tensor& x, const Graph& graph) const { return conv2(tanh(conv1(x, graph)), graph); }
};

int main(int argc, char** argv) {
  port::Run run(argc, argv, 1e-5);
  sn::manual_seed(0);
  const sn::Tensor group = sn::arange(kMembers) % kGroups;
  const sn::Tensor together = group.unsqueeze(0) == group.unsqueeze(1);
  const sn::Tensor knows = sn::rand({kMembers, kMembers}) < where(together, 0.25, 0.03);
  const sn::Tensor pairs = triu(knows, 1);
  const Graph graph(pairs | pairs.t());

  Gcn model;
  const sn::Tensor x = sn::eye(kMembers);     // nothing is known of a member but who it is
  const sn::Tensor known = sn::from({0, 1});  // the leaders
  sn::optim::Adam optimizer(nn::parameters(model), {.lr = 0.01, .weight_decay = 5e-4});
  for (int step = 1; step <= run.steps(20, 200); ++step) {
    const sn::Tensor scores = model(x, graph);
    const sn::Tensor loss = cross_entropy(scores[known], group[known]);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    const sn::Tensor right = (scores.argmax(1) == group).to(sn::float32).mean();
    run.log(step, 20, {{"loss", loss}, {"right", right}});
  }
  return run.finish();
}
