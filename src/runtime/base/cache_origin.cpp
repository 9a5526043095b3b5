// One entry per kind of machine. The entry's name gives the kind, its text the compiler.
#include "runtime/base/cache_origin.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "runtime/base/disk_cache.h"
#include "runtime/base/kernel_source.h"
#include "sinter/error.h"

namespace sinter::runtime {
namespace {

constexpr const char* kExtension = ".id";

std::string name_of(const std::string& kind) { return "compiler-" + kind; }
Hash128 key_of(const std::string& kind) { return HashBuilder().add("sinter compiler 1").add(kind).hash(); }

/// One field per line. The name comes last because it may contain anything.
std::string to_bytes(const CacheOrigin& by) {
  return fmt::format("{}\n{}\n{}\n{}", static_cast<int>(by.dialect), by.version, by.target, by.id);
}

std::optional<CacheOrigin> read(std::string_view bytes) {
  const auto line = [&] {
    const size_t end = std::min(bytes.find('\n'), bytes.size());
    const std::string text(bytes.substr(0, end));
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
    return text;
  };
  const std::string dialect = line(), version = line();
  CacheOrigin by;
  if (dialect.size() != 1 || dialect[0] < '0' || dialect[0] > '2' || version.empty() || version.size() > 3 ||
      !std::ranges::all_of(version, [](unsigned char c) { return std::isdigit(c); }))
    return std::nullopt;
  by.dialect = static_cast<Dialect>(dialect[0] - '0');
  by.version = std::stoi(version);
  by.target = line();
  by.id = bytes;
  return by;
}

/// The id without file paths and flags.
std::string short_name(const std::string& id) { return id.substr(0, std::min(id.find(" ("), id.find(" -"))); }

std::string names_of(std::span<const KernelSource* const> kernels) {
  constexpr size_t kMost = 3;
  std::string text;
  for (size_t i = 0; i < std::min(kernels.size(), kMost); ++i) text += (i ? ", " : "") + kernels[i]->name;
  return kernels.size() > kMost ? fmt::format("{} and {} more", text, kernels.size() - kMost) : text;
}

}  // namespace

std::optional<CacheOrigin> cache_origin(const std::string& kind) {
  const auto bytes = DiskCache::current()->load(name_of(kind), key_of(kind), kExtension);
  return bytes ? read(*bytes) : std::nullopt;
}

void record_cache_origin(const std::optional<CacheOrigin>& compiler, const std::string& kind, const Target& target) {
  const auto disk = DiskCache::current();
  if (!compiler || !disk->usable()) return;
  CacheOrigin by = *compiler;
  by.target = target.key();
  const std::string bytes = to_bytes(by);
  if (disk->load(name_of(kind), key_of(kind), kExtension) != bytes)
    disk->store(name_of(kind), key_of(kind), bytes, "", kExtension);
}

namespace {

/// The kinds of machine that a cache folder was filled for, as a comma-separated list.
std::string kinds_in(const DiskCache& disk) {
  std::string text;
  for (const std::string& name : disk.names(kExtension)) {
    const size_t kind = name_of("").size();
    if (name.rfind(name_of(""), 0) == 0 && cache_origin(name.substr(kind)))
      text += (text.empty() ? "" : ", ") + name.substr(kind);
  }
  return text.empty() ? "none" : text;
}

}  // namespace

void throw_no_compiler(std::span<const KernelSource* const> kernels, const std::string& kind, const Target& target,
                       const std::string& cure) {
  const auto disk = DiskCache::current();
  std::string text = "no compiler for kernels is here, and ";
  if (!disk->usable())
    text += fmt::format("the cache folder \"{}\" cannot be used: {}", disk->path(), disk->unusable_reason());
  else if (kernels.empty())
    text += fmt::format("the cache folder \"{}\" holds kernels for {}, and not for this machine, {}", disk->path(),
                        kinds_in(*disk), kind);
  else
    text += fmt::format("the cache folder \"{}\" does not hold {}", disk->path(), names_of(kernels));
  if (const auto by = cache_origin(kind); by && disk->usable()) {
    text += fmt::format("\n  the cache was filled by {} for {}", short_name(by->id), by->target);
    text += by->target == target.key() ? ", as this machine is, but not by this program with these shapes"
                                       : fmt::format("\n  this machine is {}", target.key());
  }
  throw BackendError(
      fmt::format("{}\nFill the cache where there is a compiler: on the same kind of machine, by the same program and "
                  "library, with "
                  "the same "
                  "SINTER_THREADS; ship its folder, and name it in SINTER_CACHE (docs/deploy.md). Or {}",
                  text, cure));
}

}  // namespace sinter::runtime
