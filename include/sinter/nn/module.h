// A module is any struct that lists its members: SINTER_MODULE(l1, l2). There is no base class and no registry. The
// functions here walk the members at the time of the call, so members can be replaced or tied. Copies of a struct share
// its parameters, because tensors are handles.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeindex>
#include <utility>
#include <vector>

#include "sinter/gradient.h"
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
#define SINTER_PARENS ()
#define SINTER_EXPAND(...) SINTER_EXPAND4(SINTER_EXPAND4(SINTER_EXPAND4(SINTER_EXPAND4(__VA_ARGS__))))
#define SINTER_EXPAND4(...) SINTER_EXPAND3(SINTER_EXPAND3(SINTER_EXPAND3(SINTER_EXPAND3(__VA_ARGS__))))
#define SINTER_EXPAND3(...) SINTER_EXPAND2(SINTER_EXPAND2(SINTER_EXPAND2(SINTER_EXPAND2(__VA_ARGS__))))
#define SINTER_EXPAND2(...) __VA_ARGS__
#define SINTER_FOR_EACH(macro, ...) __VA_OPT__(SINTER_EXPAND(SINTER_FOR_EACH_STEP(macro, __VA_ARGS__)))
#define SINTER_FOR_EACH_STEP(macro, first, ...) \
  macro(first) __VA_OPT__(SINTER_FOR_EACH_AGAIN SINTER_PARENS(macro, __VA_ARGS__))
#define SINTER_FOR_EACH_AGAIN() SINTER_FOR_EACH_STEP

namespace sinter {
inline namespace v0 {
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

/// What a walk does in a module whose type it does not know.
struct ErasedWalk {
  std::function<void(const std::string&, Tensor&)> on_tensor;
  std::function<void(bool&)> on_training;  ///< for each member `bool training`
  Pointees* pointees = nullptr;            ///< null: follow pointers
};
/// Such a module: AnyModule.
template <class X>
concept Erased = requires(X& x, const ErasedWalk& with) { x.walk(std::string(), with); };
/// What on_module() gets for it.
struct TrainingFlag {
  bool& training;
};

/// Calls on_tensor(path, tensor) for each tensor below `x` and on_module(module) for each module, in the order of
/// members. Containers: vector, array, optional, tuple, pointer-like objects; their elements are named by number. A
/// pointer (or an optional) is followed if on_pointer(pointer) returns true; it may redirect the pointer.
template <class X, class OnTensor, class OnModule, class OnPointer = Follow>
void members(const std::string& path, X& x, OnTensor&& on_tensor, OnModule&& on_module, OnPointer&& on_pointer = {}) {
  using T = std::remove_const_t<X>;
  if constexpr (std::same_as<T, Tensor>) {
    on_tensor(path, x);
  } else if constexpr (Erased<X>) {
    ErasedWalk with{[&](const std::string& at, Tensor& t) { on_tensor(at, t); },
                    [&](bool& training) {
                      TrainingFlag flag{training};
                      on_module(flag);
                    }};
    if constexpr (std::same_as<std::remove_cvref_t<OnPointer>, Pointees>) with.pointees = &on_pointer;
    x.walk(path, with);
  } else if constexpr (HasVisit<X>) {
    on_module(x);
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
      [](const auto&) {});
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

/// The tensors that require a gradient, each cell once.
template <Module M>
std::vector<Tensor> parameters(const M& module) {
  std::vector<Tensor> found;
  for (auto& entry : named_parameters(module)) found.push_back(entry.second);
  return found;
}

/// Turns on every member `bool training`, such as Dropout's.
template <Module M>
void train(M& module, bool on = true) {
  walk::members(
      "", module, [](const std::string&, Tensor&) {},
      [on](auto& m) {
        if constexpr (walk::HasTraining<decltype(m)>) m.training = on;
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
      [](auto&) {});
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
      [](auto&) {}, walk::Pointees());
  return copy;
}
/// @}

}  // namespace nn
}  // namespace v0
}  // namespace sinter
