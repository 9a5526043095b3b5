// Wrong calls of the functions of the table: those that their families name, and empty handles.
#include <fmt/core.h>

#include <set>

#include "surface/comparison.h"

using namespace sinter;
using namespace surface;

namespace {

/// The function of a row, as its errors name it: "at" of "Tensor::at: mask", "pow" of "pow of integers". What takes
/// nothing is refused by its constructor: "Normal" of "Normal::entropy".
std::string function_of(const Row& row) {
  const std::string name = row.name.substr(0, std::min(row.name.find(": "), row.name.find_first_of(", (")));
  const size_t scope = name.rfind("::");
  if (scope == name.npos) return name;
  return name.ends_with("::entropy") ? name.substr(0, scope) : name.substr(scope + 2);
}

/// The error of the row's call without input k; empty if it is accepted.
std::string error_without(const Row& row, size_t k) {
  Tensors given = inputs_of(row, row.cases[0], main_type(row));
  given[k] = Tensor();
  try {
    row.call(given);
  } catch (const UsageError& e) { return e.what(); }
  return "";
}

}  // namespace

TEST_CASE("surface: wrong calls name both values", "[surface]") {
  for (const Family* family : Family::all())
    for (const Refusal& r : family->refusals()) {
      INFO(family->name() << ": " << r.name);
      try {
        r.call();
        FAIL_CHECK("it was accepted");
      } catch (const UsageError& e) {
        const std::string text = e.what();
        INFO(text);
        CHECK(text.starts_with(std::string(r.name) + ":"));
        CHECK(text.find(r.first) != std::string::npos);
        CHECK(text.find(r.second) != std::string::npos);
      }
    }
}

TEST_CASE("surface: every family refuses a wrong call for every three right ones", "[surface]") {
  for (const Family* family : Family::all()) {
    INFO(family->name());
    CHECK(family->refusals().size() * 3 >= family->rows().size());
  }
}

TEST_CASE("surface: every function refuses an empty handle, or a wrong call of its own", "[surface]") {
  for (const Family* family : Family::all()) {
    std::set<std::string> refusing;
    for (const Refusal& r : family->refusals()) refusing.insert(r.name);
    for (const Row& row : family->rows()) {
      const std::string name = function_of(row);
      for (size_t k = 0; k < row.cases[0].size() && !refusing.contains(name); ++k)
        if (error_without(row, k).starts_with(name + ":")) refusing.insert(name);
    }
    for (const Row& row : family->rows()) {
      INFO(family->name() << ": " << row.name << " needs a SURFACE_BAD(\"" << function_of(row) << "\", ...)");
      CHECK(refusing.contains(function_of(row)));
    }
  }
}
