// The loops of a packed product, outermost first: blocks of what it sums, rows, columns, then the sum itself. The panel of one block
// lies in half of the second cache while the rows pass; its columns lie together as one step of the tile reads them.
#include "codegen/blocking.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "codegen/schedule.h"
#include "uop/walk.h"

namespace sinter::codegen {
namespace {

using ir::Op;
using ir::UOp;

constexpr int64_t kReuse = 48;         ///< results that share an element from which copying it pays
constexpr int64_t kDeep = 512;         ///< summed values in one block, about
constexpr int64_t kUncut = 768;        ///< summed values that are no two blocks yet
constexpr int64_t kDeepStrided = 128;  ///< the same where the other operand takes a new page for each of them
constexpr int64_t kPage = 4096;        ///< bytes
constexpr int64_t kMostRows = 1024;    ///< of a point
constexpr int64_t kFewRows = 96;       ///< of a point, below which its share of copying shows
constexpr int64_t kMostColumns = 512;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t round_up(int64_t n, int64_t to) { return ceil_div(n, to) * to; }

/// How many results of a product share an element of `operand`.
int64_t reuse(View& view, const Work& product, UOp operand) {
  int64_t times = 1;
  for (UOp r : product.outs)
    if (!view.depends(operand, r)) times *= view.size(r);
  return times;
}

/// Whether a value is what a Stage may hold: without sums and checks.
bool plain(UOp value) {
  const std::vector<UOp> below = ir::topological(value);
  return std::none_of(below.begin(), below.end(), [](UOp n) { return combines(n) || n->op == Op::Check; });
}

class Blocker {
 public:
  Blocker(const Kernel& kernel, View& view, const Work& w, const RegisterTile& tile, int lanes, const runtime::Target& target)
      : view_(view), w_(w), tile_(tile), lanes_(lanes), target_(target), nodes_(ir::topological(kernel.sink)) {}

  std::vector<Opt> run() {
    if (!tile_.lanes || w_.chains() > 1 || !is_outer(tile_.lanes) || !tile_.first || !is_outer(tile_.first)) return {};
    panel_ = find_panel();
    if (!panel_ || number_of(panel_) < 0) return {};
    choose_depth();
    choose_columns();
    choose_rows();
    if (split_) opts_.push_back(Split{range_id(split_), depth_});
    opts_.push_back(Block{range_id(tile_.first), rows_});
    opts_.push_back(Block{range_id(tile_.lanes), columns_});
    opts_.push_back(order());
    opts_.push_back(stage());
    return opts_;
  }

 private:
  int64_t width() const { return int64_t{1} * lanes_ * (tile_.second == tile_.lanes ? tile_.columns : 1); }
  int number_of(UOp value) const {
    const auto it = std::find(nodes_.begin(), nodes_.end(), value);
    return it == nodes_.end() ? -1 : static_cast<int>(it - nodes_.begin());
  }
  /// Most that an operand moves in memory, in bytes, when what is summed goes on by one.
  int64_t step_bytes(UOp operand) {
    int64_t most = 0;
    for (UOp n : ir::topological(operand))
      if (n->op == Op::Load)
        for (UOp r : w_.own)
          if (const int64_t stride = view_.stride(n, r); stride != View::kScattered)
            most = std::max(most, std::abs(stride) * static_cast<int64_t>(size_of(n->dtype)));
    return most;
  }

  /// The operand along the lanes, if it is worth a tile.
  UOp find_panel() {
    for (UOp value : values_of(w_.node)) {
      if (!view_.depends(value, tile_.lanes) || view_.depends(value, tile_.first) || !plain(value)) continue;
      if (reuse(view_, w_, value) < kReuse) return {};
      int64_t elements = 1, stored = 0;
      for (UOp r : view_.ranges())
        if (view_.depends(value, r)) elements *= view_.size(r);
      bool far = false, strided = false;
      double operations = 0;
      for (UOp n : ir::topological(value)) {
        operations += operations_of(n);
        if (n->op != Op::Load) continue;
        stored += n->src[0]->shape.bound();
        strided |= view_.depends(n, tile_.lanes) && view_.stride(n, tile_.lanes) != 1;
        far |= step_bytes(n) >= kPage;
      }
      if (elements > 2 * stored) return {};  // a tile of windows would hold each element several times
      const int64_t bytes = elements * static_cast<int64_t>(size_of(value->dtype));
      return strided || operations > 0 || (far && bytes > target_.l2) ? value : UOp();
    }
    return {};
  }

  /// Which of the summed ranges is cut, and where: those inside stay whole, those outside are carried over.
  void choose_depth() {
    bool far = false;
    for (UOp value : values_of(w_.node))
      if (!(value == panel_)) far |= step_bytes(value) >= kPage;
    const int64_t wanted = far ? kDeepStrided : kDeep;
    int64_t inside = 1;
    for (size_t i = w_.own.size(); i-- > 0;) {
      const int64_t size = view_.size(w_.own[i]);
      if (inside * size > (far ? 2 * kDeepStrided : kUncut)) {
        const int64_t blocks = ceil_div(inside * size, wanted), step = round_up(ceil_div(size, blocks), 16);
        if (step >= size) break;
        split_ = w_.own[i];
        depth_ = step;
        deep_ = inside * step;
        return;
      }
      inside *= size;
    }
    deep_ = inside;
  }

  void choose_columns() {
    const int64_t size = view_.size(tile_.lanes), step = width();
    const int64_t room = target_.l2 / 2 / (deep_ * static_cast<int64_t>(size_of(panel_->dtype)));
    columns_ = std::clamp(std::min(room, kMostColumns) / step * step, step, round_up(size, step));
    columns_ = round_up(ceil_div(size, ceil_div(size, columns_)), step);
  }

  /// As many blocks as share the threads evenly, if they can have some rows each.
  void choose_rows() {
    const int64_t size = view_.size(tile_.first);
    int64_t others = ceil_div(view_.size(tile_.lanes), columns_);
    for (UOp r : w_.outs)
      if (is_outer(r) && !(r == tile_.first) && !(r == tile_.lanes)) others *= view_.size(r);
    int64_t blocks = ceil_div(size, kMostRows);
    while ((blocks * others) % target_.threads && ceil_div(size, blocks + 1) >= kFewRows) ++blocks;
    rows_ = round_up(ceil_div(size, blocks), tile_.rows);
  }

  Opt order() const {
    Order order;
    for (UOp r : w_.own) {
      order.loops.push_back({range_id(r), 0});
      if (r == split_) break;
    }
    if (!split_) order.loops.clear();
    order.loops.push_back({range_id(tile_.first), 0});
    order.loops.push_back({range_id(tile_.lanes), 0});
    bool inside = !split_;
    for (UOp r : w_.own) {
      if (r == split_) inside = true;
      if (inside) order.loops.push_back({range_id(r), r == split_ ? 1 : 0});
    }
    return order;
  }

  /// Memory in the order in which the sum goes through it: for each of its values a panel's columns.
  Opt stage() {
    Stage stage{number_of(panel_), {}, static_cast<int>(width())};
    int64_t contiguous = -1;  // the range along which the operand lies side by side, if not the lanes'
    for (UOp n : ir::topological(panel_))
      if (n->op == Op::Load && view_.stride(n, tile_.lanes) != 1)
        for (UOp r : w_.own)
          if (view_.stride(n, r) == 1) contiguous = range_id(r);
    bool carried = split_ != UOp();
    for (UOp r : w_.own) {
      if (!view_.depends(panel_, r)) continue;
      Stage::Dim dim{range_id(r), carried && r == split_ ? 0 : -1};
      if (range_id(r) == contiguous && (dim.level < 0 || depth_ % lanes_ == 0)) dim.unroll = lanes_;  // transposed in registers
      stage.dims.push_back(dim);
    }
    Stage::Dim last{range_id(tile_.lanes), -1, lanes_};
    if (contiguous < 0) last.unroll = static_cast<int>(width()) / lanes_;
    stage.dims.push_back(last);
    return stage;
  }

  View& view_;
  const Work& w_;
  const RegisterTile& tile_;
  const int lanes_;
  const runtime::Target& target_;
  const std::vector<UOp> nodes_;
  UOp panel_, split_;
  int64_t depth_ = 0;  ///< values of split_ in a block
  int64_t deep_ = 1;   ///< summed values in a block
  int64_t columns_ = 0, rows_ = 0;
  std::vector<Opt> opts_;
};

}  // namespace

bool worth_packing(View& view, const Work& product, UOp load, UOp lanes) {
  return view.stride(load, lanes) != 1 && reuse(view, product, load) >= kReuse;
}

std::vector<Opt> block_product(const Kernel& kernel, View& view, const Work& product, const RegisterTile& tile, int lanes,
                               const runtime::Target& target) {
  return Blocker(kernel, view, product, tile, lanes, target).run();
}

}  // namespace sinter::codegen
