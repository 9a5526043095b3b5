// What a program itself says about gradients: rules for values of its own (Op::Custom), and hooks on the gradients of
// any values. Kept beside the nodes and freed with them. All functions require a GraphScope.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ir/node.h"

namespace sinter::ir {

/// A part of a reverse walk that the program computes.
class UserRule {
 public:
  struct Call {
    UOp node;                    ///< a value that the rule is of
    std::vector<UOp> gradients;  ///< of the values; null for 0
    std::vector<UOp> values;     ///< null for those that nothing uses
    std::vector<UOp> arguments = {};
    std::vector<bool> wanted = {};  ///< which arguments' gradients are asked for
  };

  virtual ~UserRule() = default;
  /// The gradients of the arguments, of their shapes and types; null for 0. Of a hook: that of the value, null to leave
  /// it as it is. It may walk, read and write tensors; what it returns lives until the outermost scope closes.
  virtual std::vector<UOp> gradients(const Call& call) const = 0;
  /// The rule of a batch of `count` such values with a new leading axis, in place of that of `node`.
  virtual std::shared_ptr<const UserRule> batched(UOp node, const Dim& count) const = 0;
};

/// CUSTOM nodes that are values of one function, and share its rule.
struct RuleGroup {
  std::shared_ptr<const UserRule> rule;
  size_t values = 1;
};
/// Every CUSTOM node has a group.
void set_rule_group(UOp custom, std::shared_ptr<const RuleGroup> group);
/// Null if it was dropped.
std::shared_ptr<const RuleGroup> rule_group(UOp custom);

/// A walk applies hooks to the whole gradient of a value, in the order in which they were added. Those of a leaf are
/// those of all its versions. Returns a number for remove_hook().
uint64_t add_hook(UOp n, std::shared_ptr<const UserRule> hook);
void remove_hook(uint64_t number);
std::vector<std::shared_ptr<const UserRule>> hooks_of(UOp n);

/// Drops what is known of a node, or of a leaf. Functions of the program are destroyed later, by drain_user_rules().
void forget_user_rules(const Node* n) noexcept;
void forget_leaf_hooks(uint64_t leaf_id) noexcept;
void drain_user_rules() noexcept;

/// Guarded by the graph's mutex.
struct UserRuleCounts {
  size_t known = 0;      ///< nodes and leaves of which something is known
  bool dropped = false;  ///< something waits for drain_user_rules()
};
inline UserRuleCounts user_rule_counts;
inline bool any_user_rules() { return user_rule_counts.known != 0; }

}  // namespace sinter::ir
