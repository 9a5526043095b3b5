#include "cudasim/decode.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "cudasim/poison.h"
#include "cudasim/ptx_parser.h"
#include "cudasim/regions.h"

namespace sinter::runtime::cuda::sim {
namespace {

const OpcodeRows& opcodes() {
  static const auto& all = *new OpcodeRows(opcode_rows(
      {integer_opcodes(), bit_opcodes(), float_opcodes(), compare_opcodes(), convert_opcodes(), move_opcodes(),
       memory_opcodes(), atomic_opcodes(), warp_opcodes(), matrix_opcodes(), async_opcodes(), control_opcodes()}));
  return all;
}

uint64_t align_up(uint64_t value, uint64_t align) { return (value + align - 1) / align * align; }

void mark_named(const PtxOperand& operand, std::vector<bool>& named) {
  if (operand.kind == PtxOperand::Kind::Symbol && operand.global) named[operand.index] = true;
  for (const PtxOperand& item : operand.items) mark_named(item, named);
}

/// Which of the module's variables the function refers to.
std::vector<bool> named_variables(const PtxModule& module, const PtxFunction& function) {
  std::vector<bool> named(module.variables.size());
  for (const PtxStatement& statement : function.statements)
    for (const PtxOperand& operand : statement.operands) mark_named(operand, named);
  return named;
}

std::optional<SpecialRegister> special_value(const std::string& name) {
  const size_t dot = name.rfind('.');
  const std::string base = name.substr(0, dot), part = dot == std::string::npos ? "" : name.substr(dot + 1);
  if (part.size() == 1 && part[0] >= 'x' && part[0] <= 'z') {
    const int axis = part[0] - 'x';
    if (base == "%tid") return SpecialRegister{SpecialRegisterKind::Thread, axis, {}};
    if (base == "%ntid") return SpecialRegister{SpecialRegisterKind::Threads, axis, {}};
    if (base == "%ctaid") return SpecialRegister{SpecialRegisterKind::Block, axis, {}};
    if (base == "%nctaid") return SpecialRegister{SpecialRegisterKind::Blocks, axis, {}};
  }
  if (name == "%laneid") return SpecialRegister{SpecialRegisterKind::Lane, 0, {}};
  if (name == "%warpid") return SpecialRegister{SpecialRegisterKind::Warp, 0, {}};
  if (name == "%nwarpid") return SpecialRegister{SpecialRegisterKind::Warps, 0, {}};
  if (name == "%clock64" || name == "%globaltimer") return SpecialRegister{SpecialRegisterKind::Clock, 0, {}};
  constexpr const char* kMasks[] = {"%lanemask_eq", "%lanemask_le", "%lanemask_lt", "%lanemask_ge", "%lanemask_gt"};
  for (int i = 0; i < 5; ++i)
    if (name == kMasks[i]) return SpecialRegister{SpecialRegisterKind::LaneMask, i, {}};
  return std::nullopt;
}

}  // namespace

Decoder::Decoder(const PtxModule& module, const PtxFunction& function, std::span<const uint64_t> global_at)
    : module_(module), function_(function), global_at_(global_at) {
  kernel_.name = function.name;
  kernel_.files = module.files;
  kernel_.max_threads = function.max_threads;
  grow(0);  // offset 0 means no register
  for (const uint8_t bytes : function.register_bytes) registers_.push_back(grow(bytes));
  lay_out();
}

RegisterSlot Decoder::grow(int bytes) {
  const RegisterSlot slot{static_cast<uint32_t>(kernel_.registers.size()), static_cast<uint8_t>(bytes)};
  kernel_.registers.resize(align_up(kernel_.registers.size() + lane_bytes(slot) + sizeof(Poison), 16));
  return slot;
}

void Decoder::place(const PtxVariable& variable, uint64_t& extent, std::vector<VariableLayout>& placed) {
  const uint64_t bytes = static_cast<uint64_t>(variable.bytes), align = static_cast<uint64_t>(variable.align);
  const uint64_t at = align_up(extent + kRedZone, std::max<uint64_t>(16, align));
  const uint64_t padding = variable.dynamic ? 0 : align_up(bytes, align) - bytes;
  placed.push_back({variable.name, at, bytes, padding, variable.dynamic});
  if (variable.dynamic) return;  // dynamic variables follow all others and share one address
  extent = align_up(at + bytes + padding, 16);
  if (variable.space == StateSpace::Shared) kernel_.static_shared = align_up(kernel_.static_shared, align) + bytes;
}

// Lays out variables with red zones between them. Of the module's shared variables, only those that the function uses.
void Decoder::lay_out() {
  for (const PtxVariable& variable : function_.variables) {
    uint64_t at = 0;
    if (variable.space == StateSpace::Param) {
      at = align_up(kernel_.params_bytes, static_cast<uint64_t>(variable.align));
      kernel_.param_at.push_back(at);
      kernel_.param_bytes.push_back(static_cast<uint64_t>(variable.bytes));
      kernel_.params_bytes = at + static_cast<uint64_t>(variable.bytes);
    } else if (variable.space == StateSpace::Local || (variable.space == StateSpace::Shared && !variable.dynamic)) {
      const bool local = variable.space == StateSpace::Local;
      place(variable, local ? kernel_.local_bytes : kernel_.shared_bytes, local ? kernel_.local : kernel_.shared);
      at = (local ? kernel_.local : kernel_.shared).back().at;
    } else {
      throw PtxError(fmt::format("the variable {} of {} lies in a space that is not supported there", variable.name,
                                 function_.name));
    }
    variable_at_.push_back(at);
  }
  const std::vector<bool> named = named_variables(module_, function_);
  for (const bool dynamic : {false, true})
    for (size_t i = 0; i < module_.variables.size(); ++i)
      if (const PtxVariable& variable = module_.variables[i];
          named[i] && variable.space == StateSpace::Shared && variable.dynamic == dynamic)
        place(variable, kernel_.shared_bytes, kernel_.shared);
}

// A predicate constant is one word. Any other constant has a copy per lane.
RegisterSlot Decoder::constant(uint64_t bits, int bytes) {
  if (bytes == 0)
    bits = bits ? kAllLanes : 0;
  else if (bytes < 8)
    bits &= (uint64_t{1} << (bytes * 8)) - 1;
  const auto [found, added] = constants_.try_emplace({bits, bytes});
  if (!added) return found->second;
  const RegisterSlot made = found->second = grow(bytes);
  const size_t each = bytes ? static_cast<size_t>(bytes) : sizeof(uint32_t);
  for (size_t at = 0; at < lane_bytes(made); at += each)
    std::memcpy(kernel_.registers.data() + made.at + at, &bits, each);
  return made;
}

RegisterSlot Decoder::special(const std::string& name) {
  const auto [found, added] = specials_.try_emplace(name);
  if (added) {
    std::optional<SpecialRegister> value = special_value(name);
    if (!value) fail(fmt::format("the register {} is not known", name));
    value->slot = found->second = grow(value->kind == SpecialRegisterKind::Clock ? 8 : 4);
    kernel_.specials.push_back(*value);
  }
  return found->second;
}

uint64_t Decoder::address_of(const PtxOperand& symbol) const {
  const auto value = static_cast<uint64_t>(symbol.value);
  if (!symbol.global) return variable_at_[symbol.index] + value;
  const PtxVariable& variable = module_.variables[symbol.index];
  if (variable.space != StateSpace::Shared) return global_at_[symbol.index] + value;
  for (const VariableLayout& placed : kernel_.shared)
    if (placed.name == variable.name) return placed.at + value;
  fail(fmt::format("the shared variable {} has no place", variable.name));
}

RegisterSlot Decoder::slot(const PtxOperand& operand, int bytes) {
  using Kind = PtxOperand::Kind;
  switch (operand.kind) {
    case Kind::Register: return registers_[operand.index];
    case Kind::Special: return special(operand.name);
    case Kind::Symbol: return constant(address_of(operand), bytes);
    case Kind::Sink: return scratch(bytes);
    case Kind::Integer:
    case Kind::Float32:
    case Kind::Float64: {
      auto bits = static_cast<uint64_t>(operand.value);
      if (operand.kind == Kind::Float64 && bytes == 4) {  // a decimal fraction
        double number;
        std::memcpy(&number, &bits, sizeof number);
        const float narrow = static_cast<float>(number);
        bits = 0;
        std::memcpy(&bits, &narrow, sizeof narrow);
      }
      return constant(bits, bytes);
    }
    default: fail("an operand of this kind is not supported here");
  }
}

RegisterSlot Decoder::internal(const std::string& name, int bytes) {
  const auto [found, added] = specials_.try_emplace(name);
  if (added) found->second = grow(bytes);
  return found->second;
}
RegisterSlot Decoder::scratch(int bytes) { return internal("_" + std::to_string(bytes), bytes); }
RegisterSlot Decoder::carry() { return internal("carry", 0); }

const PtxOperand& Decoder::operand() {
  if (!remaining()) fail("an operand is missing");
  return statement_->operands[next_++];
}

RegisterSlot Decoder::sized(const PtxOperand& operand, int bytes) {
  const RegisterSlot found = slot(operand, bytes);
  if (found.bytes != bytes)
    fail(fmt::format("a register of {} bytes stands where the type has {}", found.bytes, bytes));
  return found;
}

void Decoder::result(int bytes) {
  const PtxOperand& next = operand();
  out.result[0] = sized(next, bytes);
  if (!next.second.empty()) out.pair = slot(next.second[0], 0);
}

void Decoder::source(int index, int bytes) {
  const PtxOperand& next = operand();
  out.source[index] = sized(next, bytes);
  if (next.negated) out.source_flip = kAllLanes;
}

void Decoder::operands(int result, std::initializer_list<int> sources) {
  this->result(result);
  int index = 0;
  for (const int bytes : sources) source(index++, bytes);
}

void Decoder::take_space() {
  constexpr std::pair<std::string_view, StateSpace> kSpaces[] = {
      {"global", StateSpace::Global}, {"const", StateSpace::Global},       {"shared", StateSpace::Shared},
      {"local", StateSpace::Local},   {"shared::cta", StateSpace::Shared}, {"param", StateSpace::Param}};
  for (const auto& [word, space] : kSpaces)
    if (take(word)) out.space = space;
  out.noncoherent = take("nc");
  out.block_scope = take_one({"cta", "cluster"}) >= 0;
  // Each access is executed immediately and in order, so other ordering and cache modifiers have no effect.
  for (const std::string_view word : {"volatile", "weak", "relaxed", "acquire", "release", "acq_rel", "gpu", "sys",
                                      "ca", "cg", "cs", "lu", "cv", "wb", "wt"})
    take(word);
  std::erase_if(words_, [](std::string_view word) { return word.starts_with("L1::") || word.starts_with("L2::"); });
}

const PtxOperand& Decoder::address_operand() {
  const PtxOperand& next = operand();
  if (next.kind != PtxOperand::Kind::Address) fail("an address in brackets was expected");
  return next;
}

RegisterSlot Decoder::address_slot(const PtxOperand& operand, bool shared) {
  const PtxOperand& base = operand.items[0];
  if (base.kind == PtxOperand::Kind::Register && registers_[base.index].bytes != 8 &&
      !(shared && registers_[base.index].bytes == 4))
    fail("addresses have 64 bits, in shared memory 32 or 64");
  return slot(base, 8);
}

void Decoder::address() {
  const PtxOperand& next = address_operand();
  out.offset = next.value;
  const PtxOperand& base = next.items[0];
  // Parameters of device functions are local variables.
  if (out.space == StateSpace::Param && base.kind == PtxOperand::Kind::Symbol && !base.global &&
      function_.variables[base.index].space == StateSpace::Local)
    out.space = StateSpace::Local;
  out.source[0] = address_slot(next, out.space == StateSpace::Shared);
}

void Decoder::address_from() {
  const PtxOperand& next = address_operand();
  out.offset_from = next.value;
  out.source[1] = address_slot(next, false);
}

void Decoder::vector(RegisterSlot* to, size_t count, int bytes) {
  const PtxOperand& next = operand();
  const bool list = next.kind == PtxOperand::Kind::Vector;
  if ((list ? next.items.size() : 1) != count) fail(fmt::format("{} registers were expected", count));
  for (size_t i = 0; i < count; ++i) to[i] = sized(list ? next.items[i] : next, bytes);
}

bool Decoder::take(std::string_view word) {
  const auto found = std::ranges::find(words_, word);
  if (found == words_.end()) return false;
  words_.erase(found);
  return true;
}

int Decoder::take_one(std::initializer_list<std::string_view> words) {
  int found = -1, index = 0;
  for (const std::string_view word : words) {
    if (take(word)) found = index;
    ++index;
  }
  return found;
}

void Decoder::take_rest() { words_.clear(); }

std::string_view Decoder::take_type() {
  if (words_.empty()) fail("the opcode names no type");
  const std::string_view type = words_.back();
  words_.pop_back();
  return type;
}

void Decoder::fail(std::string_view reason) const {
  throw PtxError(fmt::format("'{}' in {}: {}", statement_->text, function_.name, reason));
}

void Decoder::decode_statement() {
  words_.assign(statement_->opcode.begin() + 1, statement_->opcode.end());
  next_ = 0;
  out = Instruction();
  out.statement = static_cast<uint32_t>(statement_ - function_.statements.data());
  const char type = statement_->opcode.back()[0];
  const auto found = opcodes().find({statement_->opcode[0], type == 'f' || type == 'b'});
  if (found == opcodes().end()) fail("the simulated device does not know this opcode");
  found->second(*this);
  if (!words_.empty()) fail(fmt::format("the modifier or type .{} is not supported here", words_[0]));
  if (!out.run) fail("this type is not supported here");
  if (remaining()) fail("there are more operands than the opcode takes");
  out.guard = statement_->guard >= 0 ? registers_[static_cast<size_t>(statement_->guard)] : constant(kAllLanes, 0);
  if (statement_->guard_negated) out.guard_flip = kAllLanes;
  kernel_.code.push_back(out);
}

SimKernel Decoder::run() {
  for (const PtxStatement& statement : function_.statements) {
    statement_ = &statement;
    decode_statement();
  }
  return std::move(kernel_);
}

SimKernel decode(const PtxModule& module, const PtxFunction& entry, std::span<const uint64_t> global_at) {
  PtxFunction whole = entry;
  inline_calls(module, whole);
  whole.statements.push_back({});
  whole.statements.back().opcode = {"ret"};
  whole.statements.back().text = "the end of the function";
  SimKernel kernel = Decoder(module, whole, global_at).run();
  for (const BranchTable& table : whole.tables) {
    kernel.tables.emplace_back();
    for (const uint32_t label : table.labels) kernel.tables.back().push_back(whole.labels[label]);
  }
  kernel.statements = std::move(whole.statements);
  return kernel;
}

}  // namespace sinter::runtime::cuda::sim
