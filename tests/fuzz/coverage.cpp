// Rows of ops.def against the types that ops compute in.
#include "fuzz/coverage.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ir/names.h"
#include "ir/short_float.h"
#include "ir/walk.h"
#include "tensor/core/cell.h"

namespace fuzz {

using namespace sinter;
using ir::Op;
using ir::OpClass;
using ir::UOp;

namespace {

constexpr std::array kTypes = {float32, float64, float16, bfloat16, int64, int32,  int16,
                               int8,    uint64,  uint32,  uint16,   uint8, boolean};
constexpr std::array kCombines = {ir::Combine::Add,    ir::Combine::Mul,   ir::Combine::Max, ir::Combine::Min,
                                  ir::Combine::ArgMax, ir::Combine::ArgMin};  // the compiler makes others

std::string name_of_op(Op op) { return std::string(ir::info(op).name); }
std::string row(ir::Combine c) { return fmt::format("Reduce {}", ir::name_of(c)); }
std::string row_of_cast(DType to) { return fmt::format("Cast to {}", name_of(to)); }
std::string row_of_version(bool whole) { return whole ? "After, whole" : "After, a box"; }

/// The row of a node, and the type it computes on; an empty name if it computes nothing.
std::pair<std::string, DType> place(UOp n) {
  const OpClass cls = ir::info(n->op).cls;
  if (n->op == Op::Cast) return {row_of_cast(n->dtype), n->src[0]->dtype};
  if (n->op == Op::Reduce) return {row(n->reduction().combine), n->src[0]->dtype};
  if (n->op == Op::Sort) return {name_of_op(n->op), n->src[0]->dtype};
  if (n->op == Op::Scan) return {name_of_op(n->op), n->dtype};
  if (n->op == Op::After) return {row_of_version(!std::holds_alternative<ir::Region>(n->attr)), n->dtype};
  if (cls == OpClass::Alu) return {name_of_op(n->op), n->src.back()->dtype};
  if (cls == OpClass::Movement || cls == OpClass::Pick || n->op == Op::Contiguous) return {name_of_op(n->op), n->dtype};
  return {};
}

bool any_type(DType) { return true; }
bool is_bool_or_narrow(DType d) { return !is_float(d) && d != int64 && d != uint64; }
bool is_no_word(DType d) { return d != uint64; }
bool accumulates(DType d) { return !ir::is_short_float(d); }  // sums of 16-bit floats are made in float32

/// Pairs that no tensor call makes. Ops that the compiler makes have no row at all.
struct Exception {
  const char* row;
  bool (*types)(DType);
  const char* reason;
};
constexpr Exception kExceptions[] = {
    {"Fma", any_type, "made by the compiler"},
    {"Ldexp", any_type, "made by the compiler"},
    {"FarRemainder", any_type, "made by the compiler"},
    {"Bitcast", any_type, "made by the compiler"},
    {"Check", any_type, "made by the compiler"},
    {"Reduce ArgMax", is_bool, "of bools it is that of their numbers"},
    {"Reduce ArgMin", is_bool, "of bools it is that of their numbers"},
    {"Scan", is_bool, "of bools it is that of their numbers"},
    {"Reduce Add", is_bool, "a sum of bools is int64"},
    {"Reduce Mul", is_bool_or_narrow, "a product of integers is int64 or uint64"},
    {"Abs", is_bool, "abs(bool) is its argument"},
    {"Neg", is_bool, "refused at the call, as the next"},
    {"Sub", is_bool, ""},
    {"IDiv", is_bool, ""},
    {"Mod", is_bool, ""},
    {"Shl", is_bool, ""},
    {"Shr", is_bool, ""},
    {"Threefry", is_no_word, "a function of uint64"},
    {"Lapack", ir::is_short_float, "computes in float32 and float64 alone"},
    {"Atan2", ir::is_short_float, "what is made of it computes in float32 and rounds once"},
};

/// Every row, with the types that ops.def allows there.
std::map<std::string, std::vector<DType>> legal() {
  std::map<std::string, std::vector<DType>> out;
  auto add = [&](const std::string& row, const std::function<bool(DType)>& good) {
    for (DType d : kTypes) {
      const bool excepted = std::any_of(std::begin(kExceptions), std::end(kExceptions),
                                        [&](const Exception& e) { return row == e.row && e.types(d); });
      if (good(d) && !excepted) out[row].push_back(d);
    }
  };
  for (int i = 0; i < ir::kOpCount; ++i) {
    const Op op = static_cast<Op>(i);
    const OpClass cls = ir::info(op).cls;
    if (op == Op::Cast) {
      for (DType to : kTypes) add(row_of_cast(to), [&](DType from) { return from != to; });
    } else if (op == Op::Reduce) {
      for (ir::Combine c : kCombines) add(row(c), accumulates);
    } else if (op == Op::After) {
      for (bool whole : {false, true}) add(row_of_version(whole), any_type);
    } else if (cls == OpClass::Alu || cls == OpClass::Movement || cls == OpClass::Pick || op == Op::Contiguous ||
               op == Op::Scan) {
      const bool sum = op == Op::Scan || op == Op::Scatter;
      add(name_of_op(op), [&](DType d) {
        if (sum && !accumulates(d)) return false;
        return ir::has(op, ir::kFloat) ? is_float(d) : ir::has(op, ir::kInteger) ? !is_float(d) : true;
      });
    }
  }
  return out;
}

}  // namespace

void Coverage::count(const Tensor& value) {
  const ir::GraphScope scope;
  const UOp root = tensor::node_of(value);
  const uint64_t before = counted_;
  for (UOp n : ir::topological(std::span(&root, 1), [&](UOp n) { return n->id > before && !n->storage(); })) {
    if (n->id <= before || n->src.empty()) continue;
    counted_ = std::max(counted_, n->id);
    if (const auto [row, dtype] = place(n); !row.empty()) ++met_[{row, dtype}];
  }
}

std::string Coverage::table() const {
  std::string text = fmt::format("{:16}", "");
  for (DType d : kTypes) text += fmt::format("{:>9}", name_of(d));
  std::string last;
  for (const auto& [key, times] : met_) {
    if (key.first == last) continue;
    last = key.first;
    text += fmt::format("\n{:16}", last);
    for (DType d : kTypes) {
      const auto found = met_.find({last, d});
      text += found == met_.end() ? fmt::format("{:>9}", "") : fmt::format("{:>9}", found->second);
    }
  }
  return text + "\n";
}

std::string Coverage::missing() const {
  std::string text;
  for (const auto& [row, types] : legal()) {
    std::string line;
    for (DType d : types)
      if (!met_.contains({row, d})) line += fmt::format(" {}", name_of(d));
    if (!line.empty()) text += fmt::format("{}:{}\n", row, line);
  }
  return text;
}

}  // namespace fuzz
