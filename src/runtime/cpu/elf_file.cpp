// Parses an ELF object without trusting it.
#include "runtime/cpu/elf_file.h"

#include <fmt/core.h>

#include <cstring>

namespace sinter::runtime::cpu {
namespace {

template <class T>
std::vector<T> read_array(std::string_view bytes, const char* what) {
  if (bytes.size() % sizeof(T))
    throw_bad_object(fmt::format("{}: {} bytes are no whole number of entries", what, bytes.size()));
  std::vector<T> out(bytes.size() / sizeof(T));
  if (!out.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

std::string_view slice(std::string_view bytes, uint64_t offset, uint64_t size, const char* what) {
  if (offset > bytes.size() || size > bytes.size() - offset)
    throw_bad_object(fmt::format("{} lies outside the file", what));
  return bytes.substr(offset, size);
}

}  // namespace

void throw_bad_object(const std::string& what) { throw BackendError("kernel object: " + what); }

ElfFile::ElfFile(std::string_view bytes) : bytes_(bytes) {
  std::memcpy(&header_, slice(bytes, 0, sizeof header_, "the header").data(), sizeof header_);
  if (std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0 || header_.e_ident[EI_CLASS] != ELFCLASS64 ||
      header_.e_ident[EI_DATA] != ELFDATA2LSB)
    throw_bad_object("no 64-bit little-endian ELF file");
  if (header_.e_type != ET_REL || header_.e_machine != EM_X86_64)
    throw_bad_object(
        fmt::format("type {} for machine {}; wanted a relocatable file for x86-64", header_.e_type, header_.e_machine));
  if (header_.e_shentsize != sizeof(Elf64_Shdr)) throw_bad_object("section headers of an unknown size");
  sections_ = read_array<Elf64_Shdr>(
      slice(bytes, header_.e_shoff, uint64_t{header_.e_shnum} * sizeof(Elf64_Shdr), "the section table"),
      "the section table");
  size_t tables = 0;
  for (size_t i = 0; i < sections_.size(); ++i) {
    contents(i);  // checks its bounds
    if (sections_[i].sh_type != SHT_SYMTAB) continue;
    if (++tables > 1) throw_bad_object("two symbol tables");
    symbols_ = read_array<Elf64_Sym>(contents(i), "the symbol table");
    symbol_names_ = sections_[i].sh_link;
  }
  for (const Elf64_Sym& s : symbols_) {
    if (s.st_shndx == SHN_UNDEF || s.st_shndx >= SHN_LORESERVE) continue;
    if (s.st_shndx >= sections_.size()) throw_bad_object("a symbol in a section that is not there");
    const Elf64_Shdr& section = sections_[s.st_shndx];
    if (section.sh_type == SHT_NULL) continue;  // removed by extract_entries(), so it has no contents
    if (s.st_value > section.sh_size || s.st_size > section.sh_size - s.st_value)
      throw_bad_object(fmt::format("symbol {} lies outside its section", s.st_name ? symbol_name(s) : ""));
  }
}

std::string_view ElfFile::contents(size_t section) const {
  const Elf64_Shdr& s = sections_[section];
  if (s.sh_type == SHT_NOBITS || s.sh_type == SHT_NULL) return {};
  return slice(bytes_, s.sh_offset, s.sh_size, "a section");
}

std::string ElfFile::name_at(size_t string_section, size_t offset) const {
  if (string_section >= sections_.size()) throw_bad_object("a string table that is not there");
  const std::string_view strings = contents(string_section);
  const size_t end = offset < strings.size() ? strings.find('\0', offset) : std::string_view::npos;
  if (end == std::string_view::npos) throw_bad_object("a name outside its string table");
  return std::string(strings.substr(offset, end - offset));
}

std::string ElfFile::section_name(size_t section) const {
  return name_at(header_.e_shstrndx, sections_[section].sh_name);
}
std::string ElfFile::symbol_name(const Elf64_Sym& symbol) const { return name_at(symbol_names_, symbol.st_name); }

const Elf64_Sym& ElfFile::function(const std::string& name) const {
  for (const Elf64_Sym& s : symbols_)
    if (ELF64_ST_TYPE(s.st_info) == STT_FUNC && ELF64_ST_BIND(s.st_info) != STB_LOCAL && s.st_shndx != SHN_UNDEF &&
        s.st_shndx < SHN_LORESERVE && symbol_name(s) == name)
      return s;
  throw_bad_object(fmt::format("no function {}", name));
}

std::vector<Elf64_Rela> ElfFile::relocations(size_t rela_section) const {
  return read_array<Elf64_Rela>(contents(rela_section), "a relocation table");
}

const Elf64_Sym& ElfFile::symbol_of(const Elf64_Rela& relocation) const {
  const uint64_t index = ELF64_R_SYM(relocation.r_info);
  if (index >= symbols_.size()) throw_bad_object("a relocation against a symbol that is not there");
  return symbols_[index];
}

std::vector<bool> ElfFile::reachable(std::span<const std::string> entries) const {
  std::vector<bool> reached(sections_.size());
  std::vector<size_t> open;
  const auto reach = [&](size_t section) {
    if (section == SHN_UNDEF || section >= SHN_LORESERVE || reached[section]) return;
    reached[section] = true;
    open.push_back(section);
  };
  for (const std::string& name : entries) reach(function(name).st_shndx);
  while (!open.empty()) {
    const size_t section = open.back();
    open.pop_back();
    for (size_t r = 0; r < sections_.size(); ++r) {
      if (sections_[r].sh_info != section) continue;
      if (sections_[r].sh_type == SHT_REL) throw_bad_object("relocations without addends");
      if (sections_[r].sh_type != SHT_RELA) continue;
      reached[r] = true;
      for (const Elf64_Rela& relocation : relocations(r)) reach(symbol_of(relocation).st_shndx);
    }
  }
  return reached;
}

}  // namespace sinter::runtime::cpu
