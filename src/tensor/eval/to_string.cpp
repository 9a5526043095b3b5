// Text of a tensor: it is read, then printed as NumPy does.
#include <ostream>

#include "sinter/ranked.h"
#include "tensor/core/cell.h"
#include "tensor/core/print.h"

namespace sinter::inline v0 {

using namespace tensor;

std::string Tensor::to_string(Loc where) const {
  Call call("to_string", where);
  std::vector<int64_t> shape = mapped(this->shape(), &Dim::value);
  return format_array(runtime::Array::from_memory(dtype(), std::move(shape), to_bytes()));
}
std::ostream& operator<<(std::ostream& os, const Tensor& t) { return os << t.to_string(Loc()); }

std::ostream& operator<<(std::ostream& os, const Ranked& ranked) {
  return os << ranked.values << '\n' << ranked.indices;
}

}  // namespace sinter::inline v0
