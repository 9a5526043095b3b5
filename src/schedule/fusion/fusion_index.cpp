// Digit arithmetic: how movement ops, unification and splits change indices.
#include "schedule/fusion/fusion_index.h"

#include <algorithm>

#include "ir/axis_lists.h"

namespace sinter::schedule {
namespace {

using ir::mix;
using ir::Op;
using ir::UOp;

void insert_axis(std::vector<int>& axes, int a) {
  auto it = std::ranges::lower_bound(axes, a);
  if (it == axes.end() || *it != a) axes.insert(it, a);
}

void add_axes(const DimIndex& dim, std::vector<int>& axes) {
  for (const Digit& d : dim.digits) insert_axis(axes, d.axis);
  for (int a : dim.axes) insert_axis(axes, a);
}

uint64_t hash_dim(const DimIndex& dim) {
  uint64_t h = mix(dim.opaque ? dim.key : 1, static_cast<uint64_t>(dim.offset));
  for (const Digit& d : dim.digits)
    h = mix(mix(h, static_cast<uint64_t>(d.axis)), mix(static_cast<uint64_t>(d.div), static_cast<uint64_t>(d.size)));
  for (int a : dim.axes) h = mix(h, static_cast<uint64_t>(a) + 7);
  return h;
}

int64_t product(const std::vector<Digit>& digits) {
  int64_t n = 1;
  for (const Digit& d : digits) n *= d.size;
  return n;
}

/// Merges adjacent digits: (a / d*s) % t next to (a / d) % s is (a / d) % (s*t).
void append(std::vector<Digit>& digits, const Digit& low) {
  if (!digits.empty() && digits.back().axis == low.axis && digits.back().div == low.div * low.size) {
    digits.back().div = low.div;
    digits.back().size *= low.size;
  } else {
    digits.push_back(low);
  }
}

}  // namespace

int IndexSpace::axis(const Dim& size) {
  int a = static_cast<int>(axes_.size());
  axes_.push_back({size, a});
  return a;
}

int IndexSpace::find(int a) const {
  auto parent = [&](int x) -> int& { return axes_[x].parent; };
  while (parent(a) != a) a = parent(a) = parent(parent(a));
  return a;
}

void IndexSpace::unify(int a, int b) {
  a = find(a), b = find(b);
  if (a == b) return;
  axes_[b].parent = a;
  axes_[a].whole |= axes_[b].whole;
  ++epoch_;
}

std::vector<int> IndexSpace::expand(const std::vector<int>& axes) const {
  std::vector<int> out, todo(axes.rbegin(), axes.rend());
  while (!todo.empty()) {
    int a = find(todo.back());
    todo.pop_back();
    const AxisNode& axis = axes_[a];
    if (axis.high < 0) {
      out.push_back(a);
    } else {
      todo.push_back(axis.low);
      todo.push_back(axis.high);
    }
  }
  return out;
}

void IndexSpace::split(int a, int64_t low) {
  int64_t whole = bound(a);
  int h = axis(whole / low), l = axis(low);
  AxisNode& node = axes_[find(a)];
  node.high = h, node.low = l;
  ++epoch_;
}

uint64_t IndexSpace::hash_of(const FusionIndex& index) {
  uint64_t h = 17;
  for (const DimIndex& d : index) h = mix(h, hash_dim(d));
  return h;
}

IndexId IndexSpace::intern(FusionIndex index) {
  uint64_t hash = hash_of(index);
  auto [first, last] = table_.equal_range(hash);
  for (auto it = first; it != last; ++it)
    if (entries_[it->second].index == index) return it->second;
  IndexId id = static_cast<IndexId>(entries_.size());
  std::vector<int> axes;
  for (const DimIndex& d : index) add_axes(d, axes);
  entries_.push_back({std::move(index), std::move(axes), kNotYet, id});
  table_.emplace(hash, id);
  return id;
}

bool IndexSpace::split_digit(const Digit& digit, std::vector<Digit>& out) const {
  std::vector<Digit> todo{digit};
  while (!todo.empty()) {
    Digit d = todo.back();
    todo.pop_back();
    d.axis = find(d.axis);
    const AxisNode& axis = axes_[d.axis];
    if (axis.high < 0) {
      append(out, d);
      continue;
    }
    int64_t cut = bound(axis.low), end = d.div * d.size;
    if (d.div % cut == 0) {
      todo.push_back({axis.high, d.div / cut, d.size});
    } else if (end <= cut) {
      todo.push_back({axis.low, d.div, d.size});
    } else {
      if (cut % d.div || end % cut) return false;
      todo.push_back({axis.low, d.div, cut / d.div});
      todo.push_back({axis.high, 1, end / cut});
    }
  }
  return true;
}

DimIndex IndexSpace::normal(const DimIndex& dim) const {
  DimIndex out;
  out.offset = dim.offset;
  if (dim.opaque) {
    out.opaque = true;
    out.key = dim.key;
    for (int a : expand(dim.axes)) insert_axis(out.axes, a);
    return out;
  }
  for (const Digit& d : dim.digits)
    if (!split_digit(d, out.digits)) {
      DimIndex hidden = as_opaque(dim, 1);
      return normal(hidden);
    }
  return out;
}

IndexId IndexSpace::normal(IndexId id) {
  auto at = [&](IndexId i) -> InternedIndex& { return entries_[i]; };
  if (at(id).epoch == epoch_) return at(id).normal;
  bool same = true;
  for (int a : at(id).axes) same &= stands(a);
  IndexId result = id;
  if (!same) {
    auto index = ir::mapped<FusionIndex>(at(id).index, [&](const DimIndex& d) { return normal(d); });
    result = intern(std::move(index));
  }
  at(id).epoch = epoch_;
  at(id).normal = result;
  return result;
}

IndexId IndexSpace::fresh(const Shape& shape) {
  auto index = ir::mapped<FusionIndex>(shape, [&](const Dim& d) { return d == 1 ? DimIndex{} : whole(axis(d)); });
  return intern(std::move(index));
}

DimIndex IndexSpace::opaque(IndexId id, uint64_t key) const {
  return {.digits = {}, .offset = 0, .opaque = true, .axes = axes_of(id), .key = mix(key, static_cast<uint64_t>(id))};
}

DimIndex IndexSpace::as_opaque(const DimIndex& dim, uint64_t salt) const {
  DimIndex out;
  out.opaque = true;
  out.key = mix(hash_dim(dim), salt);
  add_axes(dim, out.axes);
  return out;
}

/// RESHAPE: the digits of all dims in sequence, regrouped from the right. Dims whose boundaries do not match become
/// opaque.
FusionIndex IndexSpace::regroup(const FusionIndex& index, const Shape& from, const Shape& to) const {
  struct DigitPiece {
    Digit digit;
    const DimIndex* hidden;  // an opaque or shifted dim counts as one piece
  };
  std::vector<DigitPiece> pieces;
  for (size_t i = 0; i < index.size(); ++i) {
    const DimIndex& d = index[i];
    if (d.opaque || d.offset || product(d.digits) != from[i].bound()) {
      pieces.push_back({{-1, 1, from[i].bound()}, &d});
    } else {
      for (const Digit& digit : d.digits) pieces.push_back({digit, nullptr});
    }
  }
  FusionIndex out(to.rank());
  bool bad = from.bound() == 0;
  for (size_t i = to.rank(); i-- > 0;) {
    const int64_t size = to[i].bound();
    if (size == 1) continue;
    std::vector<DigitPiece> got;  // lowest first
    int64_t q = 1;
    while (!bad && q < size) {
      if (pieces.empty()) {
        bad = true;
        break;
      }
      DigitPiece p = pieces.back();
      pieces.pop_back();
      if (p.digit.size == 1) continue;
      const int64_t rest = size / q;
      if (p.digit.size <= rest && size % (q * p.digit.size) == 0) {
        got.push_back(p);
        q *= p.digit.size;
      } else if (!p.hidden && size % q == 0 && rest > 1 && p.digit.size % rest == 0) {
        got.push_back({{p.digit.axis, p.digit.div, rest}, nullptr});
        pieces.push_back({{p.digit.axis, p.digit.div * rest, p.digit.size / rest}, nullptr});
        q = size;
      } else {
        pieces.push_back(p);
        bad = true;
      }
    }
    bool hidden = bad;
    for (const DigitPiece& p : got) hidden |= p.hidden != nullptr;
    if (!hidden) {
      for (size_t k = got.size(); k-- > 0;) append(out[i].digits, got[k].digit);
    } else if (!bad && got.size() == 1) {
      out[i] = *got[0].hidden;
    } else {
      DimIndex& d = out[i];
      d.opaque = true;
      d.key = mix(mix(static_cast<uint64_t>(size), i), bad ? mix(ir::hash_of(from), ir::hash_of(to)) : 3);
      if (bad) got.insert(got.end(), pieces.rbegin(), pieces.rend());
      for (const DigitPiece& p : got) {
        DimIndex one = p.hidden ? *p.hidden : DimIndex{.digits = {p.digit}, .axes = {}};
        d.key = mix(d.key, hash_dim(one));
        add_axes(one, d.axes);
      }
      // An opaque dim also depends on the digits consumed by the dims to its right.
      if (bad)
        for (const DimIndex& whole : index) d.key = mix(d.key, hash_dim(whole)), add_axes(whole, d.axes);
    }
  }
  return out;
}

IndexId IndexSpace::through(UOp n, IndexId id) {
  const FusionIndex& index = (*this)[id];
  UOp source = n->src[0];
  FusionIndex out(source->rank());
  switch (n->op) {
    case Op::Reshape: return intern(regroup(index, n->shape, source->shape));
    case Op::Expand: return intern(ir::without(index, n->ints()));
    case Op::Permute:
      for (size_t i = 0; i < out.size(); ++i) out[n->ints()[i]] = index[i];
      break;
    case Op::Shrink:
    case Op::Pad: {
      const ir::Region& box = n->region();
      const int64_t sign = n->op == Op::Shrink ? 1 : -1;
      for (size_t i = 0; i < out.size(); ++i) {
        if (source->shape[i] == 1) {
          // A source dim of size 1 has no index, but the padding's predicate depends on one.
          if (n->op == Op::Pad && !(n->shape[i] == 1))
            out[i] = as_opaque(index[i], mix(3, static_cast<uint64_t>(box[i].begin.value())));
          continue;
        }
        out[i] = index[i];
        if (source->shape[i] == n->shape[i]) continue;
        out[i].offset += sign * box[i].begin.value();
        // A part of symbolic size may be as long as the axis at its bound only: its loop is never that of the axis.
        if (source->shape[i].symbolic() || n->shape[i].symbolic()) out[i] = as_opaque(out[i], mix(0x51ce, 0));
        if (n->src.size() < 2) continue;
        out[i] = as_opaque(out[i], mix(static_cast<uint64_t>(sign), n->src[1 + i]->id));
      }
      break;
    }
    case Op::Flip:
      out = index;
      for (int64_t a : n->ints()) {
        auto i = static_cast<size_t>(a);
        if (!(n->shape[i] == 1)) out[i] = as_opaque(index[i], mix(0xf11b, static_cast<uint64_t>(n->shape[i].bound())));
      }
      break;
    case Op::Window: {
      out = index;
      const ir::WindowAttr& w = n->get<ir::WindowAttr>();
      const auto axis = static_cast<size_t>(w.axis);
      if (source->shape[axis + 1] == 1) break;
      DimIndex &place = out[axis], taps = as_opaque(index[axis + 1], mix(0x51de, static_cast<uint64_t>(w.step)));
      place = as_opaque(place, taps.key);
      for (int a : taps.axes) insert_axis(place.axes, a);
      break;
    }
    default: break;
  }
  return intern(std::move(out));
}

IndexId IndexSpace::down(UOp head, IndexId id) {
  for (; ir::is_movement(head->op); head = head->src[0]) id = through(head, id);
  return id;
}

bool IndexSpace::covers(const DimIndex& dim, int64_t size, std::vector<int>& axes) const {
  if (dim.opaque || dim.offset || product(dim.digits) != size) return false;
  for (const Digit& d : dim.digits) {
    if (d.div != 1 || bound(d.axis) != d.size) return false;
    axes.push_back(d.axis);
  }
  return true;
}

void IndexSpace::refine(IndexId a, IndexId b, size_t dim) {
  for (bool changed = true; changed;) {
    changed = false;
    const IndexId left = normal(a), right = normal(b);
    const DimIndex &x = (*this)[left][dim], &y = (*this)[right][dim];
    if (x.opaque || y.opaque) return;
    for (size_t i = 0; i < std::min(x.digits.size(), y.digits.size()); ++i) {
      const Digit &p = x.digits[x.digits.size() - 1 - i], &q = y.digits[y.digits.size() - 1 - i];
      if (p.size == q.size) continue;
      const Digit &big = p.size > q.size ? p : q, &small = p.size > q.size ? q : p;
      if (!small.size || big.size % small.size) return;
      if (big.div != 1 || bound(big.axis) != big.size || size(big.axis).symbolic()) return;
      if (axes_[find(big.axis)].whole) return;
      split(big.axis, small.size);
      changed = true;
      break;
    }
  }
}

}  // namespace sinter::schedule
