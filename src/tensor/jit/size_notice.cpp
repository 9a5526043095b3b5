#include "tensor/jit/size_notice.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <unordered_set>

#include "ir/origin.h"
#include "runtime/base/log.h"

namespace sinter::tensor {

void notice_by_size(std::span<const Dim> before, std::span<const Dim> now) {
  static auto* reported =
      new std::unordered_set<const ir::NodeOrigin*>;  // guarded by the graph's mutex; never destroyed
  const ir::NodeOrigin& site = ir::current_origin();
  if (!runtime::logging(0) || !reported->insert(&site).second) return;
  const auto differs = std::mismatch(before.begin(), before.end(), now.begin(), now.end());
  if (differs.second == now.end()) throw InternalError("two programs of a jitted function do not differ in a size");
  const Dim &was = *differs.first, &is = *differs.second;
  const std::string name = is.var().name();
  runtime::log(
      0, fmt::format(
             "sinter: {} at {}:{}: the function builds another program for each value of {}, last for {} and {}: "
             "most likely it makes a number of the C++ program from that size. Each value is compiled, and runs the "
             "function twice. A Dim makes it one program for all values: x.size(axis), or a const Dim& "
             "argument, in place of .value(); Tensor(n) is the number as a tensor. SINTER_NOTICES=0 leaves this out.",
             site.call, site.file, site.line, name, was.value(), is.value()));
}

}  // namespace sinter::tensor
