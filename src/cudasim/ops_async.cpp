// cp.async: copies from global to shared memory that a thread waits for in groups. PTX lets the memory be read and
// written at any time from the copy to the wait, so both ends are checked: at the copy the destination becomes memory
// that nothing has written, and what is copied is read and stored at the wait.
#include <fmt/core.h>

#include <algorithm>

#include "cudasim/lane_access.h"
#include "cudasim/type_dispatch.h"

namespace sinter::runtime::cuda::sim {
namespace {

/// The half of a copy that reads, as an instruction.
Instruction reader_of(const Instruction& copy) {
  Instruction in = copy;
  in.source[0] = copy.source[1];
  in.offset = copy.offset_from;
  in.space = StateSpace::Global;
  return in;
}

/// `read` of the kBytes bytes are read.
template <uint64_t kBytes>
void check_source(Warp& warp, LaneAccess<kBytes, AccessKind::Read>& access, const AsyncCopy& copy) {
  if (copy.read > kBytes)
    fail(warp, copy.lane, CudaResult::LaunchFailed,
         fmt::format("a copy of {} bytes reads {} bytes", kBytes, copy.read));
  if (copy.read && copy.from % kBytes)
    fail(warp, copy.lane, CudaResult::MisalignedAddress,
         fmt::format("a copy of {0} bytes from {1:#x}, which is not a multiple of {0}: misaligned", kBytes, copy.from));
  if (copy.read == kBytes) access(copy.lane, copy.from);
}

template <uint64_t kBytes>
void issue(Warp& warp, const Instruction& in, uint32_t mask) {
  const Instruction reader = reader_of(in);
  LaneAccess<kBytes, AccessKind::Write> to(warp, in);
  LaneAccess<kBytes, AccessKind::Read> from(warp, reader);
  for_lanes(mask, [&](int lane) {
    AsyncCopy copy{warp.at, lane, warp.committed[lane], to.address(lane), from.address(lane), kBytes};
    if (in.source[2].at) copy.read = lanes<uint32_t>(warp, in.source[2])[lane];
    check_source(warp, from, copy);
    to(lane);
    to.mark_unwritten((1u << kBytes) - 1);
    warp.copies.push_back(copy);
  });
  to.count();
  from.count();
}

/// The copy takes place now.
template <uint64_t kBytes>
void land(Warp& warp, const Instruction& in, const AsyncCopy& copy) {
  const Instruction reader = reader_of(in);
  std::byte data[kBytes] = {};
  uint32_t unwritten = 0;
  if (copy.read == kBytes) {
    LaneAccess<kBytes, AccessKind::Read> from(warp, reader);
    std::memcpy(data, from(copy.lane, copy.from), kBytes);
    if (from.unwritten_lanes()) unwritten = from.unwritten(copy.lane);
  } else {
    LaneAccess<1, AccessKind::Read> from(warp, reader);
    for (uint64_t i = 0; i < copy.read; ++i) {
      data[i] = *from(copy.lane, copy.from + i);
      if (from.unwritten_lanes()) unwritten |= 1u << i;
    }
  }
  LaneAccess<kBytes, AccessKind::Write> to(warp, in);
  std::memcpy(to(copy.lane, copy.to), data, kBytes);
  to.mark_unwritten(unwritten);
}

/// Ends the wait of the lanes for all but the `pending` last of their groups. A group that is still open counts as one
/// that has not begun.
void wait(Warp& warp, uint32_t mask, uint32_t pending) {
  const uint32_t at = warp.at;
  std::erase_if(warp.copies, [&](const AsyncCopy& copy) {
    if (!(mask >> copy.lane & 1) || copy.group + pending >= warp.committed[copy.lane]) return false;
    warp.at = copy.at;  // a fault is one of the copy
    const Instruction& in = warp.block->kernel.code[copy.at];
    (in.vector == 4 ? land<4> : in.vector == 8 ? land<8> : land<16>)(warp, in, copy);
    return true;
  });
  warp.at = at;
}

void commit_group(Warp& warp, const Instruction&, uint32_t mask) {
  for_lanes(mask, [&](int lane) { ++warp.committed[lane]; });
}
void wait_group(Warp& warp, const Instruction& in, uint32_t mask) { wait(warp, mask, in.target); }
void wait_all(Warp& warp, const Instruction& in, uint32_t mask) {
  commit_group(warp, in, mask);
  wait(warp, mask, 0);
}

void decode_copy(Decoder& d) {
  const bool cached = d.take("ca");
  if (!cached && !d.take("cg")) d.fail("copies are .ca or .cg");
  if (!d.take("global")) d.fail("copies read .global memory");
  d.take_space();
  if (d.out.space != StateSpace::Shared) d.fail("copies write .shared memory");
  d.address();
  d.address_from();
  const int64_t bytes = d.operand().value;
  if (bytes != 16 && (!cached || (bytes != 4 && bytes != 8))) d.fail("a copy has 16 bytes, with .ca also 4 or 8");
  d.out.vector = static_cast<uint8_t>(bytes);
  if (d.remaining()) d.source(2, 4);
  d.out.poison_rule = PoisonRule::MustBeKnown;
  d.out.run = bytes == 4 ? issue<4> : bytes == 8 ? issue<8> : issue<16>;
}

void decode_cp(Decoder& d) {
  if (!d.take("async")) d.fail("only cp.async is supported");
  if (d.take("commit_group")) {
    d.out.run = commit_group;
  } else if (d.take("wait_all")) {
    d.out.run = wait_all;
  } else if (d.take("wait_group")) {
    d.out.target = static_cast<uint32_t>(d.operand().value);
    d.out.run = wait_group;
  } else {
    decode_copy(d);
  }
}

constexpr Opcode kOpcodes[] = {{"cp", decode_cp}};

}  // namespace

std::span<const Opcode> async_opcodes() { return kOpcodes; }

}  // namespace sinter::runtime::cuda::sim
