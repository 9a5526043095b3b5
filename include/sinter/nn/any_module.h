// Modules behind one type, so that models can be built at run time.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#include "sinter/nn/module.h"

namespace sinter::inline v0::nn {

/// A function as a module: Functional([](const Tensor& x) { return leaky_relu(x, 0.2); }). Tensors that it holds are
/// not part of the model: they are neither saved nor trained.
struct Functional {
  /// UsageError for an empty function.
  explicit Functional(std::function<Tensor(const Tensor&)> function, Loc where = Loc::current());
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const;
  std::function<Tensor(const Tensor&)> function;
  SINTER_EMPTY_MODULE()
};

/// Before a call: the inputs, which it may replace.
using ForwardPreHook = std::function<void(std::vector<Tensor>& inputs)>;
/// After a call: the inputs and the output, which it may replace.
using ForwardHook = std::function<void(const std::vector<Tensor>& inputs, Tensor& output)>;

/// Before the gradients of a call are made: that of the output, which it may replace.
using FullBackwardPreHook = std::function<void(Tensor& grad_output)>;
/// After they are made: those of the inputs, which it may replace, empty handles for inputs that do not require grad;
/// and that of the output. An empty handle that it puts in the place of one is 0.
using FullBackwardHook = std::function<void(std::vector<Tensor>& grad_inputs, const Tensor& grad_output)>;

/// Any module, or function without state. A copy has a module of its own, whose tensors are the same, as with other
/// modules; clone() copies the tensors too. Functions of models walk into it, and give its tensors the names they have
/// there.
/// @snippet containers.cpp any
/// As a member, in place of a layer whose calls are to have hooks; names of tensors stay the same:
/// @snippet containers.cpp member
/// @snippet containers.cpp forward hook
class AnyModule {
 public:
  AnyModule() = default;  ///< empty: calling it is a UsageError
  /// Holds the module.
  template <class M>
    requires(!std::same_as<M, AnyModule> && (Module<M> || walk::Stateless<M>) && std::copy_constructible<M>)
  AnyModule(M module) : held_(std::make_unique<Holder<M>>(std::move(module))) {}  // NOLINT(google-explicit-constructor)
  AnyModule(const AnyModule& other);
  AnyModule(AnyModule&&) noexcept = default;
  AnyModule& operator=(const AnyModule& other);
  AnyModule& operator=(AnyModule&&) noexcept = default;
  ~AnyModule() = default;

  /// The module's result for 1 to 4 tensors. UsageError if it is no function of so many tensors to a tensor.
  template <std::same_as<Tensor>... X>
    requires(sizeof...(X) < 4)
  Tensor operator()(const Tensor& x, const X&... more) const {
    return call({x, more...}, Loc::current());
  }
  Tensor operator()(const Tensor& x, Loc where = Loc::current()) const { return call({x}, where); }  ///< of one
  /// Whether it holds a module.
  bool defined() const { return held_ != nullptr; }
  /// The module. UsageError if it is of another type.
  template <class M>
  M& get(Loc where = Loc::current()) {
    require_type(typeid(M), where);
    return static_cast<Holder<M>*>(held_.get())->module;
  }
  /// The same, to read.
  template <class M>
  const M& get(Loc where = Loc::current()) const {
    require_type(typeid(M), where);
    return static_cast<const Holder<M>*>(held_.get())->module;
  }
  /// Whether it is of that type.
  template <class M>
  bool is() const {
    return held_ && held_->type() == typeid(M);
  }

  /// Called before each call, in the order of registration. Returns a number for remove_hook(). Copies have the hook
  /// too.
  size_t register_forward_pre_hook(ForwardPreHook hook);
  /// Called after each call.
  size_t register_forward_hook(ForwardHook hook);
  /// Called when the gradient of a call's output is made, before those in the module.
  size_t register_full_backward_pre_hook(FullBackwardPreHook hook);
  /// Called when the gradients of a call's inputs are made; if none requires grad, when that of the output is. As hooks
  /// of tensors, it is called where a gradient is built: backward(), gradient(), once in a jitted function. A call
  /// inside vmap() is a UsageError.
  /// @snippet containers.cpp backward hook
  size_t register_full_backward_hook(FullBackwardHook hook);
  /// UsageError if there is no such hook. Calls that were made before keep theirs.
  void remove_hook(size_t number, Loc where = Loc::current());

  /// For functions of models: each tensor and module, with its path below `path`.
  void walk(const std::string& path, const walk::ErasedWalk& with) const;
  /// Calls f(path, tensor) for each tensor.
  template <class F>
  void visit(F&& f) const {
    walk({}, {[&](const std::string& path, Tensor& t) { f(path.c_str(), t); }, walk::Ignore()});
  }

 private:
  struct Held {
    virtual ~Held() = default;
    virtual std::unique_ptr<Held> copy() const = 0;
    virtual const std::type_info& type() const = 0;
    /// Whether it could be called.
    virtual bool call(std::span<const Tensor> x, Tensor& y) = 0;
    virtual void walk(const std::string& path, const walk::ErasedWalk& with) = 0;
  };
  template <class M>
  struct Holder;
  struct Hook {
    size_t number = 0;
    ForwardPreHook before = {};
    ForwardHook after = {};
    FullBackwardPreHook before_back = {};
    FullBackwardHook after_back = {};
  };
  size_t add(Hook hook);
  Tensor call(std::vector<Tensor> x, Loc where) const;
  void require_type(const std::type_info& wanted, Loc where) const;
  std::unique_ptr<Held> held_;
  std::vector<Hook> hooks_;
};

template <class M>
struct AnyModule::Holder final : AnyModule::Held {
  explicit Holder(M held) : module(std::move(held)) {}
  std::unique_ptr<Held> copy() const override { return std::make_unique<Holder>(module); }
  const std::type_info& type() const override { return typeid(M); }
  bool call(std::span<const Tensor> x, Tensor& y) override {
    switch (x.size()) {
      case 1: return call_with(y, x[0]);
      case 2: return call_with(y, x[0], x[1]);
      case 3: return call_with(y, x[0], x[1], x[2]);
      case 4: return call_with(y, x[0], x[1], x[2], x[3]);
      default: return false;
    }
  }
  template <class... X>
  bool call_with(Tensor& y, const X&... x) {
    if constexpr (requires {
                    { module(x...) } -> std::same_as<Tensor>;
                  }) {
      y = module(x...);
      return true;
    }
    return false;
  }
  void walk(const std::string& path, const walk::ErasedWalk& with) override {
    const auto on_module = [&](const std::string& at, auto& m) { with.on_module(at, walk::erased(m)); };
    if (with.pointees)
      walk::members(path, module, with.on_tensor, on_module, *with.pointees);
    else
      walk::members(path, module, with.on_tensor, on_module);
  }
  M module;
};

}  // namespace sinter::inline v0::nn
