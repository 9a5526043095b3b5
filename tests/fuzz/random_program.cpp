// Drawing a program and running it.
#include "random_program.h"

#include <fmt/format.h>

namespace fuzz {

using namespace sinter;

Item& Run::any() {
  if (pool.size() < 3) {
    static constexpr DType kinds[] = {float32, float32, float32, float64, int32, int64, uint8, boolean};
    return leaf(exact ? kinds[pick(0, 7)] : chance(80) ? float32 : float64, shape());
  }
  return pool[pool.size() - 1 - static_cast<size_t>(pick(0, static_cast<int64_t>(std::min<size_t>(pool.size(), 8)) - 1))];
}

Item& Run::of(const std::function<bool(DType)>& good, DType otherwise) {
  for (int i = 0; i < 4; ++i)
    if (Item& x = any(); good(x.t.dtype())) return x;
  return leaf(otherwise, shape());
}

Shape Run::shape(size_t lowest_rank) {
  static constexpr int64_t sizes[] = {1, 2, 3, 4, 5, 7, 8, 16, 17, 33};
  Shape s;
  const size_t rank = std::max<size_t>(lowest_rank, static_cast<size_t>(pick(0, 3)));
  for (size_t i = 0; i < rank; ++i) s.push_back(sizes[pick(0, i == 0 ? 9 : 6)]);
  return s;
}

Item& Run::leaf(DType dtype, const Shape& shape, int64_t low, int64_t high) {
  const int64_t n = shape.numel();
  if (dtype == uint8 || dtype == boolean) low = 0;
  if (dtype == boolean) high = 1;
  std::vector<double> values;
  for (int64_t i = 0; i < n; ++i)
    values.push_back(exact || !is_float(dtype) ? static_cast<double>(pick(low, high)) : static_cast<double>(pick(-1000, 1000)) / 500.0);
  Tensor t = from(values, shape).to(dtype);
  if (chance(60)) t.realize();
  return pool.emplace_back(Item{t, static_cast<double>(std::max(-low, high)), 0});
}

Item& Run::like(const Item& x) {
  for (size_t i = 0; i < pool.size(); ++i)
    if (Item& y = pool[pool.size() - 1 - i]; y.t.shape() == x.t.shape() && y.t.dtype() == x.t.dtype() && chance(50)) return y;
  return leaf(x.t.dtype(), x.t.shape());
}

namespace {

std::vector<double> read(const Tensor& t) {
  if (t.dtype() == float64) return t.to_vector<double>();
  std::vector<double> out;
  if (t.dtype() == float32)
    for (float v : t.to_vector<float>()) out.push_back(v);
  else
    for (int64_t v : t.to(int64).to_vector<int64_t>()) out.push_back(static_cast<double>(v));
  return out;
}

}  // namespace

std::vector<Result> Program::run(Coverage* coverage) const {
  Run r(seed_, exact_);
  std::vector<const OpCase*> usable;
  for (const OpCase& c : op_cases())
    if (exact_ ? c.in_exact : c.in_real) usable.push_back(&c);
  std::vector<std::pair<const OpCase*, Item>> made;
  for (int i = 0; i < ops_; ++i) {
    const OpCase* c = usable[static_cast<size_t>(r.pick(0, static_cast<int64_t>(usable.size()) - 1))];
    Item x = c->make(r);
    if (x.t.numel() > 6000) continue;
    if (coverage) ++(*coverage)[{c->name, x.t.dtype()}];
    r.pool.push_back(x);
    made.emplace_back(c, x);
    if (r.chance(10)) x.t.realize();
    if (r.chance(8) && is_float(x.t.dtype())) {  // an update of the cell; older values keep what they were
      Item& y = r.like(x);
      if (&y != &r.pool.back()) {
        r.pool.back().t = x.t.clone();
        r.pool.back().t += y.t;
        r.pool.back().magnitude += y.magnitude;
        r.pool.back().error += y.error + r.unit(x.t.dtype()) * 4 * r.pool.back().magnitude * !exact_;
      }
    }
  }
  // What is asked for: the last value, and some others, together.
  std::vector<Tensor> asked;
  std::vector<Result> results;
  for (size_t i = 0; i < made.size(); ++i)
    if (i + 1 == made.size() || r.chance(25)) {
      asked.push_back(made[i].second.t);
      results.push_back({made[i].first->name, {}, {}, {}, made[i].second.error});
    }
  realize_all(asked);
  for (size_t i = 0; i < asked.size(); ++i) {
    results[i].dtype = asked[i].dtype();
    results[i].shape = asked[i].shape();
    results[i].values = read(asked[i]);
  }
  return results;
}

std::string Program::listing() const {
  Coverage coverage;
  std::string text = fmt::format("program seed {} {} {} ops", seed_, exact_ ? "exact" : "real", ops_);
  return text;
}

}  // namespace fuzz
