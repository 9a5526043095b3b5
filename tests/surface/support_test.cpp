// docs/support.md: what each function takes and gives, made from the table; and that the table has every function.
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "catch.h"
#include "repository.h"
#include "sinter/error.h"
#include "surface/row.h"

using namespace sinter;
using surface::Family;
using surface::Gradients;
using surface::Row;

namespace {

constexpr DType kIntegers[] = {uint8, int8, uint16, int16, uint32, int32, uint64, int64};
constexpr DType kFloats[] = {float16, bfloat16, float32, float64};

/// The type of the first result for arguments of that type; "-" if they are refused.
std::string result_of(const Row& row, DType dtype) {
  Row whole = row;
  if (!is_float(dtype)) whole.low = 0, whole.high = 3;
  try {
    return std::string(name_of(row.call(surface::inputs_of(whole, row.cases[0], dtype))[0].dtype()));
  } catch (const UsageError&) { return "-"; }
}

/// One type for all of a kind, or the word for "its own".
std::string result_of(const Row& row, std::span<const DType> kind) {
  std::set<std::string> results;
  bool own = true;
  for (const DType dtype : kind) {
    results.insert(result_of(row, dtype));
    own &= result_of(row, dtype) == name_of(dtype);
  }
  if (own) return "own";
  std::string all;
  for (const std::string& r : results) all += (all.empty() ? "" : ", ") + r;
  return all;
}

std::string table() {
  std::string out =
      "# What functions take and give\n\n"
      "Made from the table of `tests/surface` by its tests, which compare each function with the interpreter, on "
      "every\n"
      "element type and on views, and with PyTorch, values and gradients, also on sizes of 0, 1, primes and rank 8. "
      "Columns:\n"
      "the type of the result for a bool, for integers and for floats (own: the argument's; -: refused); how often it "
      "can be differentiated.\n";
  std::vector<const Family*> families = Family::all();
  std::sort(families.begin(), families.end(), [](auto* a, auto* b) { return a->name() < b->name(); });
  for (const Family* family : families) {
    out += fmt::format("\n## {}\n\n| function | bool | integers | floats | derivatives |\n|---|---|---|---|---|\n",
                       family->name());
    for (const Row& row : family->rows())
      out += fmt::format("| `{}` | {} | {} | {} | {} |\n", row.name, result_of(row, boolean), result_of(row, kIntegers),
                         result_of(row, kFloats),
                         row.gradients == Gradients::None    ? "-"
                         : row.gradients == Gradients::First ? "first"
                                                             : "all");
  }
  return out;
}

}  // namespace

TEST_CASE("surface: docs/support.md is what the table gives; SURFACE_ACCEPT=1 writes it", "[surface]") {
  const std::string made = table();
  if (std::getenv("SURFACE_ACCEPT")) std::ofstream(repository_path("docs/support.md")) << made;
  CHECK(repository_text("docs/support.md") == made);
}

namespace {

/// Headers whose functions are proven by tests of another kind than rows, and those tests.
struct Elsewhere {
  const char* header;
  const char* because;
  std::vector<const char*> tests;
};
const Elsewhere kElsewhere[] = {
    {"random.h",
     "draws have known numbers and moments",
     {"tests/unit/tensor/ops/random_test.cpp", "tests/unit/tensor/ops/draws_test.cpp",
      "tests/unit/tensor/ops/draw_bits_test.cpp"}},
    {"create.h", "they take no tensors", {"tests/unit/tensor/ops/create_test.cpp"}},
    {"transforms.h",
     "they take functions",
     {"tests/unit/tensor/transform/derivatives_test.cpp", "tests/unit/tensor/transform/vmap_test.cpp"}},
};
/// What users do not call.
const std::set<std::string> kInternal = {"as_argnums", "as_list", "by_arguments", "first_argnums",
                                         "from_list",  "of_list", "one_or_all"};

/// The functions of a header that give tensors.
std::set<std::string> declared_in(const std::string& header) {
  return names_in(
      "include/sinter/" + header,
      std::regex("^(?:inline )?(?:Tensor|bool|auto|std::vector<Tensor>|std::pair<Tensor, Tensor>|[A-Z]\\w+) "
                 "(\\w+)\\("));
}

std::set<std::string> names_of_rows() {
  std::set<std::string> rows;
  for (const Family* family : Family::all())
    for (const Row& row : family->rows()) {
      rows.insert(row.name);
      rows.insert(row.name.substr(0, row.name.find('(')));  // kl_divergence(Normal)
    }
  return rows;
}

}  // namespace

TEST_CASE("surface: every function of the headers of draws, creation and transforms has a test", "[surface]") {
  for (const Elsewhere& e : kElsewhere) {
    std::string tests;
    for (const char* path : e.tests) tests += repository_text(path);
    const std::set<std::string> declared = declared_in(e.header);
    CHECK(declared.size() > 3);
    for (const std::string& name : declared) {
      INFO(e.header << ": " << name << " has no row, since " << e.because);
      CHECK((kInternal.contains(name) || std::regex_search(tests, std::regex("[^:\\w]" + name + "\\("))));
    }
  }
}

TEST_CASE("surface: likelihood and entropy of every distribution have rows", "[surface]") {
  const std::set<std::string> rows = names_of_rows();
  std::istringstream header(repository_text("include/sinter/distributions.h"));
  std::string type;
  size_t met = 0;
  for (std::string line; std::getline(header, line);) {
    std::smatch found;
    if (std::regex_search(line, found, std::regex("^class (\\w+) (?:: [^{]*)?\\{"))) type = found[1];
    if (std::regex_search(line, found, std::regex("^Tensor (\\w+)\\("))) type = "";
    if (!std::regex_search(line, found, std::regex("^ *Tensor (log_prob|entropy|kl_divergence)\\("))) continue;
    const std::string name = type.empty() ? found[1].str() : type + "::" + found[1].str();
    INFO(name);
    CHECK(rows.contains(name));
    ++met;
  }
  CHECK(met > 10);
}

TEST_CASE("surface: every public function has a row", "[surface]") {
  const std::set<std::string> rows = names_of_rows();
  std::istringstream headers(repository_text("include/sinter/ops.h") + "\n#include \"sinter/attention.h\"\n");
  for (std::string include; std::getline(headers, include);) {
    const size_t from = include.find('"'), to = include.rfind('"');
    if (from == to) continue;
    const std::string header = include.substr(from + 1, to - from - 1);
    for (const std::string& name : declared_in(header.substr(header.find('/') + 1))) {
      INFO(header << ": " << name);
      CHECK(rows.contains(name));
    }
  }
}
