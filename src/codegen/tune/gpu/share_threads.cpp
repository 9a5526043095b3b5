// Digits of the thread number are given out twice: to outer ranges, for all statements alike, and to the inner ranges
// of each statement.
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <optional>
#include <tuple>

#include "codegen/tune/gpu/staging.h"
#include "ir/ceil_div.h"
#include "ir/walk.h"

namespace sinter::codegen {
namespace {

constexpr int kMaxBlockThreads = 1024;
constexpr int kMaxVectorThreads = 256;  ///< of a block whose sums have vectors: with 1024, of 64 registers, some spill
constexpr int64_t kMaxStagedDepth = 128;            ///< reduced values of a staged factor
constexpr int64_t kSmallKernel = kMaxBlockThreads;  ///< values of all ranges together
constexpr int kRowsUnderWay = 8;                    ///< loads of a sum down rows that wait for memory together

int64_t ceil_power(int64_t n) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(n, 1))));
}

/// What has vectors: nothing, results alone, or elements of sums in chains, too.
enum class Vectors : uint8_t { None, Results, Chains };

class ShareGenerator {
 public:
  ShareGenerator(TuneSpace& space, std::vector<Candidate>& out)
      : space_(space), analysis_(space.analysis), out_(out), outer_(space.outer_ranges()) {
    for (const StatementAnalysis& w : analysis_.statements()) order_.push_back(&w);
    // Ties go to the earlier statement: all are in one vector.
    std::ranges::sort(order_, [](const StatementAnalysis* a, const StatementAnalysis* b) {
      return std::pair(-a->iterations * (a->operations + 1), a) < std::pair(-b->iterations * (b->operations + 1), b);
    });
    for (UOp r : analysis_.ranges())
      if (!space_.is_fixed(r) && (!lead_ || space_.contiguous_accesses(r) > space_.contiguous_accesses(lead_)))
        lead_ = r;
    for (const StatementAnalysis& w : analysis_.statements()) {
      chains_ |= w.chains() > 1;
      reduces_ |= w.is_reduce();
      for (UOp r : w.result_ranges) inner_ |= !is_outer(r);
      inner_ |= w.chains() > 1;
    }
    for (const StatementAnalysis& w : analysis_.statements())
      for (UOp r : w.result_ranges) scores_ |= w.is_reduce() && !is_outer(r) && chains_along(r) > 0;
  }

  void run() {
    if (!lead_) return;
    for (UOp r : analysis_.ranges())
      if (!space_.is_fixed(r)) widest_ = std::min<int64_t>(kMaxBlockThreads, widest_ * analysis_.size(r));
    for (int threads = 1; threads <= kMaxBlockThreads; threads *= 2)
      for (int along_outer = 1; along_outer <= threads; along_outer *= 2) {
        if (outer_.empty() ? along_outer > 1 : !inner_ && along_outer < threads) continue;
        if (!is_wanted(threads)) continue;
        for (const int copies : {1, 2, 4})
          for (const Vectors vectors : {Vectors::Chains, Vectors::Results, Vectors::None})
            for (const bool apart : {false, true}) {
              apart_ = apart;
              for (wide_ = 1; wide_ <= (scores_ && copies > 1 ? 2 : 1); ++wide_)
                propose(threads, along_outer, copies, vectors);
            }
      }
  }

 private:
  /// Small blocks are for small kernels, and between 256 and 1024 threads little changes.
  bool is_wanted(int threads) const { return threads <= 32 ? widest_ < kSmallKernel : threads != 512; }

  void propose(int threads, int along_outer, int copies, Vectors vectors) {
    if (vectors == Vectors::Chains && threads > kMaxVectorThreads) return;
    shares_.clear();
    vectors_ = vectors;
    const int along_inner = threads / along_outer;
    // Threads next to each other lie along the lead.
    if (is_outer(lead_)) {
      const int used = share_outer(along_outer, 1, copies);
      if (used < along_outer) return;
      if (share_inner(along_inner, used, copies) < along_inner) return;
    } else {
      const int used = share_inner(along_inner, 1, copies);
      if (used < along_inner || share_outer(along_outer, used, copies) < along_outer) return;
    }
    if (shares_.empty()) return;
    const auto has_vectors = [&](const RangeShare& s) {
      return s.lanes > 1 && (vectors != Vectors::Chains || chains_along(s.range) > 0);
    };
    if (vectors != Vectors::None && std::ranges::none_of(shares_, has_vectors)) return;  // proposed without
    out_.push_back(make_candidate("share", space_, shares_));
    const std::vector<Opt> unrolled = unroll_chains(kRowsUnderWay);
    if (!unrolled.empty()) out_.push_back(make_candidate("share", space_, shares_, unrolled));
    if (const std::vector<Opt> fewer = unroll_chains(kRowsUnderWay / 2); fewer != unrolled)
      out_.push_back(make_candidate("share", space_, shares_, fewer));
    if (std::vector<Opt> staged = stage_factors(); !staged.empty()) {
      staged.insert(staged.end(), unrolled.begin(), unrolled.end());
      out_.push_back(make_candidate("share", space_, shares_, staged));
    }
  }

  /// Tiles for factors of products over an inner range whose threads would read memory rows apart: attention's keys. A
  /// tile has a block of that range and all reduced values.
  std::vector<Opt> stage_factors() {
    std::vector<Opt> opts;
    int threads = 1;
    for (const RangeShare& s : shares_) threads = std::max(threads, s.stride * s.threads);
    std::vector<UOp> staged;
    for (const StatementAnalysis* w : order_) {
      if (!w->is_reduce() || w->chains() > 1 || w->reduced_ranges.size() != 1) continue;
      const std::vector<UOp> factors = values_of(w->node);
      const UOp sum = w->reduced_ranges[0];
      if (factors.size() != 2 || share_of(sum) || analysis_.size(sum) > kMaxStagedDepth) continue;
      for (UOp factor : factors)
        for (UOp r : w->result_ranges) {
          const RangeShare* share = share_of(r);
          if (is_outer(r) || !share || share->threads == 1 || find_opt<Split>(opts, range_id(r)) ||
              contains(staged, factor) || !analysis_.depends(factor, r) || is_near(factor, r))
            continue;
          // A block has all chains of the reductions over the range.
          const int64_t block = std::max(share->width(), chains_along(r));
          const bool whole = block >= analysis_.size(r);
          std::vector<StagedDim> dims{{sum, -1, analysis_.size(sum), {}},
                                      {r, whole ? -1 : 0, whole ? analysis_.size(r) : block, *share}};
          const std::optional<TileCopy> copy = stage_value(space_, factor, dims, threads);
          if (!copy) continue;
          if (!whole) opts.push_back(Split{range_id(r), block});
          opts.emplace_back(*copy);
          staged.push_back(factor);
        }
    }
    return opts;
  }
  /// Whether loads of a value move by at most a vector with the range.
  bool is_near(UOp value, UOp range) {
    const std::vector<UOp> below = ir::topological(value);
    return std::ranges::none_of(below, [&](UOp n) {
      if (n->op != Op::Load) return false;
      const int64_t stride = analysis_.stride(n, range);
      return stride == KernelAnalysis::kScattered || std::abs(stride) > 16 / space_.element_bytes;
    });
  }

  /// Vectors lie along the lead and along inner ranges, also along those whose elements are chains of a sum. Where sums
  /// have chains of their own, an outer range has none, and a loop that several statements share may permit none.
  int lanes_along(UOp r) {
    if (vectors_ == Vectors::None || (is_outer(r) && (!(r == lead_) || chains_))) return 1;
    const int64_t chains = chains_along(r);
    const int lanes = vectors_ == Vectors::Chains || chains == 0 ? space_.vector_along(r) : 1;
    return chains % lanes == 0 ? lanes : 1;
  }

  /// Gives up to `threads` to the outer ranges, the contiguous one first, from the digit `stride` on. Returns how many
  /// they take.
  int share_outer(int threads, int stride, int copies) {
    int used = 1;
    for (UOp r : outer_) {
      RangeShare s{r};
      s.lanes = lanes_along(r);
      const bool repeats = reduces_ ? inner_ && r == outer_.front() : r == lead_;
      if (repeats && analysis_.size(r) >= int64_t{1} * s.lanes * copies) s.unroll = copies;
      s.threads = static_cast<int>(
          std::min<int64_t>(threads / used, ceil_power(ceil_div(analysis_.size(r), int64_t{1} * s.lanes * s.unroll))));
      s.stride = s.threads > 1 ? used * stride : 1;
      used *= s.threads;
      if (s.width() > 1) shares_.push_back(s);
    }
    return used;
  }

  /// Copies along the innermost reduced ranges of chains. Of a sum down rows, so that loads of `rows` are under way.
  std::vector<Opt> unroll_chains(int rows) {
    std::vector<Opt> unrolled;
    for (const StatementAnalysis* w : order_) {
      if (!w->is_reduce() || w->chains() > 1 || w->reduced_ranges.empty()) continue;
      const UOp r = w->reduced_ranges.back();
      if (share_of(r) || find_opt<Unroll>(unrolled, range_id(r))) continue;
      int copies = space_.copies_of_sum(*w);
      if (copies == 1 && values_of(w->node).size() == 1 && analysis_.size(r) % rows == 0) copies = rows;
      if (copies > 1) unrolled.push_back(Unroll{range_id(r), copies});
    }
    return unrolled;
  }

  const RangeShare* share_of(UOp range) const {
    for (const RangeShare& s : shares_)
      if (s.range == range) return &s;
    return nullptr;
  }

  /// Gives up to `threads` to the inner ranges of each statement, the busiest first, from the digit `base` on. Returns
  /// the most that a statement takes.
  int share_inner(int threads, int base, int copies) {
    int most = 1;
    for (const StatementAnalysis* w : order_) {
      int used = 1;
      for (UOp r : inner_of(*w)) {
        if (const RangeShare* s = share_of(r)) {
          if (s->threads > 1) used = std::max(used, s->stride / base * s->threads);
          continue;
        }
        const int left = threads / used;
        if (left <= 1 || (apart_ && meets(r, base * used))) continue;
        RangeShare s{r};
        const int64_t chains = chains_along(r);
        s.lanes = lanes_along(r);
        // Copies along the results of a product share the loads of the other operand.
        if (s.lanes == 1 && w->is_reduce() && !contains(w->reduced_ranges, r)) {
          if (chains && chains % (int64_t{1} * wide_ * copies * left) == 0)
            s.unroll = wide_ * copies;
          else if (!chains)
            s.unroll = static_cast<int>(std::clamp<int64_t>(analysis_.size(r) / left, 1, copies));
        }
        int64_t count =
            std::min<int64_t>(left, ceil_power(ceil_div(analysis_.size(r), int64_t{1} * s.lanes * s.unroll)));
        if (chains) count = std::min(count, chains / (s.lanes * s.unroll));
        if (count <= 1) continue;
        s.threads = static_cast<int>(count);
        s.stride = base * used;
        used *= s.threads;
        shares_.push_back(s);
      }
      most = std::max(most, used);
    }
    return most;
  }
  /// Whether a statement runs over a range and over another whose threads have digits from `stride` on.
  bool meets(UOp range, int stride) const {
    return std::ranges::any_of(shares_, [&](const RangeShare& s) {
      return s.threads > 1 && !is_outer(s.range) && s.stride * s.threads > stride &&
             std::ranges::any_of(analysis_.statements(), [&](const StatementAnalysis& w) {
               return w.runs_over(range) && w.runs_over(s.range);
             });
    });
  }
  /// Ranges of a statement that threads can share, the contiguous one first.
  std::vector<UOp> inner_of(const StatementAnalysis& w) {
    std::vector<UOp> ranges = ir::filtered(
        w.result_ranges, [&](UOp r) { return !is_outer(r) && !space_.is_fixed(r) && !summed_in_order(w, r); });
    if (w.chains() > 1 && !space_.is_fixed(w.reduced_ranges.back()) && !is_outer(w.reduced_ranges.back()))
      ranges.push_back(w.reduced_ranges.back());
    auto rank = [&](UOp r) { return std::tuple(space_.contiguous_accesses(r) == 0, -analysis_.size(r), range_id(r)); };
    std::ranges::sort(ranges, [&](UOp a, UOp b) { return rank(a) < rank(b); });
    return ranges;
  }
  /// The fewest chains of the reductions along r; 0 if there is none with chains.
  int64_t chains_along(UOp r) const {
    int64_t chains = 0;
    for (const StatementAnalysis& w : analysis_.statements())
      if (w.chains() > 1 && w.reduced_ranges.back() == r)
        chains = chains ? std::min<int64_t>(chains, w.chains()) : w.chains();
    return chains;
  }
  /// Whether a reduction along a range, in one chain, reads w in its loop, itself or by way of others.
  bool summed_in_order(const StatementAnalysis& w, UOp range) const {
    return std::ranges::any_of(analysis_.statements(), [&](const StatementAnalysis& u) {
      if (!contains(u.sums, w.node)) return false;
      return (contains(u.reduced_ranges, range) && (u.chains() == 1 || !(u.reduced_ranges.back() == range))) ||
             (contains(u.result_ranges, range) && u.is_reduce() && summed_in_order(u, range));
    });
  }

  TuneSpace& space_;
  KernelAnalysis& analysis_;
  std::vector<Candidate>& out_;
  std::vector<UOp> outer_;
  std::vector<const StatementAnalysis*> order_;
  UOp lead_;             ///< the range with the most contiguous accesses
  bool chains_ = false;  ///< whether a reduction has chains
  bool reduces_ = false;
  Vectors vectors_ = Vectors::None;
  bool apart_ = false;   ///< whether no two ranges of a statement may get the same digits
  bool inner_ = false;   ///< whether threads can share an inner range
  bool scores_ = false;  ///< whether a reduction has results along an inner range, and another one has chains there
  int wide_ = 1;         ///< of `scores_`, by how much more copies they get than other results
  int64_t widest_ = 1;   ///< values of all ranges together, as far as threads go
  std::vector<RangeShare> shares_;
};

}  // namespace

void propose_shares(TuneSpace& space, std::vector<Candidate>& out) { ShareGenerator(space, out).run(); }

}  // namespace sinter::codegen
