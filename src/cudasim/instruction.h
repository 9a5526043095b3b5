// A decoded kernel: instructions, each executed for the 32 lanes of a warp by one call.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cudasim/ptx.h"

namespace sinter::runtime::cuda::sim {

constexpr int kLanes = 32;
constexpr uint32_t kAllLanes = 0xffffffffu;
constexpr int kMaxSources = 10;  ///< of mma.sync

struct Warp;
struct Instruction;

/// Executes an instruction on the lanes of `mask`, which is never empty. The warp's pc already points to the next
/// instruction.
using WarpFunction = void (*)(Warp&, const Instruction&, uint32_t mask);

/// A register in the warp's register file. The values of the 32 lanes start at byte `at`, `bytes` apart. A predicate
/// (bytes 0) is one word with a bit per lane. Constants and special registers are in the register file too.
struct RegisterSlot {
  uint32_t at = 0;
  uint8_t bytes = 0;
};

/// How unknown bits of the sources propagate to the results (poison.h).
enum class PoisonRule : uint8_t {
  Plain,        ///< any unknown bit makes the whole lane unknown
  Bits,         ///< each result bit depends on at most one bit of each source, except those in `full_dependence`
  Carries,      ///< all bits from the lowest unknown one up, as in sums and products
  Halves,       ///< from the first source the upper half, from the second the lower
  Load,         ///< from memory
  Store,        ///< to memory, from result[]
  Shuffle,      ///< between lanes
  AllLanes,     ///< from any lane to all lanes
  Tile,         ///< of a matrix product: a row of A to a row of results, a column of B to a column
  MustBeKnown,  ///< unknown bits are a fault: atomics, branch tables, barrier numbers
};

struct Instruction {
  WarpFunction run = nullptr;
  PoisonRule poison_rule = PoisonRule::Plain;
  RegisterSlot guard;       ///< a predicate
  uint32_t guard_flip = 0;  ///< xor-ed with its bits: all ones for @!p
  RegisterSlot result[4], source[kMaxSources];
  RegisterSlot pair;         ///< the predicate after `|`; at 0: none
  uint32_t source_flip = 0;  ///< the same for a negated source predicate
  uint32_t target = 0;       ///< of a branch; for brx, the branch table
  int64_t offset = 0;        ///< added to an address
  int64_t offset_from = 0;   ///< of a copy: added to the address that is read
  StateSpace space = StateSpace::Generic;
  uint8_t vector = 1;           ///< elements per lane
  uint8_t mode = 0;             ///< opcode-specific: rounding, kind of shuffle
  uint8_t width = 8;            ///< bytes read of a source whose register is wider
  bool noncoherent = false;     ///< a load by .nc: of what nothing writes in the launch
  bool block_scope = false;     ///< .cta or .cluster: orders nothing for other blocks
  uint8_t full_dependence = 0;  ///< a bit per source that all result bits depend on, such as a shift count
  uint32_t statement = 0;
};

/// A special register: a value that is in the register file before the first instruction of a block or thread.
enum class SpecialRegisterKind : uint8_t { Thread, Threads, Block, Blocks, Lane, Warp, Warps, LaneMask, Clock };
struct SpecialRegister {
  SpecialRegisterKind kind;
  int which = 0;  ///< axis, or for LaneMask: eq, le, lt, ge, gt
  RegisterSlot slot;
};

/// Placement of a variable in shared or local memory. Bytes outside of all variables are red zones.
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
  std::vector<uint8_t> registers;  ///< the initial register file: zeros and constants
  std::vector<VariableLayout> shared, local;
  uint64_t shared_bytes = 0, local_bytes = 0;   ///< extents with red zones, without dynamic shared memory
  uint64_t static_shared = 0;                   ///< requested by the program
  std::vector<uint64_t> param_at, param_bytes;  ///< per parameter, within the parameter block
  uint64_t params_bytes = 0;
  int64_t max_threads = 1024;
  bool has_fences = false;  ///< of the device's scope
};

}  // namespace sinter::runtime::cuda::sim
