// Machine code of a CUBIN, as far as tests ask of it: which instructions it has. sm_70 to sm_90 have 16 bytes for each,
// whose lowest 12 bits are the opcode.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>

namespace sinter::runtime::cuda {

enum class MachineOp : uint16_t {
  Hmma = 0x23c,  ///< a step of a tensor core on 16-bit floats
  Ldsm = 0x83b,  ///< ldmatrix
};

/// How often an instruction stands in the functions of an image. Throws std::runtime_error if it is no 64-bit ELF.
inline int count_instructions(std::string_view image, MachineOp op) {
  const auto at = [&]<class T>(T value, uint64_t offset) {
    if (offset > image.size() || sizeof value > image.size() - offset) throw std::runtime_error("no image of a kernel");
    std::memcpy(&value, image.data() + offset, sizeof value);
    return value;
  };
  if (!image.starts_with("\x7f"
                         "ELF\x02"))
    throw std::runtime_error("no image of a kernel");
  const auto sections = at(uint64_t{}, 0x28);
  const auto size = at(uint16_t{}, 0x3a), count = at(uint16_t{}, 0x3c), names = at(uint16_t{}, 0x3e);
  const auto header = [&](uint64_t section) { return sections + section * size; };
  const auto text = at(uint64_t{}, header(names) + 0x18);  // of all names
  int found = 0;
  for (uint64_t s = 0; s < count; ++s) {
    const auto name = text + at(uint32_t{}, header(s));
    if (name >= image.size() || !image.substr(name).starts_with(".text.")) continue;
    const auto begin = at(uint64_t{}, header(s) + 0x18), bytes = at(uint64_t{}, header(s) + 0x20);
    for (uint64_t i = 0; i + 16 <= bytes; i += 16)
      found += (at(uint16_t{}, begin + i) & 0xfff) == static_cast<uint16_t>(op);
  }
  return found;
}

}  // namespace sinter::runtime::cuda
