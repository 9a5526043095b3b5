// What nn::to_string() says of a module besides its type and its tensors: numbers that are members of it, or of its
// options, under the names of this file.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace sinter::inline v0 {
class AdaptiveSize;
class ConvPadding;
class PerAxis;
class ScaleFactor;
class Shape;
enum class Gelu : uint8_t;
enum class ResampleMode : uint8_t;
namespace nn::walk {

/// "kernel=3, stride=2".
class ModuleFacts {
 public:
  void add(std::string_view name, std::same_as<bool> auto value) { add_text(name, value ? "true" : "false"); }
  void add(std::string_view name, std::integral auto value)
    requires(!std::same_as<decltype(value), bool>)
  {
    add_text(name, std::to_string(value));
  }
  void add(std::string_view name, double value);
  void add(std::string_view name, const PerAxis& value);
  void add(std::string_view name, const AdaptiveSize& value);
  void add(std::string_view name, const ScaleFactor& value);
  void add(std::string_view name, Gelu value);
  void add(std::string_view name, ResampleMode value);
  /// A stride of pooling, which is the kernel's size where it is 0.
  void add_stride(const PerAxis& stride, const PerAxis& kernel);
  void add(std::string_view name, const ConvPadding& value);
  void add(std::string_view name, const std::vector<std::pair<int64_t, int64_t>>& value);
  void add(std::string_view name, const Shape& value);
  /// Nothing if there is none.
  template <class T>
    requires(std::is_arithmetic_v<T> || std::same_as<T, PerAxis> || std::same_as<T, Shape>)
  void add(std::string_view name, const std::optional<T>& value) {
    if (value) add(name, *value);
  }
  /// Whether the value is that number, along each axis.
  static bool is(double value, double number) { return value == number; }
  static bool is(const PerAxis& value, int64_t number);
  static bool is(const ConvPadding& value, int64_t number);
  template <class T>
  static bool is(const std::optional<T>&, double) {
    return false;
  }
  const std::string& text() const { return text_; }

 private:
  void add_text(std::string_view name, std::string_view value);
  /// "name=1", or "name=[1, 2]"; nothing for none.
  template <class Numbers>
  void add_list(std::string_view name, const Numbers& numbers);
  std::string text_;
};

/// Calls to.add() for the members of `of` that this file names, if they differ from what is usual.
#define SINTER_ADD_FACT(name) \
  if constexpr (requires { to.add(#name, of.name); }) to.add(#name, of.name);
#define SINTER_ADD_FACT_UNLESS(name, usual)           \
  if constexpr (requires { to.add(#name, of.name); }) \
    if (!ModuleFacts::is(of.name, usual)) to.add(#name, of.name);
template <class T, class M>
void add_named_members(const T& of, const M& module, ModuleFacts& to) {
  SINTER_ADD_FACT(kernel)
  SINTER_ADD_FACT(size)
  SINTER_ADD_FACT(scale_factor)
  SINTER_ADD_FACT(mode)
  SINTER_ADD_FACT_UNLESS(align_corners, 0)
  SINTER_ADD_FACT(form)
  if constexpr (requires { to.add_stride(of.stride, module.kernel); })
    to.add_stride(of.stride, module.kernel);
  else
    SINTER_ADD_FACT(stride)
  SINTER_ADD_FACT_UNLESS(padding, 0)
  SINTER_ADD_FACT_UNLESS(output_padding, 0)
  SINTER_ADD_FACT_UNLESS(dilation, 1)
  SINTER_ADD_FACT_UNLESS(groups, 1)
  SINTER_ADD_FACT(upscale_factor)
  SINTER_ADD_FACT(downscale_factor)
  SINTER_ADD_FACT(channels)
  SINTER_ADD_FACT(shape)
  SINTER_ADD_FACT(eps)
  SINTER_ADD_FACT(momentum)
  SINTER_ADD_FACT(axis)
  SINTER_ADD_FACT(sizes)
  SINTER_ADD_FACT_UNLESS(start, 1)
  SINTER_ADD_FACT_UNLESS(end, -1)
  SINTER_ADD_FACT(p)
  SINTER_ADD_FACT(slope)
  SINTER_ADD_FACT(alpha)
  SINTER_ADD_FACT(beta)
  SINTER_ADD_FACT(lambda)
  SINTER_ADD_FACT(heads)
  SINTER_ADD_FACT_UNLESS(dropout, 0)
  SINTER_ADD_FACT_UNLESS(norm_first, 0)
  SINTER_ADD_FACT_UNLESS(num_layers, 1)
  SINTER_ADD_FACT_UNLESS(batch_first, 0)
  SINTER_ADD_FACT_UNLESS(bidirectional, 0)
  SINTER_ADD_FACT_UNLESS(proj_size, 0)
  SINTER_ADD_FACT(padding_idx)
  SINTER_ADD_FACT(widths)
  SINTER_ADD_FACT_UNLESS(value, 0)
}
#undef SINTER_ADD_FACT
#undef SINTER_ADD_FACT_UNLESS

/// Those of a module and of its options.
template <class M>
void add_facts(const M& module, ModuleFacts& to) {
  add_named_members(module, module, to);
  if constexpr (requires { module.options; }) add_named_members(module.options, module, to);
}

}  // namespace nn::walk
}  // namespace sinter::inline v0
