// Evaluates index tensors on the interpreter until one is found that does not fit its table.
#include "tensor/index_fault.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "runtime/buffer.h"
#include "runtime/interpreter/interpreter.h"
#include "tensor/operands.h"
#include "uop/origin.h"
#include "uop/storage.h"
#include "uop/walk.h"

namespace sinter::tensor {
namespace {

using ir::Op;
using ir::UOp;
using runtime::Array;

constexpr const char* kConsequence = "; the elements it picks are 0, and additions through it were left out";

/// Memory that the run has overwritten: what was read from it is not known any more.
struct Overwritten {};

Array stored_value(UOp n) {
  std::vector<int64_t> sizes;
  for (const Dim& d : n->shape) sizes.push_back(d.value());
  return Array::read(n->dtype, std::move(sizes), static_cast<const runtime::Buffer&>(*n->storage()));
}

/// The first element of `index` that is no position on an axis of this size.
std::optional<int64_t> outside(const Array& index, int64_t size) {
  for (int64_t i = 0; i < index.numel(); ++i) {
    const ir::Scalar v = index.at(i);
    if (runtime::position_of(v, index.dtype, size) < 0) return v.as_int();
  }
  return {};
}

}  // namespace

std::string index_fault(std::span<const UOp> values, const std::function<bool(UOp)>& intact) {
  const runtime::Inputs inputs{.read = [&](UOp n) {
    if (!intact(n)) throw Overwritten{};
    return stored_value(n);
  }};
  std::string where = "an index tensor of this value, or of one it was made from, holds an index out of range";
  for (UOp n : ir::topological(values, [](UOp n) { return !n->storage(); })) {
    if (n->storage() || (n->op != Op::Gather && n->op != Op::ScatterAdd)) continue;
    try {
      const int64_t size = n->src[0]->shape[static_cast<size_t>(n->integer())].value();
      const Array index = runtime::interpret(std::span(&n->src[1], 1), inputs)[0];
      const std::optional<int64_t> bad = outside(index, size);
      if (!bad) continue;
      where = fmt::format("index {} is out of range for {} elements along axis {}", *bad, size, n->integer());
      if (const ir::Origin* o = n->state.origin; o && !o->call.empty())
        where += fmt::format(", in {} at {}:{}", o->call, o->file, o->line);
      break;
    } catch (const Overwritten&) {
    } catch (const std::exception&) {  // the general text is true whatever happened
    }
  }
  return where + kConsequence;
}

std::string late_index_fault(std::span<ir::Origin* const> calls) {
  std::string places;
  for (const ir::Origin* o : calls)
    if (!o->call.empty())
      places += fmt::format("{}{} at {}:{}", places.empty() ? ", in " : " or ", o->call, o->file, o->line);
  return fmt::format("an index is out of range{}{}", places, kConsequence);
}

void NoticesRead::add(const ir::Storage& memory) {
  const std::shared_ptr<ir::Notice>& n = memory.notice;
  if (n && !n->silent() && std::find(notices_.begin(), notices_.end(), n) == notices_.end()) notices_.push_back(n);
}

std::shared_ptr<ir::Notice> NoticesRead::notice(schedule::Execution& run, bool index_error,
                                                const std::function<std::string()>& text) && {
  if (index_error) return std::make_shared<ir::Notice>(text(), nullptr, std::move(notices_));
  if (run.error)
    return std::make_shared<ir::Notice>(
        text(),
        [word = std::shared_ptr<const runtime::Buffer>(std::move(run.error))] {
          uint32_t bits = 0;
          word->read(&bits);
          return (bits & runtime::kIndexError) != 0;
        },
        std::move(notices_));
  if (notices_.size() > 1) return std::make_shared<ir::Notice>("", nullptr, std::move(notices_));
  return notices_.empty() ? nullptr : notices_[0];
}

}  // namespace sinter::tensor
