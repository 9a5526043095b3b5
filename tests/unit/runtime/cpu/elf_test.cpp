// The object loader: what it refuses, and that code is never writable and executable.
#include "runtime/cpu/elf.h"
#include "catch.h"
#include "runtime/base/subprocess.h"
#include "runtime/cpu/compiler.h"
#include "runtime/cpu/elf_file.h"
#include "runtime/program/host_target.h"
#include "sinter/error.h"
#include "skip.h"
#include "unit/runtime_support.h"

#include <cstring>
#include <fstream>
#include <sstream>

using namespace sinter;
using namespace sinter::runtime;
using namespace runtime_test;
using Catch::Matchers::Contains;

namespace {

std::string object_of(const std::string& text) {
  const auto result = cpu::current_compiler(host_target())->compile(text, host_target());
  REQUIRE(result.ok);
  return result.object;
}

const std::vector<std::string> kEntry{"k"};

/// The permissions of the mapping that holds the address.
std::string permissions(const void* address) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long long from = 0, to = 0;
    char flags[8] = {};
    if (std::sscanf(line.c_str(), "%llx-%llx %7s", &from, &to, flags) == 3 &&
        reinterpret_cast<uintptr_t>(address) >= from && reinterpret_cast<uintptr_t>(address) < to)
      return flags;
  }
  return "unmapped";
}

bool plain_objects() { return !cpu::current_compiler(host_target())->makes_libraries(); }

}  // namespace

TEST_CASE("code is executable and not writable, and freed with its object", "[runtime]") {
  if (!plain_objects()) SKIP_TEST("kernels are shared libraries");
  const void* address = nullptr;
  {
    const auto code = cpu::load_object(object_of("int k(void) { return 7; }"), kEntry);
    const auto symbol = code->find("k");
    address = symbol.address;
    CHECK(symbol.size > 0);
    CHECK(permissions(address) == "r-xp");
    CHECK(reinterpret_cast<int (*)()>(reinterpret_cast<uintptr_t>(address))() == 7);
    CHECK(code->find("other").address == nullptr);
  }
  CHECK(permissions(address) != "r-xp");
}

TEST_CASE("an unknown relocation is refused by name", "[runtime]") {
  if (!plain_objects()) SKIP_TEST("kernels are shared libraries");
  std::string object = object_of("static const int t[3] = {1, 2, 3};\nint k(long i) { return t[i]; }");
  CHECK(cpu::load_object(object, kEntry));
  const auto with_type = [&](uint32_t type) {
    std::string changed = object;
    const cpu::ElfFile file(object);
    for (size_t s = 0; s < file.sections().size(); ++s) {
      if (file.sections()[s].sh_type != SHT_RELA || file.section_name(s) != ".rela.text.k") continue;
      auto relocation = file.relocations(s).at(0);
      relocation.r_info = ELF64_R_INFO(ELF64_R_SYM(relocation.r_info), type);
      std::memcpy(changed.data() + file.sections()[s].sh_offset, &relocation, sizeof relocation);
    }
    return changed;
  };
  CHECK_THROWS_WITH(cpu::load_object(with_type(R_X86_64_TPOFF32), kEntry), Contains("R_X86_64_TPOFF32"));
  CHECK_THROWS_WITH(cpu::load_object(with_type(R_X86_64_GOTPCREL), kEntry), Contains("R_X86_64_GOTPCREL"));
  CHECK_THROWS_WITH(cpu::load_object(with_type(200), kEntry), Contains("200"));
}

TEST_CASE("thread-local and writable data and unknown symbols are refused", "[runtime]") {
  if (!plain_objects()) SKIP_TEST("kernels are shared libraries");
  CHECK_THROWS_WITH(cpu::load_object(object_of("int n = 3; int k(void) { return ++n; }"), kEntry),
                    Contains("writable"));
  CHECK_THROWS_AS(cpu::load_object(object_of("_Thread_local int n; int k(void) { return ++n; }"), kEntry),
                  BackendError);
  CHECK_THROWS_WITH(cpu::load_object(object_of("int puts(const char*); int k(void) { return puts(\"x\"); }"), kEntry),
                    Contains("puts"));
  const std::vector<std::string> missing{"k", "m"};
  CHECK_THROWS_WITH(cpu::load_object(object_of("int k(void) { return 1; }"), missing), Contains("m"));
}

// clang makes them of selects of float16.
TEST_CASE("a kernel may call the minimum and the maximum of the C library", "[runtime]") {
  if (!plain_objects()) SKIP_TEST("kernels are shared libraries");
  const auto of_2_and_3 = [](const std::string& name, const std::string& type) {
    const auto code = cpu::load_object(object_of(type + " " + name + "(" + type + ", " + type +
                                                 ");\ndouble k(double a, double b) { return " + name + "(a, b); }"),
                                       kEntry);
    return reinterpret_cast<double (*)(double, double)>(reinterpret_cast<uintptr_t>(code->find("k").address))(2, 3);
  };
  CHECK(of_2_and_3("fmin", "double") == 2);
  CHECK(of_2_and_3("fminf", "float") == 2);
  CHECK(of_2_and_3("fmax", "double") == 3);
  CHECK(of_2_and_3("fmaxf", "float") == 3);
}

TEST_CASE("one kernel's share of an object is all it reaches and no more", "[runtime]") {
  if (!plain_objects()) SKIP_TEST("kernels are shared libraries");
  const std::string object = object_of(R"(
static const double kt[3] = {1.5, 2.5, 3.5};
__attribute__((noinline)) static int helper(long i) { return (int)(kt[i] * 2); }
int k(long i) { return helper(i) + 1; }
static const double big[4096] = {[7] = 9.0};
int other(long i) { return (int)big[i]; }
)");
  const std::string share = cpu::extract_entries(object, kEntry);
  CHECK(share.size() < 8000);
  CHECK(object.size() > 32000);
  const auto code = cpu::load_object(share, kEntry);
  const auto k = reinterpret_cast<int (*)(long)>(reinterpret_cast<uintptr_t>(code->find("k").address));
  CHECK((k(0) == 4 && k(1) == 6 && k(2) == 8));
  const std::vector<std::string> other{"other"};
  CHECK_THROWS_AS(cpu::load_object(share, other), BackendError);
  CHECK(cpu::extract_entries(share, kEntry) == share);
}

TEST_CASE("a symbol that reaches out of its section is refused", "[runtime]") {
  if (!plain_objects()) SKIP_TEST("kernels are shared libraries");
  const std::string object = object_of("static const int t[3] = {1, 2, 3};\nint k(long i) { return t[i]; }");
  const cpu::ElfFile file(object);
  const auto with = [&](auto change) {
    std::string changed = object;
    for (size_t s = 0; s < file.sections().size(); ++s)
      if (file.sections()[s].sh_type == SHT_SYMTAB)
        for (size_t i = 0; i < file.symbols().size(); ++i) {
          Elf64_Sym symbol = file.symbols()[i];
          if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= SHN_LORESERVE) continue;
          change(symbol);
          std::memcpy(changed.data() + file.sections()[s].sh_offset + i * sizeof symbol, &symbol, sizeof symbol);
        }
    return changed;
  };
  CHECK_NOTHROW(cpu::load_object(with([](Elf64_Sym&) {}), kEntry));
  CHECK_THROWS_WITH(cpu::load_object(with([](Elf64_Sym& s) {
                                       if (ELF64_ST_TYPE(s.st_info) == STT_FUNC) s.st_size = 1 << 20;
                                     }),
                                     kEntry),
                    Contains("outside its section"));
  CHECK_THROWS_WITH(cpu::load_object(with([](Elf64_Sym& s) {
                                       if (ELF64_ST_TYPE(s.st_info) != STT_FUNC) s.st_value = 1 << 20;
                                     }),
                                     kEntry),
                    Contains("outside its section"));
  CHECK_THROWS_WITH(cpu::load_object(with([](Elf64_Sym& s) { s.st_size = ~uint64_t{0}; }), kEntry),
                    Contains("outside its section"));
}

TEST_CASE("no damaged object is loaded wrongly or crashes the loader", "[runtime]") {
  if (!plain_objects()) SKIP_TEST("kernels are shared libraries");
  const std::string object = object_of("static const int t[3] = {1, 2, 3};\nint k(long i) { return t[i]; }");
  for (size_t size = 0; size < object.size(); size += 7)
    CHECK_THROWS_AS(cpu::load_object(object.substr(0, size), kEntry), BackendError);
  CHECK_THROWS_AS(cpu::load_object("", kEntry), BackendError);
  CHECK_THROWS_AS(cpu::load_object(std::string(1000, 'x'), kEntry), BackendError);
  // Every byte outside the code set to 0xff: an error or an object, never a crash.
  const cpu::ElfFile file(object);
  for (size_t at = 0; at < object.size(); ++at) {
    std::string changed = object;
    changed[at] = '\xff';
    try {
      cpu::load_object(changed, kEntry);
    } catch (const BackendError&) {}
  }
}
