// cat, stack and their forms, split, chunk, broadcast, and grids of vectors.
#include <algorithm>
#include <span>

#include "sinter/ops.h"
#include "tensor/core/axes.h"
#include "tensor/core/operands.h"

namespace sinter::inline v0 {
namespace {

using namespace tensor;

/// The nodes of the parts in their common dtype. At least one part.
std::vector<UOp> promote_parts(const std::vector<Tensor>& parts) {
  if (parts.empty()) usage_error("0 tensors given, which have neither a shape nor a type; give at least 1");
  DType t = node_of(parts[0])->dtype;
  for (const Tensor& p : parts) t = promote(t, node_of(p)->dtype);
  std::vector<UOp> nodes = mapped(parts, [&](const Tensor& p) { return cast(node_of(p), t); });
  unify_devices(nodes);
  return nodes;
}

/// If there are more parts than one kernel reads, this many at a time are joined and stored. The code that selects
/// among n parts grows faster than n.
constexpr size_t kJoinGroup = 16;

/// Many parts become a tree of joins. Equal groups run the same kernel on other buffers, and each element is copied
/// once per level.
UOp join(std::vector<UOp> parts, int64_t axis) {
  const size_t a = static_cast<size_t>(axis);
  int64_t total = 0;
  for (UOp p : parts) total = saturating_add(total, p->shape[a].value());
  Shape whole = parts[0]->shape;
  whole[a] = total;
  check_shape(whole);
  if (total == 0)
    parts.resize(1);
  else
    std::erase_if(parts, [&](UOp p) { return p->shape[a].value() == 0; });
  if (parts.size() > kMaxCatParts)
    while (parts.size() > kJoinGroup) {
      std::vector<UOp> groups;
      for (std::span<const UOp> rest = parts; !rest.empty();) {
        const std::span<const UOp> group = rest.first(std::min(kJoinGroup, rest.size()));
        groups.push_back(group.size() > 1 ? contiguous(cat(group, axis)) : group[0]);
        rest = rest.subspan(group.size());
      }
      parts = std::move(groups);
    }
  return cat(parts, axis);
}

std::vector<Tensor> each(std::vector<Tensor> parts, Tensor (*f)(const Tensor&, Loc), Loc where) {
  for (Tensor& p : parts) p = f(p, where);
  return parts;
}

}  // namespace

Tensor cat(const std::vector<Tensor>& parts, int64_t axis, Loc where) {
  Call call("cat", where);
  std::vector<UOp> nodes = promote_parts(parts);
  if (!nodes[0]->rank()) usage_error("{} has no axis to join along; use stack for scalars", describe(nodes[0]));
  axis = axis_of(nodes[0], axis);
  if (nodes.size() == 1) return wrap(nodes[0]);
  for (size_t n = 0; n < nodes.size(); ++n) {
    bool fits = nodes[n]->rank() == nodes[0]->rank();
    for (size_t i = 0; fits && i < nodes[0]->rank(); ++i)
      fits = static_cast<int64_t>(i) == axis || nodes[n]->shape[i] == nodes[0]->shape[i];
    if (!fits)
      usage_error("part 0 is {}, part {} is {}: all sizes but that of axis {} must be equal; {}",
                  to_string(nodes[0]->shape), n, to_string(nodes[n]->shape), axis,
                  mismatch_hint(nodes[0]->shape, nodes[n]->shape, "reshape or slice one"));
    fixed_size(nodes[n], axis, "joined");
  }
  return wrap(join(std::move(nodes), axis));
}

Tensor stack(const std::vector<Tensor>& parts, int64_t axis, Loc where) {
  Call call("stack", where);
  std::vector<UOp> nodes = promote_parts(parts);
  const int64_t rank = static_cast<int64_t>(nodes[0]->rank());
  if (axis < -rank - 1 || axis > rank)
    usage_error("axis {} is no place for a new axis of {}; the places are {} to {}", axis, describe(nodes[0]),
                -rank - 1, rank);
  if (axis < 0) axis += rank + 1;
  for (size_t n = 0; n < nodes.size(); ++n) {
    if (!(nodes[n]->shape == nodes[0]->shape))
      usage_error("part 0 is {}, part {} is {}: all shapes must be equal; {}", to_string(nodes[0]->shape), n,
                  to_string(nodes[n]->shape),
                  mismatch_hint(nodes[0]->shape, nodes[n]->shape, "use cat to join along an axis"));
  }
  for (UOp& n : nodes) n = insert_axis(n, axis);
  return wrap(join(std::move(nodes), axis));
}

Tensor concat(const std::vector<Tensor>& parts, int64_t axis, Loc where) {
  Call call("concat", where);
  return cat(parts, axis, where);
}

Tensor hstack(const std::vector<Tensor>& parts, Loc where) {
  Call call("hstack", where);
  const std::vector<Tensor> all = each(parts, atleast_1d, where);
  return cat(all, all.empty() || node_of(all[0])->rank() == 1 ? 0 : 1, where);
}
Tensor vstack(const std::vector<Tensor>& parts, Loc where) {
  Call call("vstack", where);
  return cat(each(parts, atleast_2d, where), 0, where);
}
Tensor dstack(const std::vector<Tensor>& parts, Loc where) {
  Call call("dstack", where);
  return cat(each(parts, atleast_3d, where), 2, where);
}

Tensor column_stack(const std::vector<Tensor>& parts, Loc where) {
  Call call("column_stack", where);
  const auto column = [](const Tensor& x, Loc at) { return node_of(x)->rank() > 1 ? x : x.reshape({-1, 1}, at); };
  return cat(each(parts, column, where), 1, where);
}

std::vector<Tensor> meshgrid(const std::vector<Tensor>& vectors, Choice<GridOrder> order, Loc where) {
  Call call("meshgrid", where);
  std::vector<UOp> nodes;
  for (const Tensor& v : vectors) {
    nodes.push_back(node_of(v));
    if (nodes.back()->rank() > 1)
      usage_error("vector {} of {} is {}; give tensors of at most 1 axis", nodes.size() - 1, vectors.size(),
                  describe(nodes.back()));
  }
  const auto place = [&](size_t i) { return order == GridOrder::XY && nodes.size() > 1 && i < 2 ? 1 - i : i; };
  Shape grid(Shape::Dims(nodes.size(), Dim(1)));
  for (size_t i = 0; i < nodes.size(); ++i)
    if (nodes[i]->rank()) grid[place(i)] = nodes[i]->shape[0];
  check_shape(grid);
  std::vector<Tensor> out;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const UOp vector = nodes[i]->rank() ? nodes[i] : reshape(nodes[i], {1});
    out.push_back(wrap(expand(vector, grid, others(grid.rank(), {static_cast<int64_t>(place(i))}))));
  }
  return out;
}

Tensor cartesian_prod(const std::vector<Tensor>& vectors, Loc where) {
  Call call("cartesian_prod", where);
  for (const Tensor& v : vectors)
    if (node_of(v)->rank() != 1)
      usage_error("{} has {} axes; give vectors, of 1 axis", describe(node_of(v)), node_of(v)->rank());
  if (vectors.size() == 1) return vectors[0];
  return stack(each(meshgrid(vectors, GridOrder::IJ, where), ravel, where), -1, where);
}

std::vector<Tensor> Tensor::split(int64_t size, int64_t axis, Loc where) const {
  Call call("split", where);
  UOp x = node_of(*this);
  axis = axis_of(x, axis);
  if (size <= 0) usage_error("parts of size {} of {}; give a size of 1 or more", size, describe(x));
  const int64_t total = fixed_size(x, axis, "split");
  std::vector<Tensor> parts;
  for (int64_t begin = 0; begin < total || parts.empty(); begin += size)
    parts.push_back(wrap(tensor::shrink_axis(x, axis, begin, std::min(begin + size, total))));
  return parts;
}

std::vector<Tensor> Tensor::chunk(int64_t count, int64_t axis, Loc where) const {
  Call call("chunk", where);
  UOp x = node_of(*this);
  axis = axis_of(x, axis);
  if (count <= 0) usage_error("{} chunks of {}; give 1 or more", count, describe(x));
  const int64_t total = fixed_size(x, axis, "split");
  if (total > 0) return split(total / count + (total % count != 0), axis, where);
  std::vector<Tensor> parts;
  for (int64_t i = 0; i < count; ++i) parts.push_back(wrap(x));
  return parts;
}

std::vector<Tensor> broadcast(const std::vector<Tensor>& list, Loc where) {
  Call call("broadcast", where);
  std::vector<UOp> nodes = mapped(list, [&](const Tensor& t) { return node_of(t); });
  if (!nodes.empty()) tensor::broadcast(nodes);
  return mapped(nodes, wrap);
}

}  // namespace sinter::inline v0
