// The reverse walk: users before sources, every node once, with explicit stacks.
#include "gradient/reverse.h"

#include <fmt/core.h>

#include <algorithm>

#include "gradient/adjoint.h"
#include "gradient/batch_products.h"
#include "ir/build.h"
#include "ir/dump.h"
#include "ir/walk.h"
#include "sinter/error.h"

namespace sinter::autodiff {
namespace {

using ir::UOp;

bool propagates_gradient(UOp n) { return n->state.requires_grad && !n->state.leaf; }

/// Sums the gradients that arrived at a value, and replaces them by the sum.
UOp add_up(std::vector<UOp>& parts) {
  if (parts.size() > 1) {
    const std::vector<UOp> sums = batch_products(parts);
    parts.assign(1, sums[0]);
    for (size_t i = 1; i < sums.size(); ++i) parts[0] = parts[0] + sums[i];
  }
  return parts[0];
}

}  // namespace

std::vector<UOp> gradient_nodes(UOp root) {
  std::vector<UOp> order = ir::topological(std::span<const UOp>(&root, 1), propagates_gradient);
  std::erase_if(order, [](UOp n) { return !n->state.requires_grad; });
  std::reverse(order.begin(), order.end());
  for (UOp n : order)
    if (n->state.consumed && !n->state.leaf)
      throw UsageError(
          fmt::format("a backward() has already walked this graph: the {} value of {} has let its history go; "
                      "call that backward() with keep_graph = true, or build the expression again",
                      ir::info(n->op).name, ir::type_and_shape(n)));
  return order;
}

std::vector<UOp> gradient(UOp y, UOp seed, std::span<const UOp> xs) {
  if (seed->shape != y->shape || seed->dtype != y->dtype)
    throw InternalError(
        fmt::format("gradient of {} with a seed of {}", ir::type_and_shape(y), ir::type_and_shape(seed)));
  const std::vector<UOp> order = gradient_nodes(y);
  // Positions of this walk. They stay valid: the rules below make nodes but start no walk.
  for (size_t i = 0; i < order.size(); ++i) order[i]->position = static_cast<uint32_t>(i);
  const uint64_t mark = y->mark;
  auto carries = [mark](UOp n) { return n->mark == mark && n->state.requires_grad; };

  std::vector<bool> wanted(order.size(), false), leads(order.size(), false);
  for (size_t k = 0; k < xs.size(); ++k) {
    if (!xs[k]->state.requires_grad)
      throw UsageError(
          fmt::format("value {} of {} to differentiate with respect to does not require grad; "
                      "call requires_grad() on it before it is used",
                      k, ir::type_and_shape(xs[k])));
    if (!carries(xs[k]))
      throw UsageError(
          fmt::format("value {} of {} to differentiate with respect to was not used to compute the {} result; "
                      "give the version that was",
                      k, ir::type_and_shape(xs[k]), ir::type_and_shape(y)));
    wanted[xs[k]->position] = leads[xs[k]->position] = true;
  }
  for (size_t i = order.size(); i-- > 0;)
    if (propagates_gradient(order[i]))
      for (UOp s : order[i]->src) leads[i] = leads[i] || (carries(s) && leads[s->position]);

  std::vector<std::vector<UOp>> grads(order.size());  // partial gradients of each value
  grads[0] = {seed};
  for (size_t i = 0; i < order.size(); ++i) {
    UOp n = order[i];
    if (grads[i].empty() || !leads[i] || !propagates_gradient(n)) continue;
    std::vector<bool> sources;
    for (UOp s : n->src) sources.push_back(carries(s) && leads[s->position]);
    if (std::find(sources.begin(), sources.end(), true) == sources.end()) continue;
    const GradientRule rule = rule_of(n->op);
    if (!rule) throw InternalError(fmt::format("no gradient rule for {}", ir::info(n->op).name));
    Adjoint a(n, add_up(grads[i]), std::move(sources));
    rule(a);
    for (size_t k = 0; k < n->src.size(); ++k)
      if (UOp part = a.source_gradient(k)) grads[n->src[k]->position].push_back(part);
    if (!wanted[i]) grads[i] = {};
  }

  std::vector<UOp> out;
  for (UOp x : xs) {
    std::vector<UOp>& parts = grads[x->position];
    out.push_back(parts.empty() ? ir::like(x, 0.0) : add_up(parts));
  }
  return out;
}

}  // namespace sinter::autodiff
