// Evaluates index tensors with the interpreter until it finds one with an index out of range.
#include "tensor/eval/index_error.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include "interp/interpreter.h"
#include "ir/origin.h"
#include "ir/storage.h"
#include "ir/walk.h"
#include "runtime/exec/buffer.h"
#include "tensor/core/operands.h"

namespace sinter::tensor {
namespace {

using ir::Op;
using ir::Storage;
using ir::UOp;
using runtime::Array;

/// Memory that an index tensor is made from, held to be read after the run, until a plan overwrites it. It is not an
/// owner of the memory, so plans may still write in place: their decisions do not depend on it.
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
  HeldMemory(const HeldMemory&) = delete;
  HeldMemory& operator=(const HeldMemory&) = delete;
  ~HeldMemory() { let_go(); }

  /// Null once the memory is overwritten, or if the launch that made it failed.
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

std::vector<int64_t> sizes(const Shape& shape) {
  std::vector<int64_t> out;
  for (const Dim& d : shape) out.push_back(d.value());
  return out;
}

/// The first element of `index` that is out of range for an axis of this size.
std::optional<int64_t> outside(const Array& index, int64_t size) {
  for (int64_t i = 0; i < index.numel(); ++i) {
    const ir::Scalar v = index.at(i);
    if (runtime::position_of(v, index.dtype, size) < 0) return v.as_int();
  }
  return {};
}

bool below_storage(UOp n) { return !n->storage(); }

/// The gathers and scatters of a plan, with their index tensors copied to a graph of its own. The original nodes are
/// gone by the time an index error is known.
class Picks {
 public:
  Picks(std::span<const UOp> values, const std::function<bool(UOp)>& intact, size_t most_bytes) {
    const std::vector<UOp> order = ir::topological(values, below_storage);
    const std::vector<size_t> bytes = bytes_below(order);
    std::vector<UOp> found, indices;
    for (UOp n : order)
      if (!n->storage() && (n->op == Op::Gather || n->op == Op::Scatter)) {
        found.push_back(n);
        if (bytes[n->src[1]->position] <= most_bytes) indices.push_back(n->src[1]);
      }
    // In the order of the calls. Sources of a commutative op are in no fixed order.
    std::sort(found.begin(), found.end(), [](UOp x, UOp y) { return x->id < y->id; });
    const Copies copies = copy(indices, intact);
    for (UOp n : found) {
      const auto index = copies.find(n->src[1].get());
      const int64_t axis = n->pick_axis();
      picks_.push_back({index == copies.end() ? UOp() : index->second,
                        n->src[0]->shape[static_cast<size_t>(axis)].value(), axis, n->state.origin});
    }
  }

  std::string error_text() const {
    for (const Pick& p : picks_) {
      const std::optional<int64_t> bad = p.index ? bad_index(p) : std::nullopt;
      if (!bad) continue;
      std::string text = fmt::format("index {} is out of range for {} elements along axis {}", *bad, p.size, p.axis);
      if (!p.origin->call.empty()) text += ", in " + call_site(*p.origin);
      return text;
    }
    std::string text = "an index is out of range";
    std::vector<const ir::NodeOrigin*> named;
    for (const Pick& p : picks_)
      if (!p.origin->call.empty() && std::find(named.begin(), named.end(), p.origin) == named.end()) {
        text += (named.empty() ? ", in " : " or ") + call_site(*p.origin);
        named.push_back(p.origin);
      }
    return text;
  }

 private:
  struct Pick {
    UOp index;  ///< null: not evaluable
    int64_t size, axis;
    const ir::NodeOrigin* origin;
  };
  struct IndexSource {
    std::shared_ptr<HeldMemory> memory;  ///< null: the run overwrote it
    DType dtype;
    std::vector<int64_t> sizes;
  };

  using Copies = std::unordered_map<const ir::Node*, UOp>;

  static std::string call_site(const ir::NodeOrigin& o) { return fmt::format("{} at {}:{}", o.call, o.file, o.line); }

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
  Copies copy(std::span<const UOp> values, const std::function<bool(UOp)>& intact) {
    Copies copies;
    for (UOp n : ir::topological(values, below_storage)) {
      UOp& made = copies[n.get()];
      if (n->storage()) {
        const auto slot = static_cast<int64_t>(sources_.size());
        const bool held = intact(n) && !(n->storage()->foreign() && n->device != Device::cpu());
        sources_.push_back({held ? HeldMemory::of(*n->storage()) : nullptr, n->dtype, sizes(n->shape)});
        made = graph_.make({Op::Param, n->dtype, n->shape, {}, slot, n->device});
        continue;
      }
      std::vector<UOp> src;
      for (UOp s : n->src) src.push_back(copies.at(s.get()));
      made = graph_.make({n->op, n->dtype, n->shape, std::move(src), n->attr, n->device});
    }
    return copies;
  }

  std::optional<int64_t> bad_index(const Pick& p) const {
    try {
      std::vector<Array> memory(sources_.size());
      for (UOp n : ir::topological(p.index)) {
        if (n->op != Op::Param) continue;
        const auto slot = static_cast<size_t>(n->integer());
        const IndexSource& source = sources_[slot];
        const runtime::Buffer* buffer = source.memory ? source.memory->buffer() : nullptr;
        if (!buffer) return {};
        memory[slot] = Array::read(source.dtype, source.sizes, *buffer);
      }
      return outside(runtime::interpret({&p.index, 1}, {.params = memory})[0], p.size);
    } catch (const std::exception&) {  // the general message holds in any case
      return {};
    }
  }

  ir::Arena graph_;
  std::vector<IndexSource> sources_;  ///< by slot
  std::vector<Pick> picks_;
};

}  // namespace

IndexErrorReporter make_index_error_reporter(std::span<const UOp> values, const std::function<bool(UOp)>& intact,
                                             size_t most_bytes) {
  return [picks = std::make_shared<const Picks>(values, intact, most_bytes)] {
    return picks->error_text() + "; the elements it picks are 0, and additions through it were left out";
  };
}

void on_overwrite(const Storage& memory) { HeldMemory::overwritten(memory); }

void DeferredErrorCollector::add(const Storage& memory) {
  const std::shared_ptr<ir::DeferredError>& n = memory.deferred_error;
  if (n && !n->silent() && std::find(collected_.begin(), collected_.end(), n) == collected_.end())
    collected_.push_back(n);
}

std::shared_ptr<ir::DeferredError> DeferredErrorCollector::notice(
    runtime::Execution& execution, bool index_error, const std::function<IndexErrorReporter()>& make_reporter) && {
  if (index_error) return std::make_shared<ir::DeferredError>(make_reporter()(), nullptr, std::move(collected_));
  if (execution.error)
    return std::make_shared<ir::DeferredError>(
        "",
        [word = std::shared_ptr<const runtime::Buffer>(std::move(execution.error)), say = make_reporter()] {
          uint32_t bits = 0;
          word->read(&bits);
          return (bits & runtime::kIndexError) != 0 ? say() : std::string();
        },
        std::move(collected_));
  if (collected_.size() > 1) return std::make_shared<ir::DeferredError>("", nullptr, std::move(collected_));
  return collected_.empty() ? nullptr : collected_[0];
}

}  // namespace sinter::tensor
