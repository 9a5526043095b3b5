// What every pass makes of small programs, compared with tests/golden/NAME.txt, and docs/tour.md with what passes print
// now. With UPDATE_GOLDEN=1 (./dev golden) both are written instead.
#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include "catch.h"
#include "explain.h"
#include "ir/dump.h"
#include "programs.h"
#include "repository.h"
#include "runtime/base/log.h"
#include "sinter/debug.h"
#include "tensor/core/cell.h"
#include "unit/runtime_support.h"

using namespace sinter;

namespace {

/// A piece of what the compiler printed.
struct Section {
  std::string title, text;
};

/// Takes the log while it lives. Passes print "-- TITLE" and their result; tables begin with a word and a colon.
class Recorder final : public runtime::LogSink {
 public:
  explicit Recorder(std::vector<Section>& sections) : sections_(sections) { before_ = runtime::set_log_sink(this); }
  ~Recorder() override { runtime::set_log_sink(before_); }
  void write(int, std::string_view text) override {
    const bool titled = text.substr(0, 3) == "-- ";
    const size_t end = text.find(titled ? '\n' : ':');
    if (titled)
      sections_.push_back({std::string(text.substr(3, end - 3)), std::string(text.substr(end + 1))});
    else
      sections_.push_back({std::string(text.substr(0, end)), std::string(text)});
  }

 private:
  std::vector<Section>& sections_;
  const runtime_test::ScopedEnv debug_{"DEBUG", "5"};
  LogSink* before_;
};

std::vector<Section> follow(const golden::Program& program) {
  std::vector<Section> sections;
  const debug::Executor before = debug::executor();
  debug::set_executor(debug::Executor::Interpreter);
  const std::vector<Tensor> tensors = program.build();
  {
    const ir::GraphScope scope;
    std::vector<ir::UOp> roots;
    for (const Tensor& t : tensors) roots.push_back(tensor::node_of(t));
    sections.push_back({"tensor graph", ir::dump(roots)});
  }
  {
    const Recorder recorder(sections);
    const plan::KernelSources explained = testing::explain(tensors, runtime::reference_target());
    for (size_t k = 0; k < explained.sources.size(); ++k)
      sections.push_back({explained.scheduled.kernels[k].name + " in C", explained.sources[k].text});
  }
  std::string values;
  for (const Tensor& t : tensors)
    if (t.numel() <= 16) values += t.to_string() + "\n";
  if (!values.empty()) sections.push_back({"values", values});
  debug::set_executor(before);
  return sections;
}

std::string read(const std::string& path) {
  std::ifstream file(repository_path(path));
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}
void write(const std::string& path, const std::string& text) { std::ofstream(repository_path(path)) << text; }

bool updating() {
  const char* set = std::getenv("UPDATE_GOLDEN");
  return set && std::string_view(set) == "1";
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) out.push_back(line);
  return out;
}

/// Compares a file with what it should be; names the first line that differs.
void settle(const std::string& path, const std::string& text) {
  const std::string kept = read(path);
  if (kept == text) return;
  if (updating()) return write(path, text);
  const std::vector<std::string> a = lines(kept), b = lines(text);
  size_t i = 0;
  while (i < a.size() && i < b.size() && a[i] == b[i]) ++i;
  FAIL_CHECK(path << ":" << i + 1 << " holds\n  " << (i < a.size() ? a[i] : "(end)") << "\nbut the passes now print\n  "
                  << (i < b.size() ? b[i] : "(end)") << "\nIf that is wanted, run ./dev golden and review the diff.");
}

}  // namespace

TEST_CASE("small programs pass through the compiler as their golden files say", "[golden]") {
  for (const golden::Program& program : golden::programs()) {
    std::string text;
    for (const Section& s : follow(program)) text += "== " + s.title + "\n" + s.text + "\n";
    settle("tests/golden/" + program.name + ".txt", text);
  }
}

TEST_CASE("a program prints the same whatever ran before it", "[golden]") {
  auto text = [](const golden::Program& program) {
    std::string all;
    for (const Section& s : follow(program)) all += s.title + s.text;
    return all;
  };
  std::vector<std::string> first;
  for (const golden::Program& p : golden::programs()) first.push_back(text(p));
  for (size_t i = golden::programs().size(); i-- > 0;) CHECK(text(golden::programs()[i]) == first[i]);
}

TEST_CASE("the tour shows what passes print now", "[golden]") {
  // A line <!-- golden:PROGRAM/TITLE -->, then a fenced block whose content is that section.
  const std::string path = "docs/tour.md", mark = "<!-- golden:";
  const std::vector<std::string> page = lines(read(path));
  std::map<std::string, std::vector<Section>> known;
  for (const golden::Program& p : golden::programs()) known[p.name] = {};
  std::string made;
  size_t blocks = 0;
  for (size_t i = 0; i < page.size(); ++i) {
    made += page[i] + "\n";
    if (page[i].rfind(mark, 0) != 0) continue;
    ++blocks;
    const std::string name = page[i].substr(mark.size(), page[i].find(" -->") - mark.size());
    const size_t slash = name.find('/');
    const std::string program = name.substr(0, slash), title = name.substr(slash + 1);
    INFO(path << ":" << i + 1 << ": " << name);
    REQUIRE(known.count(program) == 1);
    if (known[program].empty())
      for (const golden::Program& p : golden::programs())
        if (p.name == program) known[program] = follow(p);
    std::vector<Section> fits;
    for (const Section& s : known[program])
      if (s.title == title) fits.push_back(s);
    REQUIRE(fits.size() == 1);
    REQUIRE((i + 1 < page.size() && page[i + 1].rfind("```", 0) == 0));
    made += page[++i] + "\n" + fits[0].text;
    while (i + 1 < page.size() && page[i + 1] != "```") ++i;
  }
  CHECK(blocks > 5);
  settle(path, made);
}

TEST_CASE("the tour's expression is the one of examples/tour.cpp", "[golden]") {
  const std::string programs = read("tests/golden/programs.cpp"), example = read("examples/tour.cpp");
  const size_t begin = programs.find("// tour begins\n"), end = programs.find("  // tour ends");
  REQUIRE(begin < end);
  const std::string text = programs.substr(begin + 15, end - begin - 15);
  CHECK(example.find(text) != std::string::npos);
}
