// What the ports share: how long they train, a line of progress, and the comparison with what PyTorch made of the same
// program. `NAME` trains and prints; `NAME --check reference/NAME.safetensors` trains for a few steps and compares.
#pragma once

#include <sinter/sinter.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace port {

/// One run of a program.
class Run {
 public:
  /// `tolerance` is relative, of each number that is compared.
  Run(int argc, char** argv, double tolerance) : tolerance_(tolerance) {
    if (argc == 3 && !std::strcmp(argv[1], "--check"))
      recorded_ = sinter::nn::load_file(argv[2]);
    else if (argc > 1) {
      std::fprintf(stderr, "usage: %s [--check FILE]\n", argv[0]);
      std::exit(2);
    }
  }

  bool checking() const { return !recorded_.empty(); }
  /// How many steps to train: the few that are recorded, or enough to see a result.
  int steps(int recorded, int example) const { return checking() ? recorded : example; }

  /// Keeps the numbers of a step for finish(), or prints them at every step that `every` divides.
  void log(int step, int every, const std::vector<std::pair<std::string, sinter::Tensor>>& numbers) {
    if (!checking() && step % every != 0) return;
    std::printf("step %d", step);
    for (const auto& [name, tensor] : numbers) {
      const double value = tensor.item();
      std::printf("  %s %.5g", name.c_str(), value);
      if (checking()) series(name).push_back(value);
    }
    std::printf("\n");
    std::fflush(stdout);
  }

  /// The exit status: 1 if a number is not the recorded one.
  int finish() const {
    int faults = 0;
    for (const auto& [name, tensor] : recorded_) {
      const std::vector<double> wanted = tensor.to(sinter::float64).to_vector<double>();
      const std::vector<double>* made = nullptr;
      for (const auto& [other, values] : series_)
        if (other == name) made = &values;
      if (!made || made->size() != wanted.size()) {
        std::printf("%s: %zu numbers are recorded, %zu were logged\n", name.c_str(), wanted.size(),
                    made ? made->size() : 0);
        ++faults;
        continue;
      }
      double worst = 0;
      for (size_t i = 0; i < wanted.size(); ++i) {
        const double error = std::abs((*made)[i] - wanted[i]) / std::abs(wanted[i]);
        if (!(error <= worst)) worst = error;  // NaN as well
        if (error <= tolerance_) continue;
        std::printf("%s, step %zu: %.8g, PyTorch's is %.8g\n", name.c_str(), i + 1, (*made)[i], wanted[i]);
        ++faults;
      }
      std::printf("%s: %zu numbers, within %.1e of PyTorch's\n", name.c_str(), wanted.size(), worst);
    }
    return faults != 0;
  }

 private:
  std::vector<double>& series(const std::string& name) {
    for (auto& [other, values] : series_)
      if (other == name) return values;
    return series_.emplace_back(name, std::vector<double>()).second;
  }

  double tolerance_;
  sinter::nn::NamedTensors recorded_;
  std::vector<std::pair<std::string, std::vector<double>>> series_;
};

}  // namespace port
