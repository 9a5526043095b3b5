// Modules of modules: Sequential, whose layers are known to the compiler or added at run time, ModuleList, ModuleDict.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "sinter/call.h"
#include "sinter/nn/any_module.h"

namespace sinter {
inline namespace v0 {
namespace nn {

/// A tensor that a call is given, with the caller's place.
struct PlacedTensor {
  /// Where it is converted.
  PlacedTensor(const Tensor& tensor, Loc where = Loc::current()) : tensor(tensor), where(where) {}  // NOLINT
  const Tensor& tensor;                                                                             ///< what is given
  Loc where;                                                                                        ///< the place
};

/// Whether First takes arguments of types X and gives a tensor, and each of the others takes that and gives one.
template <class First, class... Others>
struct LayerChain {
  template <class... X>
  static constexpr bool kTakes = std::is_invocable_r_v<Tensor, const First&, const X&...> &&
                                 (std::is_invocable_r_v<Tensor, const Others&, const Tensor&> && ...);
};

/// Throws the error again as one in this layer of a Sequential.
[[noreturn]] void throw_in_layer(const UsageError& error, const std::string& layer);
/// The same for a layer whose name is its number.
[[noreturn]] void throw_in_layer(const UsageError& error, size_t layer);

/// A layer's result. A UsageError in the call says the layer's name as well, a text or a number.
template <class Name, class Layer, class... X>
Tensor call_layer(const Name& name, const Layer& layer, const X&... x) {
  try {
    return layer(x...);
  } catch (const UsageError& error) { throw_in_layer(error, name); }
}

/// Layers one after the other: Sequential net{Linear(784, 128), ReLU(), Linear(128, 10)}.
/// @snippet containers.cpp several
template <class... Layers>
struct Sequential {
  explicit Sequential(Layers... list) : layers(std::move(list)...) {}
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const
    requires(LayerChain<Layers...>::template kTakes<Tensor>)
  {
    CallScope call("Sequential", where);
    return run(x);
  }
  /// The first layer takes all arguments, of any type; the others take what the one before gives.
  template <class... X>
    requires(sizeof...(X) > 0 && (!std::same_as<X, Loc> && ...) && LayerChain<Layers...>::template kTakes<Tensor, X...>)
  Tensor operator()(PlacedTensor x, const X&... more) const {
    const CallScope call("Sequential", x.where);
    return run(x.tensor, more...);
  }
  std::tuple<Layers...> layers;
  template <class F>
  void visit(F&& f) {
    visit_all(*this, f);
  }
  template <class F>
  void visit(F&& f) const {
    visit_all(*this, f);
  }

 private:
  template <class... X>
  Tensor run(const X&... x) const {
    return std::apply(
        [&](const auto& first, const auto&... layer) {
          size_t number = 0;
          Tensor value = call_layer(number++, first, x...);
          ((value = call_layer(number++, layer, value)), ...);
          return value;
        },
        layers);
  }
  template <class Self, class F>
  static void visit_all(Self& self, F& f) {
    [&]<size_t... i>(std::index_sequence<i...>) {
      (f(std::to_string(i).c_str(), std::get<i>(self.layers)), ...);
    }(std::index_sequence_for<Layers...>());
  }
};

/// Modules with names, in the order in which they were added: what Sequential<>, ModuleList and ModuleDict share.
class NamedModules {
 public:
  /// Number of modules.
  size_t size() const { return modules_.size(); }
  bool empty() const { return modules_.empty(); }  ///< whether there is none
  /// The names, in order.
  std::vector<std::string> names() const;
  /// Walks the modules by their names.
  template <class F>
  void visit(F&& f) {
    for (auto& [name, module] : modules_) f(name.c_str(), module);
  }
  /// The same, to read.
  template <class F>
  void visit(F&& f) const {
    for (const auto& [name, module] : modules_) f(name.c_str(), module);
  }

 protected:
  /// UsageError of `what` for a name that is empty, has a dot, or is there already.
  void add(std::string_view what, std::string name, AnyModule module, Loc where);
  AnyModule& at(std::string_view what, int64_t index, Loc where);  ///< negative: from the end; UsageError if none
  AnyModule& at(std::string_view what, const std::string& name, Loc where);  ///< UsageError if there is none
  std::vector<std::pair<std::string, AnyModule>> modules_;                   ///< name and module
};

/// Layers one after the other, added at run time: `Sequential net; net.push_back(Linear(784, 128));`, or
/// `Sequential<> net({Linear(784, 128), ReLU()})`. Their names are their numbers, or those given.
/// @snippet containers.cpp sequential
template <>
struct Sequential<> : NamedModules {
  Sequential() = default;                                                          ///< none yet
  explicit Sequential(std::vector<AnyModule> layers, Loc where = Loc::current());  ///< these layers
  /// Adds a layer at the end.
  void push_back(AnyModule layer, Loc where = Loc::current());
  /// The same under a name. UsageError if it is empty, has a dot, or is there already.
  void push_back(std::string name, AnyModule layer, Loc where = Loc::current());
  /// A layer by its number; negative: from the end. UsageError if there is none.
  AnyModule& operator[](int64_t index) { return at("Sequential", index, Loc::current()); }
  /// Adds copies of the layers of another one, which share its tensors. Names that are numbers go on counting; errors
  /// as of push_back(), and nothing is added then.
  void extend(const Sequential& more, Loc where = Loc::current());
  /// The layers' result, one after the other; x if there are none.
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
  /// The first layer takes all of the 2 to 4 tensors. UsageError if there is none.
  template <std::same_as<Tensor>... X>
    requires(sizeof...(X) > 0 && sizeof...(X) < 4)
  Tensor operator()(PlacedTensor x, const X&... more) const {
    const CallScope call("Sequential", x.where);
    const auto& [name, layer] = first(1 + sizeof...(X));
    return run_others(call_layer(name, layer, x.tensor, more...));
  }

 private:
  const std::pair<std::string, AnyModule>& first(size_t inputs) const;
  Tensor run_others(Tensor value) const;
};

/// Modules by number, as PyTorch's ModuleList: it has no order of calls. Elements are AnyModules: list[0](x), or
/// list[0].get<Linear>().
/// @snippet containers.cpp list
class ModuleList : public NamedModules {
 public:
  ModuleList() = default;                                                           ///< none yet
  explicit ModuleList(std::vector<AnyModule> modules, Loc where = Loc::current());  ///< these
  /// Adds one at the end.
  void push_back(AnyModule module, Loc where = Loc::current());
  /// UsageError if there is none; negative: from the end.
  AnyModule& operator[](int64_t index) { return at("ModuleList", index, Loc::current()); }
};

/// Modules by name, in the order in which they were added, as PyTorch's ModuleDict.
/// @snippet containers.cpp list
class ModuleDict : public NamedModules {
 public:
  ModuleDict() = default;  ///< none yet
  explicit ModuleDict(std::vector<std::pair<std::string, AnyModule>> modules, Loc where = Loc::current());  ///< these
  /// Adds one. UsageError for a name that is empty, has a dot, or is there already.
  void insert(std::string name, AnyModule module, Loc where = Loc::current());
  /// Whether there is one of that name.
  bool contains(const std::string& name) const;
  /// UsageError if there is none of that name.
  AnyModule& operator[](const std::string& name) { return at("ModuleDict", name, Loc::current()); }
};

}  // namespace nn
}  // namespace v0
}  // namespace sinter
