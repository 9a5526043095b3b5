// Emits instructions into open blocks. Each value goes to the outermost block in which its sources are available, so
// loop-invariant values are hoisted. Equal values are emitted once.
#pragma once

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "codegen/ssa/instructions.h"
#include "codegen/ssa/integer_bounds.h"

namespace sinter::codegen {

/// Memo key of a value: a node at one lane, unrolled copy and memory version.
struct MemoKey {
  const void* node = nullptr;
  int lane = 0;
  uint64_t copies = 0;
  uint64_t versions = 0;
  friend bool operator==(const MemoKey&, const MemoKey&) = default;
};

/// Whether compilers may unroll a loop.
enum class LoopText : uint8_t { Any, Rolled };

class BlockWriter {
 public:
  /// Starts with the body of `code` open.
  explicit BlockWriter(Instructions& code);

  /// A pure value or a Raise; hoisted and shared. Folds arithmetic on integer constants, and comparisons of indices
  /// that their bounds decide.
  Id value(Inst inst);
  /// Appends to the innermost block. For effects, and for values that must not move before an effect.
  Id insert_here(Inst inst);

  /// Opens a loop and returns its variable. Instructions go into it until close().
  Id open_loop(Id begin, Id end, int64_t step, std::string note, LoopText text = LoopText::Any);
  /// Opens an if. Values first made inside stay inside, except constants, and index arithmetic that is hoisted out of a
  /// loop. If the condition is known true, opens a memo scope only. If it is known false, close() drops the body.
  void open_if(Id condition);
  /// Opens a memo scope without a block: close() drops what was remembered since.
  void open_memo_scope();
  void close();

  /// Adds a tile slot with 0 elements.
  int add_tile(DType dtype) {
    code_.slots.push_back({dtype, true, 0});
    return static_cast<int>(code_.slots.size()) - 1;
  }
  void enlarge(int tile, int64_t elements) {
    int64_t& size = code_.slots[tile].tile;
    size = std::max(size, elements);
  }

  /// The innermost open block or memo scope.
  size_t scope() const { return scopes_.size() - 1; }
  /// Remembers `id` under `key` in the scope that defines `id`, but no further out than scope `from`.
  void remember(const MemoKey& key, Id id, size_t from);
  /// The innermost block defines `id` from now on, not a memo scope inside it.
  void move_to_block(Id id);
  Id find(const MemoKey& key) const;  ///< kNone if no open scope knows it
  /// Whether a loop other than the task loop is open.
  bool in_loop() const;
  /// The scope in which `id` is defined; 0: the body.
  int depth(Id id) const { return depth_[id]; }

  // Index arithmetic, and shorthands.
  Id number(int64_t v);
  Id constant(DType dtype, ir::Scalar v);
  Id alu(Op op, Type type, std::vector<Id> src);
  Id index(Op op, Id a, Id b) { return alu(op, {DType::Index, 1}, {a, b}); }
  /// IDiv or Mod of a non-negative number by a positive one, as an unsigned division: there C's truncation is floor.
  Id divide_unsigned(Op op, Id a, Id b);
  Id splat(Id scalar, int lanes);
  Id zero(DType dtype, int lanes = 1) { return splat(constant(dtype, ir::Scalar::of(dtype, 0)), lanes); }
  Id truth(bool v) { return constant(DType::Bool, ir::Scalar::of(DType::Bool, v)); }
  Id part(Id vector, int from, int lanes);
  Id lane(Id vector, int lane) { return part(vector, lane, 1); }
  /// The lanes of a vector joined by an op: its halves, then the halves of what they give. A power of two of them.
  Id join_lanes(Op op, Id vector);
  /// InstCode::Interleave of blocks of `block` lanes, the even or the odd ones.
  Id interleave(Id a, Id b, int block, bool odd) {
    return value({InstCode::Interleave, type(a), {a, b}, odd ? -block : block});
  }
  Id iota(int lanes) { return value({InstCode::Iota, {DType::Index, lanes}, {}}); }
  /// Bool per lane: lane number < count.
  Id below(Id count, int lanes) { return value({InstCode::Below, {DType::Bool, lanes}, {count}}); }
  /// Conjunction of two scalar conditions; kNone means true.
  Id both(Id a, Id b) {
    if (a == kNone || always(a)) return b == kNone || always(b) ? kNone : b;
    return b == kNone || always(b) ? a : alu(Op::And, {DType::Bool, 1}, {a, b});
  }
  /// Whether a condition, or a splat of one, is known true; known false.
  bool always(Id condition) const { return is_known(condition, true); }
  bool never(Id condition) const { return is_known(condition, false); }
  /// Sets `v` if the Index instruction is a constant.
  bool known(Id id, int64_t& v) const;
  bool is_number(Id id, int64_t wanted) const {
    int64_t v = 0;
    return known(id, v) && v == wanted;
  }
  Type type(Id id) const { return code_[id].type; }
  const Inst& operator[](Id id) const { return code_[id]; }

 private:
  struct InstHash {
    size_t operator()(const Inst& n) const;
  };
  struct InstEqual {
    bool operator()(const Inst& a, const Inst& b) const;
  };
  struct KeyHash {
    size_t operator()(const MemoKey& k) const;
  };
  struct Scope {
    int block;
    Id owner;
    bool barrier;
    std::unordered_map<Inst, Id, InstHash, InstEqual> made = {};
    std::unordered_map<MemoKey, Id, KeyHash> memo = {};
  };
  Id add(Inst&& inst, size_t scope);
  Id evaluate(const Inst& inst);
  Id fold(const Inst& inst);
  Id fold_condition(const Inst& inst);
  Id fold_lane_comparison(const Inst& inst);
  struct LaneStride {
    Id first = kNone;
    int step = 0;
  };
  LaneStride lane_stride(Id id);
  bool is_known(Id condition, bool wanted) const {
    const Inst& n = code_[condition];
    if (n.code == InstCode::Splat) return is_known(n.src[0], wanted);
    return n.code == InstCode::Const && is_bool(n.type.dtype) && (n.number.as_int() != 0) == wanted;
  }
  void open(Id owner, bool barrier);
  Id append(Inst&& inst, size_t scope);
  size_t outermost_legal_scope(const Inst& inst, size_t scope) const;
  bool is_inner_loop(const Scope& s) const;  ///< a loop other than the task loop

  Instructions& code_;
  std::vector<Scope> scopes_;
  std::vector<int> depth_;
  std::vector<IntegerBounds> bounds_;
};

}  // namespace sinter::codegen
