// Evaluates index tensors and matrices with the interpreter until it finds what a kernel has raised a bit for.
#include "tensor/eval/run_error.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include "interp/interpreter.h"
#include "ir/contains.h"
#include "ir/lapack_call.h"
#include "ir/origin.h"
#include "ir/storage.h"
#include "ir/walk.h"
#include "runtime/exec/buffer.h"
#include "tensor/core/operands.h"
#include "tensor/core/refusals.h"

namespace sinter::tensor {
namespace {

using runtime::Array;

/// Memory that an index tensor or a matrix is made from, held to be read after the run, until a plan overwrites it or
/// memory runs out. It is not an owner of the memory, so plans may still write in place: their decisions do not depend
/// on it.
class HeldMemory : public std::enable_shared_from_this<HeldMemory> {
 public:
  static std::shared_ptr<HeldMemory> of(Storage& memory) {
    if (const auto it = all().find(&memory); it != all().end()) return it->second->shared_from_this();
    const std::shared_ptr<HeldMemory> held(new HeldMemory(memory));
    all().emplace(&memory, held.get());
    return held;
  }
  static void overwritten(const Storage& memory) {
    if (all().empty()) return;
    if (const auto it = all().find(&memory); it != all().end()) it->second->let_go();
  }
  static bool release_all() {
    const bool any = !all().empty();
    while (!all().empty()) all().begin()->second->let_go();
    return any;
  }
  HeldMemory(const HeldMemory&) = delete;
  HeldMemory& operator=(const HeldMemory&) = delete;
  ~HeldMemory() { let_go(); }

  /// Null once the memory is overwritten or released, or if the launch that made it failed.
  const runtime::Buffer* buffer() const {
    return memory_ && memory_->error.empty() ? static_cast<const runtime::Buffer*>(memory_) : nullptr;
  }

 private:
  explicit HeldMemory(Storage& memory) : memory_(&memory) { memory.retain(); }
  void let_go() {
    Storage* const memory = std::exchange(memory_, nullptr);
    if (!memory) return;
    all().erase(memory);
    memory->release();
  }
  /// By memory. Never destroyed: held memory may outlive main. Guarded by the graph's mutex.
  static std::unordered_map<const Storage*, HeldMemory*>& all() {
    static auto* const map = new std::unordered_map<const Storage*, HeldMemory*>;
    return *map;
  }

  Storage* memory_;
};

std::vector<int64_t> sizes(const Shape& shape) { return mapped(shape, &Dim::value); }

/// Where the first element of `index` is that is out of range for an axis of this size.
std::optional<int64_t> outside(const Array& index, int64_t size) {
  for (int64_t i = 0; i < index.numel(); ++i) {
    const Scalar v = index.at(i);
    if (runtime::position_of(v, index.dtype, size) < 0) return i;
  }
  return {};
}

/// The first matrix whose results are all NaN.
std::optional<int64_t> first_without_result(const Array& rows) {
  const int64_t row = rows.shape.back();
  for (int64_t begin = 0; begin < rows.numel(); begin += row) {
    bool none = true;
    for (int64_t i = 0; i < row && none; ++i) none = std::isnan(rows.at(begin + i).as_double());
    if (none) return begin / row;
  }
  return {};
}

bool below_storage(UOp n) { return !n->storage(); }

/// The gathers, scatters and calls of LAPACK of a plan, with what they read copied to a graph of its own. The original
/// nodes are gone by the time an error is known.
class Suspects {
 public:
  Suspects(std::span<const UOp> values, const std::function<bool(UOp)>& intact, size_t most_bytes) {
    const std::vector<UOp> order = topological(values, below_storage);
    const std::vector<size_t> bytes = bytes_below(order);
    std::vector<UOp> found, evaluable;
    for (UOp n : order) {
      if (n->storage()) continue;
      const UOp value = n->op == Op::Lapack ? n : picks(n) ? n->src[1] : UOp();
      if (!value) continue;
      found.push_back(n);
      if (bytes[value->position] <= most_bytes) evaluable.push_back(value);
    }
    // In the order of the calls. Sources of a commutative op are in no fixed order.
    std::ranges::sort(found, [](UOp x, UOp y) { return x->id < y->id; });
    copy(evaluable, intact);
    for (UOp n : found) {
      const auto value = copied_.find(n->op == Op::Lapack ? n.get() : n->src[1].get());
      Suspect s{value == copied_.end() ? Copy() : value->second, n->state.origin};
      if (n->op == Op::Lapack) {
        s.routine = lapack_call_of(n).routine;
        s.matrices = n->src[0]->shape;
        s.dtype = n->dtype;
      } else {
        s.axis = n->pick_axis();
        s.size = n->src[0]->shape[s.axis].value();
        s.weights = picks_weights(n->src[1]);
      }
      suspects_.push_back(std::move(s));
    }
    copied_.clear();
  }

  /// What the bits of the error word say.
  std::string error_text(uint32_t bits) const {
    const bool index = (bits & runtime::kIndexError) != 0;
    for (const Suspect& s : suspects_) {
      if (s.picks() != index) continue;
      const std::string text = s.copied.value ? fault_of(s) : "";
      if (!text.empty()) return text;
    }
    const bool weights = std::ranges::any_of(suspects_, [](const Suspect& s) { return s.weights; });
    std::string text = !index    ? "a matrix has no result"
                       : weights ? "an index is out of range, or weights cannot be drawn from"
                                 : "an index is out of range";
    std::vector<const NodeOrigin*> named;
    for (const Suspect& s : suspects_)
      if (s.picks() == index && !s.origin->call.empty() && !contains(named, s.origin)) {
        text += (named.empty() ? ", in " : " or ") + call_site(*s.origin);
        named.push_back(s.origin);
      }
    return text + consequence(index);
  }

 private:
  /// A node in this graph. `given` is the same with what class_numbers() was given in place of what it made; `ignored`
  /// is the number of a class that is left out.
  struct Copy {
    UOp value, given;
    std::optional<int64_t> ignored = {};
  };

  /// A node that may have raised a bit.
  struct Suspect {
    Copy copied;  ///< the index tensor, or the results of LAPACK; null: not evaluable
    const NodeOrigin* origin;
    int64_t size = 0, axis = 0;                 ///< of what an index picks from
    bool weights = false;                       ///< what is picked says whether weights are accepted
    std::optional<LapackRoutine> routine = {};  ///< none: it picks
    Shape matrices = {};
    DType dtype = {};
    bool picks() const { return !routine; }
  };

  static bool picks(UOp n) { return n->op == Op::Gather || n->op == Op::Scatter; }
  static std::string consequence(bool index) {
    return index ? "; the elements it picks are 0, and additions through it were left out" : "; its results are NaN";
  }
  struct IndexSource {
    std::shared_ptr<HeldMemory> memory;  ///< null: the run overwrote it
    DType dtype;
    std::vector<int64_t> sizes;
  };

  static std::string call_site(const NodeOrigin& o) { return fmt::format("{} at {}:{}", o.call, o.file, o.line); }

  /// Per node, the bytes of memory it is made from. Memory that is reached by several paths counts once per path.
  static std::vector<size_t> bytes_below(const std::vector<UOp>& order) {
    std::vector<size_t> bytes(order.size());
    for (size_t i = 0; i < order.size(); ++i) {
      if (order[i]->storage())
        bytes[i] = order[i]->storage()->bytes();
      else
        for (UOp s : order[i]->src)
          bytes[i] += std::min(bytes[s->position], std::numeric_limits<size_t>::max() - bytes[i]);
    }
    return bytes;
  }

  /// Copies `values` and their sources into this graph. Memory becomes a Param.
  void copy(std::span<const UOp> values, const std::function<bool(UOp)>& intact) {
    for (UOp n : topological(values, below_storage)) {
      Copy& made = copied_[n.get()];
      if (n->storage()) {
        const auto slot = static_cast<int64_t>(sources_.size());
        const bool held = intact(n) && !(n->storage()->foreign() && n->device != Device::cpu());
        sources_.push_back({held ? HeldMemory::of(*n->storage()) : nullptr, n->dtype, sizes(n->shape)});
        made.value = made.given = graph_.make({Op::Param, n->dtype, n->shape, {}, slot, n->device});
        continue;
      }
      std::vector<UOp> values_below, given_below;
      for (UOp s : n->src) {
        const Copy& below = copied_.at(s.get());
        values_below.push_back(below.value);
        given_below.push_back(below.given);
        if (below.ignored) made.ignored = below.ignored;
      }
      if (const std::optional<int64_t> ignored = ignored_class(n)) made.ignored = ignored;
      const UOp given = given_classes(n);
      const bool same = !given && values_below == given_below;
      made.value = graph_.make({n->op, n->dtype, n->shape, values_below, n->attr, n->device});
      made.given = given  ? copied_.at(given.get()).given
                   : same ? made.value
                          : graph_.make({n->op, n->dtype, n->shape, given_below, n->attr, n->device});
    }
  }

  /// What is wrong with a suspect; empty: nothing, as far as is known.
  std::string fault_of(const Suspect& s) const {
    const std::string site = s.origin->call.empty() ? "" : ", in " + call_site(*s.origin);
    try {
      const Array value = evaluate(s.copied.value);
      if (s.picks()) return index_fault(s, value, site);
      const std::optional<int64_t> bad = first_without_result(value);
      if (!bad) return "";
      const std::string which = value.shape.size() > 1 ? fmt::format("matrix {} of ", *bad) : "the matrix ";
      return fmt::format("{}{} {} {}{}{}", which, name_of(s.dtype), to_string(s.matrices), lapack_failure(*s.routine),
                         site, consequence(false));
    } catch (const std::exception&) {  // the general message holds in any case
      return "";
    }
  }

  std::string index_fault(const Suspect& s, const Array& value, const std::string& site) const {
    const std::optional<int64_t> at = outside(value, s.size);
    if (!at) return "";
    int64_t bad = value.at(*at).as_int();
    if (const std::string fault = weights_fault(bad); !fault.empty()) {
      const std::string which = value.numel() > 1 ? fmt::format("row {} of the weights: they", *at) : "the weights";
      return fmt::format("{} {}{}; what is drawn from them is 0", which, fault, site);
    }
    std::string classes;
    if (s.copied.given != s.copied.value) {
      bad = evaluate(s.copied.given).at(*at).as_int();
      classes = fmt::format(" (a class is 0 to {}{})", s.size - 1,
                            s.copied.ignored ? fmt::format("; ignore_index is {}", *s.copied.ignored) : "");
    }
    return fmt::format("index {} is out of range for {} elements along axis {}{}{}{}", bad, s.size, s.axis, classes,
                       site, consequence(true));
  }

  /// Throws what reading the memory throws, or std::bad_optional_access if it is no longer held.
  Array evaluate(UOp value) const {
    std::vector<Array> memory(sources_.size());
    for (UOp n : topological(value)) {
      if (n->op != Op::Param) continue;
      const auto slot = static_cast<size_t>(n->integer());
      const IndexSource& source = sources_[slot];
      const runtime::Buffer* buffer = source.memory ? source.memory->buffer() : nullptr;
      if (!buffer) throw std::bad_optional_access();
      memory[slot] = Array::read(source.dtype, source.sizes, *buffer);
    }
    return runtime::interpret({&value, 1}, {.params = memory})[0];
  }

  Arena graph_;
  std::unordered_map<const Node*, Copy> copied_;  ///< while suspects are collected
  std::vector<IndexSource> sources_;              ///< by slot
  std::vector<Suspect> suspects_;
};

}  // namespace

ErrorReporter make_error_reporter(std::span<const UOp> values, const std::function<bool(UOp)>& intact,
                                  size_t most_bytes) {
  return [suspects = std::make_shared<const Suspects>(values, intact, most_bytes)](uint32_t bits) {
    return suspects->error_text(bits);
  };
}

void on_overwrite(const Storage& memory) { HeldMemory::overwritten(memory); }

bool release_held_memory() { return HeldMemory::release_all(); }

void DeferredErrorCollector::add(const Storage& memory) {
  const std::shared_ptr<DeferredError>& n = memory.deferred_error;
  if (n && !n->silent() && !contains(collected_, n)) collected_.push_back(n);
}

std::shared_ptr<DeferredError> DeferredErrorCollector::notice(runtime::Execution& execution, uint32_t bits,
                                                              const std::function<ErrorReporter()>& make_reporter) && {
  if (bits) return std::make_shared<DeferredError>(make_reporter()(bits), nullptr, std::move(collected_));
  if (execution.error)
    return std::make_shared<DeferredError>(
        "",
        [word = std::shared_ptr<const runtime::Buffer>(std::move(execution.error)), say = make_reporter()] {
          uint32_t read = 0;
          word->read(&read);
          return read ? say(read) : std::string();
        },
        std::move(collected_));
  if (collected_.size() > 1) return std::make_shared<DeferredError>("", nullptr, std::move(collected_));
  return collected_.empty() ? nullptr : collected_[0];
}

}  // namespace sinter::tensor
