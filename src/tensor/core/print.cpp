// NumPy's printing: widths from the elements shown, lines wrapped at 75 columns (numpy/_core/arrayprint.py).
#include "tensor/core/print.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "ir/short_float.h"

namespace sinter::tensor {
namespace {

using runtime::Array;

constexpr int64_t kThreshold = 1000, kEdge = 3;
constexpr size_t kLineWidth = 75, kPrecision = 8;

/// The number with the fewest digits that rounds to v in a 16-bit float. The shortest digits of v itself would
/// distinguish it from its neighbors in float64.
double fewest_digits(DType dtype, double v) {
  char text[32];
  double read = 0;
  for (int digits = 0; ir::Scalar::of(dtype, read) != ir::Scalar::of(dtype, v); ++digits) {
    const char* end = std::to_chars(text, text + sizeof text, v, std::chars_format::scientific, digits).ptr;
    std::from_chars(text, end, read);
  }
  return read;
}

/// The shortest digits that read back as the same number of the dtype; or `digits` of them after the point.
std::string shortest(DType dtype, double v, std::chars_format form, std::optional<int> digits = {}) {
  if (ir::is_short_float(dtype) && !digits) v = fewest_digits(dtype, v);
  char text[512];
  auto write = [&](auto value) -> char* {
    return digits ? std::to_chars(text, text + sizeof text, value, form, *digits).ptr
                  : std::to_chars(text, text + sizeof text, value, form).ptr;
  };
  char* end = dtype == DType::F32 ? write(static_cast<float>(v)) : write(v);
  return std::string(text, end);
}

struct Digits {
  std::string whole, fraction, exponent;
};

/// At most `kPrecision` digits after the point, as many as distinguish the number from its neighbors. In scientific
/// form at least `fewest`; the extra ones are further digits of the number.
Digits digits_of(DType dtype, double v, bool scientific, size_t fewest = 0) {
  const auto form = scientific ? std::chars_format::scientific : std::chars_format::fixed;
  auto cut = [](const std::string& text) {
    const size_t e = std::min(text.find('e'), text.size()), point = std::min(text.find('.'), e);
    return Digits{text.substr(0, point), text.substr(std::min(point + 1, e), e - std::min(point + 1, e)),
                  text.substr(e)};
  };
  Digits d = cut(shortest(dtype, v, form));
  if (d.fraction.size() > kPrecision) d = cut(shortest(dtype, v, form, kPrecision));
  while (!d.fraction.empty() && d.fraction.back() == '0') d.fraction.pop_back();
  if (scientific && d.fraction.size() < fewest) d = cut(shortest(dtype, v, form, static_cast<int>(fewest)));
  return d;
}

std::string pad_left(const std::string& text, size_t width) {
  return text.size() < width ? std::string(width - text.size(), ' ') + text : text;
}
std::string special(double v) { return std::isnan(v) ? "nan" : v < 0 ? "-inf" : "inf"; }

/// Formats elements as words of one width.
class ElementFormatter {
 public:
  ElementFormatter(const Array& array, const std::vector<int64_t>& shown) : array_(array) {
    if (is_float(array.dtype))
      measure_floats(shown);
    else if (is_bool(array.dtype))
      width_ = 5;
    else
      for (int64_t i : shown) width_ = std::max(width_, integer(i).size());
  }

  std::string format(int64_t i) const {
    if (is_bool(array_.dtype)) return pad_left(array_.at(i).as_int() ? "True" : "False", width_);
    if (!is_float(array_.dtype)) return pad_left(integer(i), width_);
    const double v = array_.at(i).as_double();
    if (!std::isfinite(v)) return pad_left(special(v), whole_ + 1 + fraction_ + exponent_);
    Digits d = digits_of(array_.dtype, v, scientific_, fraction_);
    std::string text = pad_left(d.whole, whole_) + "." + d.fraction;
    text.append(fraction_ - d.fraction.size(), ' ');
    return text + d.exponent + std::string(exponent_ - d.exponent.size(), ' ');
  }

 private:
  std::string integer(int64_t i) const {
    const ir::Scalar s = array_.at(i);
    return array_.dtype == DType::U64 ? std::to_string(s.bits()) : std::to_string(s.as_int());
  }

  void measure_floats(const std::vector<int64_t>& shown) {
    double largest = 0, smallest = std::numeric_limits<double>::infinity();
    bool finite = true, negative = false;
    for (int64_t i : shown) {
      const double v = array_.at(i).as_double(), size = std::abs(v);
      negative |= v < 0;
      if (!std::isfinite(v)) {
        finite = false;
      } else if (size > 0) {
        largest = std::max(largest, size);
        smallest = std::min(smallest, size);
      }
    }
    const double ratio = ir::Scalar::of(array_.dtype, largest / smallest).as_double();  // rounded as NumPy does
    scientific_ = largest > 0 && (largest >= 1e8 || smallest < 1e-4 || ratio > 1000);
    for (int64_t i : shown) {
      const double v = array_.at(i).as_double();
      if (!std::isfinite(v)) continue;
      Digits d = digits_of(array_.dtype, v, scientific_);
      whole_ = std::max(whole_, d.whole.size());
      fraction_ = std::max(fraction_, d.fraction.size());
      exponent_ = std::max(exponent_, d.exponent.size());
    }
    if (finite) return;
    const size_t longest = negative ? 4 : 3, rest = 1 + fraction_ + exponent_;  // "nan", "inf" or "-inf"
    whole_ = std::max(whole_, longest > rest ? longest - rest : 0);
  }

  const Array& array_;
  size_t width_ = 0, whole_ = 0, fraction_ = 0, exponent_ = 0;
  bool scientific_ = false;
};

/// Which indices along an axis are printed; `gap`: "..." stands between the halves.
struct AxisSample {
  std::vector<int64_t> list;
  bool gap = false;
};
AxisSample sample_axis(int64_t size, bool shorten) {
  AxisSample p;
  p.gap = shorten && size > 2 * kEdge;
  for (int64_t i = 0; i < size; ++i)
    if (!p.gap || i < kEdge || i >= size - kEdge) p.list.push_back(i);
  return p;
}

class Printer {
 public:
  explicit Printer(const Array& array)
      : array_(array), shorten_(array.numel() > kThreshold), formatter_(array, shown()) {}

  /// The subarray at `offset`, from `axis` on. Lines after the first begin with `indent`.
  std::string part(size_t axis, int64_t offset, const std::string& indent) const {
    const AxisSample p = sample_axis(array_.shape[axis], shorten_);
    if (axis + 1 == array_.shape.size()) return std::string("[").append(row(offset, p, indent)).append("]");
    int64_t stride = 1;
    for (size_t a = axis + 1; a < array_.shape.size(); ++a) stride *= array_.shape[a];
    const std::string between = std::string(array_.shape.size() - axis - 1, '\n') + indent;
    std::string text = "[";
    for (size_t i = 0; i < p.list.size(); ++i) {
      if (p.gap && i == kEdge) text += "..." + between;
      text += part(axis + 1, offset + p.list[i] * stride, indent + " ");
      if (i + 1 < p.list.size()) text += between;
    }
    return text + "]";
  }

 private:
  std::string row(int64_t offset, const AxisSample& p, const std::string& indent) const {
    const size_t rank = array_.shape.size(),
                 width = kLineWidth > rank ? kLineWidth - rank : 0;  // leaves room for the closing brackets
    std::string text, line = indent;
    auto extend = [&](const std::string& word) {
      if (line.size() + word.size() > width && line.size() > indent.size()) {
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
        line = indent;
      }
      line += word;
    };
    for (size_t i = 0; i < p.list.size(); ++i) {
      if (p.gap && i == kEdge) {
        extend("...");
        line += " ";
      }
      extend(formatter_.format(offset + p.list[i]));
      if (i + 1 < p.list.size()) line += " ";
    }
    text += line;
    return text.substr(indent.size());
  }

  /// The elements that are printed. They alone decide the widths.
  std::vector<int64_t> shown() const {
    std::vector<int64_t> all{0};
    for (int64_t size : array_.shape) {
      std::vector<int64_t> next;
      for (int64_t base : all)
        for (int64_t i : sample_axis(size, shorten_).list) next.push_back(base * size + i);
      all = std::move(next);
    }
    return all;
  }

  const Array& array_;
  const bool shorten_;
  const ElementFormatter formatter_;
};

/// A scalar as Python prints it.
std::string print_scalar(const Array& array) {
  const ir::Scalar s = array.at(0);
  if (is_bool(array.dtype)) return s.as_int() ? "True" : "False";
  if (!is_float(array.dtype)) return array.dtype == DType::U64 ? std::to_string(s.bits()) : std::to_string(s.as_int());
  const double v = s.as_double(), size = std::abs(v);
  if (!std::isfinite(v)) return special(v);
  const bool scientific = size > 0 && (size < 1e-4 || size >= 1e16);
  std::string text = shortest(array.dtype, v, scientific ? std::chars_format::scientific : std::chars_format::fixed);
  return scientific || text.find('.') != text.npos ? text : text + ".0";
}

}  // namespace

std::string format_array(const Array& array) {
  if (array.shape.empty()) return print_scalar(array);
  if (array.numel() == 0) return "[]";
  return Printer(array).part(0, 0, " ");
}

}  // namespace sinter::tensor
