// The visit: users before sources, each stage takes the cheapest of INLINE, JOIN and SPLIT and tells its sources where
// it needs them.
#include "schedule/partition.h"

#include <algorithm>
#include <limits>
#include <queue>

#include "schedule/partitioner.h"

namespace sinter::schedule {
namespace {

using ir::UOp;

constexpr double kNever = std::numeric_limits<double>::infinity();

template <class T>
void add_once(std::vector<T>& list, const T& value) {
  if (std::find(list.rbegin(), list.rend(), value) == list.rend()) list.push_back(value);
}

}  // namespace

Partitioner::Partitioner(StageGraph graph, const Prices& prices, Policy policy)
    : graph_(std::move(graph)), prices_(prices), policy_(policy) {
  users_.resize(graph_.stages.size());
  stored_by_.assign(graph_.stages.size(), -1);
}

int Partitioner::find(int k) const {
  while (at(k).parent >= 0) {
    int up = at(k).parent;
    if (at(up).parent >= 0) kernels_[static_cast<size_t>(k)].parent = at(up).parent;
    k = up;
  }
  return k;
}

std::vector<int> Partitioner::roots(const std::vector<int>& kernels) const {
  std::vector<int> out;
  for (int k : kernels) out.push_back(find(k));
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

int64_t Partitioner::points(const std::vector<int>& axes) const {
  int64_t n = 1;
  for (int a : axes) n *= space_.bound(a);
  return n;
}

std::vector<IndexId>& Partitioner::uses(int k, int s) {
  Kernel& kernel = at(k);
  return stage(s).kind == StageKind::Buffer ? kernel.reads[s] : kernel.wanted[s];
}

void Partitioner::normalise(std::vector<IndexId>& indices) {
  std::vector<IndexId> out;
  for (IndexId i : indices) add_once(out, space_.normal(i));
  indices = std::move(out);
}

/// Among the stages whose users are all decided the largest first: full-size stages tell how axes correspond.
std::vector<int> Partitioner::visiting_order() const {
  const size_t n = graph_.stages.size();
  std::vector<int> open(n, 0), order;
  auto each_before = [&](const Stage& s, auto f) {
    for (const Source& src : s.sources)
      if (src.stage >= 0) f(src.stage);
  };
  std::vector<std::vector<int>> readers(n);  // of a store in place: they follow it in this order
  for (size_t i = 0; i < n; ++i) {
    each_before(stage(static_cast<int>(i)), [&](int b) { ++open[static_cast<size_t>(b)]; });
    for (int store : graph_.stages[i].before) {
      ++open[i];
      readers[static_cast<size_t>(store)].push_back(static_cast<int>(i));
    }
  }
  using Entry = std::pair<int64_t, int>;
  std::priority_queue<Entry> ready;
  for (size_t i = 0; i < n; ++i)
    if (open[i] == 0) ready.push({graph_.stages[i].numel, static_cast<int>(i)});
  while (!ready.empty()) {
    int s = ready.top().second;
    ready.pop();
    order.push_back(s);
    auto close = [&](int b) {
      if (--open[static_cast<size_t>(b)] == 0) ready.push({stage(b).numel, b});
    };
    each_before(stage(s), close);
    for (int r : readers[static_cast<size_t>(s)]) close(r);
  }
  return order;
}

Partition Partitioner::run() {
  for (int s : visiting_order())
    if (stage(s).kind != StageKind::Buffer) visit(s);
  if (policy_ == Policy::Fused) merge_readers();
  return finish();
}

void Partitioner::visit(int s) {
  std::vector<int> kernels = roots(users_[static_cast<size_t>(s)]);
  if (kernels.empty() && stage(s).outputs.empty()) return;
  std::vector<int> hazards;
  for (int store : stage(s).before) hazards.push_back(stored_by_[static_cast<size_t>(store)]);
  hazards = roots(hazards);
  const StageKind kind = stage(s).kind;
  const bool forced = policy_ == Policy::Unfused || kind == StageKind::Contiguous || kind == StageKind::Box ||
                      kind == StageKind::ScatterAdd;
  if (!forced && kernels.size() > 1 && kernels.size() <= prices_.max_inline) merge_users(s, kernels);
  for (int k : kernels) normalise(at(k).wanted[s]);
  const Options options = price(s, kernels, hazards, forced);
  if (options.inline_price <= options.join_price && options.inline_price <= options.split_price)
    do_inline(s, kernels, hazards, options);
  else if (options.join_price <= options.split_price)
    do_join(s, kernels, hazards, options);
  else
    do_split(s, kernels, hazards, options);
  users_[static_cast<size_t>(s)] = {};
}

Partitioner::Options Partitioner::price(int s, const std::vector<int>& kernels, const std::vector<int>& hazards,
                                        bool forced) {
  Options o{kNever, kNever, 0, -1, {}};
  const Stage& st = stage(s);
  const bool open = !forced && !kernels.empty() && kernels.size() <= prices_.max_inline;
  const double write = prices_.transfer(st.bytes) *
                       (st.bytes > (1 << 20) && st.bytes > 4 * st.frontier && st.frontier > 0 ? prices_.blow_up : 1);
  // An epilogue away from every kernel that could take its product with it costs the product's trip through memory.
  std::vector<double> away(kernels.size(), 0.0);
  bool hosted = true;
  if (open && st.anchor >= 0 && st.kind == StageKind::Elementwise) {
    const Stage& product = stage(st.anchor);
    auto host = [&](int k) {
      const std::vector<IndexId>& ix = at(k).wanted[s];
      return at(k).contractions == 0 && ix.size() == 1 && aligned(at(k), st, ix[0]);
    };
    hosted = std::any_of(kernels.begin(), kernels.end(), host);
    for (size_t i = 0; i < kernels.size(); ++i) {
      const Kernel& k = at(kernels[i]);
      const double shared = kernels.size() == 1 && k.contractions
                                ? prices_.shared_contraction * (product.own + k.contraction_time)
                                : kNever;
      if (hosted)
        away[i] = host(kernels[i]) ? 0 : prices_.transfer(product.bytes);
      else
        away[i] = std::min(prices_.launch + prices_.transfer(product.bytes), shared);
    }
  }
  if (open) {
    bool all = st.outputs.empty();
    double sum = 0;
    for (size_t i = 0; i < kernels.size(); ++i) {
      const int k = kernels[i];
      const std::vector<IndexId>& ix = at(k).wanted[s];
      o.absorb.push_back(absorb(k, s, ix));
      const double ns = o.absorb[i].ns + reads_of(st, &at(k));
      const bool legal = o.absorb[i].ns < kNever && level_fits(k, {}, hazards) && exact_where_stored(k, s, ix);
      all &= legal && fits(at(k), s, false);
      sum += ns;
      if ((kernels.size() == 1 && st.outputs.empty()) || !legal || !fits(at(k), s, true)) continue;
      if (ix.size() != 1 || !aligned(at(k), st, ix[0]) || !level_fits(k, kernels, hazards)) continue;
      const double join = ns + away[i] + write * static_cast<double>(std::max<size_t>(1, kernels.size()));
      if (join < o.join_price) o.join_price = join, o.host = k;
    }
    if (all && levels_fit(kernels, hazards)) o.inline_price = sum + *std::max_element(away.begin(), away.end());
  }
  double reads = reads_of(st, nullptr);
  if (!hosted) reads = std::max(0.0, reads - prices_.transfer(stage(st.anchor).bytes));
  o.split_price = st.own * 1.001 + reads + prices_.launch + write * static_cast<double>(1 + kernels.size()) + 1;
  return o;
}

void Partitioner::record(int s, int kernel, IndexId at, Choice choice, const Options& o, const char* reason) {
  decisions_.push_back({s, kernel, at, choice, o.inline_price, o.join_price, o.split_price, reason});
}

void Partitioner::do_inline(int s, const std::vector<int>& kernels, const std::vector<int>& hazards, const Options& o) {
  // A kernel that stores what s reads is below the others that evaluate s, so it is lifted first.
  for (bool stores : {true, false})
    for (int k : kernels)
      if (std::binary_search(hazards.begin(), hazards.end(), k) == stores) lift(k, {}, hazards);
  for (size_t i = 0; i < kernels.size(); ++i) {
    const int k = kernels[i];
    std::vector<IndexId> ix = std::move(at(k).wanted[s]);
    at(k).wanted.erase(s);
    record(s, k, ix[0], Choice::Inline, o, o.absorb[i].how);
    evaluate(k, s, std::move(ix), o.absorb[i].ns);
  }
}

void Partitioner::do_join(int s, const std::vector<int>& kernels, const std::vector<int>& hazards, const Options& o) {
  lift(o.host, kernels, hazards);
  for (size_t i = 0; i < kernels.size(); ++i) {
    const int k = kernels[i];
    std::vector<IndexId> ix = std::move(at(k).wanted[s]);
    at(k).wanted.erase(s);
    if (k != o.host) {
      at(k).reads.emplace(s, std::move(ix));
      at(k).has_feeders = true;
      continue;
    }
    record(s, k, ix[0], Choice::Join, o, o.absorb[i].how);
    at(k).outputs.push_back({s, ix[0]});
    stored_by_[static_cast<size_t>(s)] = k;
    evaluate(k, s, std::move(ix), o.absorb[i].ns);
  }
}

void Partitioner::do_split(int s, const std::vector<int>& kernels, const std::vector<int>& hazards, const Options& o) {
  const int k = static_cast<int>(kernels_.size());
  kernels_.emplace_back();
  lift(k, kernels, hazards);
  for (int user : kernels) {
    at(user).reads.emplace(s, std::move(at(user).wanted[s]));
    at(user).wanted.erase(s);
    at(user).has_feeders = true;
  }
  const Stage& st = stage(s);
  const Shape& shape = st.target ? st.target->shape : st.node->shape;
  const IndexId root = space_.fresh(shape);
  for (size_t i = 0; i < shape.rank(); ++i) {
    // Two updates of a scatter may meet in one element: its axis is a loop inside.
    if (st.kind == StageKind::ScatterAdd && static_cast<int64_t>(i) == st.node->integer()) continue;
    for (const Digit& d : space_[root][i].digits) at(k).outer.push_back(d.axis);
  }
  at(k).outputs.push_back({s, root});
  stored_by_[static_cast<size_t>(s)] = k;
  const char* reason = "cheaper than any other";
  if (kernels.empty())
    reason = "root";
  else if (policy_ == Policy::Unfused)
    reason = "every op by itself";
  else if (o.absorb.empty())
    reason = kernels.size() > prices_.max_inline ? "too many users" : "always stored";
  else if (o.inline_price == kNever)
    for (const Absorb& a : o.absorb)
      if (a.ns == kNever) reason = a.how;
  record(s, k, root, Choice::Split, o, reason);
  evaluate(k, s, {root}, st.own);
}

void Partitioner::evaluate(int kernel, int s, std::vector<IndexId> ix, double ns) {
  Kernel& k = at(kernel);
  const Stage& st = stage(s);
  k.time += ns;
  k.evaluations += static_cast<int>(ix.size());
  if (st.loops()) ++k.loops;
  if (st.contraction) {
    ++k.contractions;
    k.contraction_time += ns;
    for (int a : k.outer) add_once(k.contraction_outer, a);
  }
  for (IndexId i : ix) push(kernel, s, i);
  at(kernel).members.push_back({s, std::move(ix)});
}

void Partitioner::want(int kernel, const Source& source, IndexId ix) {
  if (source.stage < 0) return;
  ix = space_.down(source.head, ix);
  std::vector<int>& users = users_[static_cast<size_t>(source.stage)];
  if (users.empty() || users.back() != kernel) users.push_back(kernel);
  add_once(uses(kernel, source.stage), ix);
}

void Partitioner::push(int kernel, int s, IndexId ix) {
  const Stage& st = stage(s);
  switch (st.kind) {
    case StageKind::Reduce: {
      Index inner = space_[ix];
      const Shape& from = st.node->src[0]->shape;
      for (int64_t d : st.node->reduction().axes) {
        const Dim& size = from[static_cast<size_t>(d)];
        if (size == 1) continue;
        const int a = space_.axis(size);
        inner[static_cast<size_t>(d)] = space_.whole(a);
        at(kernel).reduced.push_back(a);
      }
      const IndexId id = space_.intern(std::move(inner));
      for (const Source& src : st.sources) want(kernel, src, id);
      return;
    }
    case StageKind::Gather: {
      Index moved = space_[ix];
      moved[static_cast<size_t>(st.node->integer())] = space_.opaque(ix, st.node->src[1]->id);
      const IndexId id = space_.intern(std::move(moved));
      want(kernel, st.sources[1], ix);
      want(kernel, st.sources[0], id);
      return;
    }
    case StageKind::ScatterAdd: {
      const auto axis = static_cast<size_t>(st.node->integer());
      Index update = space_[ix];
      update[axis] =
          st.node->src[1]->shape[axis] == 1 ? DimIndex{} : space_.whole(space_.axis(st.node->src[1]->shape[axis]));
      const IndexId id = space_.intern(std::move(update));
      want(kernel, st.sources[0], ix);
      want(kernel, st.sources[1], id);
      want(kernel, st.sources[2], id);
      return;
    }
    default:
      for (const Source& src : st.sources) want(kernel, src, ix);
  }
}

bool Partitioner::level_fits(int k, const std::vector<int>& users, const std::vector<int>& hazards) const {
  if (!at(k).has_feeders) return true;
  for (const std::vector<int>* list : {&users, &hazards})
    for (int other : *list)
      if (other != k && at(other).level >= at(k).level) return false;
  return true;
}

/// May all of the kernels evaluate what must run before `hazards`? Two of them that are hazards themselves would wait
/// for each other.
bool Partitioner::levels_fit(const std::vector<int>& kernels, const std::vector<int>& hazards) const {
  int highest = -1, own = -1;
  for (int h : hazards) {
    if (!std::binary_search(kernels.begin(), kernels.end(), h)) {
      highest = std::max(highest, at(h).level);
    } else if (own >= 0) {
      return false;
    } else {
      own = h;
    }
  }
  if (own >= 0) {
    if (at(own).level <= highest && at(own).has_feeders) return false;
    highest = std::max(at(own).level, highest + 1);
  }
  return std::all_of(kernels.begin(), kernels.end(),
                     [&](int k) { return k == own || at(k).level > highest || !at(k).has_feeders; });
}

void Partitioner::lift(int k, const std::vector<int>& users, const std::vector<int>& hazards) {
  for (const std::vector<int>* list : {&users, &hazards})
    for (int other : *list)
      if (other != k) at(k).level = std::max(at(k).level, at(other).level + 1);
  for (int store : hazards)
    if (store != k) at(store).has_feeders = true;
}

/// Where the kernel itself overwrites what the stage reads, the read must be of the very element written.
bool Partitioner::exact_where_stored(int k, int s, const std::vector<IndexId>& ix) {
  for (int store : stage(s).before) {
    const int where = stored_by_[static_cast<size_t>(store)];
    if (where < 0 || find(where) != k) continue;
    const std::vector<Stored>& outputs = at(k).outputs;
    auto out = std::find_if(outputs.begin(), outputs.end(), [&](const Stored& o) { return o.stage == store; });
    if (stage(s).kind != StageKind::Elementwise || out == outputs.end()) return false;
    const UOp target = stage(store).target;
    const IndexId element = space_.normal(target ? space_.down(target, out->at) : out->at);
    for (const Source& src : stage(s).sources) {
      if (src.stage < 0 || stage(src.stage).kind != StageKind::Buffer) continue;
      bool overwritten = false;
      for (int o : stage(store).outputs)
        overwritten |= graph_.homes[static_cast<size_t>(o)] == stage(src.stage).node->integer();
      for (IndexId i : ix)
        if (overwritten && space_.normal(space_.down(src.head, i)) != element) return false;
    }
  }
  return true;
}

Partition Partitioner::finish() {
  Partition out;
  std::vector<int> number(kernels_.size(), -1), order;
  for (size_t k = 0; k < kernels_.size(); ++k)
    if (kernels_[k].parent < 0) order.push_back(static_cast<int>(k));
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return std::pair(at(a).level, a) < std::pair(at(b).level, b); });
  for (size_t i = 0; i < order.size(); ++i) number[static_cast<size_t>(order[i])] = static_cast<int>(i);
  for (Decision& d : decisions_) {
    d.kernel = number[static_cast<size_t>(find(d.kernel))];
    d.at = space_.normal(d.at);
  }
  out.kernel_of.assign(stored_by_.size(), -1);
  for (size_t s = 0; s < stored_by_.size(); ++s)
    if (stored_by_[s] >= 0) out.kernel_of[s] = number[static_cast<size_t>(find(stored_by_[s]))];
  for (int k : order) {
    Kernel kernel = std::move(at(k));
    kernel.outer = space_.expand(kernel.outer);
    kernel.reduced = space_.expand(kernel.reduced);
    for (Stored& o : kernel.outputs) o.at = space_.normal(o.at);
    for (Member& m : kernel.members) normalise(m.at);
    for (auto& [stage, indices] : kernel.reads) normalise(indices);
    out.kernels.push_back(std::move(kernel));
  }
  out.graph = std::move(graph_);
  out.space = std::move(space_);
  out.decisions = std::move(decisions_);
  return out;
}

Partition partition(StageGraph graph, const Prices& prices, Policy policy) {
  return Partitioner(std::move(graph), prices, policy).run();
}

}  // namespace sinter::schedule
