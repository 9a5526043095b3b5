// Nodes, and their forms, by identity. A bucket is a chain through the things themselves, so that only doubling the
// table takes memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sinter::ir {

/// T has an `intern_hash`, which is a hash, and for the table `next` and `interned`.
template <class T>
class InternTable {
 public:
  /// One of that intern_hash for which equal(one) holds; null if there is none.
  template <class Equal>
  T* find(uint64_t intern_hash, Equal equal) const {
    if (heads_.empty()) return nullptr;
    for (T* t = heads_[bucket(intern_hash)]; t; t = t->next)
      if (t->intern_hash == intern_hash && equal(*t)) return t;
    return nullptr;
  }

  bool full() const { return count_ >= heads_.size(); }
  bool half_full() const { return 2 * count_ >= heads_.size(); }
  /// One that is full has to, before add(), which then cannot fail.
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
  /// Nothing for one that is not in the table.
  void remove(T* one) noexcept {
    if (!one->interned) return;
    T** at = &heads_[bucket(one->intern_hash)];
    while (*at != one) at = &(*at)->next;
    *at = one->next;
    one->interned = false;
    --count_;
  }
  /// Deletes those that are not needed: unneeded(one).
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

  std::vector<T*> heads_;  ///< as many as a power of two
  size_t count_ = 0;
};

}  // namespace sinter::ir
