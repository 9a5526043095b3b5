// A square of a load goes through shared memory: it is filled along the load's rows and read along the stores' rows.
#include <algorithm>

#include "codegen/kernel/access.h"
#include "codegen/tune/gpu/candidates.h"
#include "codegen/tune/heuristic/operand_analysis.h"

namespace sinter::codegen {

void propose_transposes(TuneSpace& space, std::vector<Candidate>& out) {
  KernelAnalysis& analysis = space.analysis;
  UOp row;  // along which stores are contiguous
  for (const StatementAnalysis& w : analysis.statements()) {
    if (w.is_reduce()) return;
    for (UOp r : w.result_ranges)
      if (analysis.stride(w.node, r) == 1) {
        if (row && !(row == r)) return;
        row = r;
      }
  }
  if (!row || !is_outer(row) || space.is_fixed(row)) return;
  struct Square {
    int side, rows, lanes;  ///< values of each range, rows that threads copy side by side, elements of an access
    int threads() const { return side / lanes; }  ///< along a row
  };
  for (const Square q :
       {Square{32, 8, 1}, Square{32, 4, 1}, Square{64, 4, 1}, Square{32, 16, 4}, Square{64, 16, 4}, Square{64, 8, 4}}) {
    std::vector<Opt> tiles;
    UOp column;
    for (const StatementAnalysis& w : analysis.statements())
      for (UOp load : w.accesses) {
        if (load->op != Op::Load || !analysis.depends(load, row) || analysis.stride(load, row) == 1) continue;
        for (UOp r : analysis.ranges())
          if (!(r == row) && analysis.stride(load, r) == 1 && is_outer(r) && !space.is_fixed(r)) {
            if (column && !(column == r)) return;
            column = r;
            const int number = node_index_of(space.kernel, load);
            if (number < 0 ||
                std::ranges::any_of(tiles, [&](const Opt& o) { return std::get<TileCopy>(o).value == number; }))
              continue;
            TileCopy copy{number, {{range_id(row), -1}, {range_id(r), -1}}};
            copy.dims[0].threads = q.rows;
            copy.dims[0].stride = q.threads();
            copy.dims[0].unroll = q.side / q.rows;
            copy.dims[1].lanes = q.lanes;
            copy.dims[1].threads = q.threads();
            copy.pad = static_cast<int>(std::max<int64_t>(1, 4 / static_cast<int64_t>(size_of(load->dtype))));
            tiles.emplace_back(copy);
          }
      }
    if (!column || tiles.empty()) return;
    out.push_back(make_candidate(
        "transpose", space,
        {RangeShare{row, q.lanes, 1, q.threads(), 1}, RangeShare{column, 1, q.side / q.rows, q.rows, q.threads()}},
        tiles));
  }
}

}  // namespace sinter::codegen
