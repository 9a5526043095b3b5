// Environment variables, the log, hashes and the target.
#include "catch.h"
#include "repository.h"
#include "runtime/env.h"
#include "runtime/hash.h"
#include "runtime/log.h"
#include "runtime/machine.h"
#include "runtime/target.h"
#include "sinter/error.h"
#include "unit/runtime_support.h"

#include <fstream>
#include <set>
#include <sstream>

using namespace sinter;
using namespace sinter::runtime;
using namespace runtime_test;
using Catch::Matchers::Contains;

TEST_CASE("environment variables become values", "[runtime]") {
  const Setting debug("DEBUG", "3"), threads("SINTER_THREADS", "5"), noopt("SINTER_NOOPT", "1"),
      check("SINTER_CHECK", "0"), device("SINTER_DEVICE", "cpu"), data("SINTER_DATA", "/there"),
      memory("SINTER_MEMORY_LIMIT", "3M");
  CHECK(env().debug == 3);
  CHECK(env().threads == 5);
  CHECK(env().noopt);
  CHECK_FALSE(env().check);
  CHECK(env().data == "/there");
  CHECK(env().memory_bytes == 3u << 20);
  const Setting percent("SINTER_MEMORY_LIMIT", "12.5%");
  CHECK(env().memory_percent == 12.5);
  CHECK(env().memory_bytes == 0);
  CHECK(host_target().threads == 5);
  CHECK(host_target().parallel_units == 20);
}

TEST_CASE("a bad or unknown variable is a UsageError with name, value and what is allowed", "[runtime]") {
  const std::pair<const char*, const char*> bad[] = {{"DEBUG", "8"},
                                                     {"DEBUG", "-1"},
                                                     {"DEBUG", "yes"},
                                                     {"DEBUG", "2x"},
                                                     {"DEBUG", ""},
                                                     {"SINTER_THREADS", "0"},
                                                     {"SINTER_THREADS", "two"},
                                                     {"SINTER_BEAM", "4"},
                                                     {"SINTER_NOOPT", "true"},
                                                     {"SINTER_CHECK", "2"},
                                                     {"SINTER_DEVICE", "gpu"},
                                                     {"SINTER_DEVICE", "cuda"},
                                                     {"SINTER_DEVICE", "cuda:0"},
                                                     {"SINTER_CC", ""},
                                                     {"SINTER_MEMORY_LIMIT", "0"},
                                                     {"SINTER_MEMORY_LIMIT", "G"},
                                                     {"SINTER_MEMORY_LIMIT", "101%"},
                                                     {"SINTER_MEMORY_LIMIT", "99999999999G"},
                                                     {"SINTER_CACHE", ""},
                                                     {"SINTER_DEBUGG", "1"}};
  for (const auto& [name, value] : bad) {
    INFO(name << "=" << value);
    const Setting setting(name, value);
    for (int again = 0; again < 2; ++again) {  // not remembered: every use throws
      try {
        env();
        FAIL("accepted");
      } catch (const UsageError& error) {
        CHECK_THAT(error.what(), Contains(name) && Contains(value));
        CHECK_THAT(error.what(), Contains("unset it"));
      }
    }
  }
  CHECK_NOTHROW(env());
}

TEST_CASE("the table of variables is complete", "[runtime]") {
  std::set<std::string_view> names;
  for (const EnvVar& variable : env_table()) {
    names.insert(variable.name);
    CHECK_FALSE(variable.meaning.empty());
    CHECK_FALSE(variable.allowed.empty());
    CHECK_FALSE(variable.default_text.empty());
  }
  CHECK(names == std::set<std::string_view>{"DEBUG", "SINTER_CACHE", "SINTER_DEVICE", "SINTER_THREADS", "SINTER_NOOPT",
                                            "SINTER_CHECK", "SINTER_CC", "SINTER_MEMORY_LIMIT", "SINTER_DATA"});
}

TEST_CASE("the log writes whole lines of the wanted levels", "[runtime]") {
  const Setting debug("DEBUG", "2");
  CapturedLog captured;
  log(0, "always");
  log(2, "two\n");
  log(3, "three");
  CHECK(captured.text() == "always\ntwo\n");
  CHECK(logging(2));
  CHECK_FALSE(logging(3));
}

TEST_CASE("a hash depends on each field and where it ends", "[runtime]") {
  CHECK(hash_bytes("") != hash_bytes(std::string_view("\0", 1)));
  CHECK(HashBuilder().add("ab").add("c").hash() != HashBuilder().add("a").add("bc").hash());
  CHECK(HashBuilder().add(1).add("x").hash() != HashBuilder().add("x").add(1).hash());
  CHECK(to_hex(Hash128{0x1234, 0xabc}) == "0000000000000abc0000000000001234");
}

TEST_CASE("targets name what they are", "[runtime]") {
  const Target host = host_target(), fixed = reference_target();
  CHECK(fixed.vector_bytes == 64);
  CHECK(fixed.vector_registers == 32);
  CHECK((fixed.threads == 2 && fixed.parallel_units == 8));
  CHECK((fixed.l1 == 48 << 10 && fixed.l2 == 1 << 20 && fixed.l3 == 32 << 20));
  CHECK(host.threads >= 1);
  CHECK(host.l1 > 0);
  CHECK(host.l3 >= host.l2);
  Target changed = fixed;
  CHECK(changed.key() == fixed.key());
  changed.l2 += 1;
  CHECK(changed.key() != fixed.key());
  CHECK(usable_cpus() >= 1);
  CHECK(usable_memory() > 1 << 20);
}

TEST_CASE("docs/environment.md holds the table of variables", "[runtime]") {
  std::string table = "| variable | values | default | meaning |\n|---|---|---|---|\n";
  for (const EnvVar& v : env_table())
    table += fmt::format("| `{}` | {} | {} | {} |\n", v.name, v.allowed, v.default_text, v.meaning);
  std::ifstream file(repository_path("docs/environment.md"));
  std::ostringstream text;
  text << file.rdbuf();
  CHECK_THAT(text.str(), Contains(table));
}
