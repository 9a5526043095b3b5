// Writes recorded plans as kernels for fixed machines, and says what came out: two builds that print the same write the
// same kernels. `replay FILE` prints a line for each plan and machine; `replay FILE PLAN MACHINE` the texts themselves.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include "codegen/codegen.h"
#include "replay/plan_text.h"
#include "runtime/base/hash.h"
#include "sinter/error.h"

namespace {

using namespace sinter;
using runtime::Target;

/// A CPU of an instruction set, whose last cache is near or far.
Target cpu(const char* isa, int vector_bytes, int registers, bool near_l3) {
  Target t = runtime::reference_target();
  t.isa = isa;
  t.vector_bytes = vector_bytes;
  t.vector_registers = registers;
  t.masks = vector_bytes == 64;
  t.near_l3 = near_l3;
  t.l1 = near_l3 ? 32 << 10 : 48 << 10;
  t.l2 = near_l3 ? 1 << 20 : 2 << 20;
  t.l3 = int64_t{near_l3 ? 32 : 260} << 20;
  return t;
}

const std::map<std::string, Target>& machines() {
  static const std::map<std::string, Target> all = {
      {"avx2-near", cpu("x86-64-v3", 32, 16, true)},
      {"avx2-far", cpu("x86-64-v3", 32, 16, false)},
      {"avx512-near", cpu("x86-64-v4", 64, 32, true)},
      {"avx512-far", cpu("x86-64-v4", 64, 32, false)},
      {"sm_80", runtime::cuda_target(
                    {.sm = 80, .multiprocessors = 108, .shared_bytes = 163 << 10, .l2_bytes = int64_t{40} << 20})},
      {"sm_90", runtime::cuda_target({})},
  };
  return all;
}

/// By the beginning of a text's hash.
std::map<std::string, std::string> read_plans(const char* file) {
  std::ifstream in(file);
  if (!in) throw UsageError(fmt::format("{} cannot be read; ./dev replay record makes it", file));
  std::map<std::string, std::string> plans;
  std::string text, line;
  const auto keep = [&] {
    if (!text.empty()) plans.emplace(runtime::to_hex(runtime::hash_bytes(text)).substr(0, 16), text);
    text.clear();
  };
  while (std::getline(in, line)) {
    if (line.starts_with(replay::kHead)) keep();
    text += line + "\n";
  }
  keep();
  return plans;
}

/// C without what it says of itself, which may be said better without altering a kernel.
std::string without_comments(const std::string& text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t line = text.find("//", at), block = text.find("/*", at), begin = std::min(line, block);
    out.append(text, at, begin - at);
    if (begin == std::string::npos) break;
    at = line < block ? text.find('\n', line) : text.find("*/", block) + 2;
    while (line < block && !out.empty() && out.back() == ' ') out.pop_back();
  }
  return out;
}

/// The kernels of a plan, each under the name `kernel`, and its launches; or what was thrown.
std::string write(replay::RecordedPlan plan, const Target& target, size_t& kernels) try {
  const schedule::KernelSchedule scheduled = schedule::schedule(std::move(plan.graph), target, plan.policy);
  std::string out = to_string(scheduled.plan);
  for (const runtime::PlanStep& s : scheduled.plan.steps)
    out += fmt::format("-- step of {} ns, variables {}, section of {}\n", s.time, fmt::join(s.vars, " "), s.section_of);
  for (const codegen::Kernel& kernel : scheduled.kernels) {
    runtime::KernelSource source = plan.policy == schedule::Policy::Unfused
                                       ? codegen::generate_source(kernel, target, {})
                                       : codegen::generate_source(kernel, target);
    out += fmt::format("-- blocks {} scratch {} threads {} finish {} of {} shared {}\n", fmt::join(source.blocks, " "),
                       source.scratch, source.threads, source.epilogue_threads, source.epilogue_blocks, source.shared);
    for (size_t at = 0; (at = source.text.find(source.name, at)) != std::string::npos; at += 6)
      source.text.replace(at, source.name.size(), "kernel");
    out += without_comments(source.text);
    ++kernels;
  }
  return out;
} catch (const Error& error) { return fmt::format("throws {}\n", error.what()); }

void print_lines(const std::map<std::string, std::string>& plans) {
  std::vector<std::pair<const std::string*, const std::string*>> work;
  for (const auto& [name, text] : plans) work.emplace_back(&name, &text);
  std::vector<std::string> lines(work.size());
  std::atomic<size_t> next{0}, kernels{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < std::max(1U, std::thread::hardware_concurrency()); ++t)
    threads.emplace_back([&] {
      for (size_t i; (i = next++) < work.size();)
        for (const auto& [machine, target] : machines()) {
          size_t count = 0;
          const std::string hash =
              runtime::to_hex(runtime::hash_bytes(write(replay::parse_plan(*work[i].second), target, count)));
          lines[i] += fmt::format("{}\t{}\t{}\t{}\n", *work[i].first, machine, count, hash);
          kernels += count;
        }
    });
  for (std::thread& t : threads) t.join();
  for (const std::string& line : lines) fmt::print("{}", line);
  fmt::print(stderr, "{} plans, {} kernels\n", plans.size(), kernels.load());
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2 && argc != 4) throw UsageError("replay FILE [PLAN MACHINE]");
  const std::map<std::string, std::string> plans = read_plans(argv[1]);
  if (argc == 2) return print_lines(plans), 0;
  const auto plan = plans.find(argv[2]);
  const auto machine = machines().find(argv[3]);
  if (plan == plans.end()) throw UsageError(fmt::format("{} has no plan {}", argv[1], argv[2]));
  if (machine == machines().end()) throw UsageError(fmt::format("{} is no machine of the replay", argv[3]));
  size_t kernels = 0;
  fmt::print("{}\n{}", plan->second, write(replay::parse_plan(plan->second), machine->second, kernels));
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 2;
}
