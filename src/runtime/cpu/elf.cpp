// ELF object -> memory: places sections, writes stubs for external functions, applies relocations, and makes the pages
// executable.
#include "runtime/cpu/elf.h"

#include <dlfcn.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <map>

#include "runtime/base/sanitizer.h"
#include "runtime/cpu/elf_file.h"
#include "runtime/cpu/lapack.h"

namespace sinter::runtime::cpu {
namespace {

template <class R, class... A>
const void* address_of(R (*function)(A...)) {
  return reinterpret_cast<const void*>(function);
}

// The functions that a freestanding kernel may call: those that compilers call implicitly, for block moves, for
// instructions that the CPU lacks and for selects of float16 that clang takes for a minimum, LAPACK, and in an
// instrumented process the sanitizer's. Null for any other name.
const void* find_external(const std::string& name) {
  static const std::pair<std::string_view, const void*> kExternals[] = {
      {"memset", address_of<void*, void*, int, size_t>(std::memset)},
      {"memcpy", address_of<void*, void*, const void*, size_t>(std::memcpy)},
      {"memmove", address_of<void*, void*, const void*, size_t>(std::memmove)},
      {"memcmp", address_of<int, const void*, const void*, size_t>(std::memcmp)},
      {"fma", address_of<double, double, double, double>(::fma)},
      {"fmaf", address_of<float, float, float, float>(::fmaf)},
      {"fmin", address_of<double, double, double>(::fmin)},
      {"fminf", address_of<float, float, float>(::fminf)},
      {"fmax", address_of<double, double, double>(::fmax)},
      {"fmaxf", address_of<float, float, float>(::fmaxf)},
      {"floor", address_of<double, double>(::floor)},
      {"floorf", address_of<float, float>(::floorf)},
      {"ceil", address_of<double, double>(::ceil)},
      {"ceilf", address_of<float, float>(::ceilf)},
      {"trunc", address_of<double, double>(::trunc)},
      {"truncf", address_of<float, float>(::truncf)},
      {"rint", address_of<double, double>(::rint)},
      {"rintf", address_of<float, float>(::rintf)},
      {"roundeven", address_of<double, double>(::roundeven)},
      {"roundevenf", address_of<float, float>(::roundevenf)},
      {"sinter_lapack", reinterpret_cast<const void*>(&sinter_lapack)},
  };
  for (const auto& [known, address] : kExternals)
    if (known == name) return address;
  const bool sanitizer = kSanitizer == Sanitizer::Address  ? name.starts_with("__asan_")
                         : kSanitizer == Sanitizer::Thread ? name.starts_with("__tsan_")
                                                           : false;
  return sanitizer ? dlsym(RTLD_DEFAULT, name.c_str()) : nullptr;
}

std::string relocation_name(uint32_t type) {
  static constexpr std::array<std::string_view, 43> kNames = {
      "NONE",         "64",        "PC32",         "GOT32",      "PLT32",
      "COPY",         "GLOB_DAT",  "JUMP_SLOT",    "RELATIVE",   "GOTPCREL",
      "32",           "32S",       "16",           "PC16",       "8",
      "PC8",          "DTPMOD64",  "DTPOFF64",     "TPOFF64",    "TLSGD",
      "TLSLD",        "DTPOFF32",  "GOTTPOFF",     "TPOFF32",    "PC64",
      "GOTOFF64",     "GOTPC32",   "GOT64",        "GOTPCREL64", "GOTPC64",
      "GOTPLT64",     "PLTOFF64",  "SIZE32",       "SIZE64",     "GOTPC32_TLSDESC",
      "TLSDESC_CALL", "TLSDESC",   "IRELATIVE",    "RELATIVE64", "39",
      "40",           "GOTPCRELX", "REX_GOTPCRELX"};
  return type < kNames.size() ? fmt::format("R_X86_64_{}", kNames[type]) : fmt::format("of type {}", type);
}

/// Pages that are writable until seal() and executable afterwards.
class CodePages {
 public:
  explicit CodePages(size_t bytes) {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    size_ = (bytes + page - 1) / page * page;
    void* mapped = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED)
      throw OutOfMemory(fmt::format("no memory for {} bytes of kernel code: {}", size_, std::strerror(errno)));
    start_ = static_cast<char*>(mapped);
  }
  ~CodePages() { munmap(start_, size_); }
  CodePages(const CodePages&) = delete;
  CodePages& operator=(const CodePages&) = delete;

  void seal() {
    if (mprotect(start_, size_, PROT_READ | PROT_EXEC))
      throw BackendError(
          fmt::format("kernel code cannot be made executable: {} (error {})", std::strerror(errno), errno));
  }
  char* start() const { return start_; }

 private:
  char* start_ = nullptr;
  size_t size_ = 0;
};

constexpr size_t kStubBytes = 16;
constexpr size_t kSectionAlign = 64;

/// jmp *0(%rip) followed by the address. Reaches any address, while a call's displacement has 32 bits.
void write_stub(char* at, const void* target) {
  static constexpr unsigned char kJump[6] = {0xff, 0x25, 0, 0, 0, 0};
  std::memcpy(at, kJump, sizeof kJump);
  std::memcpy(at + sizeof kJump, static_cast<const void*>(&target), sizeof target);
}

class LoadedObject final : public MachineCode {
 public:
  LoadedObject(const ElfFile& file, std::span<const std::string> entries)
      : placements_(file.sections().size()), pages_(lay_out(file, entries)) {
    for (size_t i = 0; i < placements_.size(); ++i)
      if (placements_[i].used) {
        const std::string_view contents = file.contents(i);
        if (!contents.empty()) std::memcpy(at(i), contents.data(), contents.size());
      }
    for (const auto& [name, stub] : stubs_) write_stub(pages_.start() + stub, find_external(name));
    for (size_t i = 0; i < placements_.size(); ++i)
      if (file.sections()[i].sh_type == SHT_RELA && file.sections()[i].sh_info < placements_.size() &&
          placements_[file.sections()[i].sh_info].used)
        for (const Elf64_Rela& relocation : file.relocations(i)) relocate(file, file.sections()[i].sh_info, relocation);
    for (const std::string& name : entries) {
      const Elf64_Sym& symbol = file.function(name);
      if (symbol.st_value >= file.sections()[symbol.st_shndx].sh_size)
        throw_bad_object(fmt::format("{} lies outside its section", name));
      symbols_[name] = {at(symbol.st_shndx) + symbol.st_value, symbol.st_size};
    }
    pages_.seal();
  }

  Symbol find(const std::string& name) const override {
    const auto found = symbols_.find(name);
    return found == symbols_.end() ? Symbol{} : found->second;
  }

 private:
  struct SectionPlacement {
    bool used = false;
    size_t offset = 0;
  };

  char* at(size_t section) const { return pages_.start() + placements_[section].offset; }

  /// Assigns an offset to each reachable section and each stub. Returns the bytes needed.
  size_t lay_out(const ElfFile& file, std::span<const std::string> entries) {
    const std::vector<bool> reached = file.reachable(entries);
    size_t size = kSectionAlign;  // UBSan reads a function's type from the bytes before it, so they must exist
    for (size_t i = 0; i < placements_.size(); ++i) {
      const Elf64_Shdr& s = file.sections()[i];
      if (!reached[i] || !(s.sh_flags & SHF_ALLOC)) continue;
      if (s.sh_flags & (SHF_WRITE | SHF_TLS))
        throw_bad_object(fmt::format("writable data ({}); a kernel has no state", file.section_name(i)));
      if (s.sh_size > size_t{1} << 30 || s.sh_addralign > 4096)
        throw_bad_object(fmt::format("section {} is too large", file.section_name(i)));
      const size_t align = std::max<size_t>(s.sh_addralign, kSectionAlign);
      size = (size + align - 1) / align * align;
      placements_[i] = {true, size};
      size += s.sh_size;
    }
    size = (size + kStubBytes - 1) / kStubBytes * kStubBytes;
    for (size_t r = 0; r < placements_.size(); ++r) {
      if (!reached[r] || file.sections()[r].sh_type != SHT_RELA) continue;
      for (const Elf64_Rela& relocation : file.relocations(r)) {
        const Elf64_Sym& symbol = file.symbol_of(relocation);
        if (symbol.st_shndx != SHN_UNDEF || ELF64_R_TYPE(relocation.r_info) == R_X86_64_NONE) continue;
        const std::string name = file.symbol_name(symbol);
        if (!find_external(name)) throw_bad_object(fmt::format("it needs \"{}\", which kernels may not use", name));
        if (stubs_.emplace(name, size).second) size += kStubBytes;
      }
    }
    return size;
  }

  uint64_t address(const ElfFile& file, const Elf64_Sym& symbol) const {
    if (symbol.st_shndx == SHN_UNDEF)
      return reinterpret_cast<uint64_t>(pages_.start() + stubs_.at(file.symbol_name(symbol)));
    if (symbol.st_shndx >= SHN_LORESERVE)
      throw_bad_object(fmt::format("symbol {} is common or absolute", file.symbol_name(symbol)));
    if (!placements_[symbol.st_shndx].used)
      throw_bad_object("a relocation against a section that holds no code or data");
    return reinterpret_cast<uint64_t>(at(symbol.st_shndx)) + symbol.st_value;
  }

  void relocate(const ElfFile& file, size_t section, const Elf64_Rela& relocation) {
    const uint32_t type = ELF64_R_TYPE(relocation.r_info);
    if (type == R_X86_64_NONE) return;
    size_t width = 4;
    switch (type) {
      case R_X86_64_64:
      case R_X86_64_PC64: width = 8; break;
      case R_X86_64_PC32:
      case R_X86_64_PLT32: break;
      default: throw_bad_object(fmt::format("relocation {} is not one that the loader knows", relocation_name(type)));
    }
    const uint64_t size = file.sections()[section].sh_size;
    if (relocation.r_offset > size || width > size - relocation.r_offset)
      throw_bad_object("a relocation outside its section");
    char* const place = at(section) + relocation.r_offset;
    uint64_t value = address(file, file.symbol_of(relocation)) + static_cast<uint64_t>(relocation.r_addend);
    if (type != R_X86_64_64) value -= reinterpret_cast<uint64_t>(place);
    if (width == 4 && static_cast<int64_t>(value) != static_cast<int32_t>(value))
      throw_bad_object("a relocation out of reach");
    std::memcpy(place, &value, width);
  }

  std::vector<SectionPlacement> placements_;
  std::map<std::string, size_t> stubs_;
  CodePages pages_;
  std::map<std::string, Symbol> symbols_;
};

}  // namespace

std::unique_ptr<MachineCode> load_object(std::string_view object, std::span<const std::string> entries) {
  return std::make_unique<LoadedObject>(ElfFile(object), entries);
}

std::string extract_entries(std::string_view object, std::span<const std::string> entries) {
  const ElfFile file(object);
  const std::vector<bool> reached = file.reachable(entries);
  std::vector<Elf64_Shdr> sections = file.sections();
  Elf64_Ehdr header = file.header();
  std::string out(sizeof header, '\0');
  for (size_t i = 0; i < sections.size(); ++i) {
    Elf64_Shdr& s = sections[i];
    if (!reached[i] && s.sh_type != SHT_SYMTAB && s.sh_type != SHT_STRTAB) {
      s = {};
      continue;
    }
    out.resize((out.size() + 15) / 16 * 16);
    s.sh_offset = out.size();
    out += file.contents(i);
  }
  out.resize((out.size() + 15) / 16 * 16);
  header.e_shoff = out.size();
  std::memcpy(out.data(), &header, sizeof header);
  for (const Elf64_Shdr& s : sections) out.append(reinterpret_cast<const char*>(&s), sizeof s);
  return out;
}

}  // namespace sinter::runtime::cpu
