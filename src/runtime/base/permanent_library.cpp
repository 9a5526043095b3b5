// exit() runs its handlers newest first. A static object inside a function registers its destructor when it is
// constructed, so a library that works in one thread while another calls exit() loses its newest objects before any
// older handler could wait for that work. A library registers through the slot of __cxa_atexit in its global offset
// table: here that slot gets a function that registers nothing.
// Source: System V ABI, "Dynamic Linking"; Itanium C++ ABI 3.3.6.3, "Runtime API".
#include "runtime/base/permanent_library.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace sinter::runtime {
namespace {

int register_nothing(void (*)(void*), void*, void*) { return 0; }

/// Programs and libraries in memory; their headers tell them apart.
std::vector<dl_phdr_info> loaded_objects() {
  std::vector<dl_phdr_info> out;
  const auto add = [](dl_phdr_info* object, size_t, void* to) {
    static_cast<std::vector<dl_phdr_info>*>(to)->push_back(*object);
    return 0;
  };
  dl_iterate_phdr(add, &out);
  return out;
}

const ElfW(Phdr) * segment(const dl_phdr_info& object, ElfW(Word) type) {
  const auto* end = object.dlpi_phdr + object.dlpi_phnum;
  const auto* found = std::find_if(object.dlpi_phdr, end, [&](const ElfW(Phdr) & s) { return s.p_type == type; });
  return found == end ? nullptr : found;
}

/// A slot in the part that the loader has made read-only is written through a change of its page.
void write_slot(const dl_phdr_info& object, ElfW(Addr) slot, void* value) {
  const auto* guarded = segment(object, PT_GNU_RELRO);
  const auto page_size = static_cast<ElfW(Addr)>(sysconf(_SC_PAGESIZE));
  void* page = reinterpret_cast<void*>(slot / page_size * page_size);
  const ElfW(Addr) offset = slot - object.dlpi_addr;
  const bool sealed = guarded && offset >= guarded->p_vaddr && offset < guarded->p_vaddr + guarded->p_memsz;
  if (sealed && mprotect(page, page_size, PROT_READ | PROT_WRITE) != 0) return;
  std::memcpy(reinterpret_cast<void*>(slot), &value, sizeof value);
  if (sealed) mprotect(page, page_size, PROT_READ);
}

void stop_registering(const dl_phdr_info& object) {
  const auto* dynamic = segment(object, PT_DYNAMIC);
  if (!dynamic) return;
  const auto* entries = reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + dynamic->p_vaddr);
  const auto value = [&](ElfW(Sxword) tag) -> ElfW(Addr) {
    for (const auto* e = entries; e->d_tag != DT_NULL; ++e)
      if (e->d_tag == tag) return e->d_un.d_ptr;
    return 0;
  };
  // glibc replaces offsets by addresses when it loads an object, other loaders do not.
  const auto address = [&](ElfW(Sxword) tag) {
    const ElfW(Addr) at = value(tag);
    return at && at < object.dlpi_addr ? at + object.dlpi_addr : at;
  };
  const auto* symbols = reinterpret_cast<const ElfW(Sym)*>(address(DT_SYMTAB));
  const auto* names = reinterpret_cast<const char*>(address(DT_STRTAB));
  if (!symbols || !names) return;
  const auto patch = [&](ElfW(Sxword) table, ElfW(Sxword) bytes) {
    const auto* relocation = reinterpret_cast<const ElfW(Rela)*>(address(table));
    if (!relocation) return;
    for (const auto* end = relocation + value(bytes) / sizeof *relocation; relocation < end; ++relocation) {
      const auto symbol = ELF64_R_SYM(relocation->r_info);  // 0: none
      if (symbol && std::strcmp(names + symbols[symbol].st_name, "__cxa_atexit") == 0)
        write_slot(object, object.dlpi_addr + relocation->r_offset, reinterpret_cast<void*>(&register_nothing));
    }
  };
  patch(DT_JMPREL, DT_PLTRELSZ);
  patch(DT_RELA, DT_RELASZ);
}

}  // namespace

void* open_permanent_library(const std::string& path) {
  const std::vector<dl_phdr_info> before = loaded_objects();
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) return nullptr;
  for (const dl_phdr_info& object : loaded_objects())
    if (std::none_of(before.begin(), before.end(),
                     [&](const dl_phdr_info& known) { return known.dlpi_phdr == object.dlpi_phdr; }))
      stop_registering(object);
  return library;
}

}  // namespace sinter::runtime
