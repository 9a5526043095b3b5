// The loops in which a kernel spends its time, as a compiler left them: the innermost ones that sum products and do
// nothing else.
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace machine_loops {

/// Instructions of a function, and for each jump back the lines from its target to itself.
struct Function {
  std::vector<std::string> lines;
  std::vector<std::pair<size_t, size_t>> loops;
};

/// What DEBUG=7 prints: "     1e9:\tjne\t-150" jumps so many bytes from the instruction behind it; "; NAME" begins a
/// function.
inline std::vector<Function> of_listing(const std::string& text) {
  std::vector<Function> found;
  std::map<long, size_t> places;  // lines by address
  std::vector<std::pair<size_t, long>> jumps;
  const auto end = [&] {  // of a function: the addresses behind its jumps are known
    for (const auto& [from, bytes] : jumps) {
      const auto behind =
          std::find_if(places.begin(), places.end(), [&, line = from](const auto& p) { return p.second == line + 1; });
      const auto target = behind == places.end() ? places.end() : places.find(behind->first + bytes);
      if (target != places.end()) found.back().loops.push_back({target->second, from});
    }
    places.clear(), jumps.clear();
  };
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(";")) end(), found.emplace_back();
    const size_t colon = line.find(":\t");
    if (colon == std::string::npos || found.empty()) continue;
    std::vector<std::string>& lines = found.back().lines;
    places[std::stol(line, nullptr, 16)] = lines.size();
    const std::string what = line.substr(colon + 2);
    const size_t back = what.find("\t-");
    if (what[0] == 'j' && back != std::string::npos) jumps.push_back({lines.size(), std::stol(what.substr(back + 1))});
    lines.push_back(what);
  }
  end();
  return found;
}

/// What a compiler prints with -S for AArch64: labels begin a line, and branches name them.
inline std::vector<Function> of_assembly(const std::string& text) {
  std::vector<Function> found(1);
  std::map<std::string, size_t> labels;
  auto& [lines, loops] = found[0];
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    const size_t word = line.find_last_of("\t ");
    if (line.starts_with(".L"))
      labels[line.substr(0, line.find(':'))] = lines.size();
    else if (line.starts_with("\t") && line[1] != '.') {
      const bool branch =
          line[1] == 'b' || line.starts_with("\tcb") || line.starts_with("\ttb");  // not what makes a label's address
      const auto label = branch ? labels.find(line.substr(word + 1)) : labels.end();
      if (label != labels.end()) loops.push_back({label->second, lines.size()});
      lines.push_back(line.substr(1));
    }
  }
  return found;
}

/// How a machine spells what is looked for.
struct Spelling {
  std::string_view fma, registers;  ///< the begin of an instruction; what is before a vector register's number
  std::vector<std::string_view>
      other_arithmetic;                 ///< begins of instructions that a product does not have, as a polynomial does
  std::vector<std::string_view> stack;  ///< begins of addresses
};
inline const Spelling kX86{
    "vfmadd", "mm", {"vmul", "vadd", "vsub", "vmax", "vmin", "vdiv", "vcvt", "vrnd", "vround"}, {"[rsp", "[rbp"}};
inline const Spelling kNeon{"fmla", "v", {"fmul", "fadd", "fsub", "fmax", "fmin", "fdiv", "fcvt", "frint"}, {"[sp"}};

/// A slot of the stack: a tile that lies there has an index beside.
inline bool is_slot(const std::string& line, const Spelling& spelling) {
  return std::any_of(spelling.stack.begin(), spelling.stack.end(), [&](std::string_view begin) {
    const size_t at = line.find(begin);
    if (at == std::string::npos) return false;
    const size_t rest = at + begin.size();
    return line.substr(rest, line.find(']') - rest).find_first_not_of("+-, #0123456789") == std::string::npos;
  });
}

struct Product {
  size_t accumulators = 0, steps = 0;  ///< registers that are summed in; multiply-adds in a turn
  std::vector<std::string> slots;      ///< what goes to the stack or comes from there: spilled
  friend bool operator<(const Product& a, const Product& b) {
    return std::pair(a.accumulators, a.steps) < std::pair(b.accumulators, b.steps);
  }
};

/// Of each innermost loop, the smallest first.
inline std::vector<Product> products(const std::vector<Function>& functions, const Spelling& spelling) {
  std::vector<Product> found;
  for (const auto& [lines, loops] : functions) {
    const bool has_frame = std::find(lines.begin(), lines.end(), "mov\trbp, rsp") != lines.end();
    for (const auto& loop : loops) {
      const auto inside = [&](const auto& other) {
        return other != loop && other.first >= loop.first && other.second <= loop.second;
      };
      if (std::any_of(loops.begin(), loops.end(), inside)) continue;
      Product p;
      std::set<std::string> sums;
      bool other = false;
      for (size_t i = loop.first; i <= loop.second; ++i) {
        const std::string& line = lines[i];
        const auto begins = [&](std::string_view word) { return line.starts_with(word); };
        other |= std::any_of(spelling.other_arithmetic.begin(), spelling.other_arithmetic.end(), begins);
        if (is_slot(line, spelling) && (has_frame || line.find("[rbp") == std::string::npos)) p.slots.push_back(line);
        if (!begins(spelling.fma)) continue;
        const size_t number = line.find(spelling.registers, line.find('\t')) + spelling.registers.size();
        sums.insert(line.substr(number, line.find_first_not_of("0123456789", number) - number));
        ++p.steps;
      }
      p.accumulators = sums.size();
      if (p.steps && !other) found.push_back(p);
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace machine_loops
