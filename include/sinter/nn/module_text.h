// A model as text.
#pragma once

#include <memory>
#include <string>

#include "sinter/nn/module.h"

namespace sinter::inline v0::nn {

namespace walk {

/// Collects what a walk meets, and writes it.
class Outline {
 public:
  Outline();
  ~Outline();
  Outline(const Outline&) = delete;
  Outline& operator=(const Outline&) = delete;
  void add_module(const std::string& path, const ErasedModule& module);
  void add_tensor(const std::string& path, const Tensor& t);
  std::string text() const;

 private:
  struct Node;
  struct Data;
  std::unique_ptr<Data> data_;
};

}  // namespace walk

/// The model in lines as PyTorch prints it: types of modules without namespaces, shapes of tensors with dtypes other
/// than float32, options, and how many parameters, as parameters() counts them, are in the model and in each module
/// that has others.
/// @snippet containers.cpp text
template <Module M>
std::string to_string(const M& model) {
  walk::Outline outline;
  walk::members(
      "", model, [&](const std::string& path, const Tensor& t) { outline.add_tensor(path, t); },
      [&](const std::string& path, const auto& module) { outline.add_module(path, walk::erased(module)); });
  return outline.text();
}

}  // namespace sinter::inline v0::nn
