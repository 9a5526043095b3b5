// The values of a kernel's nodes as instructions, in the loops that are open at the moment.
#pragma once

#include <unordered_map>
#include <utility>
#include <vector>

#include "codegen/emit.h"
#include "codegen/statement.h"
#include "rewrite/linear.h"

namespace sinter::codegen {

/// Which part of a value is asked for, when one of the open ranges is a vector.
inline constexpr int kWhole =
    -1;  ///< all lanes, if it differs between them; otherwise the scalar. Numbers from 0 name a lane.

class Values {
 public:
  Values(const Kernel& kernel, const Statements& statements, Ranges& ranges, Emitter& emit)
      : kernel_(kernel), statements_(statements), ranges_(ranges), emit_(emit) {}

  /// The range has the value `base`, or, with lanes > 1, base, base + 1, ...
  void bind(ir::UOp range, Id base, int lanes);
  void unbind(ir::UOp range);
  /// From now on the ranges stand at these offsets from their base: one register copy.
  void set_copy(std::vector<std::pair<ir::UOp, int>> copy) { copy_ = std::move(copy); }
  /// From now on memory is as `statement` sees it.
  void set_statement(const Statement& statement) { versions_ = &statement.versions; }

  Id value(ir::UOp n, int lane = kWhole);
  /// The result of a REDUCE for the present copy.
  void finish(ir::UOp reduce, Id result) { emit_.remember(key(reduce, kWhole), result); }
  /// Whether n differs between the lanes of the vector range, if one is open.
  bool varies(ir::UOp n) { return vector_ && ranges_.depends(n, vector_); }
  int lanes() const { return lanes_; }

  /// An access whose lanes lie side by side (stride 1), at one place (0), at a fixed distance, or anywhere.
  struct Place {
    bool regular = true;
    int64_t stride = 0;
  };
  Place place(ir::UOp access);
  /// The offset of the element that a lane accesses.
  Id address(ir::UOp access, int lane);
  /// Of the present copy and what n depends on: distinguishes register copies.
  uint64_t copies(ir::UOp n);

 private:
  struct Open {
    ir::UOp range;
    Id base;
    int lanes;
  };
  MemoKey key(ir::UOp n, int lane);
  uint64_t versions(ir::UOp n);
  Id use(ir::UOp n, int lane);
  Id make(ir::UOp n, int lane);
  Id make_range(ir::UOp n, int lane);
  Id make_load(ir::UOp n, int lane);
  Id make_check(ir::UOp n, int lane);
  Id make_alu(ir::UOp n, int lane);
  Id pack(ir::UOp n);
  bool use_address(ir::UOp access, int lane);
  const ir::Linear& offset_of(ir::UOp access);
  Type type_of(ir::UOp n, int lane) { return {n->dtype, lane == kWhole && varies(n) ? lanes_ : 1}; }

  const Kernel& kernel_;
  const Statements& statements_;
  Ranges& ranges_;
  Emitter& emit_;
  std::vector<Open> open_;
  ir::UOp vector_;
  int lanes_ = 1;
  std::vector<std::pair<ir::UOp, int>> copy_;
  const std::vector<int>* versions_ = nullptr;
  std::vector<std::pair<ir::UOp, int>> missing_;
  std::unordered_map<ir::Node*, ir::Linear> offsets_;
  std::unordered_map<ir::Node*, uint64_t> rewritten_;
};

}  // namespace sinter::codegen
