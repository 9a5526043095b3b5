// The public switches of float arithmetic.
#include "sinter/floats.h"

#include <algorithm>
#include <array>

#include "ir/denormals.h"
#include "ir/matmul_precision.h"
#include "tensor/core/cell.h"

namespace sinter::inline v0 {
namespace {

using namespace tensor;

/// By MatmulPrecision.
constexpr std::array<std::string_view, 3> kPrecisions{"highest", "high", "medium"};

}  // namespace

void set_flush_denormal(bool on) { set_flush_denormals(on); }
bool flush_denormal() { return flush_denormals(); }

void set_float32_matmul_precision(std::string_view precision, Loc where) {
  const OuterCall call("set_float32_matmul_precision", where);
  const auto found = std::ranges::find(kPrecisions, precision);
  if (found == kPrecisions.end())
    usage_error("the precision is \"{}\"; give \"highest\", \"high\" or \"medium\"", precision);
  set_matmul_precision(static_cast<MatmulPrecision>(found - kPrecisions.begin()));
}
std::string get_float32_matmul_precision() { return std::string(kPrecisions[static_cast<size_t>(matmul_precision())]); }

}  // namespace sinter::inline v0
