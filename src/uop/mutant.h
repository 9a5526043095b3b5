// Deliberate faults: the fuzzers prove that they find what they should by switching one on and failing (DESIGN section 6).
#pragma once

#include <cstdint>

namespace sinter::ir {

enum class Mutant : uint8_t {
  None,
  // what tests/fuzz/state_fuzz.cpp must find
  InPlaceUnderKeptReader,   ///< in place although a kept node reads the old version
  InPlaceWithOtherOwner,    ///< in place although another node owns the storage
  NoReaderOrder,            ///< no order between readers and a store in place
  StorageWrittenTwice,      ///< one storage written by two stores of a plan
  HistoryLetGo,             ///< a stored node lets its sources go although it requires grad
  CommitCountedTwice,       ///< every reference that a step() ends is counted twice
  VersionsMerged,           ///< equal versions are one node
  GradInterned,             ///< nodes that require grad are interned
  PoisonOnlyCurrent,        ///< a failure poisons only the value being written
  NarrowKey,                ///< the plan key holds only the outlives bits
  FirstDecidesOutlives,     ///< of equal nodes only the first decides what outlives
  ValueNotKept,             ///< a value that a gradient will compute again does not keep its sources
  CirclesNotCut,            ///< stores that wait for each other are not cut
  MaxTieToFirst,            ///< maximum gives the whole gradient of a tie to its first operand, and operands are swapped
};

/// The fault that is switched on; None outside of tests. Written only while no other thread uses the library.
inline Mutant mutant = Mutant::None;
inline bool is_mutant(Mutant m) { return mutant == m; }

}  // namespace sinter::ir
