// Words -> module: declarations and directives. Function bodies are parsed by ptx_body.cpp.
#include "cudasim/ptx_parser.h"

#include <fmt/core.h>

#include <charconv>
#include <cstring>

namespace sinter::runtime::cuda::sim {

int64_t type_bytes(std::string_view type) {
  if (type == "pred") return 0;
  size_t digits = type.find_first_of("0123456789");
  int bits = 0;
  if (digits == std::string_view::npos || type.find_first_not_of("0123456789", digits) != std::string_view::npos)
    return -1;
  std::from_chars(type.data() + digits, type.data() + type.size(), bits);
  return bits / 8;
}

PtxNumber parse_number(PtxLexer& in) {
  const bool minus = in.accept("-");
  const std::string word(in.take());
  PtxNumber out;
  if (word.size() > 2 && word[0] == '0' && (word[1] == 'f' || word[1] == 'F' || word[1] == 'd' || word[1] == 'D')) {
    out.kind = word[1] == 'f' || word[1] == 'F' ? PtxOperand::Kind::Float32 : PtxOperand::Kind::Float64;
    out.value = static_cast<int64_t>(std::strtoull(word.c_str() + 2, nullptr, 16));
  } else if (word.find('.') != std::string::npos) {
    const double number = minus ? -std::strtod(word.c_str(), nullptr) : std::strtod(word.c_str(), nullptr);
    out.kind = PtxOperand::Kind::Float64;
    std::memcpy(&out.value, &number, sizeof number);
    return out;
  } else if (word[0] >= '0' && word[0] <= '9') {
    out.value = static_cast<int64_t>(std::strtoull(word.c_str(), nullptr, 0));
  } else {
    in.fail(fmt::format("a number was expected, '{}' stands here", word));
  }
  // The value is a bit pattern: -2^63 is its own negation.
  if (minus) out.value = static_cast<int64_t>(-static_cast<uint64_t>(out.value));
  return out;
}

namespace {

void parse_values(PtxLexer& in, PtxVariable& variable, int64_t element) {
  const auto append = [&](const PtxNumber& number) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(&number.value);
    variable.values.insert(variable.values.end(), bytes, bytes + element);
  };
  if (!in.accept("{")) return append(parse_number(in));
  while (!in.accept("}")) {
    append(parse_number(in));
    in.accept(",");
  }
}

}  // namespace

PtxVariable parse_variable(PtxLexer& in, StateSpace space, bool external) {
  PtxVariable out;
  out.space = space;
  int64_t element = -1, lanes = 1;
  for (;;) {
    const std::string_view word = in.peek();
    if (word == ".align") {
      in.take();
      out.align = parse_number(in).value;
    } else if (word == ".ptr") {
      in.take();  // a pointer's target space and alignment, which do not describe the variable
      if (in.peek() == ".global" || in.peek() == ".shared" || in.peek() == ".local" || in.peek() == ".const") in.take();
      if (in.accept(".align")) parse_number(in);
    } else if (word == ".v2" || word == ".v4") {
      lanes = word == ".v2" ? 2 : 4;
      in.take();
    } else if (word.size() > 1 && word[0] == '.') {
      if (word != ".attribute") element = type_bytes(word.substr(1));
      if (element < 0) in.fail(fmt::format("'{}' is no type", word));
      in.take();
    } else {
      break;
    }
  }
  out.name = in.take();
  if (element < 0) in.fail(fmt::format("the variable {} has no type", out.name));
  element *= lanes;
  int64_t count = 1;
  while (in.accept("[")) {
    if (in.accept("]")) {
      count = 0;
      break;
    }
    count *= parse_number(in).value;
    in.expect("]");
  }
  out.bytes = element * count;
  out.align = std::max(out.align, element);
  out.dynamic = external && space == StateSpace::Shared;
  if (in.accept("=")) parse_values(in, out, element / lanes);
  if (!out.values.empty())
    out.values.resize(
        static_cast<size_t>(out.bytes = std::max<int64_t>(out.bytes, static_cast<int64_t>(out.values.size()))));
  return out;
}

namespace {

class PtxParser {
 public:
  explicit PtxParser(std::string_view text) : in_(text) {}
  PtxModule parse();

 private:
  std::vector<uint32_t> parse_parameters(PtxFunction& function);
  void parse_function(bool entry);
  void parse_file();

  PtxLexer in_;
  PtxModule module_;
};

std::vector<uint32_t> PtxParser::parse_parameters(PtxFunction& function) {
  std::vector<uint32_t> out;
  if (!in_.accept("(")) return out;
  while (!in_.accept(")")) {
    if (!in_.accept(".param")) in_.fail("parameters in registers are not supported: .param was expected");
    out.push_back(static_cast<uint32_t>(function.variables.size()));
    function.variables.push_back(parse_variable(in_, function.entry ? StateSpace::Param : StateSpace::Local, false));
    in_.accept(",");
  }
  return out;
}

void PtxParser::parse_function(bool entry) {
  PtxFunction function;
  function.entry = entry;
  function.results = parse_parameters(function);
  function.name = in_.take();
  function.params = parse_parameters(function);
  while (in_.peek() != "{" && in_.peek() != ";") {
    const std::string directive(in_.take());
    const bool bound = directive == ".maxntid" || directive == ".reqntid";
    int64_t product = 1;
    while (in_.peek() != "{" && in_.peek() != ";" && in_.peek()[0] != '.') {
      product *= parse_number(in_).value;
      in_.accept(",");
    }
    if (bound) function.max_threads = product;
  }
  if (in_.accept(";")) return;  // a declaration; inline_calls() checks whether a definition follows
  parse_body(in_, module_, function);
  module_.functions.push_back(std::move(function));
}

void PtxParser::parse_file() {
  const size_t number = static_cast<size_t>(parse_number(in_).value);
  std::string name;
  while (in_.peek().size() > 1 && in_.peek()[0] == '"') {  // a folder and a name, or one path
    const std::string_view quoted = in_.take();
    name = quoted.substr(1, quoted.size() - 2);
  }
  while (in_.accept(",")) parse_number(in_);  // time and size
  if (module_.files.size() <= number) module_.files.resize(number + 1);
  module_.files[number] = name.substr(name.rfind('/') + 1);
}

PtxModule PtxParser::parse() {
  bool external = false;
  while (!in_.peek().empty()) {
    const std::string word(in_.take());
    if (word == ".version" || word == ".target" || word == ".address_size" || word == ".pragma") {
      in_.skip_line();
    } else if (word == ".file") {
      parse_file();
    } else if (word == ".section") {
      while (!in_.accept("}")) in_.take();
    } else if (word == ".extern") {
      external = true;
    } else if (word == ".visible" || word == ".weak" || word == ".common") {
      external = false;
    } else if (word == ".entry" || word == ".func") {
      parse_function(word == ".entry");
      external = false;
    } else if (word == ".global" || word == ".const" || word == ".shared") {
      module_.variables.push_back(
          parse_variable(in_, word == ".shared" ? StateSpace::Shared : StateSpace::Global, external));
      in_.expect(";");
      external = false;
    } else {
      in_.fail(fmt::format("'{}' is not known at the level of a module", word));
    }
  }
  return std::move(module_);
}

}  // namespace

PtxModule parse_ptx(std::string_view text) { return PtxParser(text).parse(); }

}  // namespace sinter::runtime::cuda::sim
