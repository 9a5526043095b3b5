// Deliberate faults: the fuzzers prove that they find what they should by switching one on and failing. What each does
// to the library's sources is in mutants.cmake.
#pragma once

#include <cstdint>

namespace fuzz {

enum class Mutant : uint8_t {
  None,
  // what tests/fuzz/state_fuzz.cpp must find
  InPlaceUnderKeptReader,  ///< in place although a kept node reads the old version
  InPlaceWithOtherOwner,   ///< in place although another node owns the storage
  NoReaderOrder,           ///< no order between readers and a store in place
  StorageWrittenTwice,     ///< one storage written by two stores of a plan
  HistoryLetGo,            ///< a stored node lets its sources go although it requires grad
  CommitCountedTwice,      ///< every reference that a step() ends is counted twice
  VersionsMerged,          ///< equal versions are one node
  GradInterned,            ///< nodes that require grad are interned
  PoisonOnlyCurrent,       ///< a failure poisons only the value being written
  BlindImprint,            ///< a walk over the same nodes is taken for the same program, whoever else holds them
  AnyNumberFits,           ///< a walk is taken for the same program whatever its numbers and axes
  AnySlotFits,             ///< a walk is taken for the same program whichever of its values share memory
  NarrowKey,               ///< the plan key holds only the outlives bits
  FirstDecidesOutlives,    ///< of equal nodes only the first decides what outlives
  ValueNotKept,            ///< a value that a gradient will compute again does not keep its sources
  CirclesNotCut,           ///< stores that wait for each other are not cut
  PositionsAreGiven,       ///< positions that were stored are not kept for what reads them
  NumbersAreGiven,         ///< nor are numbers
  MaxTieToFirst,           ///< maximum gives the whole gradient of a tie to its first operand, and operands are swapped
  SpareUnkept,             ///< what a lean plan leaves lazy does not keep what it is made of
  NotPutBack,              ///< what an interpreted plan wrote stays when there is no memory for the rest
  // what tests/fuzz/limit_fuzz.cpp must find
  NoSecondTry,  ///< where there is no memory for all that a plan stores, it is not tried with less
  SpareStored,  ///< a lean plan stores what nobody asked for
  // what tests/fuzz/sum_fuzz.cpp must find
  ChainUnbroken,  ///< a long sum of floats is one chain
  NoGroups,       ///< all blocks of a sum are joined in one chain
  GroupAsBlock,   ///< a point that reduces a group of blocks reduces it in one chain
  ScanUnbroken,   ///< a long scan is one chain
  OwnBlockTwice,  ///< the outermost prefixes of a scan in blocks include their own block
  // what tests/fuzz/mutant_fuzz.cpp must find; none of them leaves a kernel's buffers
  LostTail,            ///< the last element that no whole step covers
  ReaderEdgeDropped,   ///< a kernel that reads the old version need not run before the store in place
  InPlaceOverReads,    ///< in place although the same kernel reads other elements than it writes
  ArenaOverlap,        ///< a buffer may lie where one lies that is read last by the kernel which writes it
  StaleNumber,         ///< a lifted number keeps the value that it had when the plan was built
  WrongBuffers,        ///< a step that shares its body reads the buffers of the first step
  MaxFromZero,         ///< the identity of max
  MinFromZero,         ///< of min
  ProductFromZero,     ///< of a product
  SecondInitLost,      ///< an accumulator beside another one is not set
  CombineInOrder,      ///< in fused kernels the chains of a sum are added one by one
  FmaTooMany,          ///< x*y + z is contracted where one kernel has both
  SubSwapped,          ///< y - x
  PadOffByOne,         ///< the padded value lies one further
  WindowClose,         ///< the taps of a window lie side by side, whatever its step
  GateLost,            ///< a value made in the kernel is not zero in the padding
  FlipOffByOne,        ///< the mirrored axis begins one too far
  PermuteInverse,      ///< axes are sent to where they come from
  ReshapeExtent,       ///< a flat index is made with the extent of the neighbouring axis
  ArangeOffByOne,      ///< 1, 2, 3, ...
  NegativeIndex,       ///< a negative index does not count from the end
  ScatterAssigns,      ///< the last update stays
  ScatterModeLost,     ///< every update that is joined is added
  SortTurned,          ///< a sort that gives elements knows only one direction
  NanByBits,           ///< a NaN has its place in a sort by its bits
  NansFirst,           ///< a sort in vectors puts NaNs at the other end
  TriangleLost,        ///< a triangular solve takes the lower triangle and its diagonal
  DivisionTruncates,   ///< x / y as in C
  RemainderTruncates,  ///< x % y as in C
  UnsignedCompare,     ///< x < y on integers without their sign
  NanLost,             ///< the maximum of NaN and a number is the number
  CastToLowest,        ///< floats above every integer give the lowest one
  TruthTruncates,      ///< a float is true when its whole part is
  AnyCentre,           ///< squared distances from any share of the sum are those from the mean
  OtherMaximum,        ///< a maximum of other rows counts as that of the row
  MomentsOfOne,        ///< two parts are joined as if the second were one element
  ExpSumGrows,         ///< the smaller exponent's sum is scaled up, not down
  TieToLater,          ///< of equal elements in two chains the first chain's counts, not the earlier one
  LateUnmarked,        ///< what is made of a sum across outer ranges does not wait for all points
  BlocksTooLong,       ///< a point of such a range covers two blocks of the sum's tree
  LastBlockDropped,    ///< a last block that is short is no point
  PartMissing,         ///< the last part of such a sum is not added
  UpdatesDropped,      ///< the updates behind the last whole block of a scatter
  TablesFromZero,      ///< each block of a scatter begins with zeros, whatever joins the blocks
  MergeAcrossLevels,   ///< kernels become one although one must run before the other
  MergeKeepsRanges,    ///< a kernel that runs at another's ranges keeps its own
  StoreEdgeDropped,    ///< a kernel need not run before those that read what it stores
  DependentLaunch,     ///< kernels that wait for each other share a launch
  // what tests/fuzz/jit_fuzz.cpp must find
  KeptForever,     ///< what a jitted function keeps is not made again for another version
  KeptOfChanging,  ///< what an assigned tensor gives is kept
  KeptApart,       ///< steps that pass values to one another run again each for itself
  KeptRandom,      ///< what random numbers give is kept
  CallUndeclared,  ///< a call of LAPACK does not say what it writes
  NarrowAtStart,   ///< a part that begins where a tensor says begins at 0
  NarrowFromEnd,   ///< one that begins before 0 counts from the last element
  SizesUnproven,   ///< a program serves every value of a size, though it was built at one only
  NotApart,        ///< nodes of a jitted function are those of equal expressions elsewhere
  ReadsUnseen,     ///< a function that reads what is stored is not refused
  CallersFloats,   ///< a call computes as the program has set for its floats
};

/// The fault that is switched on. Written only while no other thread uses the library.
inline Mutant mutant = Mutant::None;

}  // namespace fuzz

/// In mutants.cmake: whether it is that one.
#define FAULT(name) (fuzz::mutant == fuzz::Mutant::name)
