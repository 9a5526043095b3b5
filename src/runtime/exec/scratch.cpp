// A flag per piece.
#include "runtime/exec/scratch.h"

#include <sched.h>

#include "runtime/base/sanitizer.h"

namespace sinter::runtime {

Scratch::Scratch(int64_t bytes, int threads)
    : pieces_(static_cast<size_t>(threads)), bytes_((static_cast<size_t>(bytes) + 63) / 64 * 64 + kRedZone) {
  buffer_ = Buffer::allocate(pieces_ * bytes_);
  for (size_t i = 0; i < pieces_; ++i)
    forbid(buffer_->as<std::byte>() + i * bytes_ + bytes, bytes_ - static_cast<size_t>(bytes));
  taken_ = std::make_unique<std::atomic<bool>[]>(pieces_);
}

void* Scratch::memory(size_t piece) const { return buffer_->as<std::byte>() + piece * bytes_; }

Scratch::Piece::Piece(Scratch& scratch) : scratch_(scratch) {
  while (scratch_.taken_[number_].exchange(true, std::memory_order_acquire))
    if (++number_ == scratch_.pieces_) {
      number_ = 0;
      sched_yield();
    }
}
Scratch::Piece::~Piece() { scratch_.taken_[number_].store(false, std::memory_order_release); }

}  // namespace sinter::runtime
