// Environment variables -> Env. One table holds names, help texts and parsers.
#include "runtime/base/env.h"

#include <fmt/core.h>

#include <atomic>
#include <charconv>
#include <cmath>
#include <mutex>
#include <vector>

#include "runtime/base/fork.h"
#include "sinter/error.h"

extern char** environ;

namespace sinter::runtime {
namespace {

template <class T>
bool parse_number(std::string_view text, T min, T max, T& out) {
  T value{};
  auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || !(value >= min && value <= max))
    return false;  // also rejects NaN
  out = value;
  return true;
}

bool parse_flag(std::string_view text, bool& out) {
  out = text == "1";
  return text == "0" || text == "1";
}

bool parse_memory(Env& env, std::string_view text) {
  if (text.empty()) return false;
  const size_t at = std::string_view("KMGT").find(text.back());
  const bool percent = text.back() == '%';
  if (percent || at != std::string_view::npos) text.remove_suffix(1);
  if (percent) {
    double value = 0;
    if (!parse_number(text, 0.001, 100.0, value)) return false;
    env.memory_millionths = static_cast<uint64_t>(std::llround(value * 10'000));
    return true;
  }
  const int shift = at == std::string_view::npos ? 0 : 10 * (static_cast<int>(at) + 1);
  uint64_t value = 0;
  if (!parse_number<uint64_t>(text, 1, UINT64_MAX >> shift, value)) return false;
  env.memory_bytes = value << shift;
  return true;
}

bool parse_path(std::string_view text, std::string& out) {
  out = text;
  return !text.empty();
}

bool parse_device(std::string_view text, std::string& out) {
  out = text;
  int index = 0;
  return text == "cpu" || text == "cuda" || text == "cuda-sim" ||
         (text.starts_with("cuda:") && parse_number(text.substr(5), 0, 255, index));
}

constexpr EnvVar kVariables[] = {
    {"DEBUG", "0 to 7", "0",
     "what is printed to stderr: 1 a line per plan, and on the CPU each launch above 5 ms that stays below 5 % of "
     "the machine's limit, with the call that it computes, 2 a line per launch with its speed, the machine's "
     "limit, and the time that the partition expected beside moving memory, 3 partition and scheduling decisions, 4 "
     "generated source, 5 IR after each pass, 6 each rewrite rule, 7 disassembly",
     [](Env& e, std::string_view v) { return parse_number(v, 0, 7, e.debug); }},
    {"SINTER_NOTICES", "0 or 1", "1",
     "0: stderr gets no notices: that sizes change and programs are compiled anew for each, that a jitted function "
     "makes a number of a size, that there is no compiler's plugin, what is wrong with the cache folder",
     [](Env& e, std::string_view v) { return parse_flag(v, e.notices); }},
    {"SINTER_CACHE", "a folder", "$XDG_CACHE_HOME/sinter or ~/.cache/sinter",
     "where compiled kernels and plans are kept; what lies in a folder that cannot be written is used, and nothing "
     "added",
     [](Env& e, std::string_view v) { return parse_path(v, e.cache); }},
    {"SINTER_DEVICE", "cpu, cuda, cuda:N or cuda-sim", "cpu",
     "the device of tensors that name none; cuda-sim: the first of simulated GPUs, which then stand for all real "
     "ones; it needs libsinter_cudasim.so",
     [](Env& e, std::string_view v) { return parse_device(v, e.device); }},
    {"SINTER_THREADS", "1 to 1024", "the CPUs this process may use", "threads that run a kernel",
     [](Env& e, std::string_view v) { return parse_number(v, 1, 1024, e.threads); }},
    {"SINTER_NOOPT", "0 or 1", "0", "1: every op is a kernel of its own, in plain loops",
     [](Env& e, std::string_view v) { return parse_flag(v, e.noopt); }},
    {"SINTER_CHECK", "0 or 1", "0",
     "1: graphs are verified after each pass, what small programs compute is compared with the interpreter's word, "
     "every cached plan is decided again, no launch may write what another one uses, and on GPUs each launch is waited "
     "for and no memory is used twice (slow)",
     [](Env& e, std::string_view v) { return parse_flag(v, e.check); }},
    {"SINTER_BEAM", "0 to 64", "0",
     "how wide a search for faster loops of each kernel is: on a CPU it goes on with that many candidates, on a "
     "GPU it times eight times as many (0: no search); takes seconds per kernel at the first time, and what it "
     "finds is kept in the cache folder",
     [](Env& e, std::string_view v) { return parse_number(v, 0, 64, e.beam); }},
    {"SINTER_CC", "a compiler (clang or gcc 12 or later), then flags", "the Clang plugin, or cc where it is missing",
     "compile kernels by starting this C compiler; -fsanitize= instruments them",
     [](Env& e, std::string_view v) { return parse_path(v, e.cc); }},
    {"SINTER_MEMORY_LIMIT", "bytes, with K, M, G or T after them, or a percentage such as 50%", "90%",
     "memory for tensors on the CPU, and on each GPU; percent of the container's or the machine's memory, or of the "
     "GPU's",
     [](Env& e, std::string_view v) { return parse_memory(e, v); }},
    {"SINTER_DATA", "a folder", "the readers' own search", "where the data readers look for their files",
     [](Env& e, std::string_view v) { return parse_path(v, e.data); }},
    {"SINTER_LAPACK", "a path", "the search for liblapack.so.3", "the LAPACK library, which linear algebra needs",
     [](Env& e, std::string_view v) { return parse_path(v, e.lapack); }},
    {"SINTER_CUDA_LIB", "a path", "the search for libcuda.so.1", "the CUDA driver's library",
     [](Env& e, std::string_view v) { return parse_path(v, e.cuda_lib); }},
    {"SINTER_NVRTC_LIB", "a path", "the search for libnvrtc", "NVIDIA's compiler library, which kernels for GPUs need",
     [](Env& e, std::string_view v) { return parse_path(v, e.nvrtc_lib); }},
};

std::string known_names() {
  std::string names;
  for (const EnvVar& v : kVariables) names += fmt::format("{}{}", names.empty() ? "" : ", ", v.name);
  return names;
}

Env read_environment() {
  Env result;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view line = *entry;
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = line.substr(0, equals), value = line.substr(equals + 1);
    const EnvVar* known = nullptr;
    for (const EnvVar& v : kVariables)
      if (v.name == name) known = &v;
    if (!known && name.substr(0, 7) == "SINTER_")
      throw UsageError(
          fmt::format("environment: {}={} is not known; unset it, or use one of {}", name, value, known_names()));
    if (known && !known->parse(result, value))
      throw UsageError(fmt::format("environment: {}=\"{}\" is not allowed; give {}, or unset it for the default ({})",
                                   name, value, known->allowed, known->default_text));
  }
  return result;
}

// Old values stay alive for callers that still hold a reference. Both are never destroyed (SEMANTICS V7).
std::atomic<const Env*> current{nullptr};
std::mutex mutex;
std::vector<const Env*>& history() {
  static auto* all = new std::vector<const Env*>;
  return *all;
}

}  // namespace

std::span<const EnvVar> env_table() { return kVariables; }

const Env& reload_env() {
  static const bool once = (hold_at_fork(mutex), true);
  (void)once;
  std::lock_guard lock(mutex);
  current.store(nullptr);
  history().push_back(new Env(read_environment()));
  current.store(history().back());
  return *history().back();
}

const Env& env() {
  const Env* known = current.load();
  return known ? *known : reload_env();
}

}  // namespace sinter::runtime
