// Random programs of state, versions and gradients against the eager reference: every read agrees, errors come on both
// sides, refused plans change nothing, crashed ones give the right value or the error, and at the end nothing is left
// alive.
#include <cstdlib>
#include <optional>
#include <random>
#include <string>

#include "fuzz/fault.h"
#include "fuzz/state_eager.h"
#include "semantics/support.h"
#include "short_memory.h"
#include "sinter/error.h"

namespace {

using namespace semantics;

struct Both {
  Tensor t;
  eager::T e;
};

struct Tally {
  int reads = 0, refused = 0, short_of_memory = 0, errors_after_crash = 0;
};

class Program {
 public:
  Program(uint64_t seed, Tally& tally) : rnd_(seed), seed_(seed), tally_(tally) {}

  void run(int steps) {
    for (int i = 0; i < 2; ++i) {
      params_.push_back(fresh());
      params_.back().t.requires_grad();
      params_.back().e.requires_grad();
    }
    live_ = params_;
    for (int i = 0; i < steps; ++i) {
      step_ = i;
      threads_[thread_].run([&] { act(); });
      while (live_.size() > 10) live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(pick()));
      threads_[thread_].run([&] { tame(); });
    }
    no_grad_ = false;
    if (seed_ % 4 == 3)
      crash();
    else
      for (const auto* list : {&live_, &params_, &positions_, &numbers_})
        for (const Both& b : *list) compare(b, "at the end");
  }

 private:
  size_t below(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(rnd_); }
  size_t pick() { return below(live_.size()); }
  bool chance(double p) { return std::uniform_real_distribution<double>(0, 1)(rnd_) < p; }
  [[noreturn]] void fail(const std::string& what) {
    throw std::runtime_error("program " + std::to_string(seed_) + ", step " + std::to_string(step_) + ": " + what);
  }

  static Tensor tensor_of(const eager::Mat& m) { return from(m.v, {m.rows, m.cols}); }
  Both made(const eager::Mat& m) { return {tensor_of(m), eager::T(m)}; }
  Both fresh() {
    eager::Mat m(3, 3);
    for (double& v : m.v) v = static_cast<double>(below(5)) - 2;
    return made(m);
  }

  /// Does the same on both sides: both throw UsageError or none does. Gives what they gave, if they did.
  template <class F, class G>
  bool both(F&& ours, G&& theirs) {
    const std::optional<no_grad> off = no_grad_ ? std::optional<no_grad>(std::in_place) : std::nullopt;
    eager::world().grad_mode = !no_grad_;
    bool refused[2] = {};
    try {
      ours();
    } catch (const UsageError&) { refused[0] = true; }
    try {
      theirs();
    } catch (const UsageError&) { refused[1] = true; }
    if (refused[0] != refused[1]) fail(refused[0] ? "refused by Sinter alone" : "accepted by Sinter alone");
    return !refused[0];
  }
  template <class F, class G>
  void value(F&& ours, G&& theirs) {
    Both b;
    if (both([&] { b.t = ours(); }, [&] { b.e = theirs(); })) live_.push_back(std::move(b));
  }

  void compare(const Both& b, const char* when) {
    ++tally_.reads;
    Vec got;
    if (b.t.dtype() == DType::I64)
      for (int64_t v : b.t.to_vector<int64_t>()) got.push_back(static_cast<double>(v));
    else
      got = b.t.to_vector<double>();
    if (!close(got, b.e.a().v)) fail(std::string("a wrong value ") + when);
  }

  void act() {
    enum Kind {
      New,
      Op,
      View,
      Slice,
      Assign,
      Item,
      Drop,
      Copy,
      Clone,
      Detach,
      Leaf,
      Toggle,
      Backward,
      Step,
      Grad,
      Zero,
      Fault,
      Thread,
      Gradient,
      Given,
      Flat,
      Short,
      Alias
    };
    static constexpr Kind kKinds[] = {New,      Op,       Op,   Op,   Op,    Op,    Op,    Slice,  Assign, Assign,
                                      Assign,   Item,     Item, Drop, Drop,  Copy,  Clone, Detach, Leaf,   Toggle,
                                      Backward, Backward, Step, Grad, Zero,  View,  Fault, Fault,  Thread, Gradient,
                                      Given,    Given,    Flat, Flat, Short, Short, Alias};
    const Kind kind = live_.size() < 2 ? New : kKinds[below(std::size(kKinds))];
    const Both x = live_.empty() ? fresh() : live_[pick()], y = live_.empty() ? fresh() : live_[pick()];
    switch (kind) {
      case New: return live_.push_back(fresh());
      case Op: return operation(x, y);
      case View: return value([&] { return x.t.transpose(); }, [&] { return transpose(x.e); });
      case Slice: return slice(x, y);
      case Assign: return assign(x, y, chance(.5));
      case Item: return compare(x, "at a read");
      case Drop:
        if (live_.size() > 3) live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(pick()));
        return;
      case Copy: return live_.push_back(x);
      case Clone: return value([&] { return x.t.clone(); }, [&] { return x.e.clone(); });
      case Detach: return value([&] { return x.t.detach(); }, [&] { return x.e.detach(); });
      case Leaf:
        if (chance(.3)) {
          const bool copied = chance(.3);  // else it shares the memory of x
          value(
              [&] {
                Tensor leaf = copied ? x.t.detach().clone() : x.t.detach();
                return leaf.requires_grad();
              },
              [&] {
                eager::T leaf = x.e.detach();
                leaf.requires_grad();
                return leaf;
              });
        }
        return;
      case Toggle: no_grad_ = !no_grad_; return;
      case Backward: return backward(x);
      case Step: both([&] { step(); }, [&] { estep(); }); return;
      case Grad: {
        const Both& p = params_[below(2)];
        return value([&] { return p.t.grad(); }, [&] { return p.e.grad(); });
      }
      case Zero: {
        Both& p = params_[below(2)];
        p.t.zero_grad();
        p.e.zero_grad();
        return;
      }
      case Fault: return fault(x);
      case Thread: thread_ = below(std::size(threads_)); return;
      case Gradient:
        return value([&] { return gradient(x.t.sum(), {y.t})[0].detach(); },
                     [&] { return eager::sum(x.e).gradient(y.e); });
      case Given: return chance(.5) ? given(positions_, x) : given(numbers_, x);
      case Flat: return flat(x);
      case Short: return short_of_memory(x);
      case Alias: return alias(x, y);
    }
  }

  /// Leaves that lie nowhere until they are stored as they are: positions, constants and arguments of the launch. And
  /// what is made of them alone, as cheap as it is.
  void given(std::vector<Both>& list, const Both& x) {
    const bool positions = &list == &positions_;
    auto leaf = [&]() -> Both {
      if (positions) {
        eager::Mat m(1, 3);
        m.v = {0, 1, 2};
        return {arange(3), eager::T(m)};
      }
      const auto v = static_cast<double>(below(5)) - 2;
      return {chance(.5) ? full({}, v, float64) : number(v, float64), eager::T(eager::Mat(1, 1, v))};
    };
    while (list.size() < 3) list.push_back(leaf());
    Both &a = list[below(list.size())], b = list[below(list.size())];
    switch (below(6)) {
      case 0: return compare(a, "of a leaf");
      case 1:
        a = leaf();
        a.t.realize();
        return;
      case 2: list[0] = {a.t + b.t, add(a.e, b.e)}; return;
      case 3:
        if (std::abs(a.e.a().v.back()) < 1e6) {
          a.t.assign(a.t + b.t);
          a.e.assign(add(a.e, b.e));
        }
        return;
      case 4:
        a.t.assign(b.t);
        a.e.assign(b.e);
        return;
      default: {
        const eager::Mat& m = b.e.a();
        eager::Mat rows(3, 3);
        for (int i = 0; i < 9; ++i) rows.v[static_cast<size_t>(i)] = m.v[static_cast<size_t>(i % m.cols)];
        return value([&] { return x.t + b.t.to(float64); }, [&] { return add(x.e, eager::T(rows)); });
      }
    }
  }

  /// Reshapes, which lie where their sources lie: one memory, read and written in two shapes.
  void flat(const Both& x) {
    auto reshaped = [&](Both& f) { both([&] { f.t = x.t.reshape({9}); }, [&] { f.e = eager::scale(x.e, 1); }); };
    while (flats_.size() < 2) reshaped(flats_.emplace_back());
    Both& f = flats_[below(flats_.size())];
    switch (below(5)) {
      case 0: return reshaped(f);
      case 1: return compare(f, "of a reshape");
      case 2: return value([&] { return f.t.reshape({3, 3}); }, [&] { return eager::scale(f.e, 1); });
      case 3:
        both([&] { f.t.assign(f.t * .5 + x.t.reshape({9})); }, [&] { f.e.assign(add(eager::scale(f.e, .5), x.e)); });
        return;
      default:
        both([&] { f.t.at({sinter::Slice{0, 3}}) = x.t.reshape({9}).index({sinter::Slice{3, 6}}); },
             [&] { f.e.assign(rows(x.e, 1, 2), 0, 1); });
    }
  }

  /// One expression of values in two memories, then of two values in one.
  void alias(const Both& x, const Both& y) {
    std::vector<Both> stored;
    for (const Both* b : {&x, &y, &x}) {
      Both d;
      if (!both([&] { d.t = b->t.detach(); }, [&] { d.e = b->e.detach(); })) return;
      compare(d, "before it is read again");
      stored.push_back(std::move(d));
    }
    for (size_t other : {1, 2}) {
      const Both &a = stored[0], &b = stored[other];
      const Both sum{a.t * .5 + b.t, add(eager::scale(a.e, .5), b.e)};
      compare(sum, "of two stored values");
    }
  }

  void operation(const Both& x, const Both& y) {
    switch (below(7)) {
      case 0: return value([&] { return x.t + y.t; }, [&] { return add(x.e, y.e); });
      case 1: return value([&] { return x.t * y.t * .25; }, [&] { return eager::scale(mul(x.e, y.e), .25); });
      case 2: return value([&] { return x.t - y.t; }, [&] { return sub(x.e, y.e); });
      case 3: return value([&] { return relu(x.t); }, [&] { return eager::relu(x.e); });
      case 4: return value([&] { return maximum(x.t, y.t); }, [&] { return eager::maximum(x.e, y.e); });
      case 5: return value([&] { return x.t * .5; }, [&] { return eager::scale(x.e, .5); });
      default:
        return value([&] { return matmul(x.t, y.t) * .125; }, [&] { return eager::scale(matmul(x.e, y.e), .125); });
    }
  }
  void assign(Both x, const Both& y, bool reads_old) {
    both([&] { reads_old ? x.t.assign(x.t * .5 + y.t) : x.t.assign(y.t); },
         [&] { reads_old ? x.e.assign(add(eager::scale(x.e, .5), y.e)) : x.e.assign(y.e); });
  }
  void slice(Both x, const Both& y) {
    static constexpr std::pair<int, int> kRows[] = {{0, 1}, {1, 2}, {0, 2}, {1, 3}};
    const auto [a, b] = kRows[below(4)];
    const int from = chance(.5) ? 0 : 3 - (b - a), to = from + b - a;
    both([&] { x.t.at({sinter::Slice{a, b}}) = y.t.index({sinter::Slice{from, to}}); },
         [&] { x.e.assign(rows(y.e, from, to), a, b); });
  }
  void backward(const Both& x) {
    const bool keep = chance(.4), square = chance(.5);
    both([&] { (square ? x.t * x.t : x.t).sum().backward(keep); },
         [&] { eager::sum(square ? mul(x.e, x.e) : x.e).backward(keep); });
  }
  void step() {
    optim::SGD opt({params_[0].t, params_[1].t}, {.lr = .5});
    opt.step();
  }
  void estep() {
    std::vector<eager::T> list{params_[0].e, params_[1].e};
    eager::step(list, .5);
  }

  /// A plan that does not compile: everything stays as it was.
  void fault(const Both& x) {
    const testing::PlantedFaults faults;
    faults->refuse = [](ir::Op) { return true; };
    const bool stepping = chance(.5);
    try {
      if (stepping) {
        step();
        estep();
      } else {
        compare(x, "though a plan was refused");
      }
    } catch (const CompileError&) { ++tally_.refused; }
  }

  /// A read where memory is short: the value, or OutOfMemory, and everything is still to be had.
  void short_of_memory(const Both& x) {
    const auto limit = memory_beyond(128 * below(10));
    try {
      compare(x, "where memory is short");
    } catch (const OutOfMemory&) { ++tally_.short_of_memory; }
  }

  /// Keeps numbers small: both sides get ones for what has grown.
  void tame() {
    auto size = [](const Both& b) {
      double most = 0;
      for (double v : b.e.a().v) most = std::max(most, std::abs(v));
      return most;
    };
    for (Both& b : live_)
      if (!(size(b) <= 1e6)) b = made(eager::Mat(3, 3, 1));
    for (Both& p : params_)
      if (!(size(p) <= 1e3)) {
        const no_grad off;
        eager::world().grad_mode = false;
        p.t.assign(tensor_of(eager::Mat(3, 3, 1)));
        p.e.assign(eager::T(eager::Mat(3, 3, 1)));
      }
  }

  /// A launch fails in the middle of a step: each handle reads right or gives the error, never another value.
  void crash() {
    both([&] { (matmul(params_[0].t, params_[1].t) * params_[0].t).sum().backward(); },
         [&] { eager::sum(mul(matmul(params_[0].e, params_[1].e), params_[0].e)).backward(false); });
    const testing::PlantedFaults faults;
    faults->fail_at_launch = static_cast<int>(below(6));
    try {
      step();
    } catch (const BackendError&) {}
    estep();
    for (int turn = 0; turn < 3; ++turn)
      for (const auto* list : {&live_, &params_})
        for (const Both& b : *list) {
          try {
            compare(b, "after a crash");
          } catch (const BackendError&) { ++tally_.errors_after_crash; }
        }
  }

  std::mt19937_64 rnd_;
  const uint64_t seed_;
  Tally& tally_;
  std::vector<Both> params_, live_;
  std::vector<Both> positions_, numbers_;  ///< see given()
  std::vector<Both> flats_;                ///< see flat()
  Worker threads_[3];
  size_t thread_ = 0;
  int step_ = 0;
  bool no_grad_ = false;
};

/// What is wrong with the program of this seed; nothing if all agrees.
std::optional<std::string> failure_of(uint64_t seed, Tally& tally) {
  const CounterDelta before;
  std::optional<std::string> failure;
  try {
    Program(seed, tally).run(60);
  } catch (const std::exception& e) { failure = e.what(); }
  eager::world() = {};
  if (!failure && (before.nodes() || before.buffers()))
    failure = "program " + std::to_string(seed) + ": " + std::to_string(before.nodes()) + " nodes and " +
              std::to_string(before.buffers()) + " buffers are left";
  return failure;
}

uint64_t programs() {
  const char* wanted = std::getenv("STATE_FUZZ_PROGRAMS");
  return wanted ? std::strtoull(wanted, nullptr, 10) : 300;
}

}  // namespace

TEST_CASE("random state programs agree with the eager reference", "[state]") {
  debug::set_executor(GENERATE(debug::Executor::Interpreter, debug::Executor::Compiled));
  const LeakCheck clean;
  Tally tally;
  for (uint64_t seed = 0; seed < programs(); ++seed)
    if (const auto failure = failure_of(seed, tally)) FAIL(*failure);
  CHECK(tally.reads > static_cast<int>(programs()) * 5);
  CHECK(tally.refused > 0);
  CHECK(tally.short_of_memory > 0);
  CHECK(tally.errors_after_crash > 0);
}

TEST_CASE("each wrong rule of state is found by the random programs", "[.mutants]") {
  using fuzz::Mutant;
  struct Row {
    Mutant mutant;
    const char* name;
  };
  const Row row = GENERATE(
      values<Row>({{Mutant::InPlaceUnderKeptReader, "in place although a kept node reads the old version"},
                   {Mutant::InPlaceWithOtherOwner, "in place although another node owns the storage"},
                   {Mutant::NoReaderOrder, "no order between readers and a store in place"},
                   {Mutant::StorageWrittenTwice, "one storage written by two stores of a plan"},
                   {Mutant::HistoryLetGo, "a stored node lets its sources go although it requires grad"},
                   {Mutant::CommitCountedTwice, "every reference that a step ends is counted twice"},
                   {Mutant::VersionsMerged, "equal versions are one node"},
                   {Mutant::GradInterned, "nodes that require grad are interned"},
                   {Mutant::PoisonOnlyCurrent, "a failure poisons only what is written in place"},
                   {Mutant::BlindImprint, "a program is known again whoever else holds its nodes"},
                   {Mutant::AnyNumberFits, "a program is known again whatever its numbers and axes"},
                   {Mutant::AnySlotFits, "a program is known again whichever of its values share memory"},
                   {Mutant::NarrowKey, "the plan key holds only the outlives bits"},
                   {Mutant::FirstDecidesOutlives, "of equal nodes only the first decides what outlives"},
                   {Mutant::ValueNotKept, "a value that a gradient will compute again does not keep its sources"},
                   {Mutant::CirclesNotCut, "stores that wait for each other are not cut"},
                   {Mutant::PositionsAreGiven, "positions that were stored are not kept for what reads them"},
                   {Mutant::NumbersAreGiven, "numbers that were stored are not kept for what reads them"},
                   {Mutant::MaxTieToFirst, "maximum gives ties to its first operand"},
                   {Mutant::SpareUnkept, "what stays lazy where memory is short does not keep what it is made of"},
                   {Mutant::NotPutBack, "a store of a plan that ran out of memory stays"}}));
  CAPTURE(row.name);
  Tally tally;
  const auto failure = [&](uint64_t seed) {
    debug::set_executor(debug::Executor::Interpreter);
    const testing::PlantedFaults checked;
    checked->check_plans = true;
    return failure_of(seed, tally);
  };
  std::optional<std::string> found;
  uint64_t seed = 0;
  {
    const fuzz::ScopedMutant fault(row.mutant);
    while (!found && ++seed < 4000) found = failure(seed);
  }
  INFO(found.value_or("not found"));
  CHECK(found);
  CHECK(failure(seed).value_or("") == "");  // it was the fault
}
