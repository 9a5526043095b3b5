// What a kernel is once it is decoded: instructions that each run on the 32 lanes of a warp by one call.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cudasim/ptx.h"

namespace sinter::runtime::cuda::sim {

constexpr int kLanes = 32;
constexpr uint32_t kAllLanes = 0xffffffffu;

struct Warp;
struct Instruction;

/// Runs an instruction on the lanes of `mask`, which is never empty. The warp's pc already names the next instruction.
using WarpFunction = void (*)(Warp&, const Instruction&, uint32_t mask);

/// A register in the warp's register file: `at` bytes from its start lie the values of the 32 lanes, `bytes` apart. A
/// predicate (bytes 0) is one word with a bit per lane. Constants and special registers lie there too.
struct RegisterSlot {
  uint32_t at = 0;
  uint8_t bytes = 0;
};

/// How bits that are not known in the sources reach the results (poison.h).
enum class PoisonRule : uint8_t {
  Plain,        ///< any of them all bits, lane by lane
  Bits,         ///< each bit of the results depends on one bit at most of each source, which `steers` excepts
  Carries,      ///< those from the lowest one on, as in sums and products
  Halves,       ///< of the first source the upper half, of the second one the lower half
  Load,         ///< from memory
  Store,        ///< to memory, of result[]
  Shuffle,      ///< between lanes
  AllLanes,     ///< each lane's to all lanes
  MustBeKnown,  ///< it must not: atomics, tables of branches, numbers of barriers
};

struct Instruction {
  WarpFunction run = nullptr;
  PoisonRule poison_rule = PoisonRule::Plain;
  RegisterSlot guard;       ///< a predicate
  uint32_t guard_flip = 0;  ///< exclusive-or of its bits: all ones for @!p
  RegisterSlot result[4], source[4];
  RegisterSlot pair;         ///< the predicate behind `|`; at 0: none
  uint32_t source_flip = 0;  ///< for a negated predicate among the sources
  uint32_t target = 0;       ///< of a branch; the branch table of brx
  int64_t offset = 0;        ///< added to an address
  StateSpace space = StateSpace::Generic;
  uint8_t vector = 1;  ///< elements per lane
  uint8_t mode = 0;    ///< of an opcode's own: rounding, kind of shuffle
  uint8_t width = 8;   ///< bytes that are read of a source whose register is wider
  uint8_t steers = 0;  ///< a bit per source on which all bits of the result depend: how far to shift
  uint32_t statement = 0;
};

/// A value that a block or thread finds in its register file before the first instruction.
enum class SpecialRegisterKind : uint8_t { Thread, Threads, Block, Blocks, Lane, Warp, Warps, LaneMask, Clock };
struct SpecialRegister {
  SpecialRegisterKind kind;
  int which = 0;  ///< axis, or for LaneMask: eq, le, lt, ge, gt
  RegisterSlot slot;
};

/// A variable of shared or local memory at its place; what no variable covers is a red zone.
struct VariableLayout {
  std::string name;
  uint64_t at = 0, bytes = 0, padding = 0;
  bool dynamic = false;
};

struct SimKernel {
  std::string name;
  std::vector<Instruction> code;
  std::vector<PtxStatement> statements;  ///< for messages
  std::vector<std::string> files;
  std::vector<std::vector<uint32_t>> tables;
  std::vector<SpecialRegister> specials;
  std::vector<uint8_t> registers;  ///< the file as a warp finds it: zeros and constants
  std::vector<VariableLayout> shared, local;
  uint64_t shared_bytes = 0, local_bytes = 0;   ///< extents with red zones, dynamic shared memory left out
  uint64_t static_shared = 0;                   ///< what the program asked for
  std::vector<uint64_t> param_at, param_bytes;  ///< of each parameter in the block of parameters
  uint64_t params_bytes = 0;
  int64_t max_threads = 1024;
};

}  // namespace sinter::runtime::cuda::sim
