// The walk from users to sources. Each node takes the cheapest of INLINE, JOIN and SPLIT, and propagates its indices to
// its sources.
#include "schedule/fusion/partition.h"

#include <queue>

#include "schedule/fusion/partitioner.h"

namespace sinter::schedule {
Partitioner::Partitioner(FusionGraph graph, const Prices& prices, Policy policy)
    : graph_(std::move(graph)), prices_(prices), policy_(policy) {
  users_.resize(graph_.nodes.size());
  stored_by_.assign(graph_.nodes.size(), -1);
}

int Partitioner::find(int k) const {
  while (at(k).parent >= 0) {
    int up = at(k).parent;
    if (at(up).parent >= 0) kernels_[k].parent = at(up).parent;
    k = up;
  }
  return k;
}

std::vector<int> Partitioner::roots(const std::vector<int>& kernels) const {
  std::vector<int> out = ir::mapped(kernels, [&](int k) { return find(k); });
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

/// Among the nodes whose users are all decided, the largest first: full-size nodes show how axes correspond.
std::vector<int> Partitioner::visiting_order() const {
  const size_t n = graph_.nodes.size();
  std::vector<int> open(n, 0), order;
  auto each_before = [&](const FusionNode& s, auto f) {
    for (const FusionEdge& src : s.sources)
      if (src.node >= 0) f(src.node);
  };
  std::vector<std::vector<int>> readers(n);  // of an in-place store: visited after it
  for (size_t i = 0; i < n; ++i) {
    each_before(node(static_cast<int>(i)), [&](int b) { ++open[b]; });
    for (int store : graph_.nodes[i].before) {
      ++open[i];
      readers[store].push_back(static_cast<int>(i));
    }
  }
  using ReadyNode = std::pair<int64_t, int>;
  std::priority_queue<ReadyNode> ready;
  for (size_t i = 0; i < n; ++i)
    if (open[i] == 0) ready.push({graph_.nodes[i].numel, static_cast<int>(i)});
  while (!ready.empty()) {
    int s = ready.top().second;
    ready.pop();
    order.push_back(s);
    auto close = [&](int b) {
      if (--open[b] == 0) ready.push({node(b).numel, b});
    };
    each_before(node(s), close);
    for (int r : readers[s]) close(r);
  }
  return order;
}

Partition Partitioner::run() {
  for (int s : visiting_order())
    if (node(s).kind != FusionNodeKind::Buffer) visit(s);
  if (policy_ == Policy::Fused) merge_readers();
  return take_partition();
}

void Partitioner::visit(int s) {
  std::vector<int> kernels = roots(users_[s]);
  if (kernels.empty() && node(s).outputs.empty()) return;
  std::vector<int> hazards = ir::mapped(node(s).before, [&](int store) { return stored_by_[store]; });
  hazards = roots(hazards);
  const bool forced = policy_ == Policy::Unfused || (always_stored(node(s).kind) && !scans_block(node(s)));
  if (!forced && kernels.size() > 1 && kernels.size() <= prices_.max_inline) merge_users(s, kernels);
  for (int k : kernels) normalize(at(k).wanted[s]);
  if (!forced)
    for (int k : kernels) end_at_cheapest_cut(k);
  ChoiceCosts options = price(s, kernels, hazards, forced);
  if (options.inline_price <= options.join_price && options.inline_price <= options.split_price)
    do_inline(s, kernels, hazards, options);
  else if (options.join_price <= options.split_price)
    do_join(s, kernels, hazards, options);
  else
    do_split(s, kernels, hazards, options);
  users_[s] = {};
}

/// Per kernel, the extra cost of evaluating a product's epilogue there: the product's trip through memory if the kernel
/// cannot take the product too, and needs it for nothing else. `hosted`: some kernel could take it.
std::vector<double> Partitioner::away_from_product(const FusionNode& st, int s, const std::vector<int>& kernels,
                                                   bool& hosted) {
  std::vector<double> away(kernels.size(), 0.0);
  hosted = true;
  if (st.anchor < 0 || st.kind != FusionNodeKind::Elementwise) return away;
  const FusionNode& product = node(st.anchor);
  auto host = [&](int k) {
    const std::vector<IndexId>& ix = at(k).wanted[s];
    if (has_mma(at(k)) && joins_pair(at(k), st)) return true;
    if (at(k).contractions || ix.size() != 1 || !aligned(st, ix[0])) return false;
    refresh(at(k));
    const std::vector<int>& axes = space_.axes_of(ix[0]);
    return std::all_of(at(k).outer.begin(), at(k).outer.end(), [&](int a) { return contains(axes, a); });
  };
  hosted = std::ranges::any_of(kernels, host);
  auto needs_product = [&](const FusionGroup& k) {
    return k.reads.contains(st.anchor) || std::ranges::any_of(k.wanted, [&](const auto& use) {
             return use.first != s && node(use.first).anchor == st.anchor;
           });
  };
  for (size_t i = 0; i < kernels.size(); ++i) {
    const FusionGroup& k = at(kernels[i]);
    const double shared = kernels.size() == 1 && k.contractions
                              ? prices_.shared_contraction * (product.own + k.contraction_time)
                              : kNever;
    if (hosted)
      away[i] = host(kernels[i]) ? 0 : prices_.transfer(product.bytes);
    else if (!needs_product(k))
      away[i] = std::min(prices_.launch + prices_.transfer(product.bytes), shared);
  }
  return away;
}

/// One simple op on positions and constants: loading it would not be cheaper.
bool Partitioner::is_constant_expr(const FusionNode& s) const {
  return s.kind == FusionNodeKind::Elementwise && weight_of(s.uop->op) <= 1 &&
         std::ranges::all_of(s.sources, [](const FusionEdge& src) { return src.node < 0; });
}

/// The extra cost, besides reads, of sources that both a kernel of the node's own and its users need and that nobody
/// has stored yet: they are computed twice, or stored after all.
double Partitioner::duplicated_source_cost(const FusionNode& st, const std::vector<int>& kernels) const {
  double ns = 0;
  std::vector<int> seen;
  for (const FusionEdge& src : st.sources) {
    if (src.node < 0 || contains(seen, src.node)) continue;
    seen.push_back(src.node);
    const FusionNode& from = node(src.node);
    if (from.kind == FusionNodeKind::Buffer || always_stored(from.kind) || !from.outputs.empty()) continue;
    if (std::ranges::none_of(kernels, [&](int k) { return at(k).wanted.contains(src.node); })) continue;
    const double read = prices_.transfer(from.read_bytes);
    ns += std::max(0.0, std::min(from.own, write_price(from) + read) - read);
  }
  return ns;
}

/// Cost of writing the node. A value that is much larger than its sources costs several times its transfer.
double Partitioner::write_price(const FusionNode& st) const {
  const bool grows = st.bytes > prices_.large && st.bytes > prices_.far_larger * st.frontier && st.frontier > 0;
  return prices_.transfer(st.bytes) * (grows ? prices_.blow_up : 1);
}

/// Whether some kernel evaluates each element several times, as windows do. If no user can take the product of such an
/// epilogue, either the product or the epilogue is stored. Both are of one size, so the epilogue does not grow.
bool Partitioner::is_repeated(int s, const std::vector<int>& kernels) {
  return std::ranges::any_of(kernels, [&](int k) {
    refresh(at(k));
    const std::vector<IndexId>& indices = at(k).wanted[s];
    return std::ranges::any_of(indices,
                               [&](IndexId ix) { return is_opaque(space_[ix]) && evaluations(at(k), s, ix) > 1; });
  });
}

Partitioner::ChoiceCosts Partitioner::price(int s, const std::vector<int>& kernels, const std::vector<int>& hazards,
                                            bool forced) {
  ChoiceCosts o{kNever, kNever, 0};
  const FusionNode& st = node(s);
  const bool open = !forced && !kernels.empty() && kernels.size() <= prices_.max_inline;
  bool hosted = true;
  std::vector<double> away;
  if (open) away = away_from_product(st, s, kernels, hosted);
  const double write = !hosted && is_repeated(s, kernels) ? prices_.transfer(st.bytes) : write_price(st);
  if (open) {
    bool all = st.outputs.empty();
    double sum = 0;
    for (size_t i = 0; i < kernels.size(); ++i) {
      const int k = kernels[i];
      const std::vector<IndexId>& ix = at(k).wanted[s];
      o.inline_costs.push_back(inline_cost(k, s, ix));
      const InlineCost& form = o.inline_costs.back();
      // What an elementwise node is computed from will be evaluated as often.
      const double ns = form.ns + form.repeats * st.chain + reads_of(st, &at(k));
      const bool legal = form.ns < kNever && level_fits(k, {}, hazards) && exact_where_stored(k, s, ix);
      all &= legal && fits(at(k), s, false);
      sum += ns;
      if ((kernels.size() == 1 && st.outputs.empty()) || !legal || !fits(at(k), s, true)) continue;
      if (st.kind == FusionNodeKind::Scan) continue;  // stored, it has a kernel of its own
      if (st.pair < 0 && has_pair(at(k))) continue;   // its store would need loops of its own
      if (st.contraction && !form.materialized && needs_both_lanes(at(k), s, ix[0])) continue;
      if ((ix.size() != 1 && form.siblings.empty()) || !aligned(st, ix[0]) || !level_fits(k, kernels, hazards))
        continue;
      const std::vector<int>& axes = space_.axes_of(ix[0]);
      if (std::any_of(at(k).outer.begin(), at(k).outer.end(),
                      [&](int a) { return may_be_empty(a) && !contains(axes, a) && !contains(form.lost, a); }))
        continue;
      const double join = ns + away[i] + write * static_cast<double>(std::max<size_t>(1, kernels.size()));
      if (join < o.join_price) o.join_price = join, o.host = k;
    }
    if (all && levels_fit(kernels, hazards))
      o.inline_price = is_constant_expr(st) ? 0 : sum + *std::ranges::max_element(away);
  }
  double reads = reads_of(st, nullptr);
  if (!hosted) reads = std::max(0.0, reads - prices_.transfer(node(st.anchor).bytes));
  // Beside another accumulator of the same reduction that has its own kernel, the evaluation is free.
  const auto twin = own_kernel_reductions_.find(st.uop->src.empty() ? nullptr : st.uop->src[0].get());
  const bool beside = twin != own_kernel_reductions_.end() && is_same_reduction(node(twin->second), st);
  o.split_price = (beside ? 0 : st.own * 1.001 + duplicated_source_cost(st, kernels)) + reads + prices_.launch +
                  write * static_cast<double>(1 + kernels.size()) + 1;
  return o;
}

void Partitioner::record(int s, int kernel, IndexId at, FusionChoice choice, const ChoiceCosts& o, const char* reason,
                         std::vector<int> lost) {
  decisions_.push_back({s, kernel, at, choice, o.inline_price, o.join_price, o.split_price, reason, std::move(lost)});
}

void Partitioner::do_inline(int s, const std::vector<int>& kernels, const std::vector<int>& hazards,
                            const ChoiceCosts& o) {
  // A kernel that overwrites what s reads must be below the others that evaluate s, so its level is raised first.
  for (bool stores : {true, false})
    for (int k : kernels)
      if (std::ranges::binary_search(hazards, k) == stores) raise_level(k, {}, hazards);
  for (size_t i = 0; i < kernels.size(); ++i) {
    const int k = kernels[i];
    std::vector<IndexId> ix = std::move(at(k).wanted.extract(s).mapped());
    record(s, k, ix[0], FusionChoice::Inline, o, o.inline_costs[i].how, o.inline_costs[i].lost);
    add_evaluation(k, s, std::move(ix), o.inline_costs[i]);
  }
}

void Partitioner::do_join(int s, const std::vector<int>& kernels, const std::vector<int>& hazards,
                          const ChoiceCosts& o) {
  raise_level(o.host, kernels, hazards);
  for (size_t i = 0; i < kernels.size(); ++i) {
    const int k = kernels[i];
    std::vector<IndexId> ix = std::move(at(k).wanted.extract(s).mapped());
    if (k != o.host) {
      at(k).reads.emplace(s, std::move(ix));
      at(k).has_feeders = true;
      continue;
    }
    record(s, k, ix[0], FusionChoice::Join, o, o.inline_costs[i].how, o.inline_costs[i].lost);
    at(k).outputs.push_back({s, ix[0]});
    stored_by_[s] = k;
    add_evaluation(k, s, std::move(ix), o.inline_costs[i]);
  }
}

void Partitioner::do_split(int s, const std::vector<int>& kernels, const std::vector<int>& hazards,
                           const ChoiceCosts& o) {
  const int k = static_cast<int>(kernels_.size());
  kernels_.emplace_back();
  epilogue_wants_.emplace_back();
  cut_trackers_.emplace_back();
  raise_level(k, kernels, hazards);
  for (int user : kernels) {
    at(user).reads.insert(at(user).wanted.extract(s));
    at(user).has_feeders = true;
  }
  const FusionNode& st = node(s);
  const Shape& shape = st.target ? st.target->shape : st.uop->shape;
  const IndexId root = space_.fresh(shape);
  for (size_t i = 0; i < shape.rank(); ++i) {
    // Updates of a scatter may hit the same element, and a scan is loop-carried: that axis is an inner loop.
    if (st.scatter && static_cast<int64_t>(i) == st.scatter->scatter().axis) continue;
    if (st.kind == FusionNodeKind::Scan && static_cast<int64_t>(i) == st.uop->reduction().axes[0]) continue;
    if (st.kind == FusionNodeKind::Opaque && i + 1 == shape.rank()) continue;
    for (const Digit& d : space_[root][i].digits) at(k).outer.push_back(d.axis);
  }
  at(k).outputs.push_back({s, root});
  stored_by_[s] = k;
  if (st.kind == FusionNodeKind::Reduce && ir::accumulator_count(st.uop->reduction().combine) > 1)
    own_kernel_reductions_[st.uop->src[0].get()] = s;
  const char* reason = "cheaper than any other";
  if (kernels.empty())
    reason = "root";
  else if (policy_ == Policy::Unfused)
    reason = "every op by itself";
  else if (o.inline_costs.empty())
    reason = kernels.size() > prices_.max_inline ? "too many users" : "always stored";
  else if (o.inline_price == kNever)
    for (const InlineCost& a : o.inline_costs)
      if (a.ns == kNever) reason = a.how;
  record(s, k, root, FusionChoice::Split, o, reason);
  add_evaluation(k, s, {root}, {st.own, reason});
}

Partition Partitioner::take_partition() {
  Partition out;
  std::vector<int> number(kernels_.size(), -1), order;
  for (size_t k = 0; k < kernels_.size(); ++k)
    if (kernels_[k].parent < 0) order.push_back(static_cast<int>(k));
  std::ranges::sort(order, [&](int a, int b) { return std::pair(at(a).level, a) < std::pair(at(b).level, b); });
  for (size_t i = 0; i < order.size(); ++i) number[order[i]] = static_cast<int>(i);
  for (FusionDecision& d : decisions_) {
    d.kernel = number[find(d.kernel)];
    d.at = space_.normal(d.at);
  }
  out.kernel_of.assign(stored_by_.size(), -1);
  for (size_t s = 0; s < stored_by_.size(); ++s)
    if (stored_by_[s] >= 0) out.kernel_of[s] = number[find(stored_by_[s])];
  for (int k : order) {
    FusionGroup& kernel = at(k);
    refresh(kernel);
    for (auto& [node, indices] : kernel.reads) normalize(indices);
    unify_sibling_loops(kernel);
    if (policy_ == Policy::Fused) split_long_reductions(kernel);  // cuts all sums over one row together
    for (KernelStore& o : kernel.outputs) o.at = space_.normal(o.at);
    for (auto& [node, indices] : kernel.reads) normalize(indices);
    for (Member& m : kernel.members) normalize(m.at);
    order_loops(kernel);
    out.kernels.push_back(std::move(kernel));
  }
  out.graph = std::move(graph_);
  out.space = std::move(space_);
  out.decisions = std::move(decisions_);
  for (KernelMerge& m : merges_) m.kernel = number[find(m.kernel)];
  out.merges = std::move(merges_);
  out.steps = steps_;
  return out;
}

Partition partition(FusionGraph graph, const Prices& prices, Policy policy) {
  return Partitioner(std::move(graph), prices, policy).run();
}

}  // namespace sinter::schedule
