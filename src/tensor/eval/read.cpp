// Host reads: realize, then copy out of the tensor's memory.
#include <string>
#include <type_traits>

#include "ir/scalar_eval.h"
#include "ir/short_float.h"
#include "runtime/exec/array.h"
#include "runtime/exec/buffer.h"
#include "tensor/core/operands.h"
#include "tensor/eval/realize.h"

namespace sinter::inline v0 {
namespace {

using namespace tensor;

/// Throws the error of a poisoned node (SEMANTICS V6). Throws the error of an index out of range once (F6).
void check_readable(UOp node) {
  const Storage& s = *node->storage();
  if (!s.error.empty()) throw BackendError(s.error);
  if (!s.deferred_error) return;
  if (const std::string text = s.deferred_error->take(); !text.empty()) usage_error(text);
}

/// The memory of the tensor, computed. It stays valid inside the call's scope.
const runtime::Buffer& memory_of(const Tensor& t) {
  UOp n = node_of(t);
  if (Observer* observer = Observer::current()) observer->on_read({&n, 1});
  while (!n->storage()) {  // repeat if another thread has assigned the cell meanwhile
    tensor::realize({&n, 1});
    n = node_of(t);
  }
  check_readable(n);
  return static_cast<const runtime::Buffer&>(*n->storage());
}

/// Whether the elements must be converted: 16-bit floats that are read as floats.
bool widens(const Tensor& t, DType asked) { return asked == float32 && is_short_float(node_of(t)->dtype); }
void require_type(const Tensor& t, DType asked) {
  const DType has = node_of(t)->dtype;
  if (has == asked || widens(t, asked)) return;
  usage_error("the tensor is {} and was read as {}; read it as {} or convert it with .to()", name_of(has),
              name_of(asked), name_of(has));
}
/// The element of a tensor of one, as a number of the program.
Arg single(const Tensor& t) {
  const Shape& shape = node_of(t)->shape;
  if (shape.numel() != 1)
    usage_error("shape {} has {} elements and item() reads 1; use to_vector() or reduce it first", to_string(shape),
                shape.numel());
  std::byte bytes[sizeof(double)];
  memory_of(t).read(bytes);
  const DType dtype = node_of(t)->dtype;
  const Scalar value = runtime::load_scalar(dtype, bytes);
  if (is_float(dtype)) return evaluate(Op::Cast, float64, dtype, {&value, 1}).as_double();
  if (dtype == uint64) return static_cast<uint64_t>(value.as_int());
  if (is_bool(dtype)) return value.as_int() != 0;
  return value.as_int();
}

}  // namespace

template <Element T>
T Tensor::item(Loc where) const {
  const Call call("item", where);
  const Scalar value = number_of(single(*this), dtype_of<T>::value);
  T out;
  runtime::store_scalar(dtype_of<T>::value, reinterpret_cast<std::byte*>(&out), value);
  return out;
}

double Tensor::item(Loc where) const {
  const Call call("item", where);
  return single(*this).real();
}

template <Element T>
std::vector<T> Tensor::to_vector(Loc where) const {
  const Call call("to_vector", where);
  require_type(*this, dtype_of<T>::value);
  if (widens(*this, dtype_of<T>::value)) {
    const DType dtype = node_of(*this)->dtype;
    const std::vector<std::byte> bytes = to_bytes(where);
    std::vector<T> values(bytes.size() / size_of(dtype));
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<T>(runtime::load_scalar(dtype, &bytes[i * size_of(dtype)]).as_double());
    return values;
  }
  const runtime::Buffer& memory = memory_of(*this);
  const auto count = static_cast<size_t>(node_of(*this)->shape.numel());
  if (memory.device() == Device::cpu()) return std::vector<T>(memory.as<T>(), memory.as<T>() + count);
  std::vector<std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>> values(count);  // vector<bool> is no array
  memory.read(values.data());
  return std::vector<T>(values.begin(), values.end());
}

std::vector<std::byte> Tensor::to_bytes(Loc where) const {
  const Call call("to_bytes", where);
  const runtime::Buffer& memory = memory_of(*this);
  const UOp n = node_of(*this);
  std::vector<std::byte> bytes(static_cast<size_t>(n->shape.numel()) * size_of(n->dtype));
  memory.read(bytes.data());
  return bytes;
}

#define SINTER_READ(T)                   \
  template T Tensor::item<T>(Loc) const; \
  template std::vector<T> Tensor::to_vector<T>(Loc) const;
// Every Element by its built-in name. Each fixed-width type is one of these; which one depends on the machine.
SINTER_READ(bool)
SINTER_READ(char)
SINTER_READ(signed char)
SINTER_READ(unsigned char)
SINTER_READ(short)
SINTER_READ(unsigned short)
SINTER_READ(int)
SINTER_READ(unsigned)
SINTER_READ(long)
SINTER_READ(unsigned long)
SINTER_READ(long long)
SINTER_READ(unsigned long long)
SINTER_READ(float)
SINTER_READ(double)
#undef SINTER_READ

}  // namespace sinter::inline v0
