#include "runtime/cpu/cpu_model.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <string_view>

namespace sinter::runtime::cpu {
namespace {

std::string read_model() {
  constexpr std::array<std::string_view, 5> kFields = {"vendor_id", "cpu family", "model", "model name", "stepping"};
  std::string model;
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line) && !line.empty();) {  // the first CPU only
    std::string_view field = std::string_view(line).substr(0, line.find(':'));
    field = field.substr(0, field.find_last_not_of(" \t") + 1);
    if (std::ranges::find(kFields, field) != kFields.end()) model += line + "\n";
  }
  return model;
}

}  // namespace

const std::string& cpu_model() {
  static const std::string& model = *new std::string(read_model());
  return model;
}

}  // namespace sinter::runtime::cpu
