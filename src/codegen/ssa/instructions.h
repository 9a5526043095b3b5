// A kernel as instructions: values that are made once, in blocks (the body, loops, ifs). What comes after spells it.
#pragma once

#include <string>
#include <vector>

#include "ir/attr.h"
#include "ir/op.h"
#include "sinter/dtype.h"

namespace sinter::codegen {

/// Names an instruction and the value it makes.
using Id = int;
inline constexpr Id kNone = -1;

struct Type {
  DType dtype = DType::Void;
  int lanes = 1;
  bool narrow = false;  ///< of Index: 32 bits hold it
  friend bool operator==(const Type&, const Type&) = default;
};

enum class InstCode : uint8_t {
  Begin,       ///< the first of the launch's points, Index
  End,         ///< the point behind the last, Index
  Thread,      ///< a digit of the thread's number in its block: number / imm % `number`, Index
  Const,       ///< `number`
  Var,         ///< vars[imm]
  Arg,         ///< the bits of Arg imm as its type
  Alu,         ///< `op` on src, lane by lane
  Splat,       ///< src in every lane
  Iota,        ///< 0, 1, 2, ... per lane
  Below,       ///< bool per lane: its number is below src[0]
  Pack,        ///< the lanes of all sources one behind the other; these have equally many
  Interleave,  ///< blocks of |imm| lanes from src[0] and src[1] in turn: the even ones of both, or, imm < 0, the odd
               ///< ones
  Transpose,   ///< all sources, one behind the other, are the rows of a matrix with imm columns: so many lanes of its
               ///< columns, one behind the other, as its part `number`
  Part,        ///< as many lanes as its type has, from lane imm on
  Load,   ///< element src[0] and its neighbours of slot imm. Further sources: [predicate, other], [count]: where the
          ///< predicate is false, other, of which the memory need not exist; the predicate may be one for each lane,
          ///< then without a count, but perhaps with how many elements further each lane is found instead of beside the
          ///< one before; with a count only that many lanes are read and the rest is 0
  Store,  ///< src[1] goes to element src[0] of slot imm and its neighbours; with src[2] only so many lanes. `number` !=
          ///< 0: its lanes lie so many elements apart, and all are stored
  Stream,            ///< as Store, of a whole vector at a multiple of its size, past the caches
  Fence,             ///< what Streams stored is seen before anything that is stored later
  Prefetch,          ///< element src[0] of slot imm may be asked for soon; it need not exist
  Raise,             ///< bit imm of the error word, where src[0], or a lane of it, is false
  Accumulator,       ///< a variable that begins as src[0]; imm > 1: an array of so many cells
  AccumulatorRead,   ///< what an accumulator holds now; with src[1] that cell
  AccumulatorWrite,  ///< src[1] into accumulator src[0]; with src[2] into that cell
  Shuffle,  ///< src[0] as lane src[1] of the thread's warp, modulo 32, holds it; every thread of the block runs it
  Barrier,  ///< the threads of the block wait for each other, and see what the others have stored
  Loop,     ///< block `block` for each value from src[0] below src[1] in steps of imm; the value is the loop's variable
  If        ///< block `block` where src[0]
};

struct Inst {
  InstCode code;
  Type type;
  std::vector<Id> src;
  ir::Op op = ir::Op::Const;
  ir::Scalar number = {};
  int64_t imm = 0;
  int block = -1;
  std::string note = {};  ///< for readers of the text: what a loop is
};

/// A buffer argument, or, after those, a tile.
struct MemorySlot {
  DType dtype = DType::Void;
  bool written = false;
  int64_t tile = 0;     ///< elements of a tile
  int64_t offset = -1;  ///< of a tile in the thread's or block's scratch memory, in bytes; -1: it lies on the stack, or
                        ///< in a GPU block's shared memory
};

struct Instructions {
  std::vector<Inst> insts;
  std::vector<std::vector<Id>> blocks;  ///< block 0 is the body
  std::vector<MemorySlot> slots;
  std::vector<DType> args;
  int vars = 0;
  int params = 0;       ///< slots below are buffers of the launch
  int64_t scratch = 0;  ///< bytes of the thread's scratch memory; of the block's, where it has several threads
  int threads = 1;      ///< that run one point together

  const Inst& operator[](Id id) const { return insts[static_cast<size_t>(id)]; }
  Inst& operator[](Id id) { return insts[static_cast<size_t>(id)]; }
};

/// Throws InternalError: a value used before or outside the block that makes it, types that do not fit, a block used
/// twice.
void verify(const Instructions& code);

/// One line per instruction.
std::string to_string(const Instructions& code);

}  // namespace sinter::codegen
