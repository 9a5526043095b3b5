// Parsing, both readings, and the lower bound.
#include "view_chain.h"

#include <set>
#include <sstream>

#include "ir/build.h"

namespace sinter::test {
namespace {

std::vector<int64_t> numbers(const std::string& text, char separator) {
  std::vector<int64_t> values;
  std::stringstream in(text);
  for (std::string item; std::getline(in, item, separator);) values.push_back(std::stoll(item));
  return values;
}

int64_t product(const std::vector<int64_t>& v) {
  int64_t n = 1;
  for (int64_t i : v) n *= i;
  return n;
}

std::vector<int64_t> coordinates(int64_t flat, const std::vector<int64_t>& shape) {
  std::vector<int64_t> at(shape.size());
  for (size_t i = shape.size(); i-- > 0;) at[i] = flat % shape[i], flat /= shape[i];
  return at;
}
int64_t flattened(const std::vector<int64_t>& at, const std::vector<int64_t>& shape) {
  int64_t flat = 0;
  for (size_t i = 0; i < shape.size(); ++i) flat = flat * shape[i] + at[i];
  return flat;
}

std::vector<int64_t> firsts(const ViewStep& s) {
  std::vector<int64_t> v;
  for (const auto& a : s.args) v.push_back(a[0]);
  return v;
}

std::vector<int64_t> shape_after(const std::vector<int64_t>& shape, const ViewStep& s) {
  std::vector<int64_t> out = shape;
  if (s.op == "reshape" || s.op == "expand") return firsts(s);
  if (s.op == "slide") {
    out[static_cast<size_t>(s.args[0][0])] = s.args[0][2];
    return out;
  }
  for (size_t i = 0; i < shape.size(); ++i) {
    if (s.op == "permute") out[i] = shape[static_cast<size_t>(s.args[i][0])];
    if (s.op == "pad") out[i] = shape[i] + s.args[i][0] + s.args[i][1];
    if (s.op == "shrink") out[i] = s.args[i][1] - s.args[i][0];
  }
  return out;
}

/// Whether four vectors are {a, a+u, a+v, a+u+v}.
bool parallelogram(const std::set<std::vector<int64_t>>& four) {
  const std::vector<std::vector<int64_t>> p(four.begin(), four.end());
  auto opposite = [&](size_t i, size_t j, size_t k, size_t l) {
    bool equal = true;
    for (size_t d = 0; d < p[0].size(); ++d) equal &= p[i][d] + p[j][d] == p[k][d] + p[l][d];
    return equal;
  };
  return opposite(0, 1, 2, 3) || opposite(0, 2, 1, 3) || opposite(0, 3, 1, 2);
}

ir::Region box(const std::vector<int64_t>& begins, const std::vector<int64_t>& sizes) {
  ir::Region r;
  for (size_t i = 0; i < begins.size(); ++i) r.push_back({begins[i], begins[i] + sizes[i]});
  return r;
}

}  // namespace

ViewChain parse_chain(const std::string& text) {
  ViewChain chain;
  std::stringstream in(text);
  std::string part;
  std::getline(in, part, '|');
  chain.shape = numbers(part, ',');
  while (std::getline(in, part, '|')) {
    std::stringstream words(part);
    ViewStep step;
    std::string args, item;
    words >> step.op >> args;
    std::stringstream list(args);
    while (std::getline(list, item, ',')) step.args.push_back(numbers(item, ':'));
    chain.steps.push_back(step);
  }
  return chain;
}

Positions apply(const ViewChain& chain) {
  Positions now{chain.shape, {}};
  for (int64_t i = 0; i < product(chain.shape); ++i) now.source.push_back(i);
  for (const ViewStep& s : chain.steps) {
    Positions next{shape_after(now.shape, s), {}};
    for (int64_t i = 0; i < product(next.shape); ++i) {
      std::vector<int64_t> at = coordinates(i, next.shape), from = at;
      bool inside = true;
      if (s.op == "reshape") from = coordinates(i, now.shape);
      for (size_t a = 0; a < s.args.size(); ++a) {
        if (s.op == "permute") from[static_cast<size_t>(s.args[a][0])] = at[a];
        if (s.op == "expand" && now.shape[a] == 1) from[a] = 0;
        if (s.op == "shrink") from[a] = at[a] + s.args[a][0];
        if (s.op == "pad") from[a] = at[a] - s.args[a][0], inside &= from[a] >= 0 && from[a] < now.shape[a];
        if (s.op == "slide") {
          const auto axis = static_cast<size_t>(s.args[0][0]);
          from[axis] = at[axis] + at[axis + 1] * s.args[0][1];
          inside = from[axis] >= 0 && from[axis] < now.shape[axis];
        }
        if (s.op == "flip")
          from[static_cast<size_t>(s.args[a][0])] =
              now.shape[static_cast<size_t>(s.args[a][0])] - 1 - at[static_cast<size_t>(s.args[a][0])];
      }
      next.source.push_back(inside ? now.source[static_cast<size_t>(flattened(from, now.shape))] : -1);
    }
    now = std::move(next);
  }
  return now;
}

ChainIndex index_of(ir::Graph& g, const ViewChain& chain) {
  ir::UOp x = ir::param(g, 0, DType::F32, Shape(chain.shape));
  std::vector<int64_t> shape = chain.shape;
  for (const ViewStep& s : chain.steps) {
    const std::vector<int64_t> after = shape_after(shape, s);
    if (s.op == "reshape") x = g.make({ir::Op::Reshape, x->dtype, Shape(after), {x}});
    if (s.op == "permute") x = ir::permute(x, firsts(s));
    if (s.op == "expand") x = ir::broadcast_to(x, Shape(after));
    if (s.op == "flip") x = ir::flip(x, firsts(s));
    if (s.op == "shrink") x = ir::shrink(x, box(firsts(s), after));
    if (s.op == "pad") x = ir::pad(x, box(firsts(s), shape), Shape(after));
    if (s.op == "slide") x = ir::slide(x, s.args[0][0], s.args[0][1], s.args[0][2]);
    shape = after;
  }
  ChainIndex result;
  for (size_t i = 0; i < shape.size(); ++i) {
    result.ranges.push_back(
        ir::range(ir::constant(g, DType::Index, shape[i]), static_cast<int>(i), ir::AxisKind::Outer));
    result.place.index.push_back(result.ranges.back());
  }
  for (; ir::is_movement(x->op); x = x->src[0]) result.place = ir::source_index(g, x, result.place);
  return result;
}

int least_divisions(const Positions& p, const std::vector<int64_t>& source_shape) {
  const size_t dims = p.shape.size(), n = p.source.size();
  int by_steps = 0;
  std::vector<int64_t> strides(dims, 1);
  for (size_t i = dims; i-- > 1;) strides[i - 1] = strides[i] * p.shape[i];
  for (size_t axis = 0; axis < dims; ++axis) {
    std::set<std::vector<int64_t>> steps;
    for (size_t i = 0; i < n; ++i) {
      if (coordinates(static_cast<int64_t>(i), p.shape)[axis] + 1 >= p.shape[axis]) continue;
      const int64_t a = p.source[i], b = p.source[i + static_cast<size_t>(strides[axis])];
      if (a < 0 || b < 0) continue;
      std::vector<int64_t> from = coordinates(a, source_shape), to = coordinates(b, source_shape);
      for (size_t d = 0; d < from.size(); ++d) to[d] -= from[d];
      steps.insert(to);
    }
    int k = 0;
    while ((size_t{1} << k) < steps.size()) ++k;
    if (steps.size() == 4 && !parallelogram(steps)) k = 3;
    by_steps = std::max(by_steps, k);
  }
  // Gaussian elimination over a prime field, affine functions first.
  constexpr int64_t prime = 1000003;
  std::vector<std::vector<int64_t>> rows(1 + dims + source_shape.size());
  for (size_t i = 0; i < n; ++i) {
    if (p.source[i] < 0) continue;
    const std::vector<int64_t> out = coordinates(static_cast<int64_t>(i), p.shape),
                               in = coordinates(p.source[i], source_shape);
    rows[0].push_back(1);
    for (size_t d = 0; d < dims; ++d) rows[1 + d].push_back(out[d]);
    for (size_t d = 0; d < in.size(); ++d) rows[1 + dims + d].push_back(in[d]);
  }
  auto inverse = [&](int64_t a) {
    int64_t r = 1;
    for (int64_t e = prime - 2; e; e >>= 1, a = a * a % prime)
      if (e & 1) r = r * a % prime;
    return r;
  };
  int rank = 0;
  for (size_t r = 0; r < rows.size(); ++r) {
    size_t pivot = 0;
    while (pivot < rows[r].size() && rows[r][pivot] == 0) ++pivot;
    if (pivot == rows[r].size()) continue;
    if (r > dims) ++rank;
    const int64_t scale = inverse(rows[r][pivot]);
    for (size_t s = r + 1; s < rows.size(); ++s) {
      const int64_t f = rows[s][pivot] * scale % prime;
      if (f == 0) continue;
      for (size_t c = 0; c < rows[s].size(); ++c) rows[s][c] = ((rows[s][c] - f * rows[r][c]) % prime + prime) % prime;
    }
  }
  return std::max(by_steps, rank);
}

}  // namespace sinter::test
