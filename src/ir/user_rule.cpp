// Tables by node and by leaf. Never destroyed (SEMANTICS V7).
#include "ir/user_rule.h"

#include <algorithm>
#include <unordered_map>

#include "ir/tensor_graph.h"

namespace sinter::ir {
namespace {

struct UserHook {
  uint64_t number;
  std::shared_ptr<const UserRule> rule;
};
struct KnownRules {
  std::shared_ptr<const RuleGroup> group;
  std::vector<UserHook> hooks;
};

struct UserRuleTables {
  std::unordered_map<const Node*, KnownRules> nodes;
  std::unordered_map<uint64_t, KnownRules> leaves;
  std::vector<KnownRules> dropped;
  bool draining = false;

  static UserRuleTables& get() {
    static auto* all = new UserRuleTables;
    return *all;
  }
  void count() const { user_rule_counts = {nodes.size() + leaves.size(), !dropped.empty()}; }
  KnownRules& of(UOp n) {
    KnownRules& known = n->state.leaf ? leaves[n->state.leaf_id] : nodes[n.get()];
    count();
    return known;
  }
  template <class Table, class Key>
  void drop(Table& table, const Key& key) {
    const auto found = table.find(key);
    if (found == table.end()) return;
    dropped.push_back(std::move(found->second));
    table.erase(found);
    count();
  }
};

}  // namespace

void set_rule_group(UOp custom, std::shared_ptr<const RuleGroup> group) {
  UserRuleTables::get().of(custom).group = std::move(group);
}
std::shared_ptr<const RuleGroup> rule_group(UOp custom) {
  const auto& nodes = UserRuleTables::get().nodes;
  const auto found = nodes.find(custom.get());
  return found == nodes.end() ? nullptr : found->second.group;
}

uint64_t add_hook(UOp n, std::shared_ptr<const UserRule> hook) {
  const uint64_t number = TensorGraph::get().next_unique_id();
  UserRuleTables::get().of(n).hooks.push_back({number, std::move(hook)});
  return number;
}
void remove_hook(uint64_t number) {
  UserRuleTables& all = UserRuleTables::get();
  const auto remove = [&](auto& table) {
    for (auto it = table.begin(); it != table.end(); ++it) {
      std::vector<UserHook>& hooks = it->second.hooks;
      const auto found = std::ranges::find_if(hooks, [&](const UserHook& h) { return h.number == number; });
      if (found == hooks.end()) continue;
      all.dropped.push_back({nullptr, {std::move(*found)}});
      hooks.erase(found);
      if (hooks.empty() && !it->second.group) table.erase(it);
      return;
    }
  };
  remove(all.nodes);
  remove(all.leaves);
  all.count();
  drain_user_rules();
}
std::vector<std::shared_ptr<const UserRule>> hooks_of(UOp n) {
  std::vector<std::shared_ptr<const UserRule>> out;
  if (!any_user_rules()) return out;
  const UserRuleTables& all = UserRuleTables::get();
  const auto list = [&](const auto& table, const auto& key) {
    if (const auto found = table.find(key); found != table.end())
      for (const UserHook& h : found->second.hooks) out.push_back(h.rule);
  };
  if (n->state.leaf)
    list(all.leaves, n->state.leaf_id);
  else
    list(all.nodes, static_cast<const Node*>(n.get()));
  return out;
}

void forget_user_rules(const Node* n) noexcept {
  UserRuleTables& all = UserRuleTables::get();
  all.drop(all.nodes, n);
}
void forget_leaf_hooks(uint64_t leaf_id) noexcept {
  if (!any_user_rules()) return;
  UserRuleTables& all = UserRuleTables::get();
  all.drop(all.leaves, leaf_id);
  drain_user_rules();
}
/// A function's destructor may free nodes with rules: these wait for the outermost call, so depth is bounded.
void drain_user_rules() noexcept {
  UserRuleTables& all = UserRuleTables::get();
  if (all.draining) return;
  all.draining = true;
  while (!all.dropped.empty()) { const std::vector<KnownRules> now = std::exchange(all.dropped, {}); }
  all.draining = false;
  all.count();
}

}  // namespace sinter::ir
