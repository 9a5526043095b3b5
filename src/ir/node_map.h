// A map from nodes of one graph to values, for passes that ask it often: open addressing, by creation numbers.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "ir/node.h"

namespace sinter::ir {

template <class T>
class NodeMap {
 public:
  /// The value of a node; null if it has none. Valid until the next try_emplace().
  T* find(const Node* node) {
    Cell* cell = cells_.empty() ? nullptr : cell_of(node);
    return cell && cell->node ? &cell->value : nullptr;
  }
  bool contains(const Node* node) { return find(node) != nullptr; }
  /// The value of a node, which becomes `value` if it has none, and whether it had none.
  std::pair<T*, bool> try_emplace(const Node* node, T value) {
    if (4 * (used_ + 1) > 3 * cells_.size()) grow();
    Cell* cell = cell_of(node);
    if (cell->node) return {&cell->value, false};
    ++used_;
    cell->node = node;
    cell->value = std::move(value);
    return {&cell->value, true};
  }
  size_t size() const { return used_; }

 private:
  struct Cell {
    const Node* node = nullptr;  ///< null: free
    T value{};
  };
  /// The cell of a node, or the free one where it belongs.
  Cell* cell_of(const Node* node) {
    constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;  // Fibonacci hashing: Knuth, TAOCP 3, 6.4
    size_t at = node->id * kGolden >> (64 - std::countr_zero(cells_.size()));
    while (cells_[at].node && cells_[at].node != node) at = (at + 1) & (cells_.size() - 1);
    return &cells_[at];
  }
  void grow() {
    constexpr size_t kFirst = 64;
    std::vector<Cell> old = std::exchange(cells_, std::vector<Cell>(cells_.empty() ? kFirst : 2 * cells_.size()));
    for (Cell& c : old)
      if (c.node) *cell_of(c.node) = std::move(c);
  }

  std::vector<Cell> cells_;  ///< a power of two of them, or none
  size_t used_ = 0;
};

}  // namespace sinter::ir
