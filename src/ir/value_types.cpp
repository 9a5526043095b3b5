// The value types that all layers share: element types, sizes, devices and error texts.
#include "sinter/device.h"
#include "sinter/dtype.h"
#include "sinter/error.h"
#include "sinter/shape.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <charconv>
#include <functional>
#include <memory>
#include <ostream>

namespace sinter {
inline namespace v0 {
namespace {

struct DTypeInfo {
  std::string_view name;
  size_t size;
};
constexpr std::array<DTypeInfo, 17> kDTypes = {{
    {"bool", 1},
    {"uint8", 1},
    {"int8", 1},
    {"uint16", 2},
    {"int16", 2},
    {"uint32", 4},
    {"int32", 4},
    {"uint64", 8},
    {"int64", 8},
    {"float8_e4m3", 1},
    {"float8_e5m2", 1},
    {"float16", 2},
    {"bfloat16", 2},
    {"float32", 4},
    {"float64", 8},
    {"index", 8},
    {"void", 0},
}};

/// Multiplies the bound of one axis into `elements`. False beyond kMaxElements. An empty axis counts as 1 and leaves
/// the others unchanged.
bool multiply_extent(int64_t& elements, const Dim& d) {
  return !__builtin_mul_overflow(elements, std::max<int64_t>(d.bound(), 1), &elements) &&
         elements <= Shape::kMaxElements;
}

[[noreturn]] void not_countable(const Shape& shape) {
  throw UsageError(fmt::format("shape {} has more than 2^56 elements; take smaller sizes", to_string(shape)));
}

/// A template, so that reading a size is no call: every reshape counts elements twice.
template <class Size>
int64_t product(const Shape& shape, Size size) {
  int64_t n = 1, spanned = 1;
  for (const Dim& d : shape) {
    if (!multiply_extent(spanned, d)) not_countable(shape);
    n *= size(d);
  }
  return n;
}

}  // namespace

size_t size_of(DType dtype) { return kDTypes[static_cast<size_t>(dtype)].size; }
std::string_view name_of(DType dtype) { return kDTypes[static_cast<size_t>(dtype)].name; }
DType dtype_named(std::string_view name) {
  for (size_t i = 0; i < kDTypes.size(); ++i)
    if (kDTypes[i].name == name) return static_cast<DType>(i);
  return DType::Void;
}

DType promote(DType a, DType b) {
  if (a == b) return a;
  if (a > b) std::swap(a, b);
  if (is_bool(a)) return b;
  if (is_float(b)) {
    // Two different floats of one width promote to the next wider one: float16 with bfloat16 gives float32.
    if (is_float(a) && size_of(a) == size_of(b)) return size_of(b) == 1 ? DType::F16 : DType::F32;
    return b;
  }
  // Both are integers; b comes later in the enum and is at least as wide. Same signedness: the wider one.
  if (is_unsigned(a) == is_unsigned(b)) return b;
  if (!is_unsigned(b) && size_of(b) > size_of(a)) return b;
  // The signed type cannot hold the unsigned one: the next wider signed type, at most int64.
  switch (std::max(size_of(a), size_of(b))) {
    case 1: return DType::I16;
    case 2: return DType::I32;
    default: return DType::I64;
  }
}

UsageError::UsageError(const std::string& message, std::source_location where)
    : Error(where.line() ? fmt::format("{}\n  at {}:{}", message, where.file_name(), where.line()) : message),
      where_(where) {}

/// All variables, in a tree over the bits of their hashes. It only grows, by one pointer exchange: no lock, which a
/// fork would inherit.
struct Var::Known : Info {
  mutable std::atomic<const Known*> next[4] = {};

  static const Info* one(std::string name, int64_t min, int64_t max) {
    static std::atomic<const Known*> root{nullptr};
    uint64_t bits = std::hash<std::string>()(name) ^ static_cast<uint64_t>(min) * 31 ^
                    static_cast<uint64_t>(max) * 0x9e3779b97f4a7c15u;
    auto made = std::unique_ptr<Known>(new Known{{std::move(name), min, max}});
    for (auto* place = &root;; bits = std::rotr(bits, 2)) {
      const Known* here = nullptr;
      if (place->compare_exchange_strong(here, made.get(), std::memory_order_acq_rel)) return made.release();
      if (here->name == made->name && here->min == min && here->max == max) return here;
      place = &here->next[bits & 3];
    }
  }
};

Var::Var(std::string name, int64_t min, int64_t max, std::source_location where) {
  if (min < 0 || max < min)
    throw UsageError(
        fmt::format("Var \"{}\": bounds [{}, {}] are no range of sizes; give 0 <= min <= max", name, min, max), where);
  info_ = Known::one(std::move(name), min, max);
}

Dim Var::operator()(int64_t value, std::source_location where) const {
  if (value < min() || value > max())
    throw UsageError(fmt::format("Var \"{}\": value {} lies outside its bounds [{}, {}]; widen the bounds", name(),
                                 value, min(), max()),
                     where);
  return Dim(value, info_);
}

Dim::operator int64_t() const {
  if (symbolic())
    throw UsageError(
        fmt::format("size {} is symbolic and no fixed number; ask value() for the number of this call, or "
                    "Tensor(size) for one that may change",
                    to_string(*this)));
  return value_;
}

bool Shape::countable() const {
  int64_t n = 1;
  for (const Dim& d : dims_)
    if (!multiply_extent(n, d)) return false;
  return true;
}
int64_t Shape::numel() const {
  return product(*this, [](const Dim& d) { return d.value(); });
}
int64_t Shape::bound() const {
  return product(*this, [](const Dim& d) { return d.bound(); });
}
void Shape::no_axis(int64_t axis) const {
  throw UsageError(fmt::format("axis {} of shape {}, which has {} axes; give {} to {}", axis, to_string(*this), rank(),
                               -static_cast<int64_t>(rank()), static_cast<int64_t>(rank()) - 1));
}

std::string to_string(const Dim& dim) {
  return dim.symbolic() ? fmt::format("{}={}", dim.var().name(), dim.value()) : fmt::format("{}", dim.value());
}
std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.rank(); ++i) text += (i ? ", " : "") + to_string(shape[i]);
  return text + "]";
}
std::string to_string(Device device) {
  return device.kind() == Device::Kind::Cpu ? "cpu" : fmt::format("cuda:{}", device.index());
}

Device Device::parse(std::string_view text, std::source_location where) {
  if (text == "cpu") return cpu();
  if (text == "cuda") return cuda();
  constexpr std::string_view kNumbered = "cuda:";
  int index = 0;
  const char *begin = text.data() + std::min(text.size(), kNumbered.size()), *end = text.data() + text.size();
  const auto [rest, failed] = std::from_chars(begin, end, index);
  if (!text.starts_with(kNumbered) || failed != std::errc() || rest != end || index < 0)
    throw UsageError(fmt::format("Device::parse: \"{}\" names no device; give cpu, cuda, or cuda: and a number", text),
                     where);
  return cuda(index);
}

std::ostream& operator<<(std::ostream& os, const Dim& dim) { return os << to_string(dim); }
std::ostream& operator<<(std::ostream& os, const Shape& shape) { return os << to_string(shape); }
std::ostream& operator<<(std::ostream& os, Device device) { return os << to_string(device); }
std::ostream& operator<<(std::ostream& os, DType dtype) { return os << name_of(dtype); }

}  // namespace v0
}  // namespace sinter
