// The SSA form of a kernel: instructions in nested blocks (body, loops, ifs). Renderers turn it into text.
#pragma once

#include <string>
#include <vector>

#include "ir/attr.h"
#include "ir/op.h"
#include "sinter/dtype.h"

namespace sinter::codegen {

using ir::Op;

/// Names an instruction and its value.
using Id = int;
inline constexpr Id kNone = -1;

struct Type {
  DType dtype = DType::Void;
  int lanes = 1;
  bool narrow = false;  ///< Index in 32 bits
  friend bool operator==(const Type&, const Type&) = default;
};

enum class InstCode : uint8_t {
  Begin,       ///< the first task, Index
  End,         ///< one past the last task, Index
  Thread,      ///< digit of the thread's number t in its block: t / imm % `number`, Index
  Const,       ///< `number`
  Var,         ///< vars[imm]
  Arg,         ///< the bits of Arg imm as its type
  Alu,         ///< `op` on src, lane by lane. imm != 0: of -0 and 0, a Max or Min may give either
  Splat,       ///< src in every lane
  Iota,        ///< 0, 1, 2, ... per lane
  Below,       ///< bool per lane: lane number < src[0]
  Pack,        ///< concatenates the lanes of its sources, which are all of one type
  Interleave,  ///< cuts both sources into blocks of |imm| lanes and alternates the even blocks of src[0] and src[1];
               ///< imm < 0: the odd blocks
  Transpose,   ///< the concatenated sources are a row-major matrix of imm columns; the result is vector `number` of its
               ///< transpose
  Part,        ///< as many lanes as its type has, from lane imm on
  Load,        ///< loads from element src[0] of slot imm on. Optional sources: [predicate, other], [count]. Where the
         ///< predicate is false the result is other and memory is not accessed. A predicate per lane excludes a count,
         ///< but may be followed by a vector of offsets from src[0] per lane (a gather). With a count only that many
         ///< lanes are read; the rest are 0
  Store,     ///< stores src[1] from element src[0] of slot imm on; with src[2] only that many lanes. `number` != 0: a
             ///< scatter of all lanes with that stride in elements
  Stream,    ///< a Store of a whole aligned vector that bypasses the caches
  Fence,     ///< orders Streams before all later stores
  Prefetch,  ///< prefetches element src[0] of slot imm; the address need not be valid
  Raise,     ///< sets bit imm of the error word if src[0], or a lane of it, is false
  Accumulator,       ///< a variable initialized to src[0]; imm > 1: an array of imm cells
  AccumulatorRead,   ///< the value of accumulator src[0]; with src[1], of that cell
  AccumulatorWrite,  ///< src[1] to accumulator src[0]; with src[2] to that cell
  Shuffle,           ///< src[0] as held by lane src[1] modulo 32 of the warp; executed by every thread of the block
  Mma,  ///< a warp's tile of a tensor core: 4 sums src[0], plus the product of the fragments src[1] and src[2], whose
        ///< elements are of DType imm and DType `number`; executed by every thread of the block
  MmaStep,       ///< the sum src[0] plus the products of the lanes of src[1] and src[2], in one step of a tensor core
  LoadMatrices,  ///< a word of each matrix of 8 rows of 16 bytes in slot imm. Lane l of the warp gives the address of
                 ///< row l % 8 of matrix l / 8 as src[0]. `number`: transposed. Executed by every thread
  CopyAsync,     ///< begins to copy the vector of its type at element src[1] of slot `number` to element src[0] of
                 ///< slot imm; zeros if src[2] is there and false
  CommitCopies,  ///< the copies since the last one are a group
  WaitCopies,    ///< waits until at most the imm last groups of this thread are under way
  Barrier,       ///< synchronizes the threads of the block and makes their stores visible to each other
  Loop,  ///< runs `block` for each value from src[0] below src[1] in steps of imm; its value is the loop variable.
         ///< `number` != 0: compilers are asked not to unroll it
  If     ///< runs `block` if src[0]
};

struct Inst {
  InstCode code;
  Type type;
  std::vector<Id> src;
  int64_t imm = 0;
  ir::Scalar number = {};
  Op op = Op::Const;
  int block = -1;
  std::string note = {};  ///< comment on a loop in the rendered text
};

/// A buffer argument, or a tile. Tiles come after the buffers.
struct MemorySlot {
  DType dtype = DType::Void;
  bool written = false;
  int64_t tile = 0;     ///< elements of a tile
  int64_t offset = -1;  ///< byte offset of a tile in scratch memory; -1: on the stack, or in a GPU block's shared
                        ///< memory
};

struct Instructions {
  std::vector<Inst> insts;
  std::vector<std::vector<Id>> blocks;  ///< block 0 is the body
  std::vector<MemorySlot> slots;
  std::vector<DType> args;
  int vars = 0;
  int params = 0;           ///< slots 0 .. params-1 are buffers of the launch
  int64_t scratch = 0;      ///< bytes of scratch memory per thread (CPU) or block (GPU)
  int threads = 1;          ///< threads per block
  int occupancy = 0;        ///< blocks that must fit a multiprocessor at once; 0: as it comes
  bool last_block = false;  ///< an epilogue that the last block of its main kernel runs

  const Inst& operator[](Id id) const { return insts[id]; }
  Inst& operator[](Id id) { return insts[id]; }
};

/// Throws InternalError if a use is not dominated by its definition, if types do not match, or if a block is used
/// twice.
void verify(const Instructions& code);

/// One line per instruction.
std::string to_string(const Instructions& code);

}  // namespace sinter::codegen
