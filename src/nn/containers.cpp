// What include/sinter/nn/any_module.h and containers.h do that depends on no type.
#include "sinter/nn/containers.h"

#include <algorithm>
#include <optional>

#include "nn/backward_hooks.h"
#include "nn/layer_checks.h"
#include "nn/type_name.h"
#include "tensor/core/cell.h"

namespace sinter::inline v0::nn {

using namespace tensor;

void throw_in_layer(const UsageError& error, const std::string& layer) {
  const Loc where = error.where();
  std::string text = error.what();
  if (where.line()) text.erase(text.rfind("\n  at "));  // the error says it again
  usage_error_at(where, "{}, in layer {} of Sequential", text, layer);
}

void throw_in_layer(const UsageError& error, size_t layer) { throw_in_layer(error, std::to_string(layer)); }

Functional::Functional(std::function<Tensor(const Tensor&)> f, Loc where) : function(std::move(f)) {
  if (!function) throw UsageError("Functional: the function is empty; give one of a tensor to a tensor", where);
}

Tensor Functional::operator()(const Tensor& x, Loc where) const {
  CallScope call("Functional", where);  // the function may be user code
  return function(x);
}

AnyModule::AnyModule(const AnyModule& other)
    : held_(other.held_ ? other.held_->copy() : nullptr), hooks_(other.hooks_) {}

AnyModule& AnyModule::operator=(const AnyModule& other) { return *this = AnyModule(other); }

void AnyModule::require_type(const std::type_info& wanted, Loc where) const {
  if (!held_ || held_->type() != wanted)
    usage_error_at(where, "get: the module is {}, not {}; ask is() before",
                   held_ ? "a " + full_name(held_->type()) : "empty", full_name(wanted));
}

Tensor AnyModule::call(std::vector<Tensor> x, Loc where) const {
  CallScope call("AnyModule", where);
  if (!held_) usage_error("the module is empty; give it one, such as AnyModule(Linear(2, 3))");
  std::vector<FullBackwardPreHook> before_back;
  std::vector<FullBackwardHook> after_back;
  for (const Hook& hook : hooks_) {
    if (hook.before) hook.before(x);
    if (hook.before_back) before_back.push_back(hook.before_back);
    if (hook.after_back) after_back.push_back(hook.after_back);
  }
  std::optional<BackwardHooks> back;
  if (!before_back.empty() || !after_back.empty()) {
    back.emplace(std::move(before_back), std::move(after_back), where);
    back->watch_inputs(x);
  }
  Tensor y;
  if (!held_->call(x, y))
    usage_error("{} is no function of {} tensors to a tensor; call get<...>() of its type", full_name(held_->type()),
                x.size());
  for (const Hook& hook : hooks_)
    if (hook.after) hook.after(x, y);
  return back ? back->watched_output(y) : y;
}

size_t AnyModule::add(Hook hook) {
  hook.number = hooks_.empty() ? 0 : hooks_.back().number + 1;
  hooks_.push_back(std::move(hook));
  return hooks_.back().number;
}

size_t AnyModule::register_forward_pre_hook(ForwardPreHook hook) { return add({.before = std::move(hook)}); }

size_t AnyModule::register_forward_hook(ForwardHook hook) { return add({.after = std::move(hook)}); }

size_t AnyModule::register_full_backward_pre_hook(FullBackwardPreHook hook) {
  return add({.before_back = std::move(hook)});
}

size_t AnyModule::register_full_backward_hook(FullBackwardHook hook) { return add({.after_back = std::move(hook)}); }

void AnyModule::remove_hook(size_t number, Loc where) {
  if (!std::erase_if(hooks_, [&](const Hook& hook) { return hook.number == number; }))
    usage_error_at(where, "remove_hook: there is no hook {} among {}; give what its registration returned", number,
                   hooks_.size());
}

void AnyModule::walk(const std::string& path, const walk::ErasedWalk& with) const {
  if (held_) held_->walk(path, with);
}

std::vector<std::string> NamedModules::names() const {
  std::vector<std::string> found;
  for (const auto& [name, module] : modules_) found.push_back(name);
  return found;
}

void NamedModules::add(std::string_view what, std::string name, AnyModule module, Loc where) {
  if (name.empty() || name.find('.') != std::string::npos)
    usage_error_at(where, "{}: a module's name is '{}'; give one that is not empty, without dots", what, name);
  for (const auto& [other, held] : modules_)
    if (other == name)
      usage_error_at(where, "{}: there is a module {} already, among {}; choose another name", what, name,
                     modules_.size());
  modules_.emplace_back(std::move(name), std::move(module));
}

const AnyModule& NamedModules::at(std::string_view what, int64_t index, Loc where) const {
  const int64_t count = static_cast<int64_t>(modules_.size()), from_begin = index < 0 ? index + count : index;
  if (from_begin < 0 || from_begin >= count)
    usage_error_at(where, "{}: there is no module {} among {}; they count from 0", what, index, count);
  return modules_[static_cast<size_t>(from_begin)].module();
}

const AnyModule& NamedModules::at(std::string_view what, const std::string& name, Loc where) const {
  for (const auto& [other, module] : modules_)
    if (other == name) return module;
  usage_error_at(where, "{}: there is no module {} among {}; names() says which there are", what, name,
                 modules_.size());
}

Sequential<>::Sequential(std::vector<AnyModule> layers, Loc where) {
  for (AnyModule& layer : layers) push_back(std::move(layer), where);
}

void Sequential<>::push_back(AnyModule layer, Loc where) { push_back(std::to_string(size()), std::move(layer), where); }

void Sequential<>::push_back(std::string name, AnyModule layer, Loc where) {
  add("Sequential", std::move(name), std::move(layer), where);
}

void Sequential<>::extend(const Sequential& more, Loc where) {
  Sequential copy = more;
  const size_t before = size();
  for (size_t i = 0; i < copy.modules_.size(); ++i) {
    auto& [name, layer] = copy.modules_[i];
    try {
      name == std::to_string(i) ? push_back(std::move(layer), where) : push_back(name, std::move(layer), where);
    } catch (...) {
      modules_.erase(modules_.begin() + static_cast<std::ptrdiff_t>(before), modules_.end());
      throw;
    }
  }
}

Tensor Sequential<>::operator()(const Tensor& x, Loc where) const {
  CallScope call("Sequential", where);
  return modules_.empty() ? x : run_others(call_layer(modules_[0].name(), modules_[0].module(), x));
}

const NamedModule& Sequential<>::first(size_t inputs) const {
  if (modules_.empty()) usage_error("{} tensors are given to 0 layers; give 1, or add a layer that takes them", inputs);
  return modules_[0];
}

Tensor Sequential<>::run_others(Tensor value) const {
  for (size_t i = 1; i < modules_.size(); ++i) value = call_layer(modules_[i].name(), modules_[i].module(), value);
  return value;
}

ModuleList::ModuleList(std::vector<AnyModule> modules, Loc where) {
  for (AnyModule& module : modules) push_back(std::move(module), where);
}

void ModuleList::push_back(AnyModule module, Loc where) {
  add("ModuleList", std::to_string(size()), std::move(module), where);
}

ModuleDict::ModuleDict(std::vector<std::pair<std::string, AnyModule>> modules, Loc where) {
  for (auto& [name, module] : modules) insert(name, std::move(module), where);
}

void ModuleDict::insert(std::string name, AnyModule module, Loc where) {
  add("ModuleDict", std::move(name), std::move(module), where);
}

bool ModuleDict::contains(const std::string& name) const {
  return std::ranges::any_of(modules_, [&](const auto& entry) { return entry.name() == name; });
}

}  // namespace sinter::inline v0::nn
