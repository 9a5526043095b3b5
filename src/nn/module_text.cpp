// The text of include/sinter/nn/module_text.h, and names of types.
#include "sinter/nn/module_text.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "nn/type_name.h"
#include "sinter/activations.h"
#include "sinter/conv.h"
#include "sinter/nn/any_module.h"
#include "sinter/pooling.h"
#include "sinter/resampling.h"

namespace sinter::inline v0::nn {

std::string full_name(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(type.name(), nullptr, nullptr, &status),
                                                    std::free);
  return text ? text.get() : type.name();
}

std::string short_name(const std::type_info& type) {
  std::string name = full_name(type);
  // Arguments may hold namespaces, and "(anonymous namespace)" no '<': what is before the first '<' is the type's own.
  name.resize(std::min(name.find('<'), name.size()));
  if (const size_t at = name.rfind("::"); at != std::string::npos) name.erase(0, at + 2);
  return name;
}

namespace walk {

void ModuleFacts::add_text(std::string_view name, std::string_view value) {
  text_ += fmt::format("{}{}={}", text_.empty() ? "" : ", ", name, value);
}

template <class Numbers>
void ModuleFacts::add_list(std::string_view name, const Numbers& numbers) {
  if (numbers.empty()) return;
  const std::string all = fmt::format("{}", fmt::join(numbers, ", "));
  add_text(name, numbers.size() == 1 ? all : fmt::format("[{}]", all));
}

void ModuleFacts::add(std::string_view name, double value) { add_text(name, fmt::format("{}", value)); }

void ModuleFacts::add(std::string_view name, const Shape& value) { add_text(name, to_string(value)); }

void ModuleFacts::add(std::string_view name, const PerAxis& value) { add_list(name, value.numbers()); }

void ModuleFacts::add(std::string_view name, const ScaleFactor& value) { add_list(name, value.numbers()); }

void ModuleFacts::add(std::string_view name, const AdaptiveSize& value) {
  std::vector<std::string> sizes;
  for (const std::optional<int64_t>& size : value.sizes()) sizes.push_back(size ? std::to_string(*size) : "as it is");
  add_list(name, sizes);
}

void ModuleFacts::add(std::string_view name, Gelu value) { add_text(name, value == Gelu::Tanh ? "tanh" : "exact"); }

void ModuleFacts::add(std::string_view name, ResampleMode value) {
  constexpr const char* kNames[] = {"nearest", "nearest-exact", "linear", "bilinear", "trilinear", "bicubic", "area"};
  add_text(name, kNames[static_cast<size_t>(value)]);
}

void ModuleFacts::add_stride(const PerAxis& stride, const PerAxis& kernel) {
  std::vector<int64_t> numbers = stride.numbers();
  const std::vector<int64_t>& sizes = kernel.numbers();
  if (numbers.size() < sizes.size()) numbers.resize(sizes.size(), numbers.empty() ? 0 : numbers[0]);
  for (size_t i = 0; i < numbers.size(); ++i)
    if (numbers[i] == 0 && !sizes.empty()) numbers[i] = sizes[sizes.size() == 1 ? 0 : i];
  if (std::adjacent_find(numbers.begin(), numbers.end(), std::not_equal_to()) == numbers.end()) numbers.resize(1);
  add_list("stride", numbers);
}

void ModuleFacts::add(std::string_view name, const ConvPadding& value) {
  if (value.name().empty()) return add(name, static_cast<const PerAxis&>(value));
  add_text(name, value.name());
}

void ModuleFacts::add(std::string_view name, const std::vector<std::pair<int64_t, int64_t>>& value) {
  std::string all;
  for (const auto& [before, after] : value) all += fmt::format("{}[{}, {}]", all.empty() ? "" : ", ", before, after);
  add_text(name, fmt::format("[{}]", all));
}

bool ModuleFacts::is(const PerAxis& value, int64_t number) {
  return std::ranges::all_of(value.numbers(), [&](int64_t n) { return n == number; });
}

bool ModuleFacts::is(const ConvPadding& value, int64_t number) {
  return value.name().empty() && is(static_cast<const PerAxis&>(value), number);
}

struct Outline::Node {
  std::string path;
  std::string name;  ///< the path below the module above
  std::string type, facts;
  std::string tensors;  ///< those that are members of it
  size_t depth;
};

struct Outline::Data {
  struct Parameter {
    size_t node;
    const void* cell;
    int64_t count;
  };
  std::vector<Node> nodes;  ///< each before those below it
  std::vector<Parameter> parameters;

  /// The module that the walk has met last of those that `path` lies in.
  size_t owner(const std::string& path) const {
    size_t at = nodes.size();
    while (at-- > 1) {
      const std::string& above = nodes[at].path;
      if (path.size() > above.size() && path.starts_with(above) && path[above.size()] == '.') return at;
    }
    return 0;
  }
  static std::string below(const Node& node, const std::string& path) {
    return path.substr(node.path.empty() ? 0 : node.path.size() + 1);
  }
  /// One after the last below it.
  size_t end_of(size_t node) const {
    size_t end = node + 1;
    while (end < nodes.size() && nodes[end].depth > nodes[node].depth) ++end;
    return end;
  }
  int64_t count_parameters(size_t begin, size_t end) const {
    std::set<const void*> met;
    int64_t count = 0;
    for (const Parameter& p : parameters)
      if (p.node >= begin && p.node < end && met.insert(p.cell).second) count += p.count;
    return count;
  }
};

Outline::Outline() : data_(std::make_unique<Data>()) {}
Outline::~Outline() = default;

void Outline::add_module(const std::string& path, const ErasedModule& module) {
  if (*module.type == typeid(AnyModule)) return;  // what it holds follows
  std::vector<Node>& nodes = data_->nodes;
  ModuleFacts facts;
  module.add_facts(module.address, facts);
  const size_t above = data_->owner(path);
  const size_t depth = nodes.empty() ? 0 : nodes[above].depth + 1;
  const std::string name = nodes.empty() ? "" : Data::below(nodes[above], path);
  nodes.push_back({path, name, short_name(*module.type), facts.text(), "", depth});
}

void Outline::add_tensor(const std::string& path, const Tensor& t) {
  if (!t.defined()) return;
  const size_t at = data_->owner(path);
  Node& node = data_->nodes[at];
  const std::string type = t.dtype() == float32 ? "" : fmt::format("{} ", name_of(t.dtype()));
  node.tensors +=
      fmt::format("{}{}={}{}", node.tensors.empty() ? "" : ", ", Data::below(node, path), type, to_string(t.shape()));
  if (t.needs_grad()) data_->parameters.push_back({at, t.cell().get(), t.numel()});
}

std::string Outline::text() const {
  std::string out;
  const std::vector<Node>& nodes = data_->nodes;
  const auto new_line = [&](size_t depth) {
    out += '\n';
    out.append(2 * depth, ' ');
  };
  std::vector<size_t> open;  // depths of the modules that wait for their last line
  const auto close_to = [&](size_t depth) {
    for (; !open.empty() && open.back() >= depth; open.pop_back()) {
      new_line(open.back());
      out += ')';
    }
  };
  for (size_t i = 0; i < nodes.size(); ++i) {
    const Node& node = nodes[i];
    close_to(node.depth);
    const size_t end = data_->end_of(i);
    const bool leaf = end == i + 1;
    const std::string facts =
        fmt::format("{}{}{}", node.tensors, node.tensors.empty() || node.facts.empty() ? "" : ", ", node.facts);
    if (i) {
      new_line(node.depth);
      out += fmt::format("({}): ", node.name);
    }
    out += fmt::format("{}({}", node.type, leaf ? facts + ")" : "");
    if (!leaf || !i) out += fmt::format("  # {} parameters", data_->count_parameters(i, end));
    if (leaf) continue;
    if (!facts.empty()) {
      new_line(node.depth + 1);
      out += facts;
    }
    open.push_back(node.depth);
  }
  close_to(0);
  return out;
}

}  // namespace walk
}  // namespace sinter::inline v0::nn
