// Sort, and the steps of it in kernels. Elements are keys, numbers in the order of the values, and positions.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "interp/op_classes.h"

namespace sinter::runtime {
namespace {

struct SortElement {
  uint64_t key;
  uint64_t position;
  friend auto operator<=>(const SortElement&, const SortElement&) = default;
};

/// Of at most 32 bits for types of at most four bytes.
uint64_t key_of(DType dtype, ir::Scalar value, bool descending) {
  const bool wide = size_of(dtype) > 4;
  const uint64_t all = wide ? ~uint64_t{0} : 0xffffffffu, sign = wide ? uint64_t{1} << 63 : uint64_t{1} << 31;
  uint64_t key;
  if (is_float(dtype)) {
    const double v = value.as_double();
    const uint64_t bits = wide ? std::bit_cast<uint64_t>(v) : std::bit_cast<uint32_t>(static_cast<float>(v));
    key = std::isnan(v) ? all : bits & sign ? sign - (bits ^ sign) : bits | sign;
  } else {
    key = static_cast<uint64_t>(value.as_int()) & all;
    if (!is_unsigned(dtype)) key ^= sign;
  }
  return descending ? ~key & all : key;
}

}  // namespace

Array sort_view(const StridedView& x, int64_t first, int64_t count, bool descending, bool gives_values) {
  const Array values = x.copy();
  std::vector<int64_t> shape = x.shape;
  shape.back() = count;
  Array out(gives_values ? x.dtype : DType::I64, shape);
  const size_t width = size_of(x.dtype);
  const int64_t row = x.shape.back();
  std::vector<SortElement> elements(static_cast<size_t>(row));
  for (int64_t begin = 0, to = 0; to < out.numel(); begin += row) {
    for (int64_t i = 0; i < row; ++i)
      elements[i] = {key_of(x.dtype, values.at(begin + i), descending), static_cast<uint64_t>(i)};
    std::ranges::sort(elements);
    for (int64_t i = 0; i < count; ++i, ++to) {
      const auto at = static_cast<int64_t>(elements[first + i].position);
      if (gives_values)
        std::memcpy(out.data.data() + to * width, values.data.data() + (begin + at) * width, width);
      else
        out.set(to, ir::Scalar::of(DType::I64, at));
    }
  }
  return out;
}

void sort_runs(const ir::SortRuns& step, const KernelBuffer& to, const KernelBuffer& from) {
  const int64_t words = step.words;
  const size_t width = size_of(from.dtype);
  const bool reads_values = step.values || !step.sorted;
  const int64_t rows = count_of(from.shape) / (step.row * (reads_values ? 1 : words));
  const auto at = [](const KernelBuffer& b, int64_t i, size_t bytes) {
    return b.bytes.data() + static_cast<size_t>(i) * bytes;
  };
  std::vector<SortElement> elements(static_cast<size_t>(step.row));
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t i = 0; i < step.row; ++i) {
      SortElement& e = elements[i];
      const int64_t here = r * step.row + i;
      if (reads_values) {
        e = {key_of(from.dtype, load_scalar(from.dtype, at(from, here, width)), step.descending),
             static_cast<uint64_t>(i)};
      } else {
        std::memcpy(&e, at(from, here * words, 8), static_cast<size_t>(words) * 8);
        if (words == 1) e = {e.key >> 32, e.key & 0xffffffffu};
      }
    }
    for (int64_t i = 0; i < step.row; i += step.group)
      std::sort(elements.begin() + i, elements.begin() + std::min(i + step.group, step.row));
    for (int64_t i = 0; i < step.row; ++i) {
      const SortElement& e = elements[i];
      const bool wanted = !step.last() || (i >= step.first && i < step.first + step.count);
      if (!wanted) continue;
      const int64_t there = step.last() ? r * step.count + i - step.first : r * step.row + i;
      const uint64_t packed = e.key << 32 | e.position;
      if (step.values)
        std::memcpy(at(to, there, width), at(from, r * step.row + static_cast<int64_t>(e.position), width), width);
      else if (step.last())
        std::memcpy(at(to, there, 8), &e.position, 8);
      else
        std::memcpy(at(to, there * words, 8), words == 1 ? &packed : &e.key, static_cast<size_t>(words) * 8);
    }
  }
}

}  // namespace sinter::runtime
