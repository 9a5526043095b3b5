#include "cudasim/block_order.h"

#include <algorithm>

#include "cudasim/launch.h"
#include "cudasim/races.h"
#include "cudasim/warp_lanes.h"

namespace sinter::runtime::cuda::sim {

void BlockOrder::Known::merge(const Known& other) {
  std::vector<uint32_t> both;
  std::ranges::set_union(fences, other.fences, std::back_inserter(both));
  fences = std::move(both);
  for (const auto& [word, count] : other.seen) seen[word] = std::max(seen[word], count);
  for (const auto& [word, count] : other.acquired) acquired[word] = std::max(acquired[word], count);
}

bool BlockOrder::Fence::follows(const AccessStamp& before) const {
  if (before.when < barrier) return true;
  if (before.warps || before.thread / kLanes != warp) return false;
  if (before.when < synced) return true;
  return !before.lanes && (lanes >> before.thread % kLanes & 1) && before.when < now;
}

void BlockOrder::begin_block(uint32_t started) {
  started_ = started;
  fences_.clear();
  threads_.clear();
}

BlockOrder::Known& BlockOrder::of(const Warp& warp, int lane) {
  if (threads_.empty()) threads_.resize(warp.block->warps.size() * kLanes);
  return threads_[warp.index * kLanes + static_cast<size_t>(lane)];
}

void BlockOrder::fence(const Warp& warp, uint32_t mask, uint32_t now) {
  fences_.push_back({now, warp.barrier, warp.synced, warp.index, mask});
  for_lanes(mask, [&](int lane) {
    Known& known = of(warp, lane);
    known.fences.push_back(static_cast<uint32_t>(fences_.size()) - 1);
    known.acquired = known.seen;
  });
}

void BlockOrder::atomic(const Warp& warp, int lane, uint64_t word, bool reads, bool writes) {
  Known& known = of(warp, lane);
  std::vector<Release>& releases = releases_[word];
  if (reads) known.seen[word] = releases.size();
  if (!writes || known.fences.empty()) return;
  Release made{started_, {}};
  for (const uint32_t f : known.fences) made.fences.push_back(fences_[f]);
  releases.push_back(std::move(made));
}

void BlockOrder::arrive(const Warp& warp, Known& all) const {
  if (threads_.empty()) return;
  for (size_t lane = 0; lane < kLanes; ++lane)
    if (const Known& known = threads_[warp.index * kLanes + lane]; !known.empty()) all.merge(known);
}

void BlockOrder::leave(const Warp& warp, const Known& all) {
  if (all.empty()) return;
  for (int lane = 0; lane < kLanes; ++lane) of(warp, lane).merge(all);
}

/// Whether one of the first `count` releases has the access before one of its fences.
bool BlockOrder::among(const std::vector<Release>& releases, size_t count, const AccessStamp& before) {
  const auto begin = releases.begin(), end = begin + static_cast<std::ptrdiff_t>(count);
  auto after =
      std::upper_bound(begin, end, before.when, [](uint32_t when, const Release& r) { return when < r.block; });
  if (after == begin) return false;
  const uint32_t block = std::prev(after)->block;  // the last one that began before the access: the access is its own
  for (; after != begin && std::prev(after)->block == block; --after)
    if (std::ranges::any_of(std::prev(after)->fences, [&](const Fence& f) { return f.follows(before); })) return true;
  return false;
}

bool BlockOrder::acquired(const AccessStamp& before, const Actor& actor) const {
  if (threads_.empty()) return false;
  const Known& known = threads_[actor.thread];
  return std::ranges::any_of(known.acquired,
                             [&](const auto& word) { return among(releases_.at(word.first), word.second, before); });
}

bool BlockOrder::acquired_all(const Actor& actor) const {
  return std::ranges::all_of(releases_, [&](const auto& word) {
    const auto& [address, releases] = word;
    const auto mine = std::ranges::find(releases, started_, &Release::block);
    if (mine == releases.begin()) return true;
    if (threads_.empty()) return false;
    const auto found = threads_[actor.thread].acquired.find(address);
    return found != threads_[actor.thread].acquired.end() &&
           found->second >= static_cast<size_t>(mine - releases.begin());
  });
}

bool BlockOrder::released(const AccessStamp& before) const {
  return std::ranges::any_of(releases_,
                             [&](const auto& word) { return among(word.second, word.second.size(), before); });
}

}  // namespace sinter::runtime::cuda::sim
