// What PyTorch recorded of functions and layers (tests/reference), and the comparison with it.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "repository.h"
#include "unit/tensor_support.h"

namespace sinter::testing {

using Named = std::map<std::string, Tensor>;
using Function = std::function<Tensor(const Named&)>;

struct Case {
  const char* name;
  Function f;
};

class Recording {
 public:
  explicit Recording(const std::string& file) {
    for (auto& [name, t] : nn::load_file(repository_path("tests/reference/" + file))) tensors_[name] = t;
  }

  const Tensor& at(const std::string& name) const { return tensors_.at(name); }

  void check(const Case& c) const {
    INFO(c.name);
    const std::string prefix = std::string(c.name) + "/";
    Named given;
    std::vector<Tensor> leaves;
    std::vector<std::string> names;
    for (const auto& [name, t] : tensors_) {
      if (!name.starts_with(prefix + "in.")) continue;
      const std::string key = name.substr(prefix.size() + 3);
      Tensor x = t.clone();
      if (tensors_.contains(prefix + "grad." + key)) {
        x.requires_grad();
        leaves.push_back(x);
        names.push_back(key);
      }
      given[key] = x;
    }
    const Tensor y = c.f(given);
    compare("y", y, at(prefix + "y"));
    const std::vector<Tensor> grads = gradient(y, leaves, at(prefix + "dy"));
    for (size_t i = 0; i < leaves.size(); ++i) compare(names[i], grads[i], at(prefix + "grad." + names[i]));
  }

 private:
  static void compare(const std::string& what, const Tensor& got, const Tensor& want) {
    INFO(what);
    REQUIRE(got.shape() == want.shape());
    const std::vector<float> expected = want.to_vector<float>(), compiled = got.to_vector<float>();
    const std::vector<double> wanted(expected.begin(), expected.end());
    CHECK(close({compiled.begin(), compiled.end()}, wanted, 1e-5));
    CHECK(close(numbers(got), wanted, 1e-5));
  }

  Named tensors_;
};

inline Tensor optional(const Named& in, const char* name) { return in.contains(name) ? in.at(name) : Tensor(); }

/// The layer with every tensor taken from `given`, by name.
template <class M>
M loaded(M module, const Named& given) {
  nn::walk::members(
      "", module,
      [&](const std::string& path, Tensor& t) {
        if (t.defined()) t = given.at(path);
      },
      nn::walk::Ignore());
  return module;
}

}  // namespace sinter::testing
