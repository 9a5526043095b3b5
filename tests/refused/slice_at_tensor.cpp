// Does not compile, and the compiler's message says what to write: a slice that begins at a tensor.
#include <sinter/sinter.h>

sinter::Tensor element(const sinter::Tensor& x, const sinter::Tensor& position) {
  return x.slice(0, position, position + 1);
}
