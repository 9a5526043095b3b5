// Padding as layers: pad() with fixed widths. Names are PyTorch's; widths are pairs, one for each axis, outermost
// first, where PyTorch's flat list begins with the last axis.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

#include "sinter/nn/module.h"
#include "sinter/padding.h"

namespace sinter::inline v0::nn {

/// {before, after} for each of the last axes, outermost first, or one number for all ends.
class PadWidths {
 public:
  /// The same at each end.
  template <Integer I>
  PadWidths(I all) : all_(saturated(all)) {}  // NOLINT: implicit by design, as the other
  PadWidths(std::initializer_list<std::pair<int64_t, int64_t>> pairs) : pairs_(pairs) {}   ///< as given
  PadWidths(std::vector<std::pair<int64_t, int64_t>> pairs) : pairs_(std::move(pairs)) {}  ///< as given  NOLINT
  /// For that many axes; UsageError of `layer` for another number of pairs, or a negative width.
  std::vector<std::pair<int64_t, int64_t>> pairs(const char* layer, size_t axes, Loc where) const;

 private:
  int64_t all_ = 0;
  std::vector<std::pair<int64_t, int64_t>> pairs_;
};

/// What the layers of this file share.
struct PadLayer {
  /// UsageError if an axis has too few elements, as pad() says.
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
  std::vector<std::pair<int64_t, int64_t>> widths;  ///< {before, after} of the last axes
  double value;                                     ///< of new elements, for PadMode::Constant
  PadMode mode;
  SINTER_EMPTY_MODULE()

 protected:
  /// For the layers, with their name.
  PadLayer(const char* layer, size_t axes, const PadWidths& widths, PadMode mode, double value, Loc where)
      : widths(widths.pairs(layer, axes, where)), value(value), mode(mode), layer_(layer) {}

 private:
  const char* layer_;
};

/// Pads [.., length] with the elements in front of an end, mirrored.
struct ReflectionPad1d : PadLayer {
  explicit ReflectionPad1d(const PadWidths& widths, Loc where = Loc::current())
      : PadLayer("ReflectionPad1d", 1, widths, PadMode::Reflect, 0, where) {}
};
/// Pads [.., h, w].
struct ReflectionPad2d : PadLayer {
  explicit ReflectionPad2d(const PadWidths& widths, Loc where = Loc::current())
      : PadLayer("ReflectionPad2d", 2, widths, PadMode::Reflect, 0, where) {}
};
/// Pads [.., d, h, w].
struct ReflectionPad3d : PadLayer {
  explicit ReflectionPad3d(const PadWidths& widths, Loc where = Loc::current())
      : PadLayer("ReflectionPad3d", 3, widths, PadMode::Reflect, 0, where) {}
};

/// Pads [.., length] with the last element.
struct ReplicationPad1d : PadLayer {
  explicit ReplicationPad1d(const PadWidths& widths, Loc where = Loc::current())
      : PadLayer("ReplicationPad1d", 1, widths, PadMode::Replicate, 0, where) {}
};
/// Pads [.., h, w].
struct ReplicationPad2d : PadLayer {
  explicit ReplicationPad2d(const PadWidths& widths, Loc where = Loc::current())
      : PadLayer("ReplicationPad2d", 2, widths, PadMode::Replicate, 0, where) {}
};
/// Pads [.., d, h, w].
struct ReplicationPad3d : PadLayer {
  explicit ReplicationPad3d(const PadWidths& widths, Loc where = Loc::current())
      : PadLayer("ReplicationPad3d", 3, widths, PadMode::Replicate, 0, where) {}
};

/// Pads [.., length] with the elements from the other end.
struct CircularPad1d : PadLayer {
  explicit CircularPad1d(const PadWidths& widths, Loc where = Loc::current())
      : PadLayer("CircularPad1d", 1, widths, PadMode::Circular, 0, where) {}
};
/// Pads [.., h, w].
struct CircularPad2d : PadLayer {
  explicit CircularPad2d(const PadWidths& widths, Loc where = Loc::current())
      : PadLayer("CircularPad2d", 2, widths, PadMode::Circular, 0, where) {}
};
/// Pads [.., d, h, w].
struct CircularPad3d : PadLayer {
  explicit CircularPad3d(const PadWidths& widths, Loc where = Loc::current())
      : PadLayer("CircularPad3d", 3, widths, PadMode::Circular, 0, where) {}
};

/// Pads [.., length] with zeros.
struct ZeroPad1d : PadLayer {
  explicit ZeroPad1d(const PadWidths& widths, Loc where = Loc::current())
      : PadLayer("ZeroPad1d", 1, widths, PadMode::Constant, 0, where) {}
};
/// Pads [.., h, w].
struct ZeroPad2d : PadLayer {
  explicit ZeroPad2d(const PadWidths& widths, Loc where = Loc::current())
      : PadLayer("ZeroPad2d", 2, widths, PadMode::Constant, 0, where) {}
};
/// Pads [.., d, h, w].
struct ZeroPad3d : PadLayer {
  explicit ZeroPad3d(const PadWidths& widths, Loc where = Loc::current())
      : PadLayer("ZeroPad3d", 3, widths, PadMode::Constant, 0, where) {}
};

/// Pads [.., length] with a number.
struct ConstantPad1d : PadLayer {
  ConstantPad1d(const PadWidths& widths, double value, Loc where = Loc::current())
      : PadLayer("ConstantPad1d", 1, widths, PadMode::Constant, value, where) {}
};
/// Pads [.., h, w].
struct ConstantPad2d : PadLayer {
  ConstantPad2d(const PadWidths& widths, double value, Loc where = Loc::current())
      : PadLayer("ConstantPad2d", 2, widths, PadMode::Constant, value, where) {}
};
/// Pads [.., d, h, w].
struct ConstantPad3d : PadLayer {
  ConstantPad3d(const PadWidths& widths, double value, Loc where = Loc::current())
      : PadLayer("ConstantPad3d", 3, widths, PadMode::Constant, value, where) {}
};

}  // namespace sinter::inline v0::nn
