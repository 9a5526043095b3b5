// A module is any struct that lists its members: SINTER_MODULE(l1, l2). There is no base class and no registry. The
// functions here walk the members at the time of the call, so members can be replaced or tied. Copies of a struct share
// its parameters, because tensors are handles.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeindex>
#include <typeinfo>
#include <utility>
#include <vector>

#include "sinter/for_each.h"
#include "sinter/gradient.h"
#include "sinter/nn/module_facts.h"
#include "sinter/tensor.h"

/// Lists the members that are tensors, modules, or containers of them. Defines one member function, visit(f), which
/// calls f(name, member) for each. The struct must be outside of functions: a local one may not have member templates.
#define SINTER_MODULE(...)                            \
  template <class F>                                  \
  void visit(F&& f) {                                 \
    SINTER_FOR_EACH(SINTER_VISIT_MEMBER, __VA_ARGS__) \
  }                                                   \
  template <class F>                                  \
  void visit(F&& f) const {                           \
    SINTER_FOR_EACH(SINTER_VISIT_MEMBER, __VA_ARGS__) \
  }
/// A module without members, such as an activation.
#define SINTER_EMPTY_MODULE() \
  template <class F>          \
  void visit(F&&) const {}

#define SINTER_VISIT_MEMBER(member) f(#member, member);

namespace sinter::inline v0 {
/// Layers, and functions on all tensors of a model.
namespace nn {

namespace walk {

struct Probe {
  template <class T>
  void operator()(const char*, T&&) const {}
};
template <class M>
concept HasVisit = requires(M& m) { m.visit(Probe{}); };
template <class M>
concept HasTraining = requires(std::remove_const_t<M>& m) {
  { m.training } -> std::same_as<bool&>;
};

/// A function object without state, such as a lambda without captures: it holds no tensor.
template <class T>
concept Stateless = !HasVisit<T> && (std::is_empty_v<T> || std::is_function_v<std::remove_pointer_t<T>>);
template <class X>
concept Pointer = requires(X& x) {
  static_cast<bool>(x);
  *x;
};

inline std::string join(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "." + name;
}

struct Follow {
  bool operator()(auto&) const { return true; }
};
class Pointees;

/// A module behind an address. The walk gives it for modules in an AnyModule, whose type it does not know.
struct ErasedModule {
  void* address;
  const std::type_info* type;
  bool* training;                                     ///< its member of that name; null: it has none
  void (*add_facts)(const void* self, ModuleFacts&);  ///< what to_string() says of it
};
inline ErasedModule erased(const ErasedModule& module) { return module; }
template <HasVisit M>
ErasedModule erased(M& module) {
  using T = std::remove_const_t<M>;
  T& self = const_cast<T&>(module);
  ErasedModule made{&self, &typeid(T), nullptr,
                    [](const void* of, ModuleFacts& facts) { add_facts(*static_cast<const T*>(of), facts); }};
  if constexpr (HasTraining<T>) made.training = &self.training;
  return made;
}

/// What a walk does in a module whose type it does not know.
struct ErasedWalk {
  std::function<void(const std::string&, Tensor&)> on_tensor;
  std::function<void(const std::string&, const ErasedModule&)> on_module;
  Pointees* pointees = nullptr;  ///< null: follow pointers
};
/// Such a module: AnyModule.
template <class X>
concept Erased = requires(X& x, const ErasedWalk& with) { x.walk(std::string(), with); };
/// For walks that have nothing to do with tensors, or with modules.
struct Ignore {
  void operator()(const std::string&, auto&) const {}
};

/// Calls on_tensor(path, tensor) for each tensor below `x` and on_module(path, module) for each module before its
/// members, in their order. Containers: vector, array, optional, tuple, pointer-like objects; their elements are named
/// by number. A pointer (or an optional) is followed if on_pointer(pointer) returns true; it may redirect the pointer.
template <class X, class OnTensor, class OnModule, class OnPointer = Follow>
void members(const std::string& path, X& x, OnTensor&& on_tensor, OnModule&& on_module, OnPointer&& on_pointer = {}) {
  using T = std::remove_const_t<X>;
  if constexpr (std::same_as<T, Tensor>) {
    on_tensor(path, x);
  } else if constexpr (Erased<X>) {
    on_module(path, x);
    ErasedWalk with{[&](const std::string& at, Tensor& t) { on_tensor(at, t); },
                    [&](const std::string& at, const ErasedModule& module) { on_module(at, module); }};
    if constexpr (std::same_as<std::remove_cvref_t<OnPointer>, Pointees>) with.pointees = &on_pointer;
    x.walk(path, with);
  } else if constexpr (HasVisit<X>) {
    on_module(path, x);
    x.visit(
        [&](const char* name, auto& member) { members(join(path, name), member, on_tensor, on_module, on_pointer); });
  } else if constexpr (Stateless<T>) {
  } else if constexpr (requires {
                         x.begin();
                         x.end();
                       }) {
    size_t i = 0;
    for (auto& element : x) members(join(path, std::to_string(i++)), element, on_tensor, on_module, on_pointer);
  } else if constexpr (requires { std::tuple_size<T>::value; }) {
    [&]<size_t... i>(std::index_sequence<i...>) {
      (members(join(path, std::to_string(i)), std::get<i>(x), on_tensor, on_module, on_pointer), ...);
    }(std::make_index_sequence<std::tuple_size_v<T>>());
  } else if constexpr (Pointer<X>) {
    if (x && on_pointer(x)) members(path, *x, on_tensor, on_module, on_pointer);
  } else {
    static_assert(std::same_as<T, Tensor>,
                  "a listed member is a Tensor, a module, a container of them, or a function without state");
  }
}

/// Copies of the objects that shared pointers hold, one per object.
class Pointees {
 public:
  /// Redirects the pointer to a copy; returns whether the copy is new.
  template <class T>
  bool operator()(std::shared_ptr<T>& pointer) {
    static_assert(!std::is_polymorphic_v<T> || std::is_final_v<T>,
                  "clone() would copy only a part of what this pointer holds");
    const std::pair<const void*, std::type_index> key{pointer.get(), typeid(T)};
    const auto [at, fresh] = made_.try_emplace(key);
    if (fresh) at->second = std::make_shared<T>(*pointer);
    pointer = std::static_pointer_cast<T>(at->second);
    return fresh;
  }
  template <class T>
  bool operator()(std::optional<T>&) {
    return true;
  }
  template <class P>
  void operator()(P&) =
      delete;  // clone() copies what a std::shared_ptr holds; another pointer would stay with the original

 private:
  std::map<std::pair<const void*, std::type_index>, std::shared_ptr<void>> made_;
};

/// Moves the tensor to the device inside its cell. No effect if it is there already.
void move(Tensor& t, Device device, Loc where);
/// Converts the tensor inside its cell. No effect unless both types are floats.
void convert(Tensor& t, DType dtype, Loc where);
/// UsageError unless tensors can be converted to that type.
void require_float(DType dtype, Loc where);

/// The parameter of a function of a module, or of a path and a module.
template <class Signature>
struct ModuleParameter;
template <class R, class M>
struct ModuleParameter<std::function<R(M)>> {
  using Type = M;
  static constexpr bool kWithPath = false;
};
template <class R, class P, class M>
struct ModuleParameter<std::function<R(P, M)>> {
  using Type = M;
  static constexpr bool kWithPath = true;
};
template <class F>
concept ModuleFunction = requires { typename ModuleParameter<decltype(std::function(std::declval<F>()))>::Type; };

/// Calls f with the module if it is of the type that f takes. kConst: the model is const.
template <bool kConst, class F>
void call_with_module(F& f, const std::string& path, const ErasedModule& module) {
  static_assert(
      ModuleFunction<std::decay_t<F>>,
      "name the type of the modules: apply(model, [](nn::Linear& layer) { ... }), or with the path before it");
  if constexpr (ModuleFunction<std::decay_t<F>>) {
    using Parameter = ModuleParameter<decltype(std::function(std::declval<std::decay_t<F>>()))>;
    using M = std::remove_reference_t<typename Parameter::Type>;
    static_assert(std::is_lvalue_reference_v<typename Parameter::Type>, "take the module by reference");
    static_assert(std::is_const_v<M> || !kConst, "the model is const; take the module by const reference");
    if (*module.type != typeid(M)) return;
    M& self = *static_cast<M*>(module.address);
    if constexpr (Parameter::kWithPath)
      f(path, self);
    else
      f(self);
  }
}

}  // namespace walk

/// A struct that lists its members with SINTER_MODULE, or defines such a visit().
template <class M>
concept Module = walk::HasVisit<M>;

/// Paths and tensors, in the order of the members.
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

/// Options of loading: load(model, path, {.cast = true}).
struct LoadOptions {
  bool strict = true;  ///< both sides must have the same names; otherwise unmatched names are left alone
  bool cast = false;   ///< values are converted to the targets' dtypes, as by Tensor::assign()
};

/// @defgroup modules Models
/// Functions of modules.
/// @snippet training.cpp module
/// @snippet training.cpp training
/// @{

/// Every tensor of the module with its path ("l1.weight"). A cell that several members share appears once, under its
/// first name.
template <Module M>
NamedTensors state_dict(const M& module) {
  NamedTensors found;
  walk::members(
      "", module,
      [&](const std::string& path, const Tensor& t) {
        if (!t.defined()) return;
        for (const auto& [name, other] : found)
          if (other.cell() == t.cell()) return;
        found.emplace_back(path, t);
      },
      walk::Ignore());
  return found;
}

/// The entries of state_dict() that require a gradient.
template <Module M>
NamedTensors named_parameters(const M& module) {
  NamedTensors found;
  for (auto& entry : state_dict(module))
    if (entry.second.needs_grad()) found.push_back(entry);
  return found;
}

/// The entries of state_dict() that do not: running statistics, and what is frozen by requires_grad(false).
template <Module M>
NamedTensors named_buffers(const M& module) {
  NamedTensors found;
  for (auto& entry : state_dict(module))
    if (!entry.second.needs_grad()) found.push_back(entry);
  return found;
}

/// The tensors that require a gradient, each cell once.
template <Module M>
std::vector<Tensor> parameters(const M& module) {
  std::vector<Tensor> found;
  for (auto& entry : named_parameters(module)) found.push_back(entry.second);
  return found;
}

/// Removes the gradients of all parameters.
template <Module M>
void zero_grad(const M& module) {
  for (Tensor p : parameters(module)) p.zero_grad();
}

/// Calls each function with every module of the type that it takes, the model itself included: a module before its
/// members, in their order, each object once. A function takes a reference to a module, exactly of that type, or its
/// path and that: apply(model, [](nn::Conv2d& c) { ... }, [](const std::string& path, nn::Linear& l) { ... }). It
/// reaches into vectors, pointers, Sequential and AnyModule; one that takes AnyModule& may put another module there.
/// @snippet containers.cpp apply
template <Module M, class... F>
void apply(M& model, F&&... functions) {
  std::set<std::pair<const void*, std::type_index>> met;
  walk::members("", model, walk::Ignore(), [&](const std::string& path, auto& module) {
    const walk::ErasedModule erased = walk::erased(module);
    if (!met.emplace(erased.address, *erased.type).second) return;
    (walk::call_with_module<std::is_const_v<M>>(functions, path, erased), ...);
  });
}

/// Turns on every member `bool training`, such as Dropout's.
template <Module M>
void train(M& module, bool on = true) {
  walk::members("", module, walk::Ignore(), [on](const std::string&, auto& m) {
    if (bool* training = walk::erased(m).training) *training = on;
  });
}
/// Turns it off.
template <Module M>
void eval(M& module) {
  train(module, false);
}

/// Moves every tensor to the device inside its cell: parameters remain those that optimizers and other modules hold.
template <Module M>
void to(M& module, Device device, Loc where = Loc::current()) {
  walk::members(
      "", module,
      [&](const std::string&, Tensor& t) {
        if (t.defined()) walk::move(t, device, where);
      },
      walk::Ignore());
}
/// Converts every tensor of floats inside its cell, with its gradient. Optimizers that were made before convert their
/// states at their next step. UsageError unless it is a type of floats.
template <Module M>
void to(M& module, DType dtype, Loc where = Loc::current()) {
  walk::require_float(dtype, where);
  walk::members(
      "", module,
      [&](const std::string&, Tensor& t) {
        if (t.defined()) walk::convert(t, dtype, where);
      },
      walk::Ignore());
}
/// Both.
template <Module M>
void to(M& module, Device device, DType dtype, Loc where = Loc::current()) {
  walk::require_float(dtype, where);
  to(module, device, where);
  to(module, dtype, where);
}

/// A separate module with equal values. It shares no cell, and no object of a std::shared_ptr, with the original.
/// Members tied in the original are tied in the copy.
template <Module M>
M clone(const M& module) {
  M copy = module;
  std::vector<std::pair<Tensor, Tensor>> made;
  walk::members(
      "", copy,
      [&](const std::string&, Tensor& t) {
        if (!t.defined()) return;
        for (auto& [from, target] : made)
          if (from.cell() == t.cell()) return void(t = target);
        Tensor target = t.detach().clone();
        if (t.needs_grad()) target.requires_grad();
        made.emplace_back(t, target);
        t = target;
      },
      walk::Ignore(), walk::Pointees());
  return copy;
}
/// @}

}  // namespace nn
}  // namespace sinter::inline v0
