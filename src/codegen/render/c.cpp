// One statement per instruction; a value that is used once, where it is made, is written into its use.
#include "codegen/render/c.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>

#include "codegen/render/c_spelling.h"
#include "runtime/hash.h"

namespace sinter::codegen {
namespace {

constexpr size_t kLongestInline = 90;

/// Text that no comment line ends in: names are their givers'.
std::string printable(std::string text) {
  for (char& c : text)
    if (!std::isprint(static_cast<unsigned char>(c)) || c == '\\') c = '_';
  return text;
}

class Renderer {
 public:
  Renderer(const Instructions& code, const runtime::Target& target)
      : code_(code),
        spell_(target),
        uses_(code.insts.size(), 0),
        home_(code.insts.size(), -1),
        user_(code.insts.size(), kNone),
        text_(code.insts.size()) {
    for (size_t b = 0; b < code_.blocks.size(); ++b)
      for (Id id : code_.blocks[b]) {
        home_[static_cast<size_t>(id)] = static_cast<int>(b);
        for (Id s : code_[id].src) {
          ++uses_[static_cast<size_t>(s)];
          user_[static_cast<size_t>(s)] = id;
        }
      }
  }

  /// The function's parameters and body, and what it needs before it.
  struct Text {
    std::string declarations, body;
  };
  Text run() {
    indent_ = 1;
    line("(void)bufs, (void)vars, (void)begin, (void)end;");
    for (size_t slot = 0; slot < code_.slots.size(); ++slot) {
      const Slot& s = code_.slots[slot];
      if (s.dtype == DType::Void) continue;  // a buffer of the launch that this kernel does not touch
      const std::string type = spell_.type({s.dtype, 1});
      if (slot < static_cast<size_t>(code_.params))
        line(fmt::format("{}{}* restrict p{} = bufs[{}];", s.written ? "" : "const ", type, slot, slot + 1));
      else if (s.offset < 0)
        line(fmt::format("{} p{}[{}] __attribute__((aligned(64)));", type, slot, s.tile));
      else
        line(fmt::format("{}* restrict p{} = ({}*)((char*)bufs[{}] + {});", type, slot, type, code_.params + 1, s.offset));
    }
    indent_ = 0;
    block(0);
    indent_ = 1;
    line("return 0;");
    const std::string i64 = spell_.type({DType::I64, 1});
    return {spell_.declarations(),
            fmt::format("(void* const* bufs, const {0}* vars, {0} begin, {0} end) {{\n{1}}}\n", i64, body_)};
  }

 private:
  void line(const std::string& text) { body_ += std::string(2 * indent_, ' ') + text + "\n"; }
  std::string& text(Id id) { return text_[static_cast<size_t>(id)]; }
  std::string fresh(std::string_view prefix) { return fmt::format("{}{}", prefix, next_++); }

  void block(int b) {
    ++indent_;
    for (Id id : code_.blocks[static_cast<size_t>(b)]) instruction(id);
    --indent_;
  }

  std::vector<std::string> operands(const std::vector<Id>& ids) {
    std::vector<std::string> texts;
    for (Id id : ids) texts.push_back(text(id));
    return texts;
  }
  /// Without parentheses around the whole.
  std::string bare(Id id) { return without_parentheses(text(id)); }

  /// Gives the value a name, or leaves it to its only user.
  void define(Id id, const std::string& expression, bool movable) {
    const size_t i = static_cast<size_t>(id);
    const Id user = user_[i];
    bool in_place = movable && uses_[i] == 1 && home_[static_cast<size_t>(user)] == home_[i] && expression.size() <= kLongestInline;
    in_place = in_place && code_[user].code != Code::Part && code_[user].code != Code::Loop;  // these take names
    if (in_place) {
      text(id) = stands_alone(expression) ? expression : "(" + expression + ")";
      return;
    }
    if (uses_[i] == 0 && movable) return;
    text(id) = fresh("v");
    line(fmt::format("const {} {} = {};", spell_.type(code_[id].type), text(id), expression));
  }
  static size_t name_length(const std::string& e) {
    size_t i = 0;
    while (i < e.size() && (std::isalnum(static_cast<unsigned char>(e[i])) || e[i] == '_')) ++i;
    return i;
  }
  /// A name, a number or a call: needs no parentheses.
  static bool stands_alone(const std::string& e) {
    const size_t n = name_length(e);
    return n == e.size() || (n > 0 && e[n] == '(' && closing(e, n) + 1 == e.size());
  }

  /// In parentheses: a sum taken term by term may leave a tile on its way, which C forbids even to pointers.
  std::string pointer(int64_t slot, Id address) { return fmt::format("p{} + {}", slot, text(address)); }

  /// The element of a buffer, or the vector that begins there.
  std::string element(int64_t slot, Id address, Type type, bool written) {
    if (type.lanes == 1) return fmt::format("p{}[{}]", slot, bare(address));
    return fmt::format("*({}{}*)({})", written ? "" : "const ", spell_.memory_type(type), pointer(slot, address));
  }

  void instruction(Id id) {
    const Inst& n = code_[id];
    switch (n.code) {
      case Code::Begin: text(id) = "begin"; return;
      case Code::End: text(id) = "end"; return;
      case Code::Const: text(id) = spell_.number(n.type.dtype, n.number); return;
      case Code::Var: return define(id, fmt::format("vars[{}]", n.imm), false);
      case Code::Arg:
        return define(id, spell_.from_bits(n.type.dtype, fmt::format("vars[{}]", code_.vars + n.imm)), false);
      case Code::Alu: return define(id, spell_.alu(n.op, n.type, code_[n.src.back()].type, operands(n.src)), true);
      case Code::Splat: return define(id, spell_.splat(n.type, bare(n.src[0])), true);
      case Code::Iota: {
        std::string list;
        for (int i = 0; i < n.type.lanes; ++i) list += fmt::format("{}{}", i ? ", " : "", i);
        return define(id, fmt::format("({}){{{}}}", spell_.type(n.type), list), false);
      }
      case Code::Pack: {
        std::string list;
        for (Id s : n.src) list += (s == n.src[0] && list.empty() ? "" : ", ") + text(s);
        return define(id, fmt::format("({}){{{}}}", spell_.type(n.type), list), false);
      }
      case Code::Below: return define(id, spell_.below(n.type.lanes, bare(n.src[0])), true);
      case Code::Part:
        if (n.type.lanes > 1) return define(id, spell_.part(n.type, text(n.src[0]), static_cast<int>(n.imm)), false);
        return define(id, fmt::format("{}[{}]", text(n.src[0]), n.imm), true);
      case Code::Load: {
        const bool counted = n.src.size() % 2 == 0;
        std::string value = counted ? spell_.load_some(n.type, pointer(n.imm, n.src[0]), bare(n.src.back()))
                                    : element(n.imm, n.src[0], n.type, code_.slots[static_cast<size_t>(n.imm)].written);
        if (n.src.size() > 2)
          value = fmt::format("{} ? {}{} : {}", text(n.src[1]),
                              n.type.lanes > 1 ? fmt::format("({})", spell_.type(n.type)) : "", value, text(n.src[2]));
        return define(id, value, false);
      }
      case Code::Store: {
        const Type type = code_[n.src[1]].type;
        if (n.src.size() > 2)
          return line(spell_.store_some(type, pointer(n.imm, n.src[0]), bare(n.src[1]), bare(n.src[2])) + ";");
        return line(fmt::format("{} = {};", element(n.imm, n.src[0], type, true), bare(n.src[1])));
      }
      case Code::Raise:
        return line(fmt::format("if (!{}) __atomic_fetch_or(({}*)bufs[0], {}u, __ATOMIC_RELAXED);", text(n.src[0]),
                                spell_.type({DType::U32, 1}), uint32_t{1} << n.imm));
      case Code::Accumulator: {
        text(id) = fresh("acc");
        const std::string initial = bare(n.src[0]), type = spell_.type(n.type);
        if (n.imm <= 1) return line(fmt::format("{} {} = {};", type, text(id), initial));
        line(fmt::format("{} {}[{}];", type, text(id), n.imm));
        return line(fmt::format("for (int i = 0; i < {}; ++i) {}[i] = {};", n.imm, text(id), initial));
      }
      case Code::Result:
        return define(id, n.src.size() > 1 ? fmt::format("{}[{}]", text(n.src[0]), bare(n.src[1])) : text(n.src[0]), true);
      case Code::Assign:
        return line(n.src.size() == 2 ? fmt::format("{} = {};", text(n.src[0]), bare(n.src[1]))
                                      : fmt::format("{}[{}] = {};", text(n.src[0]), bare(n.src[2]), bare(n.src[1])));
      case Code::Loop: {
        text(id) = fresh("n");
        if (!n.note.empty()) line("// " + printable(n.note));
        const std::string step = n.imm == 1 ? "++" + text(id) : fmt::format("{} += {}", text(id), n.imm);
        line(fmt::format("for ({0} {1} = {2}; {1} < {3}; {4}) {{", spell_.type({DType::Index, 1}), text(id),
                         text(n.src[0]), text(n.src[1]), step));
        block(n.block);
        return line("}");
      }
      case Code::If:
        line(fmt::format("if ({}) {{", bare(n.src[0])));
        block(n.block);
        return line("}");
    }
  }

  const Instructions& code_;
  CSpelling spell_;
  std::vector<int> uses_, home_;
  std::vector<Id> user_;
  std::vector<std::string> text_;
  std::string body_;
  size_t indent_ = 0;
  int next_ = 0;
};

}  // namespace

runtime::KernelSource render_c(const Instructions& code, const Instructions* finish, const std::string& hint,
                               const runtime::Target& target) {
  const Renderer::Text main = Renderer(code, target).run();
  const Renderer::Text last = finish ? Renderer(*finish, target).run() : Renderer::Text{};
  std::string name;
  for (char c : hint) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0]))) name = "k" + name;
  const runtime::Hash128 hash = runtime::HashBuilder()
                                    .add(name)
                                    .add(main.declarations)
                                    .add(main.body)
                                    .add(last.declarations)
                                    .add(last.body)
                                    .hash();
  name += fmt::format("_{}", runtime::to_hex(hash).substr(0, 16));
  std::string text = fmt::format("{}{}int {}{}", main.declarations, last.declarations, name, main.body);
  if (finish) text += fmt::format("int {}_finish{}", name, last.body);
  return {name, std::move(text), finish != nullptr, {}, std::max(code.scratch, finish ? finish->scratch : 0)};
}

}  // namespace sinter::codegen
