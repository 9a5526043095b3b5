// A parsed PTX module: functions, variables and statements. Names are resolved; opcodes are not interpreted.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace sinter::runtime::cuda::sim {

/// PTX that the simulator cannot parse or does not support. The text contains the line of the PTX, the statement and
/// the reason.
class PtxError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// State spaces. Constant memory is part of the global allocations; parameters of a device function are local.
enum class StateSpace : uint8_t { Generic, Global, Shared, Local, Param };

/// The line of CUDA text that a statement came from; line 0: unknown.
struct SourceLocation {
  int file = 0, line = 0;
};

/// A declared array or scalar in memory.
struct PtxVariable {
  std::string name;
  StateSpace space = StateSpace::Global;
  int64_t align = 1;
  int64_t bytes = 0;
  bool dynamic = false;         ///< `extern .shared x[]`: sized by the launch
  std::vector<uint8_t> values;  ///< initial bytes; empty: zeros (global) or uninitialized (shared, local)
};

struct PtxOperand {
  enum class Kind : uint8_t {
    Register,  ///< `index` into PtxFunction::register_bytes
    Special,   ///< %tid.x etc.: `name`
    Integer,   ///< `value`
    Float32,   ///< bits in `value`
    Float64,   ///< bits in `value`
    Symbol,    ///< variable `index` (of the function, or if `global` of the module) plus `value` bytes
    Label,     ///< `index` into PtxFunction::labels
    Table,     ///< `index` into PtxFunction::tables
    Name,      ///< a function
    Address,   ///< items[0] plus `value` bytes
    Vector,    ///< items
    List,      ///< (a, b): arguments or results of a call
    Sink,      ///< `_`
  };
  Kind kind = Kind::Sink;
  bool negated = false;  ///< !%p
  bool global = false;
  uint32_t index = 0;
  int64_t value = 0;
  std::string name;
  std::vector<PtxOperand> items;
  std::vector<PtxOperand> second;  ///< what follows `|`: the predicate of `%r1|%p1`
};

struct PtxStatement {
  std::vector<std::string> opcode;  ///< the words between the dots: {"ld", "global", "f32"}
  int guard = -1;                   ///< a predicate register, or -1
  bool guard_negated = false;
  std::vector<PtxOperand> operands;
  std::string text;  ///< as written, with blanks collapsed
  SourceLocation place;
};

struct BranchTable {
  std::string name;
  std::vector<uint32_t> labels;
};

struct PtxFunction {
  std::string name;
  bool entry = false;
  std::vector<uint32_t> params, results;  ///< indices into `variables`
  std::vector<PtxVariable> variables;
  std::vector<uint8_t> register_bytes;  ///< size of each register; 0 for a predicate
  std::vector<std::string> label_names;
  std::vector<uint32_t> labels;  ///< per label, the index of the statement after it
  std::vector<BranchTable> tables;
  std::vector<PtxStatement> statements;
  int64_t max_threads = 1024;  ///< product of .maxntid
};

struct PtxModule {
  std::vector<std::string> files;  ///< by .file number
  std::vector<PtxVariable> variables;
  std::vector<PtxFunction> functions;
};

/// Parses PTX text of any version. Throws PtxError.
PtxModule parse_ptx(std::string_view text);

/// Inlines all calls in `function`, so one list of statements remains. Throws PtxError for recursion and for functions
/// that the module does not define.
void inline_calls(const PtxModule& module, PtxFunction& function);

}  // namespace sinter::runtime::cuda::sim
