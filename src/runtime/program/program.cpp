// Kernel sources -> programs, from the nearest cache or the compiler.
#include "runtime/program/program.h"

#include <fmt/core.h>

#include <algorithm>
#include <unordered_map>

#include "runtime/base/counters.h"
#include "runtime/base/disk_cache.h"
#include "runtime/base/log.h"
#include "runtime/cuda/image.h"
#include "runtime/program/program_cache.h"
#include "runtime/program/toolchain.h"
#include "sinter/error.h"

namespace sinter::runtime {
namespace {

using ProgramPtr = std::shared_ptr<const Program>;

/// The Target's decisions are already in the text. Beside it, only what the compiler is told about the target matters.
Hash128 key_of(const KernelSource& kernel, const std::string& compiler, const Target& target) {
  HashBuilder fields;
  fields.add("sinter kernel 1").add(compiler).add(target.isa);
  fields.add(kernel.name).add(kernel.has_epilogue).add(kernel.takes_tickets).add(static_cast<uint64_t>(kernel.scratch));
  for (const int64_t n :
       {int64_t{kernel.threads}, int64_t{kernel.epilogue_threads}, kernel.epilogue_blocks, kernel.shared})
    fields.add(static_cast<uint64_t>(n));
  for (int64_t block : kernel.blocks) fields.add(static_cast<uint64_t>(block));
  return fields.add(kernel.text).hash();
}

/// Damage that the checksum cannot detect (another compiler's object, another GPU's) is a miss as well.
ProgramPtr load_cached(const KernelSource& kernel, Hash128 key, const DiskCache& cache, const Toolchain& tools) {
  const auto object = cache.load(kernel.name, key);
  if (!object) return nullptr;
  try {
    return tools.load(kernel, key, *object);
  } catch (const OutOfMemory&) { throw; } catch (const BackendError&) {
    return nullptr;
  }
}

[[noreturn]] void throw_compile_error(const KernelSource& kernel, Hash128 key, const DiskCache& cache,
                                      const std::string& compiler, const std::string& log) {
  throw CompileError(fmt::format("kernel {} does not compile\n  source: {}\n  compiler: {}\n{}", kernel.name,
                                 cache.keep_source(kernel.name, key, kernel.text), compiler, log));
}

void log_kernel(const KernelSource& kernel, const Program& program, const char* from, const Toolchain& tools) {
  if (!logging(4)) return;
  log(4, fmt::format("// kernel {} ({})\n{}", kernel.name, from, kernel.text));
  if (logging(7)) log(7, tools.listing(kernel, program));
}

}  // namespace

Program::Program(const KernelSource& kernel, Hash128 key, std::unique_ptr<cpu::MachineCode> code)
    : name_(kernel.name), key_(key), code_(std::move(code)), blocks_(kernel.blocks), scratch_(kernel.scratch) {
  const auto entry = [&](const std::string& symbol) {
    const void* address = code_->find(symbol).address;
    if (!address) throw BackendError(fmt::format("kernel {}: its code has no function {}", name_, symbol));
    return reinterpret_cast<EntryPoint>(reinterpret_cast<uintptr_t>(address));
  };
  entry_ = entry(name_);
  if (kernel.has_epilogue) epilogue_ = entry(name_ + "_finish");
}

Program::Program(const KernelSource& kernel, Hash128 key, std::unique_ptr<cuda::Image> image)
    : name_(kernel.name), key_(key), image_(std::move(image)), blocks_(kernel.blocks), scratch_(kernel.scratch) {}

Program::~Program() = default;

int64_t Program::task_count(std::span<const int64_t> outer) const {
  int64_t tasks = 1;
  for (size_t i = 0; i < outer.size(); ++i) {
    const int64_t block = i < blocks_.size() ? blocks_[i] : 1;
    tasks *= (outer[i] + block - 1) / block;
  }
  return tasks;
}

std::vector<ProgramPtr> find_programs(std::span<const KernelSource> kernels, std::span<const Hash128> keys,
                                      const Toolchain& tools) {
  const auto disk = DiskCache::current();
  std::vector<ProgramPtr> programs;
  for (size_t i = 0; i < kernels.size(); ++i) {
    ProgramPtr program = find_program(keys[i]);
    if (program) {
      count(counters().memory_hits);
    } else if ((program = load_cached(kernels[i], keys[i], *disk, tools))) {
      count(counters().disk_hits);
      program = intern_program(std::move(program));
    } else {
      return {};
    }
    programs.push_back(std::move(program));
  }
  return programs;
}

std::vector<ProgramPtr> compile(std::span<const KernelSource> kernels, const Target& target) {
  const std::unique_ptr<const Toolchain> tools = toolchain_for(target);
  const std::string id = tools->id();
  const auto disk = DiskCache::current();

  std::vector<ProgramPtr> programs(kernels.size());
  std::vector<Hash128> keys;
  std::vector<const char*> origin(kernels.size(), "compiled");
  std::unordered_map<Hash128, size_t> first;  // of equal kernels, only the first is looked up or compiled
  std::vector<size_t> missing;
  for (size_t i = 0; i < kernels.size(); ++i) {
    keys.push_back(key_of(kernels[i], id, target));
    if ((programs[i] = find_program(keys[i]))) {
      origin[i] = "in memory";
      count(counters().memory_hits);
    } else if (!first.emplace(keys[i], i).second) {
      continue;
    } else if (ProgramPtr cached = load_cached(kernels[i], keys[i], *disk, *tools)) {
      origin[i] = "from the cache folder";
      count(counters().disk_hits);
      programs[i] = intern_program(std::move(cached));
    } else {
      missing.push_back(i);
    }
  }

  // All keys change with the compiler.
  if (!missing.empty() && tools->fall_back()) return compile(kernels, target);

  std::vector<const KernelSource*> sources;
  for (size_t i : missing) sources.push_back(&kernels[i]);
  const std::vector<CompileResult> results = missing.empty() ? std::vector<CompileResult>() : tools->build(sources);
  const KernelSource* failed = nullptr;
  std::string failure;
  for (size_t m = 0; m < missing.size(); ++m) {
    const size_t i = missing[m];
    std::string why = results[m].log;
    if (results[m].ok) try {
        ProgramPtr made = tools->load(kernels[i], keys[i], results[m].object);
        disk->store(kernels[i].name, keys[i], results[m].object, kernels[i].text);
        programs[i] = intern_program(std::move(made));
        continue;
      } catch (const OutOfMemory&) { throw; } catch (const BackendError& error) {
        why += error.what();
      }
    if (!failed) failed = &kernels[i], failure = why;
  }
  record_cache_origin(tools->origin(), tools->kind(), target);
  if (failed) throw_compile_error(*failed, keys[failed - kernels.data()], *disk, id, failure);

  for (size_t i = 0; i < kernels.size(); ++i) {
    if (!programs[i]) programs[i] = programs[first.at(keys[i])];
    log_kernel(kernels[i], *programs[i], origin[i], *tools);
  }
  return programs;
}

}  // namespace sinter::runtime
