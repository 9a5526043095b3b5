// Random kernels under random legal Opts, against the interpreter to the bit.
#include "codegen/heuristic.h"
#include "codegen_support.h"
#include "sinter/error.h"

using namespace codegen_test;
using codegen::Lanes;
using codegen::Unroll;

namespace {

class Maker {
 public:
  explicit Maker(unsigned seed) : rng_(seed) {}

  /// A kernel of one to three stores; what they read and write is laid out at random.
  Bench make() {
    Bench b;
    std::vector<Dim> sizes;
    const int rank = pick(0, 3);
    for (int i = 0; i < rank; ++i) outer_.push_back(b.outer(size()));
    const int stores = pick(1, 3);
    std::vector<UOp> list;
    for (int s = 0; s < stores; ++s) {
      std::vector<UOp> index;
      for (UOp o : outer_)
        if (s == 0 || pick(0, 3)) index.push_back(o);
      for (int i = pick(0, 1); i > 0; --i) index.push_back(b.inner(size(), next_id_++));
      std::shuffle(index.begin(), index.end(), rng_);
      UOp value = expression(b, index, pick(1, 4), 2);
      const bool add = pick(0, 5) == 0;
      UOp target = b.buffer(random_array(DType::F32, shape(index), seed()));
      if (pick(0, 2) == 0) value = value + b.at(target, index);  // in place
      UOp gate = index.empty() || pick(0, 3) ? UOp() : lt(index[0], b.index(pick(0, 4)));
      list.push_back(b.put(target, index, value, add, gate));
    }
    b.stores(std::move(list));
    return b;
  }

  std::vector<Opt> opts(const Bench& b) {
    std::vector<Opt> list;
    const int n = static_cast<int>(b.kernel.outer.size());
    for (int i = 0; i < n; ++i) {
      if (i + 1 == n && pick(0, 1))
        list.push_back(Lanes{i, 2 << pick(0, 3)});
      else if (pick(0, 1))
        list.push_back(Unroll{i, pick(2, 5)});
    }
    return list;
  }

 private:
  int pick(int lo, int hi) { return std::uniform_int_distribution<int>(lo, hi)(rng_); }
  unsigned seed() { return static_cast<unsigned>(rng_()); }
  int64_t size() { return std::vector<int64_t>{1, 2, 3, 5, 8, 17, 33}[static_cast<size_t>(pick(0, 6))]; }
  static std::vector<int64_t> shape(const std::vector<UOp>& index) {
    std::vector<int64_t> s;
    for (UOp i : index) s.push_back(i->src[0]->scalar().as_int());
    return s;
  }

  /// A value that depends on some of `open`: loads in any layout, arithmetic, reductions in reductions.
  UOp expression(Bench& b, const std::vector<UOp>& open, int size, int nesting) {
    if (size <= 1) return leaf(b, open);
    const int kind = pick(0, 7);
    if (kind <= 2 && nesting > 0) return reduction(b, open, size - 1, nesting - 1);
    UOp x = expression(b, open, size / 2, nesting), y = expression(b, open, size - size / 2, nesting);
    switch (kind) {
      case 3: return x + y;
      case 4: return x * y;
      case 5: return maximum(x, y);
      case 6: return where(lt(x, y), x - y, y * 0.5);
      default: return fma(x, y, x);
    }
  }

  UOp leaf(Bench& b, const std::vector<UOp>& open) {
    std::vector<UOp> index, plain;
    for (UOp o : open)
      if (pick(0, 3)) plain.push_back(o);
    std::shuffle(plain.begin(), plain.end(), rng_);
    std::vector<int64_t> dims = shape(plain);
    UOp gate;
    for (size_t d = 0; d < plain.size(); ++d) switch (pick(0, 7)) {
        case 0: index.push_back(b.index(dims[d] - 1) - plain[d]); break;  // mirrored
        case 1: {                                                         // padded by one on the left
          UOp inside = le(b.index(1), plain[d]);
          gate = gate ? gate & inside : inside;
          index.push_back(plain[d] - b.index(1));
          break;
        }
        case 2: index.push_back(mod(plain[d] * b.index(3), b.index(dims[d]))); break;
        case 3: index.push_back(idiv(plain[d], b.index(2))); break;
        default: index.push_back(plain[d]);
      }
    UOp p = b.buffer(random_array(DType::F32, dims, seed()));
    return gate ? b.at(p, index, gate, constant(b.g(), DType::F32, 0.25)) : b.at(p, index);
  }

  UOp reduction(Bench& b, const std::vector<UOp>& open, int size_left, int nesting) {
    std::vector<UOp> ranges, inside = open;
    if (!reduced_.empty() && pick(0, 1))
      ranges.push_back(reduced_[static_cast<size_t>(pick(0, static_cast<int>(reduced_.size()) - 1))]);
    // A range may be shared, but stands inside those around it.
    auto id = [](UOp r) { return r->get<RangeAttr>().id; };
    if (!ranges.empty() && std::any_of(open.begin(), open.end(), [&](UOp o) { return id(o) >= id(ranges[0]); }))
      ranges.clear();
    if (ranges.empty() || pick(0, 2) == 0) ranges.push_back(b.over(size(), next_id_++));
    for (UOp r : ranges) {
      inside.push_back(r);
      reduced_.push_back(r);
    }
    const Tree tree{1 << pick(0, 4),
                    pick(0, 2) ? 0 : std::vector<int64_t>{1, 4, 7, 16}[static_cast<size_t>(pick(0, 3))]};
    const Combine combine = std::vector<Combine>{Combine::Add, Combine::Add, Combine::Max, Combine::Min,
                                                 Combine::Dot}[static_cast<size_t>(pick(0, 4))];
    std::vector<UOp> values{expression(b, inside, size_left, nesting)};
    if (combine == Combine::Dot) values.push_back(leaf(b, inside));
    return b.reduce(combine, values, ranges, tree);
  }

  std::mt19937 rng_;
  std::vector<UOp> outer_, reduced_;
  int next_id_ = 10;
};

/// SINTER-independent size of the run: enough for CI, more by hand.
int programs() {
  const char* n = std::getenv("CODEGEN_FUZZ");
  return n ? std::atoi(n) : 60;
}
unsigned first_seed() {
  const char* n = std::getenv("CODEGEN_SEED");
  return n ? static_cast<unsigned>(std::atoi(n)) : 1;
}

}  // namespace

TEST_CASE("random kernels under random Opts", "[codegen]") {
  int with_opts = 0, refused = 0;
  for (unsigned seed = first_seed(); seed < first_seed() + static_cast<unsigned>(programs()); ++seed) {
    INFO("CODEGEN_SEED=" << seed);
    Maker maker(seed);
    Bench b = maker.make();
    const std::vector<Opt> opts = seed % 2 ? maker.opts(b) : codegen::heuristic(b.kernel, runtime::host_target());
    std::vector<Array> before;
    for (const Array& a : b.arrays) before.push_back(copy(a));
    b.check({}, false);
    if (opts.empty()) continue;
    b.arrays = std::move(before);
    ++with_opts;
    INFO(to_string(opts));
    try {
      b.check(opts, false);
    } catch (const InternalError& e) {
      if (std::string(e.what()).find("is not legal") == std::string::npos) throw;
      ++refused;
    }
  }
  CHECK(refused <= with_opts / 2);
}
