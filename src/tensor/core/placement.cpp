// The default device, and the common device of operands.
#include "tensor/core/placement.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>

#include "ir/build.h"
#include "ir/dump.h"
#include "runtime/base/env.h"
#include "runtime/exec/devices.h"
#include "tensor/core/cell.h"

namespace sinter {
namespace tensor {
namespace {

/// A number in the program, without memory: it can be on any device.
bool is_number(UOp x) {
  if (x->rank()) return false;
  while (!x->storage() && x->op == Op::Cast) x = x->src[0];
  return !x->storage() && (x->op == Op::Const || x->op == Op::Num || x->op == Op::Var);
}

std::string moving_to(Device device) {
  return device == Device::cpu() ? ".cpu()" : fmt::format(".cuda({})", device.index());
}

}  // namespace

void check_device(Device device) {
  if (const std::string why = runtime::why_unavailable(device); !why.empty()) usage_error(why);
}

UOp on_device(UOp x, Device device, const Shape& beside) {
  if (x->device == device) return x;
  if (!is_number(x))
    usage_error("{} is on {} and meets a tensor of shape {} on {}; move one of them, with {} or {}", type_and_shape(x),
                to_string(x->device), to_string(beside), to_string(device), moving_to(device), moving_to(x->device));
  return copy(x, device);
}

void unify_devices(UOp& a, UOp& b) {
  UOp pair[] = {a, b};
  unify_devices(pair);
  a = pair[0], b = pair[1];
}

void unify_devices(std::span<UOp> nodes) {
  const auto differs = [&](UOp n) { return !(n->device == nodes[0]->device); };
  if (std::ranges::none_of(nodes, differs)) return;
  const auto tensor = std::ranges::find_if_not(nodes, is_number);
  const UOp lead = tensor == nodes.end() ? nodes[0] : *tensor;
  for (UOp& n : nodes) n = on_device(n, lead->device, lead->shape);
}

}  // namespace tensor

inline namespace v0 {
namespace {

using namespace tensor;

/// The simulated GPUs are cuda:0 and up (runtime/cuda/driver.h).
std::atomic<Device>& chosen() {
  const std::string& named = runtime::env().device;
  static std::atomic<Device> device{Device::parse(named == "cuda-sim" ? "cuda" : named)};
  return device;
}

}  // namespace

Device default_device() { return chosen(); }

void set_default_device(Device device, Loc where) {
  const CallScope call("set_default_device", where);
  check_device(device);
  chosen() = device;
}

}  // namespace v0
}  // namespace sinter
