// An ELF object's sections, symbols and relocations. Every offset is checked against the object's size.
#pragma once

#include <elf.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sinter/error.h"

namespace sinter::runtime::cpu {

/// A view of an object. The bytes must outlive it.
class ElfFile {
 public:
  /// Throws BackendError unless this is a complete relocatable x86-64 ELF64 object.
  explicit ElfFile(std::string_view bytes);

  const Elf64_Ehdr& header() const { return header_; }
  const std::vector<Elf64_Shdr>& sections() const { return sections_; }
  std::string_view contents(size_t section) const;  ///< empty for SHT_NOBITS
  std::string section_name(size_t section) const;

  const std::vector<Elf64_Sym>& symbols() const { return symbols_; }
  std::string symbol_name(const Elf64_Sym& symbol) const;
  /// The defined global function of this name. Throws BackendError if there is none.
  const Elf64_Sym& function(const std::string& name) const;

  std::vector<Elf64_Rela> relocations(size_t rela_section) const;
  /// The symbol of a relocation. Throws BackendError if its index is out of range.
  const Elf64_Sym& symbol_of(const Elf64_Rela& relocation) const;

  /// Per section, whether the entries' functions reach it. A relocation section is reached with the section that it
  /// applies to.
  std::vector<bool> reachable(std::span<const std::string> entries) const;

 private:
  std::string name_at(size_t string_section, size_t offset) const;

  std::string_view bytes_;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Shdr> sections_;
  std::vector<Elf64_Sym> symbols_;
  size_t symbol_names_ = 0;
};

[[noreturn]] void throw_bad_object(const std::string& what);

}  // namespace sinter::runtime::cpu
