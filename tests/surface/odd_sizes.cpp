#include "surface/odd_sizes.h"

#include <algorithm>
#include <set>

namespace surface {

using Case = std::vector<Input>;

namespace {

constexpr int64_t kRank = 8;
constexpr int64_t kMostElements = 1000;  ///< of an input: PyTorch's results are committed

Input with_sizes(Input input, const std::vector<int64_t>& sizes) {
  input.shape = Shape(sizes);
  return input;
}

std::set<int64_t> sizes_in(const Case& inputs) {
  std::set<int64_t> out;
  for (const Input& in : inputs)
    for (const int64_t size : sizes_of(in.shape)) out.insert(size);
  return out;
}

/// A prime above the size that is no other size of the case: so large that it takes several vectors and fills none.
int64_t prime_beyond(int64_t size, const std::set<int64_t>& taken) {
  for (const int64_t prime : {2, 11, 13, 17, 19, 23})
    if (prime > size && (size == 1 || prime > 2) && !taken.contains(prime)) return prime;
  return 29;
}

/// Indices below a size stay below it.
Case renamed(Case inputs, int64_t from, int64_t to) {
  for (Input& in : inputs) {
    std::vector<int64_t> sizes = sizes_of(in.shape);
    std::replace(sizes.begin(), sizes.end(), from, to);
    in = with_sizes(in, sizes);
    if (in.below == from) in.below = std::max<int64_t>(to, 1);
  }
  return inputs;
}

/// The first `count` inputs behind leading axes: all by as many.
Case behind_axes(Case inputs, size_t count) {
  int64_t rank = 0;
  for (size_t k = 0; k < count; ++k) rank = std::max(rank, static_cast<int64_t>(inputs[k].shape.rank()));
  if (rank >= kRank) return inputs;
  for (size_t k = 0; k < count; ++k) {
    std::vector<int64_t> sizes(static_cast<size_t>(kRank - rank), 1);
    sizes[0] = 2;
    if (sizes.size() > 2) sizes[2] = 3;
    for (const int64_t size : sizes_of(inputs[k].shape)) sizes.push_back(size);
    inputs[k] = with_sizes(inputs[k], sizes);
  }
  return inputs;
}

/// What elementwise functions are called on.
const std::vector<Shape> kShapes = {Shape{},   Shape{0},       Shape{1},
                                    Shape{17}, Shape{2, 0, 3}, Shape{1, 2, 1, 3, 1, 1, 2, 1}};

/// Cases, each once.
class Cases {
 public:
  explicit Cases(const Row& row) {
    for (const Case& inputs : row.cases) known_.insert(name_of(inputs));
  }
  void add(const Case& inputs, size_t of) {
    for (const Input& in : inputs)
      if (in.shape.numel() > kMostElements) return;
    if (known_.insert(name_of(inputs)).second) cases.push_back({inputs, of});
  }
  std::vector<OddCase> cases;

 private:
  static std::vector<int64_t> name_of(const Case& inputs) {
    std::vector<int64_t> name;
    for (const Input& in : inputs) {
      name.push_back(-1 - static_cast<int64_t>(in.kind));
      name.push_back(in.below);
      for (const int64_t size : sizes_of(in.shape)) name.push_back(size);
    }
    return name;
  }
  std::set<std::vector<int64_t>> known_;
};

}  // namespace

Case of_ones(Case inputs) {
  for (Input& in : inputs) {
    in = with_sizes(in, std::vector<int64_t>(in.shape.rank(), 1));
    in.below = std::min<int64_t>(in.below, 1);
  }
  return inputs;
}

std::vector<OddCase> odd_cases(const Row& row) {
  Cases made(row);
  if (row.elementwise)
    for (const Shape& shape : kShapes) made.add(Case(row.cases[0].size(), Input(shape)), 0);
  for (size_t c = row.elementwise ? 1 : 0; c < row.cases.size(); ++c) {
    const Case& inputs = row.cases[c];
    const std::set<int64_t> sizes = sizes_in(inputs);
    for (const int64_t size : sizes)
      for (const int64_t other : {int64_t{0}, int64_t{1}, prime_beyond(size, sizes)})
        made.add(renamed(inputs, size, other), c);
    made.add(of_ones(inputs), c);
    made.add(behind_axes(inputs, inputs.size()), c);
    made.add(behind_axes(inputs, std::min<size_t>(1, inputs.size())), c);
  }
  return made.cases;
}

namespace {

/// Numbers of a list, one after another.
class Reader {
 public:
  explicit Reader(const std::vector<double>& list) : list_(list) {}
  int64_t next() { return static_cast<int64_t>(list_.at(at_++)); }
  std::vector<double> take(int64_t count) {
    std::vector<double> out;
    for (int64_t i = 0; i < count; ++i) out.push_back(list_.at(at_++));
    return out;
  }

 private:
  const std::vector<double>& list_;
  size_t at_ = 0;
};

}  // namespace

std::vector<std::optional<Outcome>> recorded_outcomes(const std::vector<double>& layout,
                                                      const std::vector<double>& values) {
  Reader described(layout), numbers(values);
  std::vector<std::optional<Outcome>> out(static_cast<size_t>(described.next()));
  for (std::optional<Outcome>& one : out) {
    const int64_t results = described.next();
    if (results < 0) continue;
    one.emplace();
    for (int64_t k = 0; k < results; ++k) {
      std::vector<int64_t> shape(static_cast<size_t>(described.next()));
      int64_t count = 1;
      for (int64_t& size : shape) count *= size = described.next();
      one->shapes.push_back(std::move(shape));
      one->results.push_back(numbers.take(count));
    }
    for (int64_t k = described.next(); k > 0; --k) one->gradients.push_back(numbers.take(described.next()));
  }
  return out;
}

}  // namespace surface
