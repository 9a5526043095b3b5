// Modules of modules: Sequential, whose layers are known to the compiler or added at run time, ModuleList, ModuleDict.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "sinter/call.h"
#include "sinter/nn/any_module.h"

namespace sinter::inline v0::nn {

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

/// A module and the name that it has among others: `for (auto& [name, module] : dict)`. The name stays as it is.
class NamedModule {
 public:
  NamedModule(std::string name, AnyModule module) : name_(std::move(name)), module_(std::move(module)) {}  ///< both
  const std::string& name() const { return name_; }    ///< without dots
  AnyModule& module() { return module_; }              ///< the module
  const AnyModule& module() const { return module_; }  ///< the same, to read
  /// Parts 0 and 1, for structured bindings.
  template <size_t I>
  auto& get() {
    return part<I>(*this);
  }
  /// The same, to read.
  template <size_t I>
  const auto& get() const {
    return part<I>(*this);
  }

 private:
  template <size_t I, class Self>
  static auto& part(Self& self) {
    if constexpr (I == 0)
      return std::as_const(self.name_);
    else
      return self.module_;
  }
  std::string name_;
  AnyModule module_;
};

/// Walks the modules of a list without their names. Of NamedModule or, to read, const NamedModule.
template <class Entry>
class ModuleIterator {
 public:
  using iterator_category = std::forward_iterator_tag;              ///< for algorithms
  using value_type = AnyModule;                                     ///< a module
  using difference_type = std::ptrdiff_t;                           ///< a number of modules
  using reference = decltype(std::declval<Entry&>().module());      ///< to the module
  using pointer = std::add_pointer_t<reference>;                    ///< to the module
  ModuleIterator() = default;                                       ///< of no list
  explicit ModuleIterator(Entry* at) : at_(at) {}                   ///< for the lists
  reference operator*() const { return at_->module(); }             ///< the module
  pointer operator->() const { return &at_->module(); }             ///< the same
  ModuleIterator& operator++() { return ++at_, *this; }             ///< to the next
  ModuleIterator operator++(int) { return ModuleIterator(at_++); }  ///< to the next; gives the former
  bool operator==(const ModuleIterator&) const = default;           ///< whether they are at one module

 private:
  Entry* at_ = nullptr;
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
    for (NamedModule& m : modules_) f(m.name().c_str(), m.module());
  }
  /// The same, to read.
  template <class F>
  void visit(F&& f) const {
    for (const NamedModule& m : modules_) f(m.name().c_str(), m.module());
  }

 protected:
  /// UsageError of `what` for a name that is empty, has a dot, or is there already.
  void add(std::string_view what, std::string name, AnyModule module, Loc where);
  /// Negative: from the end; UsageError if there is none.
  const AnyModule& at(std::string_view what, int64_t index, Loc where) const;
  /// UsageError if there is none.
  const AnyModule& at(std::string_view what, const std::string& name, Loc where) const;
  /// The same, to change.
  template <class Key>
  AnyModule& at(std::string_view what, const Key& key, Loc where) {
    return const_cast<AnyModule&>(std::as_const(*this).at(what, key, where));
  }
  std::vector<NamedModule> modules_;  ///< in order
};

/// Modules that have a place: what Sequential<> and ModuleList share. `for (auto& layer : list) x = layer(x);`
class ListedModules : public NamedModules {
 public:
  using iterator = ModuleIterator<NamedModule>;                                    ///< to change modules
  using const_iterator = ModuleIterator<const NamedModule>;                        ///< to read them
  iterator begin() { return iterator(modules_.data()); }                           ///< the first
  iterator end() { return iterator(modules_.data() + size()); }                    ///< after the last
  const_iterator begin() const { return const_iterator(modules_.data()); }         ///< the first, to read
  const_iterator end() const { return const_iterator(modules_.data() + size()); }  ///< after the last
};

/// Layers one after the other, added at run time: `Sequential net; net.push_back(Linear(784, 128));`, or
/// `Sequential<> net({Linear(784, 128), ReLU()})`. Their names are their numbers, or those given.
/// @snippet containers.cpp sequential
template <>
struct Sequential<> : ListedModules {
  Sequential() = default;                                                          ///< none yet
  explicit Sequential(std::vector<AnyModule> layers, Loc where = Loc::current());  ///< these layers
  /// Adds a layer at the end.
  void push_back(AnyModule layer, Loc where = Loc::current());
  /// The same under a name. UsageError if it is empty, has a dot, or is there already.
  void push_back(std::string name, AnyModule layer, Loc where = Loc::current());
  /// A layer by its number; negative: from the end. UsageError if there is none.
  AnyModule& operator[](int64_t index) { return at("Sequential", index, Loc::current()); }
  /// The same, to call or read.
  const AnyModule& operator[](int64_t index) const { return at("Sequential", index, Loc::current()); }
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
    const NamedModule& layer = first(1 + sizeof...(X));
    return run_others(call_layer(layer.name(), layer.module(), x.tensor, more...));
  }

 private:
  const NamedModule& first(size_t inputs) const;
  Tensor run_others(Tensor value) const;
};

/// Modules by number, as PyTorch's ModuleList: it has no order of calls. Elements are AnyModules: list[0](x), or
/// list[0].get<Linear>().
/// @snippet containers.cpp list
class ModuleList : public ListedModules {
 public:
  ModuleList() = default;                                                           ///< none yet
  explicit ModuleList(std::vector<AnyModule> modules, Loc where = Loc::current());  ///< these
  /// Adds one at the end.
  void push_back(AnyModule module, Loc where = Loc::current());
  /// UsageError if there is none; negative: from the end.
  AnyModule& operator[](int64_t index) { return at("ModuleList", index, Loc::current()); }
  /// The same, to call or read.
  const AnyModule& operator[](int64_t index) const { return at("ModuleList", index, Loc::current()); }
};

/// Tensors by number, as PyTorch's ParameterList: a member like any list. Those that require grad are parameters.
using ParameterList = std::vector<Tensor>;

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
  /// The same, to call or read.
  const AnyModule& operator[](const std::string& name) const { return at("ModuleDict", name, Loc::current()); }
  using iterator = std::vector<NamedModule>::iterator;              ///< to change modules
  using const_iterator = std::vector<NamedModule>::const_iterator;  ///< to read them
  iterator begin() { return modules_.begin(); }                     ///< the first: `auto& [name, module] = *begin()`
  iterator end() { return modules_.end(); }                         ///< after the last
  const_iterator begin() const { return modules_.begin(); }         ///< the first, to read
  const_iterator end() const { return modules_.end(); }             ///< after the last
};

}  // namespace sinter::inline v0::nn

/// A NamedModule has two parts.
template <>
struct std::tuple_size<sinter::nn::NamedModule> : std::integral_constant<size_t, 2> {};
/// The name and the module.
template <size_t I>
struct std::tuple_element<I, sinter::nn::NamedModule> {
  using type = std::conditional_t<I == 0, const std::string, sinter::nn::AnyModule>;  ///< a part
};
