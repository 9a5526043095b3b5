// What orders the blocks of a launch: a fence and then an atomic in one of them, an atomic on the same word and then a
// fence in a later one. A small part of PTX's memory model; ordinary accesses to the word order nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace sinter::runtime::cuda::sim {

struct AccessStamp;
struct Actor;
struct Warp;

class BlockOrder {
 public:
  /// The accesses that follow are those of another block, which began at this time.
  void begin_block(uint32_t started);
  /// Lanes of a warp execute a fence of the device's scope at the time `now`, which no earlier access has.
  void fence(const Warp& warp, uint32_t mask, uint32_t now);
  /// A lane executes an atomic on a word of global memory. `reads`: it returns what the word was. `writes`: it is no
  /// comparison that failed.
  void atomic(const Warp& warp, int lane, uint64_t word, bool reads, bool writes);

  /// What a thread's later work is ordered behind, beyond its own block's barriers.
  struct Known {
    std::vector<uint32_t> fences;               ///< of its block; numbers in fences_, ascending
    std::map<uint64_t, size_t> seen, acquired;  ///< by word: the first releases, as an atomic saw them; with a fence
                                                ///< behind the atomic
    bool empty() const { return fences.empty() && seen.empty(); }
    void merge(const Known& other);
  };
  /// Adds what the lanes of a warp know, which arrives at a barrier, or gives it to the lanes of a warp that leaves
  /// one.
  void arrive(const Warp& warp, Known& all) const;
  void leave(const Warp& warp, const Known& all);

  /// Whether any block has released its work.
  bool any() const { return !releases_.empty(); }
  /// Whether an access of an earlier block is ordered before the actor's.
  bool acquired(const AccessStamp& before, const Actor& actor) const;
  /// Whether the actor is ordered behind all releases of earlier blocks.
  bool acquired_all(const Actor& actor) const;
  /// Whether the block of an access has released it to anybody.
  bool released(const AccessStamp& before) const;

 private:
  struct Fence {
    uint32_t now, barrier, synced;  ///< times, as in Actor
    uint32_t warp, lanes;
    /// Whether an access of the same block is ordered before the fence.
    bool follows(const AccessStamp& before) const;
  };
  /// An atomic behind fences.
  struct Release {
    uint32_t block;  ///< when its block began
    std::vector<Fence> fences;
  };
  Known& of(const Warp& warp, int lane);
  static bool among(const std::vector<Release>& releases, size_t count, const AccessStamp& before);

  uint32_t started_ = 0;
  std::vector<Fence> fences_;                          ///< of this block
  std::vector<Known> threads_;                         ///< of this block; empty before its first fence or atomic
  std::map<uint64_t, std::vector<Release>> releases_;  ///< of the launch, by word, in order
};

}  // namespace sinter::runtime::cuda::sim
