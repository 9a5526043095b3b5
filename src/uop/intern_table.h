// Nodes by their identity. A bucket is a chain through the nodes themselves, so that only doubling the table takes memory.
#pragma once

#include <utility>
#include <vector>

#include "uop/node.h"

namespace sinter::ir {

class InternTable {
 public:
  /// A node of that identity for which equal(node) holds; null if there is none.
  template <class Equal>
  Node* find(uint64_t identity, Equal equal) const {
    if (heads_.empty()) return nullptr;
    for (Node* n = heads_[place(identity)]; n; n = n->next)
      if (n->identity == identity && equal(*n)) return n;
    return nullptr;
  }

  /// Before add(), which then cannot fail.
  void make_room() {
    if (count_ < heads_.size()) return;
    std::vector<Node*> old(heads_.empty() ? 64 : 2 * heads_.size());
    old.swap(heads_);
    for (Node* n : old)
      while (n) link(std::exchange(n, n->next));
  }
  void add(Node* node) noexcept {
    link(node);
    node->interned = true;
    ++count_;
  }
  /// Nothing for a node that is not in the table.
  void remove(Node* node) noexcept {
    if (!node->interned) return;
    Node** at = &heads_[place(node->identity)];
    while (*at != node) at = &(*at)->next;
    *at = node->next;
    node->interned = false;
    --count_;
  }

 private:
  size_t place(uint64_t identity) const { return identity & (heads_.size() - 1); }
  void link(Node* node) noexcept { node->next = std::exchange(heads_[place(node->identity)], node); }

  std::vector<Node*> heads_;  ///< as many as a power of two
  size_t count_ = 0;
};

}  // namespace sinter::ir
