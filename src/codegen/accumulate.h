// The accumulators of REDUCEs: as many as its Tree has chains, in vectors, register copies or an array.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "codegen/values.h"

namespace sinter::codegen {

/// The op of a combine; on bool a sum is an or, a product an and.
ir::Op op_of(ir::Combine combine, DType dtype);

class Accumulators {
 public:
  Accumulators(const Statements& statements, Values& values, Emitter& emit)
      : statements_(statements), values_(values), emit_(emit) {}

  // Each for the present register copy. A carried REDUCE begins with what lies in its home, and leaves it there.
  void init(int statement);
  /// One element per chain that the present step has: those that exist.
  void update(int statement);
  /// Combines the chains and makes the result known.
  void finish(int statement);

 private:
  /// Chain c is lane c % width of the vector c / width; or, in an array, cell c.
  struct Chains {
    int count = 1;  ///< all of them
    int width = 1;  ///< of them in one vector along the REDUCE's own range
    bool cells = false;
  };
  Chains chains(const Statement& s) const;
  std::vector<Id>& registers(int statement);
  Id identity(int statement) const;
  Id first_turn(const Statement& s);
  Id combined(const ir::ReduceAttr& attr, Type type, Id sum, const std::vector<Id>& values);
  void assign(Id accumulator, const ir::ReduceAttr& attr, const std::vector<Id>& values, Id exists);
  void update_lanes(const Statement& s, const Chains& c, std::vector<Id>& registers, const std::vector<Id>& values);

  const Statement& at(int i) const { return statements_.list[static_cast<size_t>(i)]; }

  const Statements& statements_;
  Values& values_;
  Emitter& emit_;
  std::map<std::pair<int, uint64_t>, std::vector<Id>> registers_;
};

}  // namespace sinter::codegen
