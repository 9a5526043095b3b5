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
#include <mutex>
#include <set>
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
  const auto page_size = static_cast<ElfW(Addr)>(sysconf(_SC_PAGESIZE));
  const auto page_of = [&](ElfW(Addr) address) { return address / page_size * page_size; };
  const auto* guarded = segment(object, PT_GNU_RELRO);
  const ElfW(Addr) begin = guarded ? object.dlpi_addr + guarded->p_vaddr : 0;
  const ElfW(Addr) page = page_of(slot);
  // The page in which that part ends has variables too, and stays writable.
  const bool sealed = guarded && page >= page_of(begin) && page < page_of(begin + guarded->p_memsz);
  if (sealed && mprotect(reinterpret_cast<void*>(page), page_size, PROT_READ | PROT_WRITE) != 0) return;
  std::memcpy(reinterpret_cast<void*>(slot), static_cast<const void*>(&value), sizeof value);
  if (sealed) mprotect(reinterpret_cast<void*>(page), page_size, PROT_READ);
}

/// What an object says to the loader.
class DynamicSection {
 public:
  DynamicSection(ElfW(Addr) base, const ElfW(Dyn) * entries) : base_(base), entries_(entries) {}

  ElfW(Addr) value(ElfW(Sxword) tag) const {
    const std::vector<ElfW(Addr)> all = values(tag);
    return all.empty() ? 0 : all[0];
  }
  std::vector<ElfW(Addr)> values(ElfW(Sxword) tag) const {
    std::vector<ElfW(Addr)> out;
    for (const auto* e = entries_; e->d_tag != DT_NULL; ++e)
      if (e->d_tag == tag) out.push_back(e->d_un.d_ptr);
    return out;
  }
  /// glibc replaces offsets by addresses when it loads an object, other loaders do not.
  template <class T>
  const T* table(ElfW(Sxword) tag) const {
    const ElfW(Addr) at = value(tag);
    return reinterpret_cast<const T*>(at && at < base_ ? at + base_ : at);
  }

 private:
  ElfW(Addr) base_;
  const ElfW(Dyn) * entries_;
};

void stop_registering(const dl_phdr_info& object) {
  const auto* segment_of = segment(object, PT_DYNAMIC);
  if (!segment_of) return;
  const DynamicSection dynamic(object.dlpi_addr,
                               reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + segment_of->p_vaddr));
  const auto* symbols = dynamic.table<ElfW(Sym)>(DT_SYMTAB);
  const auto* names = dynamic.table<char>(DT_STRTAB);
  if (!symbols || !names) return;
  const auto patch = [&](ElfW(Sxword) table, ElfW(Sxword) bytes) {
    const auto* relocation = dynamic.table<ElfW(Rela)>(table);
    if (!relocation) return;
    for (const auto* end = relocation + dynamic.value(bytes) / sizeof *relocation; relocation < end; ++relocation) {
      const auto symbol = ELF64_R_SYM(relocation->r_info);  // 0: none
      if (symbol && std::strcmp(names + symbols[symbol].st_name, "__cxa_atexit") == 0)
        write_slot(object, object.dlpi_addr + relocation->r_offset, reinterpret_cast<void*>(&register_nothing));
    }
  };
  patch(DT_JMPREL, DT_PLTRELSZ);
  patch(DT_RELA, DT_RELASZ);
}

/// Adds the load addresses of an open library and of all that it needs.
void add_closure(void* library, std::set<ElfW(Addr)>& addresses) {
  const link_map* object = nullptr;
  if (dlinfo(library, RTLD_DI_LINKMAP, static_cast<void*>(&object)) != 0 || !addresses.insert(object->l_addr).second)
    return;
  const DynamicSection dynamic(object->l_addr, object->l_ld);
  const auto* names = dynamic.table<char>(DT_STRTAB);
  for (const ElfW(Addr) name : dynamic.values(DT_NEEDED)) {
    void* needed = dlopen(names + name, RTLD_LAZY | RTLD_NOLOAD);
    if (!needed) continue;
    add_closure(needed, addresses);
    dlclose(needed);
  }
}

}  // namespace

void* open_permanent_library(const std::string& path) {
  static std::mutex& one_at_a_time = *new std::mutex;  // two changes of one page would undo each other
  const std::lock_guard lock(one_at_a_time);
  const std::vector<dl_phdr_info> before = loaded_objects();
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) return nullptr;
  std::set<ElfW(Addr)> own;  // another thread may have loaded others meanwhile
  add_closure(library, own);
  for (const dl_phdr_info& object : loaded_objects())
    if (own.contains(object.dlpi_addr) &&
        std::ranges::none_of(before, [&](const dl_phdr_info& known) { return known.dlpi_phdr == object.dlpi_phdr; }))
      stop_registering(object);
  return library;
}

}  // namespace sinter::runtime
