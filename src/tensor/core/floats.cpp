// The public switches of float arithmetic.
#include "sinter/floats.h"

#include "ir/denormals.h"

namespace sinter {
inline namespace v0 {

void set_flush_denormal(bool on) { ir::set_flush_denormals(on); }
bool flush_denormal() { return ir::flush_denormals(); }

}  // namespace v0
}  // namespace sinter
