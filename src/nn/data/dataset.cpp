// Batches: rows are gathered and normalized on the host, so a batch is one new tensor of fixed shape.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "runtime/cpu/float_control.h"
#include "sinter/call.h"
#include "sinter/create.h"
#include "sinter/data.h"

namespace sinter::inline v0::data {
namespace {

/// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
constexpr uint64_t kStep = 0x9e3779b97f4a7c15u;
uint64_t next(uint64_t& state) {
  uint64_t z = (state += kStep);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

}  // namespace

Dataset::Dataset(std::vector<uint8_t> pixels, std::vector<uint8_t> labels, int64_t rows, int64_t columns, double mean,
                 double std, Loc where)
    : random_(std::make_shared<std::atomic<uint64_t>>(0)) {
  if (rows < 1 || columns < 1)
    throw UsageError(fmt::format("Dataset: the images are {} x {}; give sizes of at least 1", rows, columns), where);
  int64_t needed = 0;
  const bool huge =
      __builtin_mul_overflow(rows, columns, &needed) || __builtin_mul_overflow(needed, labels.size(), &needed);
  if (huge || pixels.size() != static_cast<size_t>(needed))
    throw UsageError(
        fmt::format("Dataset: {} pixels are not {} images of {} x {}; give all pixels of one image per label",
                    pixels.size(), labels.size(), rows, columns),
        where);
  if (!std::isfinite(mean) || !std::isfinite(std) || !(std > 0))
    throw UsageError(
        fmt::format("Dataset: mean {} and std {} normalize nothing; give finite numbers, std above 0", mean, std),
        where);
  auto samples = std::make_shared<Samples>(Samples{std::move(pixels), std::move(labels), rows, columns, {}});
  for (int i = 0; i < 256; ++i)
    samples->table[i] =
        runtime::cpu::with_default_float_env([&] { return static_cast<float>((i / 255.0 - mean) / std); });
  samples_ = std::move(samples);
}

void Dataset::seed(uint64_t seed) { *random_ = seed; }

Dataset::Batches Dataset::batches(int64_t size, Order order, Loc where) const {
  if (size <= 0)
    throw UsageError(
        fmt::format("batches: the size is {}; give at least 1 (the data set has {} samples)", size, this->size()),
        where);
  Batches pass;
  pass.samples_ = samples_;
  pass.size_ = size;
  pass.where_ = where;
  pass.order_.resize(labels().size());
  std::iota(pass.order_.begin(), pass.order_.end(), 0u);
  const size_t count = pass.order_.size();
  if (order == Order::Shuffled && count > 1) {
    // Each pass reserves its random numbers at once, so concurrent passes of several threads share none.
    uint64_t random = random_->fetch_add(kStep * (count - 1));
    // Fisher-Yates shuffle; the bias of the modulus is below 2^-32.
    for (size_t i = count; i > 1; --i) std::swap(pass.order_[i - 1], pass.order_[next(random) % i]);
  }
  return pass;
}

Batch Dataset::Batches::iterator::operator*() const {
  CallScope call("batches", pass_->where_);
  const Samples& d = *pass_->samples_;
  const int64_t width = d.rows * d.columns;
  const int64_t count = std::min(pass_->size_, static_cast<int64_t>(pass_->order_.size()) - first_);
  std::vector<float> x(static_cast<size_t>(count * width));
  std::vector<int64_t> y(static_cast<size_t>(count));
  float* out = x.data();
  for (int64_t i = 0; i < count; ++i) {
    const size_t row = pass_->order_[first_ + i];
    const uint8_t* in = d.pixels.data() + row * static_cast<size_t>(width);
    for (int64_t j = 0; j < width; ++j) *out++ = d.table[in[j]];
    y[i] = d.labels[row];
  }
  return {from(x, {count, width}), from(y, {count})};
}

}  // namespace sinter::inline v0::data
