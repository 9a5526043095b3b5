#include "recorded_steps.h"

#include <zlib.h>

#include <cstring>
#include <memory>
#include <stdexcept>

#include "repository.h"

namespace sinter::testing {
namespace {

constexpr struct {
  const char* name;
  ir::MmaOperand type;
} kTables[] = {{"mma bf16 m16n8k16", ir::MmaOperand::BF16},
               {"mma f16 m16n8k16", ir::MmaOperand::F16},
               {"mma tf32 m16n8k8", ir::MmaOperand::TF32}};

void expect(bool good, const std::string& what) {
  if (!good) throw std::runtime_error("recorded steps: " + what);
}

}  // namespace

std::vector<RecordedSteps> recorded_steps() {
  const std::string path = repository_path("tests/data/h100_mma.bin.gz");
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  expect(file != nullptr, "no " + path);
  const auto read = [&](void* to, size_t bytes) {
    expect(gzread(file.get(), to, static_cast<unsigned>(bytes)) == static_cast<int>(bytes), path + " is too short");
  };
  char magic[4], name[32];
  uint32_t tables = 0, sizes[2];
  read(magic, sizeof magic);
  expect(std::memcmp(magic, "E1S1", 4) == 0, path + " has another format");
  read(&tables, sizeof tables);
  expect(tables == std::size(kTables), path + " has other tables");
  std::vector<RecordedSteps> all;
  for (const auto& [wanted, type] : kTables) {
    read(name, sizeof name);
    read(sizes, sizeof sizes);
    expect(std::string(name) == wanted && sizes[1] == sizeof(RecordedStep) / 4, path + " has no " + wanted);
    RecordedSteps& table = all.emplace_back(RecordedSteps{name, type, std::vector<RecordedStep>(sizes[0])});
    read(table.steps.data(), table.steps.size() * sizeof(RecordedStep));
  }
  return all;
}

std::vector<uint32_t> elements_of(ir::MmaOperand type, const std::array<uint32_t, 8>& words) {
  if (type == ir::MmaOperand::TF32) return {words.begin(), words.end()};
  std::vector<uint32_t> out;
  for (const uint32_t word : words) out.insert(out.end(), {word & 0xffff, word >> 16});
  return out;
}

}  // namespace sinter::testing
