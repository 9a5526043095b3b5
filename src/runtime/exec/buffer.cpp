// Buffers over the devices' allocators and over foreign memory.
#include "runtime/exec/buffer.h"

#include <atomic>

#include "runtime/cpu/host_allocator.h"
#include "runtime/cuda/context.h"
#include "runtime/exec/devices.h"

namespace sinter::runtime {
namespace {

std::atomic<uint64_t> live{0};

}  // namespace

uint64_t live_buffers() { return live.load(std::memory_order_relaxed); }

Buffer::Buffer(void* data, size_t bytes, Device device, bool foreign, std::function<void()> deleter)
    : Storage(bytes, device, foreign), data_(data), deleter_(std::move(deleter)) {
  live.fetch_add(1, std::memory_order_relaxed);
}

std::unique_ptr<Buffer> Buffer::allocate(size_t bytes, Device device) {
  auto buffer = std::unique_ptr<Buffer>(new Buffer(nullptr, bytes, device, false, nullptr));
  if (device.kind() == Device::Kind::Cuda) {
    const auto context = cuda::Context::get(device.index());
    buffer->data_ = reinterpret_cast<void*>(context->allocator().allocate(bytes));
    buffer->context_ = context;
  } else {
    buffer->data_ = cpu::allocate(bytes);
  }
  return buffer;
}

std::unique_ptr<Buffer> Buffer::wrap(const void* data, size_t bytes, std::function<void()> deleter) {
  return std::unique_ptr<Buffer>(new Buffer(const_cast<void*>(data), bytes, Device::cpu(), true, std::move(deleter)));
}

void Buffer::write(const void* from) { runtime::copy(device(), data_, Device::cpu(), from, bytes()); }
void Buffer::read(void* to) const { runtime::copy(Device::cpu(), to, device(), data_, bytes()); }
void Buffer::copy(const Buffer& from) { runtime::copy(device(), data_, from.device(), from.data_, bytes()); }

Buffer::~Buffer() {
  live.fetch_sub(1, std::memory_order_relaxed);
  if (context_)
    context_->allocator().deallocate(reinterpret_cast<cuda::DevicePointer>(data_), bytes());
  else if (!foreign() && data_)
    cpu::deallocate(data_, bytes());
  else if (deleter_)
    deleter_();
}

}  // namespace sinter::runtime
