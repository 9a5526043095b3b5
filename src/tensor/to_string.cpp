// A tensor as text: read, then printed as NumPy does.
#include <ostream>

#include "tensor/cell.h"
#include "tensor/print.h"

namespace sinter {
inline namespace v0 {
namespace {

using runtime::Array;

template <class T>
Array read(const Tensor& t, std::vector<int64_t> shape) {
  const std::vector<T> values = t.to_vector<T>();
  if constexpr (std::is_same_v<T, bool>) {
    Array out(DType::Bool, std::move(shape));
    for (size_t i = 0; i < values.size(); ++i) out.data[i] = std::byte{values[i]};
    return out;
  } else {
    return Array::of<T>(std::move(shape), values);
  }
}

Array read(const Tensor& t) {
  std::vector<int64_t> shape;
  for (const Dim& d : t.shape()) shape.push_back(d.value());
  switch (t.dtype()) {
    case DType::Bool: return read<bool>(t, shape);
    case DType::U8: return read<uint8_t>(t, shape);
    case DType::I8: return read<int8_t>(t, shape);
    case DType::U16: return read<uint16_t>(t, shape);
    case DType::I16: return read<int16_t>(t, shape);
    case DType::U32: return read<uint32_t>(t, shape);
    case DType::I32: return read<int32_t>(t, shape);
    case DType::U64: return read<uint64_t>(t, shape);
    case DType::I64: return read<int64_t>(t, shape);
    case DType::F32: return read<float>(t, shape);
    case DType::F64: return read<double>(t, shape);
    default: throw InternalError("printing a type that nothing computes in");
  }
}

}  // namespace

std::string Tensor::to_string(Loc where) const {
  tensor::Call call("to_string", where);
  return tensor::print(read(*this));
}
std::ostream& operator<<(std::ostream& os, const Tensor& t) { return os << t.to_string(Loc()); }

}  // namespace v0
}  // namespace sinter
