// Walks the blocks and maps each value to the scalars of its lanes.
#include "codegen/gpu/gpu_passes.h"
#include "codegen/gpu/index_alignment.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "sinter/error.h"

namespace sinter::codegen {
namespace {

constexpr int64_t kLeastCopy = 4;  ///< bytes of an asynchronous copy

class Scalarizer {
 public:
  explicit Scalarizer(const Instructions& code) : code_(code), alignment_(code), lanes_(code.insts.size()), out_(code) {
    out_.insts.clear();
    out_.blocks.clear();
  }

  Instructions run() {
    block(0);
    return std::move(out_);
  }

 private:
  using LaneIds = std::vector<Id>;

  Id add(Inst inst) {
    out_.insts.push_back(std::move(inst));
    const Id id = static_cast<Id>(out_.insts.size()) - 1;
    out_.blocks[open_].push_back(id);
    return id;
  }
  int block(int b) {
    const size_t before = std::exchange(open_, out_.blocks.size());
    const int made = static_cast<int>(open_);
    out_.blocks.emplace_back();
    for (Id id : code_.blocks[b]) instruction(id);
    open_ = before;
    return made;
  }
  const LaneIds& of(Id id) const { return lanes_[id]; }
  /// A lane of a source; a splat has one scalar for all lanes.
  Id lane(Id id, size_t l) const { return of(id).size() == 1 ? of(id)[0] : of(id)[l]; }

  Id index(int64_t v) { return add({InstCode::Const, {DType::Index, 1}, {}, 0, ir::Scalar::of(DType::Index, v)}); }
  Id alu(Op op, DType type, std::vector<Id> src) {
    return add({.code = InstCode::Alu, .type = {type, 1}, .src = std::move(src), .op = op});
  }
  Id address_plus(Id address, int64_t by) { return by ? alu(Op::Add, DType::Index, {address, index(by)}) : address; }
  Id exists(Id count, int64_t lane) { return alu(Op::Lt, DType::Bool, {index(lane), count}); }

  /// Elements per access.
  int64_t width(const Inst& n, Type type) {
    const auto bytes = static_cast<int64_t>(size_of(type.dtype));
    return std::min({int64_t{type.lanes}, kAccessBytes / bytes, alignment_.of(n.src[0])});
  }

  void instruction(Id id) {
    const Inst& n = code_[id];
    LaneIds& out = lanes_[id];
    const auto count = static_cast<size_t>(n.type.lanes);
    switch (n.code) {
      case InstCode::Splat: out = of(n.src[0]); return;
      case InstCode::Pack:
        for (Id s : n.src)
          for (int l = 0; l < code_[s].type.lanes; ++l) out.push_back(lane(s, static_cast<size_t>(l)));
        return;
      case InstCode::Interleave: {
        const size_t block = static_cast<size_t>(std::abs(n.imm)), odd = n.imm < 0 ? block : 0;
        for (size_t l = 0; l < count; ++l) out.push_back(lane(n.src[l / block % 2], l / block % 2 * -block + l + odd));
        return;
      }
      case InstCode::Transpose: {
        const auto columns = static_cast<size_t>(n.imm), rows = n.src.size() * count / columns;
        for (size_t l = 0; l < count; ++l) {
          const size_t i = static_cast<size_t>(n.number.as_int()) * count + l, from = i % rows * columns + i / rows;
          out.push_back(lane(n.src[from / count], from % count));
        }
        return;
      }
      case InstCode::Part:
        for (size_t l = 0; l < count; ++l) out.push_back(lane(n.src[0], static_cast<size_t>(n.imm) + l));
        return;
      case InstCode::Iota:
        for (size_t l = 0; l < count; ++l) out.push_back(index(static_cast<int64_t>(l)));
        return;
      case InstCode::Below:
        for (size_t l = 0; l < count; ++l) out.push_back(exists(of(n.src[0])[0], static_cast<int64_t>(l)));
        return;
      case InstCode::Load: return load(n, out);
      case InstCode::Mma:
      case InstCode::MmaStep:
      case InstCode::LoadMatrices: return whole(n, out);
      case InstCode::CopyAsync: return copy(n);
      case InstCode::CommitCopies:
      case InstCode::WaitCopies: add(n); return;
      case InstCode::Stream:
      case InstCode::Store: return store(n);
      case InstCode::Loop:
      case InstCode::If: return nest(n, out);
      default: break;
    }
    for (size_t l = 0; l < count; ++l) {
      Inst one = n;
      one.type.lanes = 1;
      for (size_t s = 0; s < n.src.size(); ++s) one.src[s] = lane(n.src[s], l);
      out.push_back(add(std::move(one)));
    }
    if (n.code != InstCode::AccumulatorWrite) return;
    // An AccumulatorWrite has no type of its own: one write per lane of the accumulator.
    for (size_t l = 1; l < of(n.src[0]).size(); ++l) {
      Inst one = n;
      for (size_t s = 0; s < n.src.size(); ++s) one.src[s] = lane(n.src[s], l);
      add(std::move(one));
    }
  }

  void nest(const Inst& n, LaneIds& out) {
    Inst made = n;
    for (Id& s : made.src) s = of(s)[0];
    out_.insts.push_back(std::move(made));
    const Id at = static_cast<Id>(out_.insts.size()) - 1;
    out = {at};
    const int inside = block(n.block);
    out_[at].block = inside;
    out_.blocks[open_].push_back(at);
  }

  /// An instruction of the warp, or of all lanes together: takes the scalars of its sources, one after another.
  void whole(const Inst& n, LaneIds& out) {
    Inst made = n;
    made.src.clear();
    for (Id s : n.src)
      for (size_t l = 0; l < static_cast<size_t>(code_[s].type.lanes); ++l) made.src.push_back(lane(s, l));
    const Id result = add(std::move(made));
    for (int l = 0; l < n.type.lanes; ++l) {
      out.push_back(n.type.lanes == 1 ? result : add({InstCode::Part, {n.type.dtype, 1}, {result}, l}));
    }
  }

  void load(const Inst& n, LaneIds& out) {
    const Type type = n.type;
    const bool predicated = n.src.size() > 2, counted = n.src.size() % 2 == 0;
    const Id address = of(n.src[0])[0];
    if (counted || type.lanes == 1) {
      for (int l = 0; l < type.lanes; ++l) {
        Inst one{InstCode::Load, {type.dtype, 1}, {address_plus(address, l)}, n.imm};
        Id open = predicated ? of(n.src[1])[0] : kNone;
        if (counted) {
          const Id there = exists(of(n.src.back())[0], l);
          open = open == kNone ? there : alu(Op::And, DType::Bool, {open, there});
        }
        if (open != kNone) {
          one.src.push_back(open);
          one.src.push_back(predicated ? lane(n.src[2], static_cast<size_t>(l)) : zero(type.dtype));
        }
        out.push_back(add(std::move(one)));
      }
      return;
    }
    const int64_t width = this->width(n, type);
    for (int64_t at = 0; at < type.lanes; at += width) {
      Inst some{InstCode::Load, {type.dtype, static_cast<int>(width)}, {address_plus(address, at)}, n.imm};
      if (predicated) some.src.insert(some.src.end(), {of(n.src[1])[0], packed(n.src[2], at, width)});
      const Id vector = add(std::move(some));
      for (int64_t l = 0; l < width; ++l) {
        out.push_back(width == 1 ? vector : add({InstCode::Part, {type.dtype, 1}, {vector}, l}));
      }
    }
  }
  /// Pieces of 4, 8 or 16 bytes. Elements that are not so aligned take the way through registers.
  void copy(const Inst& n) {
    const auto bytes = static_cast<int64_t>(size_of(n.type.dtype));
    const Id to = of(n.src[0])[0], from = of(n.src[1])[0], open = n.src.size() > 2 ? of(n.src[2])[0] : kNone;
    int64_t width = std::min(this->width(n, n.type), alignment_.of(n.src[1]));
    if (width * bytes < kLeastCopy) width = 1;
    for (int64_t at = 0; at < n.type.lanes; at += width) {
      Inst some{InstCode::CopyAsync,
                {n.type.dtype, static_cast<int>(width)},
                {address_plus(to, at), address_plus(from, at)},
                n.imm,
                n.number};
      if (open != kNone) some.src.push_back(open);
      if (width * bytes >= kLeastCopy) {
        add(std::move(some));
        continue;
      }
      Inst load{InstCode::Load, some.type, {some.src[1]}, n.number.as_int()};
      if (open != kNone) load.src.insert(load.src.end(), {open, zero(n.type.dtype)});
      add({InstCode::Store, {}, {some.src[0], add(std::move(load))}, n.imm});
    }
  }

  /// Packs `width` lanes of a value for an access.
  Id packed(Id value, int64_t from, int64_t width) {
    Inst vector{InstCode::Pack, {code_[value].type.dtype, static_cast<int>(width)}, {}};
    for (int64_t l = 0; l < width; ++l) vector.src.push_back(lane(value, static_cast<size_t>(from + l)));
    return width == 1 ? vector.src[0] : add(std::move(vector));
  }
  Id zero(DType dtype) { return add({InstCode::Const, {dtype, 1}, {}, 0, ir::Scalar::of(dtype, 0)}); }

  void store(const Inst& n) {
    const Type type = code_[n.src[1]].type;
    const Id address = of(n.src[0])[0];
    const bool counted = n.src.size() > 2;
    const int64_t stride = n.number.as_int(), width = counted || stride ? 1 : this->width(n, type);
    for (int64_t at = 0; at < type.lanes; at += width) {
      const size_t before = open_;
      Id only = kNone;
      if (counted) {
        out_.insts.push_back({InstCode::If, {}, {exists(of(n.src[2])[0], at)}});
        only = static_cast<Id>(out_.insts.size()) - 1;
        out_[only].block = static_cast<int>(out_.blocks.size());
        open_ = out_.blocks.size();
        out_.blocks.emplace_back();
      }
      Inst some{InstCode::Store, {}, {address_plus(address, stride ? at * stride : at), kNone}, n.imm};
      some.src[1] = packed(n.src[1], at, width);
      add(std::move(some));
      open_ = before;
      if (only != kNone) out_.blocks[open_].push_back(only);
    }
  }

  const Instructions& code_;
  IndexAlignment alignment_;
  std::vector<LaneIds> lanes_;
  Instructions out_;
  size_t open_ = 0;  ///< the block under construction
};

}  // namespace

Instructions scalarize(const Instructions& code) { return Scalarizer(code).run(); }

}  // namespace sinter::codegen
