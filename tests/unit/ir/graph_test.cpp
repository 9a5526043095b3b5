// Interning, counting and release of nodes.
#include <memory>
#include <vector>

#include "catch.h"
#include "ir/build.h"
#include "ir/node_map.h"
#include "ir/tensor_graph.h"
#include "ir/walk.h"
#include "sinter/error.h"

using namespace sinter;
using namespace sinter::ir;
using Catch::Contains;

TEST_CASE("equal descriptions are one node, in commutative order", "[uop]") {
  Arena g;
  UOp x = param(g, 0, DType::F32, {4}), y = param(g, 1, DType::F32, {4});
  CHECK(exp(x) + y == y + exp(x));
  CHECK_FALSE(x + y == y + x);  // who differ in their slots alone stay as they are (N4)
  CHECK_FALSE(x - y == y - x);
  CHECK((x + 1.0)->src[1]->op == Op::Expand);
  CHECK(like(x, 2.0) * x == x * 2.0);
  CHECK_FALSE(x * 0.0 == x * -0.0);
  CHECK(reshape(reshape(x, {2, 2}), {4}) == x);
  CHECK_THROWS_AS(x + param(g, 2, DType::F32, {5}), InternalError);
}

TEST_CASE("views fold, and what lacks axes is repeated along them", "[uop]") {
  Arena g;
  UOp x = param(g, 0, DType::F32, {2, 3});
  CHECK(permute(permute(x, {1, 0}), {1, 0}) == x);
  const UOp box = param(g, 3, DType::F32, {1, 2, 3});
  CHECK_THROWS_AS(broadcast_to(box, {5, 3, 2}), InternalError);
  UOp y = param(g, 1, DType::F32, {2, 3, 4});
  CHECK(permute(permute(y, {1, 2, 0}), {1, 2, 0}) == permute(y, {2, 0, 1}));
  // An axis of size 1 that a reduction left behind, and that is repeated again, is in neither node.
  UOp largest = reduce(Combine::Max, x, {1});
  CHECK(broadcast_to(reshape(largest, {2, 1}), {2, 3}) == expand(largest, {2, 3}, {1}));
  CHECK(expand(x, {2, 1, 3}, {1}) == reshape(x, {2, 1, 3}));
  CHECK(broadcast_to(x, {5, 2, 4, 3}, {2}) == expand(x, {5, 2, 4, 3}, {0, 2}));
  UOp one = param(g, 2, DType::F32, {1, 3});
  CHECK(broadcast_to(one, {2, 3, 4}, {2}) == expand(reshape(one, {3}), {2, 3, 4}, {0, 2}));
  CHECK_THROWS_WITH(expand(x, {2, 3, 4}, {0}), Contains("other sizes than those of its source: [2, 3, 4]"));
  CHECK_THROWS_WITH(broadcast_to(x, {2, 4}, {1}), Contains("to a lower rank"));
}

TEST_CASE("a map of nodes keeps the first value of each, however many there are", "[uop]") {
  Arena g;
  NodeMap<int> map;
  std::vector<UOp> nodes;
  for (int i = 0; i < 1000; ++i) nodes.push_back(constant(g, DType::Index, i));
  CHECK(map.find(nodes[0].get()) == nullptr);
  for (size_t i = 0; i < nodes.size(); i += 2) {
    const auto [value, fresh] = map.try_emplace(nodes[i].get(), static_cast<int>(i));
    CHECK((fresh && *value == static_cast<int>(i)));
  }
  CHECK(map.size() == nodes.size() / 2);
  for (size_t i = 0; i < nodes.size(); ++i) {
    const int* found = map.find(nodes[i].get());
    CHECK((i % 2 == 0 ? found && *found == static_cast<int>(i) : !found));
  }
  CHECK_FALSE(map.try_emplace(nodes[2].get(), -1).second);
  CHECK(*map.find(nodes[2].get()) == 2);
}

TEST_CASE("walks are told apart beyond 2^32 of them", "[uop]") {
  struct Aged final : Graph {
    Aged() { mark_ = 0xfffffff0; }
    void* allocate() override { return memory.emplace_back(::operator new(sizeof(Node))).get(); }
    struct Free {
      void operator()(void* node) const { static_cast<Node*>(node)->~Node(), ::operator delete(node); }
    };
    std::vector<std::unique_ptr<void, Free>> memory;
  } g;
  UOp x = param(g, 0, DType::F32, {4});
  for (int i = 0; i < 40; ++i) {
    UOp y = exp(x * static_cast<double>(i));  // new, met by no walk
    CHECK(topological(y).size() == 5);
  }
}

TEST_CASE("the tensor graph frees what nothing refers to, at any depth", "[uop]") {
  TensorGraph& g = TensorGraph::get();
  size_t before = g.live_nodes();
  {
    NodeRef chain;
    for (int i = 0; i < 200000; ++i) {
      GraphScope scope;
      UOp x = chain ? chain.get() : full(g, {3}, DType::F32, 1.0);
      chain = NodeRef(x + like(x, i % 7));
    }
    CHECK(g.live_nodes() >= before + 200000);
    GraphScope scope;
    UOp root = chain.get();
    CHECK(topological(root).back() == root);
  }
  CHECK(g.live_nodes() == before);
}

TEST_CASE("history is never interned and no_grad reads through DETACH", "[uop]") {
  TensorGraph& g = TensorGraph::get();
  size_t before = g.live_nodes();
  {
    GraphScope scope;
    UOp p = g.make({Op::Leaf, DType::F32, {2}, {full(g, {2}, DType::F32, 1.0)}});
    p->state.requires_grad = p->state.leaf = true;
    UOp a = exp(p), b = exp(p);
    CHECK_FALSE(a == b);
    set_grad_enabled(false);
    UOp c = exp(a), d = exp(a);
    set_grad_enabled(true);
    CHECK(c == d);
    CHECK(c->src[0]->op == Op::Detach);
    CHECK_FALSE(c->state.requires_grad);
  }
  CHECK(g.live_nodes() == before);
}
