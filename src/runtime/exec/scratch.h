// Memory for what a kernel keeps between its loops: a piece per thread, taken for one call of its entry.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/exec/buffer.h"

namespace sinter::runtime {

class Scratch {
 public:
  /// `bytes` for each of `threads` threads. Throws OutOfMemory.
  Scratch(int64_t bytes, int threads);

  /// A piece that nobody else has while this lives; waits if all are taken.
  class Piece {
   public:
    explicit Piece(Scratch& scratch);
    ~Piece();
    Piece(const Piece&) = delete;
    Piece& operator=(const Piece&) = delete;
    size_t number() const { return number_; }

   private:
    Scratch& scratch_;
    size_t number_ = 0;
  };
  size_t pieces() const { return pieces_; }
  void* memory(size_t piece) const;

 private:
  size_t pieces_, bytes_;
  std::unique_ptr<Buffer> buffer_;
  std::unique_ptr<std::atomic<bool>[]> taken_;
};

}  // namespace sinter::runtime
