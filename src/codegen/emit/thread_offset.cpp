#include "codegen/emit/thread_offset.h"

#include "codegen/nest/thread_digits.h"

namespace sinter::codegen {

Id thread_offset(BlockWriter& emit, const LoopLevel& l, int lanes) {
  const Id warp = warp_offset(emit, l, lanes);
  if (l.warp.threads == 1) return warp;
  return emit.index(Op::Add, warp,
                    emit.index(Op::Mul, thread_digit(emit, l.warp.stride, l.warp.threads), emit.number(lanes)));
}

Id warp_offset(BlockWriter& emit, const LoopLevel& l, int lanes) {
  if (l.threads == 1) return emit.number(0);
  return emit.index(Op::Mul, thread_digit(emit, l.thread_stride, l.threads),
                    emit.number(int64_t{1} * lanes * l.warp.threads * l.warp.copies));
}

CopyDistance copy_distance(const LoopLevel& l, int lanes) {
  const int64_t near = lanes * l.distance * l.warp.threads;
  return l.warp.copies == 1 ? CopyDistance{near * l.threads, near * l.threads}
                            : CopyDistance{near, near * l.warp.copies * l.threads, l.warp.copies};
}

}  // namespace sinter::codegen
