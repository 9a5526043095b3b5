#include "sim_ops.h"

#include <fmt/core.h>

#include <limits>

namespace cuda_sim_test {
namespace {

constexpr size_t kValues = 4096;

std::string register_of(int bytes) { return bytes == 0 ? ".pred" : fmt::format(".b{}", bytes * 8); }

/// A kernel k(out, a, b, c, d) that applies the opcode to each element; values lie 8 bytes apart.
std::string kernel_text(const OpCase& op) {
  std::string text =
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 s0, .param .u64 "
      "s1, "
      ".param .u64 s2, .param .u64 s3)\n{\n.reg .b32 %i<4>;\n.reg .b64 %a<8>;\n";
  text += fmt::format(".reg {} %result;\n", register_of(op.result_bytes));
  text +=
      "mov.u32 %i0, %ctaid.x;\nmov.u32 %i1, %ntid.x;\nmov.u32 %i2, %tid.x;\nmad.lo.s32 %i0, %i0, %i1, %i2;\n"
      "mul.wide.u32 %a0, %i0, 8;\n";
  std::string operands = "%result";
  for (size_t i = 0; i < op.source_bytes.size(); ++i) {
    text += fmt::format(".reg {} %s{};\nld.param.u64 %a1, [s{}];\nadd.s64 %a1, %a1, %a0;\nld.global.b{} %s{}, [%a1];\n",
                        register_of(op.source_bytes[i]), i, i, op.source_bytes[i] * 8, i);
    operands += fmt::format(", %s{}", i);
  }
  text += fmt::format("{} {};\nld.param.u64 %a1, [out];\nadd.s64 %a1, %a1, %a0;\n", op.opcode, operands);
  if (op.result_bytes)
    text += fmt::format("st.global.b{} [%a1], %result;\n", op.result_bytes * 8);
  else
    text += "selp.u32 %i3, 1, 0, %result;\nst.global.u32 [%a1], %i3;\n";
  return text + "ret;\n}\n";
}

uint64_t random_value(std::mt19937_64& random, int bytes, bool is_float) {
  const uint64_t ones = bytes == 8 ? ~uint64_t{0} : (uint64_t{1} << (bytes * 8)) - 1, top = (ones >> 1) + 1;
  const uint64_t edges[] = {0, 1, 2, ones, ones - 1, top, top - 1, top + 1, 31, 32, 33, 63, 64};
  const uint32_t floats[] = {0x7fc00000, 0x7f800000, 0xff800000, 0x00000001, 0x807fffff, 0x00800000, 0x7f7fffff,
                             0x3f800000, 0xbf800000, 0x3f000000, 0x40200000, 0x4f000000, 0xcf000000, 0x5f000000};
  const uint64_t choice = random() % 8;
  if (choice < 3) return random() & ones;
  if (choice == 3) return edges[random() % std::size(edges)];
  if (!is_float) return choice < 6 ? random() % 200 : (random() >> random() % 64) & ones;
  if (choice == 4) {
    const float special = from_bits<float>(floats[random() % std::size(floats)]);
    return bytes == 4 ? bits_of(special) : bits_of(static_cast<double>(special));
  }
  const double moderate = (static_cast<double>(random() % 4096) - 2048) / (choice == 5 ? 2 : 64);
  return bytes == 4 ? bits_of(static_cast<float>(moderate)) : bits_of(moderate);
}

bool is_nan(uint64_t bits, int bytes) {
  return bytes == 4 ? std::isnan(from_bits<float>(bits)) : std::isnan(from_bits<double>(bits));
}

void check_op(Gpu& gpu, const OpCase& op) {
  std::mt19937_64 random(1);
  std::vector<std::vector<uint64_t>> sources(op.source_bytes.size(), std::vector<uint64_t>(kValues));
  for (size_t s = 0; s < sources.size(); ++s)
    for (uint64_t& value : sources[s]) value = random_value(random, op.source_bytes[s], op.source_is_float[s]);
  const auto out = gpu.upload(std::vector<uint64_t>(kValues));
  std::vector<uint64_t> parameters = {out, 0, 0, 0, 0};
  for (size_t s = 0; s < sources.size(); ++s) parameters[1 + s] = gpu.upload(sources[s]);
  INFO(op.opcode);
  REQUIRE(gpu.launch(gpu.load(kernel_text(op), "k"), kValues / 128, 128, parameters) == CudaResult::Success);
  const auto results = gpu.download<uint64_t>(out, kValues);
  for (size_t i = 0; i < kValues; ++i) {
    uint64_t bits[4] = {};
    for (size_t s = 0; s < sources.size(); ++s) bits[s] = sources[s][i];
    const uint64_t expected = op.expected(bits);
    if (results[i] == expected) continue;
    if (op.result_is_float && is_nan(results[i], op.result_bytes) && is_nan(expected, op.result_bytes)) continue;
    FAIL(fmt::format("of {:#x}, {:#x}, {:#x}, {:#x}: {:#x} instead of {:#x}", bits[0], bits[1], bits[2], bits[3],
                     results[i], expected));
  }
}

}  // namespace

void check_ops(const std::vector<OpCase>& cases) {
  Gpu gpu;
  for (const OpCase& op : cases) check_op(gpu, op);
}

}  // namespace cuda_sim_test
