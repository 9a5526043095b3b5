// One statement per instruction. A value with a single use in the same block is inlined into that use.
#include "codegen/render/c_style.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "runtime/base/hash.h"
#include "sinter/error.h"

namespace sinter::codegen {
namespace {

constexpr size_t kLongestInline = 90;

/// Makes text safe for a comment line: names come from the user and may contain newlines or backslashes.
std::string printable(std::string text) {
  for (char& c : text)
    if (!std::isprint(static_cast<unsigned char>(c)) || c == '\\') c = '_';
  return text;
}
size_t name_length(const std::string& e) {
  size_t i = 0;
  while (i < e.size() && (std::isalnum(static_cast<unsigned char>(e[i])) ||
                          std::string_view("_.[]").find(e[i]) != std::string_view::npos))
    ++i;
  return i;
}
bool is_name(const std::string& e) {
  return !e.empty() && std::ranges::all_of(e, [](char c) { return std::isalnum(static_cast<unsigned char>(c)); });
}
/// Whether an expression is a name, a number, an element or a call, which need no parentheses.
bool is_primary_expression(const std::string& e) {
  const size_t n = name_length(e);
  return n == e.size() || (n > 0 && e[n] == '(' && closing_parenthesis(e, n) + 1 == e.size());
}

bool is_index(const Inst& n, Op op) { return n.code == InstCode::Alu && n.op == op && n.type == Type{DType::Index, 1}; }

}  // namespace

CStyleRenderer::CStyleRenderer(const Instructions& code, const runtime::Target& target)
    : code_(code),
      spell_(target),
      uses_(code.insts.size(), 0),
      home_(code.insts.size(), -1),
      user_(code.insts.size(), kNone),
      in_place_(code.insts.size(), false),
      induction_(code.insts.size(), false),
      text_(code.insts.size()) {
  for (size_t b = 0; b < code_.blocks.size(); ++b)
    for (Id id : code_.blocks[b]) {
      home_[id] = static_cast<int>(b);
      for (Id s : code_[id].src) {
        ++uses_[s];
        user_[s] = id;
      }
    }
  find_mma_in_place();
}

KernelText CStyleRenderer::run() {
  indent_ = 1;
  begin();
  indent_ = 0;
  block(0);
  indent_ = 1;
  end();
  std::string list = parameters();  // first, because it adds declarations of types
  return {spell_.declarations(), std::move(list), std::move(body_)};
}

std::string CStyleRenderer::thread(int64_t, int64_t) {
  throw InternalError("codegen: a kernel of the CPU has no threads");
}
std::string CStyleRenderer::barrier() {
  throw InternalError("codegen: a kernel of the CPU has no threads that could wait");
}

void CStyleRenderer::block(int b) {
  ++indent_;
  for (Id id : code_.blocks[b]) instruction(id);
  --indent_;
}

std::vector<std::string> CStyleRenderer::operands(const std::vector<Id>& ids) {
  return ir::mapped(ids, [&](Id id) { return text(id); });
}

/// Gives the value a name, or inlines it into its only user.
void CStyleRenderer::define(Id id, const std::string& expression, bool movable) {
  const size_t i = static_cast<size_t>(id);
  const Id user = user_[i];
  bool in_place = movable && uses_[i] == 1 && home_[user] == home_[i] && expression.size() <= kLongestInline;
  in_place = in_place && code_[user].code != InstCode::Part && code_[user].code != InstCode::Loop;  // these need a name
  if (in_place) {
    text(id) = is_primary_expression(expression) ? expression : "(" + expression + ")";
    return;
  }
  if (uses_[i] == 0 && movable) return;
  text(id) = fresh("v");
  // Not const: Clang tries to constant-evaluate every use of a const variable.
  line(fmt::format("{} {} = {};", spell_.type(code_[id].type), text(id), expression));
}

/// Whether each use of a sum recomputes it. Its form is name + induction variable of an innermost loop + constant,
/// where one of the last two may be missing. Nearby addresses then share the loop-invariant name, and the compiler need
/// not analyze a separate sum for each.
bool CStyleRenderer::is_rematerialized_sum(Id id) const {
  const Inst& n = code_[id];
  if (!pointers_may_wrap() || !is_index(n, Op::Add)) return false;
  const bool name = is_name(text_[n.src[0]]);
  if (code_[n.src[1]].code == InstCode::Const) return name || is_rematerialized_sum(n.src[0]);
  return name && induction_[n.src[1]];
}

/// The addends of an address, in the order in which they are added to a pointer. More than one only if
/// pointers_may_wrap().
std::vector<std::string> CStyleRenderer::terms(Id address) const {
  std::vector<std::string> terms;
  for (; is_rematerialized_sum(address); address = code_[address].src[0])
    terms.insert(terms.begin(), without_parentheses(text_[code_[address].src[1]]));
  terms.insert(terms.begin(), text_[address]);
  return terms;
}

std::string CStyleRenderer::pointer(int64_t slot, Id address) {
  return fmt::format("p{} + {}", slot, fmt::join(terms(address), " + "));
}

/// The element of a buffer, or the vector that starts there.
std::string CStyleRenderer::element(int64_t slot, Id address, Type type, bool written) {
  if (type.lanes > 1)
    return fmt::format("*({}{}*)({})", written ? "" : "const ", spell_.memory_type(type), pointer(slot, address));
  std::vector<std::string> sum = terms(address);
  if (sum.size() == 1) return fmt::format("p{}[{}]", slot, bare(address));
  const std::string last = std::move(sum.back());
  sum.pop_back();
  return fmt::format("(p{} + {})[{}]", slot, fmt::join(sum, " + "), last);
}

void CStyleRenderer::find_mma_in_place() {
  std::vector<int> back(code_.insts.size(), 0);  // results of a tile that go where its sum came from
  for (const auto& block : code_.blocks)
    for (Id id : block) {
      const Inst& write = code_[id];
      if (write.code != InstCode::AccumulatorWrite || write.src.size() != 2) continue;
      const Inst& part = code_[write.src[1]];
      if (part.code != InstCode::Part || uses_[write.src[1]] != 1) continue;
      const Id tile = part.src[0];
      if (code_[tile].code != InstCode::Mma || uses_[tile] != code_[tile].type.lanes) continue;
      const Id sum = code_[tile].src[static_cast<size_t>(part.imm)];
      const Inst& read = code_[sum];
      const bool same = read.code == InstCode::AccumulatorRead && read.src.size() == 1 && read.src[0] == write.src[0];
      const bool together = home_[sum] == home_[tile] && home_[id] == home_[tile];
      if (same && together && uses_[sum] == 1 && ++back[tile] == code_[tile].type.lanes) in_place_[tile] = true;
    }
}

/// Adds to the accumulators themselves, or to copies of them.
void CStyleRenderer::mma(Id id) {
  const Inst& n = code_[id];
  std::vector<std::string> args = operands(n.src);
  const auto sums = static_cast<size_t>(n.type.lanes);
  if (in_place_[id]) {
    for (size_t i = 0; i < sums; ++i) args[i] = text(code_[n.src[i]].src[0]);
  } else {
    define(id, spell_.pack(n.type, {args.begin(), args.begin() + static_cast<std::ptrdiff_t>(sums)}), false);
    for (size_t i = 0; i < sums; ++i) args[i] = spell_.lane(text(id), static_cast<int>(i));
  }
  line(spell_.add_mma(static_cast<DType>(n.imm), static_cast<DType>(n.number.as_int()), args));
}

void CStyleRenderer::instruction(Id id) {
  const Inst& n = code_[id];
  switch (n.code) {
    case InstCode::Begin: text(id) = "begin"; return;
    case InstCode::End: text(id) = "end"; return;
    case InstCode::Const: text(id) = spell_.number(n.type.dtype, n.number); return;
    case InstCode::Var: return define(id, number_argument(n.imm), false);
    case InstCode::Arg: return define(id, spell_.from_bits(n.type.dtype, number_argument(code_.vars + n.imm)), false);
    case InstCode::Thread: return define(id, thread(n.imm, n.number.as_int()), false);
    case InstCode::Alu:
      if (!text(id).empty()) return;  // its loop has declared it
      if (is_rematerialized_sum(id)) {
        text(id) = fmt::format("({})", fmt::join(terms(id), " + "));
        return;
      }
      if (n.imm) return define(id, spell_.extreme(n.op, n.type, operands(n.src)), true);
      return define(id, spell_.alu(n.op, n.type, code_[n.src.back()].type, operands(n.src)), true);
    case InstCode::Splat: return define(id, spell_.splat(n.type, bare(n.src[0])), true);
    case InstCode::Iota: {
      std::vector<std::string> numbers;
      for (int i = 0; i < n.type.lanes; ++i) numbers.push_back(std::to_string(i));
      return define(id, spell_.pack(n.type, numbers), false);
    }
    case InstCode::Pack:
      return define(
          id,
          code_[n.src[0]].type.lanes > 1 ? spell_.join(n.type, operands(n.src)) : spell_.pack(n.type, operands(n.src)),
          false);
    case InstCode::Interleave:
      return define(id, spell_.interleave(n.type, text(n.src[0]), text(n.src[1]), static_cast<int>(n.imm)), false);
    case InstCode::Transpose:
      return define(
          id, spell_.transpose(n.type, operands(n.src), static_cast<int>(n.imm), static_cast<int>(n.number.as_int())),
          false);
    case InstCode::Below: return define(id, spell_.lane_less_than(n.type.lanes, bare(n.src[0])), true);
    case InstCode::Part:
      if (in_place_[n.src[0]]) {
        text(id) = text(code_[code_[n.src[0]].src[static_cast<size_t>(n.imm)]].src[0]);
        return;
      }
      if (n.type.lanes > 1) return define(id, spell_.part(n.type, text(n.src[0]), static_cast<int>(n.imm)), false);
      return define(id, spell_.lane(text(n.src[0]), static_cast<int>(n.imm)), true);
    case InstCode::Shuffle: return define(id, spell_.shuffle(n.type, bare(n.src[0]), bare(n.src[1])), false);
    case InstCode::Mma: return mma(id);
    case InstCode::MmaStep: return define(id, spell_.mma_step(code_[n.src.back()].type.dtype, operands(n.src)), false);
    case InstCode::LoadMatrices:
      return define(id, spell_.load_matrices(n.type.lanes, n.number.as_int() != 0, pointer(n.imm, n.src[0])), false);
    case InstCode::CopyAsync:
      return line(spell_.copy_async(n.type.lanes * size_of(n.type.dtype), pointer(n.imm, n.src[0]),
                                    pointer(n.number.as_int(), n.src[1]), n.src.size() > 2 ? bare(n.src[2]) : ""));
    case InstCode::CommitCopies: return line("asm volatile(\"cp.async.commit_group;\" ::: \"memory\");");
    case InstCode::WaitCopies:
      return line(fmt::format("asm volatile(\"cp.async.wait_group {};\" ::: \"memory\");", n.imm));
    case InstCode::Barrier: return line(barrier());
    case InstCode::Load: return load(id);
    case InstCode::Store: return store(n);
    case InstCode::Stream:
      return line(spell_.stream(code_[n.src[1]].type, pointer(n.imm, n.src[0]), bare(n.src[1])) + ";");
    case InstCode::Fence: return line("__builtin_ia32_sfence();");
    case InstCode::Prefetch: return line(fmt::format("__builtin_prefetch({});", pointer(n.imm, n.src[0])));
    case InstCode::Raise:
      return line(fmt::format("if (!{}) {}", spell_.all(code_[n.src[0]].type.lanes, text(n.src[0])),
                              raise(uint32_t{1} << n.imm)));
    case InstCode::Accumulator: return accumulator(id);
    case InstCode::AccumulatorRead:
      return define(id, n.src.size() > 1 ? fmt::format("{}[{}]", text(n.src[0]), bare(n.src[1])) : text(n.src[0]),
                    true);
    case InstCode::AccumulatorWrite:
      if (n.src.size() == 2 && code_[n.src[1]].code == InstCode::Part && in_place_[code_[n.src[1]].src[0]]) return;
      return line(n.src.size() == 2 ? fmt::format("{} = {};", text(n.src[0]), bare(n.src[1]))
                                    : fmt::format("{}[{}] = {};", text(n.src[0]), bare(n.src[2]), bare(n.src[1])));
    case InstCode::Loop:
      text(id) = fresh("n");
      return code_[n.src[0]].code == InstCode::Begin ? task_loop(id) : plain_loop(id);
    case InstCode::If:
      line(fmt::format("if ({}) {{", bare(n.src[0])));
      block(n.block);
      return line("}");
  }
}

void CStyleRenderer::note(Id loop) {
  if (const std::string& note = code_[loop].note; !note.empty()) line("// " + printable(note));
}

/// Nesting depth of the loops in a loop, itself included, or in an if.
int CStyleRenderer::loop_depth(Id owner) const {
  int most = 0;
  for (Id id : code_.blocks[code_[owner].block])
    if (code_[id].code == InstCode::Loop || code_[id].code == InstCode::If) most = std::max(most, loop_depth(id));
  return most + (code_[owner].code == InstCode::Loop);
}

/// Strength reduction: the products of a loop variable and a constant that become induction variables of their own.
/// Only in the two innermost loops, where a multiplication would delay the first load of each iteration.
std::vector<Id> CStyleRenderer::derived_inductions(Id loop) {
  std::vector<Id> found;
  if (!pointers_may_wrap()) return found;
  const int loop_depth = this->loop_depth(loop);
  if (loop_depth > 2) return found;
  induction_[loop] = loop_depth == 1;
  for (Id id : code_.blocks[code_[loop].block]) {
    const Inst& n = code_[id];
    if (!is_index(n, Op::Mul) || n.src[0] != loop || code_[n.src[1]].code != InstCode::Const) continue;
    induction_[id] = loop_depth == 1;
    found.push_back(id);
  }
  return found;
}

void CStyleRenderer::plain_loop(Id loop) {
  const Inst& n = code_[loop];
  note(loop);
  if (const std::string words = unroll_pragma(n); !words.empty()) line(words);
  const Inst& from = code_[n.src[0]];
  std::string first = fmt::format("{} = {}", text(loop), text(n.src[0]));
  std::string step = n.imm == 1 ? "++" + text(loop) : fmt::format("{} += {}", text(loop), n.imm);
  for (Id id : derived_inductions(loop)) {
    const int64_t factor = code_[code_[id].src[1]].number.as_int();
    text(id) = fresh("v");
    first += fmt::format(", {} = ", text(id));
    first += from.code == InstCode::Const ? std::to_string(from.number.as_int() * factor)
                                          : fmt::format("{} * {}", text(n.src[0]), factor);
    step += fmt::format(", {} += {}", text(id), n.imm * factor);
  }
  first = fmt::format("{} {};", spell_.type(n.type), first);
  const bool last = is_bottom_tested(n);
  if (last) line(first);
  line(last ? "do {" : fmt::format("for ({} {} < {}; {}) {{", first, text(loop), text(n.src[1]), step));
  block(n.block);
  line(last ? fmt::format("}} while ({}, {} != {});", step, text(loop), text(n.src[1])) : "}");
}

void CStyleRenderer::load(Id id) {
  const Inst& n = code_[id];
  if (n.src.size() == 4 && code_[n.src[1]].type.lanes > 1)
    return define(id, spell_.gather(n.type, pointer(n.imm, n.src[0]), bare(n.src[3]), bare(n.src[1]), bare(n.src[2])),
                  false);
  if (n.src.size() == 3 && code_[n.src[1]].type.lanes > 1)
    return define(id, spell_.load_masked(n.type, pointer(n.imm, n.src[0]), bare(n.src[1]), bare(n.src[2])), false);
  if (n.src.size() == 3 && spell_.has_load_predicated()) {
    const Inst& other = code_[n.src[2]].code == InstCode::Splat ? code_[code_[n.src[2]].src[0]] : code_[n.src[2]];
    if (other.code == InstCode::Const)
      return define(id, spell_.load_predicated(n.type, pointer(n.imm, n.src[0]), bare(n.src[1]), other.number), false);
  }
  const bool counted = n.src.size() % 2 == 0;
  std::string value = counted ? spell_.load_partial(n.type, pointer(n.imm, n.src[0]), bare(n.src.back()))
                              : element(n.imm, n.src[0], n.type, code_.slots[n.imm].written);
  if (n.src.size() > 2)
    value = fmt::format("{} ? {}{} : {}", text(n.src[1]),
                        n.type.lanes > 1 ? fmt::format("({})", spell_.type(n.type)) : "", value, text(n.src[2]));
  define(id, value, false);
}

void CStyleRenderer::store(const Inst& n) {
  const Type type = code_[n.src[1]].type;
  if (const int64_t stride = n.number.as_int())
    return line(spell_.store_strided(type, pointer(n.imm, n.src[0]), bare(n.src[1]), stride) + ";");
  if (n.src.size() > 2)
    return line(spell_.store_partial(type, pointer(n.imm, n.src[0]), bare(n.src[1]), bare(n.src[2])) + ";");
  line(fmt::format("{} = {};", element(n.imm, n.src[0], type, true), bare(n.src[1])));
}

void CStyleRenderer::accumulator(Id id) {
  const Inst& n = code_[id];
  text(id) = fresh("acc");
  const std::string initial = bare(n.src[0]), type = spell_.type(n.type);
  if (n.imm <= 1) return line(fmt::format("{} {} = {};", type, text(id), initial));
  line(fmt::format("{} {}[{}];", type, text(id), n.imm));
  line(fmt::format("for (int i = 0; i < {}; ++i) {}[i] = {};", n.imm, text(id), initial));
}

std::string kernel_name(const std::string& hint, const KernelText& main, const KernelText& epilogue_kernel) {
  std::string name;
  for (char c : hint) name += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0]))) name = "k" + name;
  runtime::HashBuilder hash;
  hash.add(name);
  for (const KernelText* t : {&main, &epilogue_kernel}) hash.add(t->declarations).add(t->parameters).add(t->body);
  return name + fmt::format("_{}", runtime::to_hex(hash.hash()).substr(0, 16));
}

}  // namespace sinter::codegen
