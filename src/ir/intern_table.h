// A hash table of nodes and their forms by identity. Buckets are intrusive lists, so that only doubling the table
// allocates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sinter::ir {

/// T has an `intern_hash`, and the members `next` and `interned` for the table.
template <class T>
class InternTable {
 public:
  /// The entry with this intern_hash for which equal(entry) holds, or null.
  template <class Equal>
  T* find(uint64_t intern_hash, Equal equal) const {
    if (heads_.empty()) return nullptr;
    for (T* t = heads_[bucket(intern_hash)]; t; t = t->next)
      if (t->intern_hash == intern_hash && equal(*t)) return t;
    return nullptr;
  }

  bool full() const { return count_ >= heads_.size(); }
  bool half_full() const { return 2 * count_ >= heads_.size(); }
  /// Required before add() when the table is full; add() then cannot fail.
  void grow() {
    std::vector<T*> old(heads_.empty() ? 64 : 2 * heads_.size());
    old.swap(heads_);
    for (T* t : old)
      while (t) link(std::exchange(t, t->next));
  }
  void add(T* one) noexcept {
    link(one);
    one->interned = true;
    ++count_;
  }
  /// No effect if `one` is not in the table.
  void remove(T* one) noexcept {
    if (!one->interned) return;
    T** at = &heads_[bucket(one->intern_hash)];
    while (*at != one) at = &(*at)->next;
    *at = one->next;
    one->interned = false;
    --count_;
  }
  /// Deletes the entries for which unneeded(entry) holds.
  template <class Unneeded>
  void erase_if(Unneeded unneeded) noexcept {
    for (T*& head : heads_)
      for (T** at = &head; *at;) {
        T* const one = *at;
        if (!unneeded(std::as_const(*one))) {
          at = &one->next;
          continue;
        }
        *at = one->next;
        --count_;
        delete one;
      }
  }

 private:
  size_t bucket(uint64_t intern_hash) const { return intern_hash & (heads_.size() - 1); }
  void link(T* one) noexcept { one->next = std::exchange(heads_[bucket(one->intern_hash)], one); }

  std::vector<T*> heads_;  ///< size: a power of two
  size_t count_ = 0;
};

}  // namespace sinter::ir
