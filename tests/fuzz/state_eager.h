// The reference of the state fuzzer: everything at once, every version a full copy, a tape per value. What a program
// must mean.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "sinter/error.h"

namespace eager {

/// A matrix of doubles; 1 x 1 for scalars.
struct Mat {
  int rows = 1, cols = 1;
  std::vector<double> v = std::vector<double>(1);
  Mat() = default;
  Mat(int r, int c, double fill = 0) : rows(r), cols(c), v(static_cast<size_t>(r * c), fill) {}
  double& at(int r, int c) { return v[static_cast<size_t>(r * cols + c)]; }
  double at(int r, int c) const { return v[static_cast<size_t>(r * cols + c)]; }
};
template <class F>
Mat map(const Mat& a, const Mat& b, F f) {
  Mat out(a.rows, a.cols);
  for (size_t i = 0; i < out.v.size(); ++i) out.v[i] = f(a.v[i], b.v[i]);
  return out;
}
inline Mat operator+(const Mat& a, const Mat& b) {
  return map(a, b, [](double x, double y) { return x + y; });
}
inline Mat operator*(const Mat& a, const Mat& b) {
  return map(a, b, [](double x, double y) { return x * y; });
}
inline Mat operator*(const Mat& a, double s) {
  return map(a, a, [s](double x, double) { return x * s; });
}
inline Mat transposed(const Mat& a) {
  Mat out(a.cols, a.rows);
  for (int r = 0; r < a.rows; ++r)
    for (int c = 0; c < a.cols; ++c) out.at(c, r) = a.at(r, c);
  return out;
}
inline Mat product(const Mat& a, const Mat& b) {
  Mat out(a.rows, b.cols);
  for (int r = 0; r < a.rows; ++r)
    for (int k = 0; k < a.cols; ++k)
      for (int c = 0; c < b.cols; ++c) out.at(r, c) += a.at(r, k) * b.at(k, c);
  return out;
}
inline Mat rows_of(const Mat& a, int begin, int end) {
  Mat out(end - begin, a.cols);
  for (int r = begin; r < end; ++r)
    for (int c = 0; c < a.cols; ++c) out.at(r - begin, c) = a.at(r, c);
  return out;
}

struct Val;
using ValPtr = std::shared_ptr<Val>;
using Back = std::function<std::vector<Mat>(const Mat&)>;
struct Val {
  Mat a;
  std::vector<ValPtr> parents = {};
  Back back = {};
  int leaf = 0;
  bool consumed = false;
  bool requires_grad() const { return leaf || !parents.empty(); }
};

struct Cell;
/// The process.
struct World {
  bool grad_mode = true;
  int leaves = 0;
  std::map<int, std::weak_ptr<Cell>> cells = {};
};
inline World& world() {
  static World w;
  return w;
}

inline ValPtr plain(Mat a) { return std::make_shared<Val>(Val{std::move(a)}); }
inline ValPtr made(Mat a, std::vector<ValPtr> parents, Back back) {
  bool any = false;
  for (const ValPtr& p : parents) any |= p->requires_grad();
  if (!world().grad_mode || !any) return plain(std::move(a));
  return std::make_shared<Val>(Val{std::move(a), std::move(parents), std::move(back)});
}

struct Cell {
  ValPtr v;
  int leaf = 0;
  std::shared_ptr<Cell> grad = {};
};

[[noreturn]] inline void refuse(const char* what) { throw sinter::UsageError(what); }

/// Carriers of gradient from the root, users first.
inline std::vector<ValPtr> reverse(const ValPtr& root) {
  std::vector<ValPtr> order;
  std::set<Val*> seen;
  std::function<void(const ValPtr&)> go = [&](const ValPtr& n) {
    if (!n->requires_grad() || !seen.insert(n.get()).second) return;
    if (n->consumed) refuse("consumed");
    for (const ValPtr& p : n->parents) go(p);
    order.push_back(n);
  };
  go(root);
  return {order.rbegin(), order.rend()};
}
inline std::map<Val*, Mat> chain(const std::vector<ValPtr>& order, const ValPtr& root) {
  std::map<Val*, Mat> g;
  g[root.get()] = Mat(root->a.rows, root->a.cols, 1);
  for (const ValPtr& n : order) {
    if (n->leaf || !g.count(n.get())) continue;
    const std::vector<Mat> parts = n->back(g[n.get()]);
    for (size_t i = 0; i < parts.size(); ++i) {
      Val* p = n->parents[i].get();
      if (!p->requires_grad()) continue;
      g[p] = g.count(p) ? g[p] + parts[i] : parts[i];
    }
  }
  return g;
}

/// A handle.
struct T {
  std::shared_ptr<Cell> cell;
  T() = default;
  explicit T(ValPtr v) : cell(std::make_shared<Cell>(Cell{std::move(v)})) {}
  explicit T(std::shared_ptr<Cell> c) : cell(std::move(c)) {}
  explicit T(Mat a) : T(plain(std::move(a))) {}
  const ValPtr& v() const { return cell->v; }
  const Mat& a() const { return cell->v->a; }

  T clone() const {
    return T(made(a(), {v()}, [](const Mat& g) { return std::vector<Mat>{g}; }));
  }
  T detach() const { return T(a()); }
  void assign(const T& value) { assign(value, 0, a().rows); }
  /// Rows [begin, end) become those of the value.
  void assign(const T& value, int begin, int end) {
    if (cell->leaf && world().grad_mode) refuse("leaf");
    const ValPtr old = v();
    Mat next = old->a;
    for (int r = begin; r < end; ++r)
      for (int c = 0; c < next.cols; ++c) next.at(r, c) = value.a().at(r - begin, c);
    if (cell->leaf) {
      cell->v = plain(std::move(next));
      cell->v->leaf = cell->leaf;
    } else if (begin == 0 && end == next.rows) {
      cell->v = made(std::move(next), {value.v()}, [](const Mat& g) { return std::vector<Mat>{g}; });
    } else {
      cell->v = made(std::move(next), {old, value.v()}, [begin, end](const Mat& g) {
        Mat outside = g;
        for (int r = begin; r < end; ++r)
          for (int c = 0; c < g.cols; ++c) outside.at(r, c) = 0;
        return std::vector<Mat>{outside, rows_of(g, begin, end)};
      });
    }
  }
  void requires_grad() {
    const int id = ++world().leaves;
    ValPtr n = plain(a());
    n->leaf = cell->leaf = id;
    cell->v = n;
    world().cells[id] = cell;
  }
  void backward(bool keep) const {
    if (!v()->requires_grad()) refuse("no grad");
    const std::vector<ValPtr> order = reverse(v());
    std::map<Val*, Mat> g = chain(order, v());
    for (const ValPtr& n : order) {
      const auto found = world().cells.find(n->leaf);
      if (!n->leaf || found == world().cells.end() || !g.count(n.get())) continue;
      if (const auto c = found->second.lock()) {
        if (!c->grad)
          c->grad = std::make_shared<Cell>(Cell{plain(g[n.get()])});
        else
          c->grad->v = plain(c->grad->v->a + g[n.get()]);
      }
    }
    if (!keep)
      for (const ValPtr& n : order) n->consumed = !n->leaf;
  }
  T gradient(const T& x) const {
    const std::vector<ValPtr> order = reverse(v());
    bool used = false;
    for (const ValPtr& n : order) used |= n == x.v();
    if (!x.v()->requires_grad() || !used) refuse("unused");
    std::map<Val*, Mat> g = chain(order, v());
    return T(g.count(x.v().get()) ? g[x.v().get()] : Mat(x.a().rows, x.a().cols));
  }
  T grad() const {
    if (!cell->grad) refuse("none");
    return T(cell->grad);
  }
  void zero_grad() { cell->grad = nullptr; }
};

inline T add(const T& x, const T& y) {
  return T(made(x.a() + y.a(), {x.v(), y.v()}, [](const Mat& g) { return std::vector<Mat>{g, g}; }));
}
inline T sub(const T& x, const T& y) {
  return T(made(x.a() + y.a() * -1, {x.v(), y.v()}, [](const Mat& g) { return std::vector<Mat>{g, g * -1}; }));
}
inline T mul(const T& x, const T& y) {
  const ValPtr p = x.v(), q = y.v();
  return T(made(p->a * q->a, {p, q}, [p = p->a, q = q->a](const Mat& g) { return std::vector<Mat>{g * q, g * p}; }));
}
inline T scale(const T& x, double s) {
  return T(made(x.a() * s, {x.v()}, [s](const Mat& g) { return std::vector<Mat>{g * s}; }));
}
inline T relu(const T& x) {
  const Mat on = map(x.a(), x.a(), [](double a, double) { return a > 0 ? 1.0 : 0.0; });
  return T(made(x.a() * on, {x.v()}, [on](const Mat& g) { return std::vector<Mat>{g * on}; }));
}
inline T maximum(const T& x, const T& y) {
  const Mat first = map(x.a(), y.a(), [](double a, double b) { return a > b ? 1.0 : a < b ? 0.0 : .5; });
  const Mat second = map(first, first, [](double a, double) { return 1 - a; });
  return T(made(map(x.a(), y.a(), [](double a, double b) { return a > b ? a : b; }), {x.v(), y.v()},
                [first, second](const Mat& g) { return std::vector<Mat>{g * first, g * second}; }));
}
inline T matmul(const T& x, const T& y) {
  return T(made(product(x.a(), y.a()), {x.v(), y.v()}, [p = x.a(), q = y.a()](const Mat& g) {
    return std::vector<Mat>{product(g, transposed(q)), product(transposed(p), g)};
  }));
}
inline T transpose(const T& x) {
  return T(made(transposed(x.a()), {x.v()}, [](const Mat& g) { return std::vector<Mat>{transposed(g)}; }));
}
inline T rows(const T& x, int begin, int end) {
  return T(made(rows_of(x.a(), begin, end), {x.v()}, [begin, end, n = x.a().rows](const Mat& g) {
    Mat out(n, g.cols);
    for (int r = begin; r < end; ++r)
      for (int c = 0; c < g.cols; ++c) out.at(r, c) = g.at(r - begin, c);
    return std::vector<Mat>{out};
  }));
}
inline T sum(const T& x) {
  Mat total;
  for (double v : x.a().v) total.v[0] += v;
  return T(made(total, {x.v()},
                [r = x.a().rows, c = x.a().cols](const Mat& g) { return std::vector<Mat>{Mat(r, c, g.v[0])}; }));
}

/// SGD, all at once.
inline void step(std::vector<T>& params, double rate) {
  for (T& p : params) {
    if (!p.cell->grad) continue;
    ValPtr n = plain(p.a() + p.cell->grad->v->a * -rate);
    n->leaf = p.cell->leaf;
    p.cell->v = n;
    p.cell->grad = nullptr;
  }
}

}  // namespace eager
