// Kernels that ran on an H100 on 2026-11-26: programs, the Opts that they had, and the time of a launch. The clock
// model is checked against them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sinter/sinter.h"

namespace codegen_test {

/// A program of one kernel.
struct MeasuredKernel {
  const char* name;
  double microseconds;
  const char* opts;           ///< of the kernel as it ran; #n is a position in its graph, as in opt.h
  const char* epilogue_opts;  ///< of its epilogue, if it has one
  std::function<sinter::Tensor()> make;
};

/// Zeros in the host's memory.
inline sinter::Tensor stored(const sinter::Shape& shape) {
  return sinter::zeros(shape, sinter::float32, sinter::Device::cpu()).contiguous().realize();
}
inline sinter::Tensor chain(const sinter::Tensor& x) { return sinter::tanh(x) * sinter::sigmoid(x) + sinter::exp(-x); }
inline sinter::Tensor attention(const sinter::Shape& shape) {
  return sinter::scaled_dot_product_attention(stored(shape), stored(shape), stored(shape));
}
enum class Part : uint8_t { Result, Input, Filter };
/// A convolution, or its gradient by image or filter.
inline sinter::Tensor convolution(const sinter::Shape& image, const sinter::Shape& filter, Part part) {
  sinter::Tensor x = stored(image), w = stored(filter);
  if (part == Part::Result) return sinter::conv2d(x, w);
  x = x.requires_grad(), w = w.requires_grad();
  const sinter::Tensor y = sinter::conv2d(x, w);
  return sinter::gradient(y, {part == Part::Input ? x : w}, stored(y.shape()))[0];
}

inline const std::vector<MeasuredKernel>& measured_kernels() {
  using namespace sinter;
  static const std::vector<MeasuredKernel> all = {
      {"softmax 65536x1024", 200, "thread_bind(1, 256, 1) materialize(#32, 1)", "",
       [] { return softmax(stored({65536, 1024}), 1); }},
      {"layer norm 65536x1024", 194.4, "thread_bind(1, 256, 1)", "",
       [] { return layer_norm(stored({65536, 1024}), {1024}, stored({1024}), stored({1024})); }},
      {"chain 64M", 198, "lanes(0, 4) thread_bind(0, 256, 1)", "", [] { return chain(stored({1 << 26})); }},
      {"sum of 16M", 38.9, "thread_bind(1, 256, 1)", "", [] { return stored({1 << 24}).sum(); }},
      {"column sums 4096^2", 441.9, "lanes(0, 4) thread_bind(0, 256, 1)", "",
       [] { return stored({4096, 4096}).sum(0); }},
      {"transpose 4096^2", 147.3, "thread_bind(1, 256, 1)", "",
       [] { return stored({4096, 4096}).transpose().contiguous(); }},
      {"matvec 4096", 33.1, "thread_bind(1, 256, 1)", "", [] { return matmul(stored({4096, 4096}), stored({4096})); }},
      {"product 1024", 138,
       "lanes(1, 4) unroll(1, 2) thread_bind(1, 16, 1) unroll(0, 8) thread_bind(0, 16, 16) split(2, 16) tile_copy(#6, "
       "0 unroll 2 threads 64 by 4, 2.0 lanes 4 threads 4 by 1, slots 2) tile_copy(#8, 2.0 unroll 2 threads 8 by 32, 1 "
       "lanes 4 threads 32 by 1, slots 2)",
       "", [] { return matmul(stored({1024, 1024}), stored({1024, 1024})); }},
      {"product 4096", 3917,
       "lanes(1, 4) unroll(1, 2) thread_bind(1, 16, 1) unroll(0, 8) thread_bind(0, 16, 16) split(3, 16) tile_copy(#11, "
       "0 threads 64 by 4, 3.0 lanes 4 threads 4 by 1) tile_copy(#13, 3.0 threads 8 by 32, 1 lanes 4 threads 32 by 1)",
       "", [] { return matmul(stored({4096, 4096}), stored({4096, 4096})); }},
      {"gelu(matmul + b) 1024", 125.5,
       "lanes(1, 4) unroll(1, 2) thread_bind(1, 16, 1) unroll(0, 8) thread_bind(0, 16, 16) split(2, 16) tile_copy(#8, "
       "0 unroll 2 threads 64 by 4, 2.0 lanes 4 threads 4 by 1, slots 2) tile_copy(#10, 2.0 unroll 2 threads 8 by 32, "
       "1 lanes 4 threads 32 by 1, slots 2)",
       "", [] { return gelu(matmul(stored({1024, 1024}), stored({1024, 1024})) + stored({1024})); }},
      {"32 products of 256", 49.5,
       "lanes(2, 4) thread_bind(2, 16, 1) unroll(1, 4) thread_bind(1, 16, 16) split(3, 16) tile_copy(#10, 3.0 threads "
       "16 by 16, 2 lanes 4 threads 16 by 1, slots 2) tile_copy(#8, 1 threads 64 by 4, 3.0 lanes 4 threads 4 by 1, "
       "slots 2)",
       "", [] { return matmul(stored({32, 256, 256}), stored({32, 256, 256})); }},
      {"attention 4x8x512x64", 27827, "thread_bind(3, 256, 1) materialize(#41, 3) materialize(#15, 3)", "",
       [] { return attention({4, 8, 512, 64}); }},
      {"convolution 128x32x24x24 * 32x5x5", 1078, "lanes(3, 4) thread_bind(3, 8, 1) unroll(0, 4) thread_bind(0, 16, 8)",
       "", [] { return convolution({128, 32, 24, 24}, {32, 32, 5, 5}, Part::Result); }},
      {"input gradient 128x32x24x24 * 32x5x5", 1339,
       "lanes(3, 4) thread_bind(3, 8, 1) unroll(0, 4) thread_bind(0, 16, 8)", "",
       [] { return convolution({128, 32, 24, 24}, {32, 32, 5, 5}, Part::Input); }},
      {"filter gradient 128x32x24x24 * 32x5x5", 4182,
       "unroll(0, 4) thread_bind(0, 8, 1) unroll(1, 4) thread_bind(1, 8, 8)", "",
       [] { return convolution({128, 32, 24, 24}, {32, 32, 5, 5}, Part::Filter); }},
      {"convolution 128x32x10x10 * 64x3x3", 107,
       "unroll(0, 4) thread_bind(0, 16, 1) unroll(1, 4) thread_bind(1, 16, 16)", "",
       [] { return convolution({128, 32, 10, 10}, {64, 32, 3, 3}, Part::Result); }},
      {"input gradient 128x32x10x10 * 64x3x3", 211,
       "unroll(0, 4) thread_bind(0, 16, 1) unroll(1, 4) thread_bind(1, 8, 16)", "",
       [] { return convolution({128, 32, 10, 10}, {64, 32, 3, 3}, Part::Input); }},
      {"filter gradient 128x32x10x10 * 64x3x3", 1443,
       "unroll(0, 4) thread_bind(0, 16, 1) unroll(1, 4) thread_bind(1, 8, 16)", "",
       [] { return convolution({128, 32, 10, 10}, {64, 32, 3, 3}, Part::Filter); }},
      {"convolution 128x64x8x8 * 64x3x3", 190, "unroll(0, 4) thread_bind(0, 16, 1) unroll(1, 4) thread_bind(1, 16, 16)",
       "", [] { return convolution({128, 64, 8, 8}, {64, 64, 3, 3}, Part::Result); }},
      {"input gradient 128x64x8x8 * 64x3x3", 210,
       "unroll(0, 4) thread_bind(0, 16, 1) unroll(1, 4) thread_bind(1, 16, 16)", "",
       [] { return convolution({128, 64, 8, 8}, {64, 64, 3, 3}, Part::Input); }},
      {"filter gradient 128x64x8x8 * 64x3x3", 608,
       "unroll(0, 4) thread_bind(0, 16, 1) unroll(1, 4) thread_bind(1, 16, 16)", "",
       [] { return convolution({128, 64, 8, 8}, {64, 64, 3, 3}, Part::Filter); }},
  };
  return all;
}

}  // namespace codegen_test
