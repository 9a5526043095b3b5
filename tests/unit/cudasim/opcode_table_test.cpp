// The table of opcodes: no row replaces another one.
#include "cudasim/opcode_table.h"

#include "catch.h"

using namespace sinter::runtime::cuda::sim;

namespace {

void integers(Decoder&) {}
void floats(Decoder&) {}

}  // namespace

TEST_CASE("rows of opcodes share a name if their types differ", "[cuda-sim]") {
  const Opcode of_integers[] = {{"add", integers, OpcodeTypes::Integers}, {"xor", integers}};
  const Opcode of_floats[] = {{"add", floats, OpcodeTypes::Floats}};
  const OpcodeRows rows = opcode_rows({of_integers, of_floats});
  CHECK((rows.at({"add", false}) == integers));
  CHECK((rows.at({"add", true}) == floats));
  CHECK((rows.at({"xor", true}) == integers));
  CHECK(rows.size() == 4);
}

TEST_CASE("two rows for an opcode of one type are an error", "[cuda-sim]") {
  const Opcode of_floats[] = {{"add", floats, OpcodeTypes::Floats}},
               of_integers[] = {{"add", integers, OpcodeTypes::Integers}};
  const Opcode of_all[] = {{"add", integers}};
  CHECK_THROWS_WITH(opcode_rows({of_floats, of_all}), "two rows decode add of floats");
  CHECK_THROWS_WITH(opcode_rows({of_all, of_floats}), "two rows decode add of floats");
  CHECK_THROWS_WITH(opcode_rows({of_integers, of_all}), "two rows decode add of integers");
  CHECK_THROWS_WITH(opcode_rows({of_all, of_all}), "two rows decode add of integers");
}
