// Buffers, the pooled allocator and its limit.
#include "runtime/exec/buffer.h"
#include "catch.h"
#include "runtime/base/sanitizer.h"
#include "runtime/cpu/host_allocator.h"
#include "sinter/error.h"
#include "skip.h"
#include "unit/runtime_support.h"

#include <bit>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

using namespace sinter;
using namespace sinter::runtime;
using namespace runtime_test;
using Catch::Matchers::Contains;

TEST_CASE("buffers are aligned, writable and counted", "[runtime]") {
  const uint64_t buffers = live_buffers(), bytes = cpu::memory_stats().live;
  {
    std::vector<std::unique_ptr<Buffer>> held;
    for (size_t size : {0, 1, 63, 64, 65, 1000, 4096, 300000, 5000000, 40000000}) {
      held.push_back(Buffer::allocate(size));
      CHECK(held.back()->bytes() == size);
      CHECK(reinterpret_cast<uintptr_t>(held.back()->data()) % 64 == 0);
      CHECK_FALSE(held.back()->foreign());
      if (size) std::memset(held.back()->data(), 0x5a, size);
    }
    for (const auto& buffer : held)
      if (buffer->bytes()) {
        CHECK(buffer->as<unsigned char>()[0] == 0x5a);
        CHECK(buffer->as<unsigned char>()[buffer->bytes() - 1] == 0x5a);
      }
    CHECK(live_buffers() == buffers + 10);
    CHECK(cpu::memory_stats().live >= bytes + 45000000);
    CHECK(cpu::memory_stats().live <= bytes + 60000000);
  }
  CHECK(live_buffers() == buffers);
  CHECK(cpu::memory_stats().live == bytes);
  CHECK(cpu::memory_stats().peak >= bytes + 45000000);
}

TEST_CASE("a reference counted buffer frees its memory with the last reference", "[runtime]") {
  const uint64_t bytes = cpu::memory_stats().live;
  Buffer* buffer = Buffer::allocate(1000).release();
  buffer->retain();
  buffer->retain();
  buffer->release();
  CHECK(cpu::memory_stats().live > bytes);
  buffer->release();
  CHECK(cpu::memory_stats().live == bytes);
}

TEST_CASE("freed blocks are reused and can be given back", "[runtime]") {
  auto first = Buffer::allocate(3 << 20);
  void* const address = first->data();
  first.reset();
  CHECK(cpu::memory_stats().cached >= 3u << 20);
  auto second = Buffer::allocate((3 << 20) - 100);  // the same size class
  CHECK(second->data() == address);
  second.reset();
  cpu::release_cached_memory();
  CHECK(cpu::memory_stats().cached == 0);
}

TEST_CASE("blocks begin at a multiple of the power of two in their size, up to a page", "[runtime]") {
  if (kRedZone > 0) SKIP_TEST("blocks lie behind a red zone");
  cpu::release_cached_memory();
  std::vector<std::unique_ptr<Buffer>> held;
  for (int i = 0; i < 20; ++i)
    for (const size_t size : {128, 1024, 4096, 5 << 10, 40 << 10, 300 << 10}) {
      held.push_back(Buffer::allocate(size));
      INFO(size);
      CHECK(reinterpret_cast<uintptr_t>(held.back()->data()) % std::min<size_t>(std::bit_floor(size), 4096) == 0);
    }
}

TEST_CASE("blocks lie on huge pages where the system has some", "[runtime]") {
  if (kSanitizer != Sanitizer::None) SKIP_TEST("a sanitizer's build");
  if (!std::filesystem::exists("/sys/kernel/mm/transparent_hugepage/enabled")) SKIP_TEST("no huge pages");
  for (const size_t size : {size_t{300} << 10, size_t{5} << 20, size_t{40} << 20}) {
    const auto buffer = Buffer::allocate(size);
    const auto address = reinterpret_cast<uintptr_t>(buffer->data());
    if (size >= 5u << 20) CHECK(address % (2 << 20) == 0);
    std::ifstream maps("/proc/self/smaps");
    std::string line, flags;
    for (bool inside = false; flags.empty() && std::getline(maps, line);) {
      uintptr_t begin = 0, end = 0;
      if (std::sscanf(line.c_str(), "%zx-%zx", &begin, &end) == 2 && line.find(':') > line.find(' '))
        inside = begin <= address && address < end;
      if (inside && line.starts_with("VmFlags:")) flags = line + " ";
    }
    INFO(size << " bytes: " << flags);
    CHECK(flags.find(" hg ") != std::string::npos);
  }
}

TEST_CASE("foreign memory is wrapped, not counted as ours, and given back", "[runtime]") {
  const uint64_t bytes = cpu::memory_stats().live;
  std::vector<float> user(10, 1.0f);
  int deleted = 0;
  auto buffer = Buffer::wrap(user.data(), 40, [&] { ++deleted; });
  CHECK(buffer->foreign());
  CHECK(buffer->data() == user.data());
  CHECK(cpu::memory_stats().live == bytes);
  CHECK(deleted == 0);
  buffer.reset();
  CHECK(deleted == 1);
  Buffer::wrap(user.data(), 40, nullptr).reset();
  CHECK(user[9] == 1.0f);
}

TEST_CASE("a device that is not there is named", "[runtime]") {
  CHECK_THROWS_WITH(Buffer::allocate(8, Device::cuda(1)), Contains("cuda:1"));
}

TEST_CASE("out of memory says what was asked, what is live and the limit, and everything works afterwards",
          "[runtime]") {
  cpu::release_cached_memory();
  const uint64_t live = cpu::memory_stats().live;
  const ScopedEnv limit("SINTER_MEMORY_LIMIT", std::to_string(live + (8 << 20)));
  auto kept = Buffer::allocate(4 << 20);
  std::memset(kept->data(), 7, kept->bytes());
  for (size_t size : {size_t{5} << 20, size_t{1} << 40, size_t{1} << 60, SIZE_MAX}) {
    try {
      Buffer::allocate(size);
      FAIL("allocated");
    } catch (const OutOfMemory& error) {
      CHECK_THAT(error.what(), Contains(std::to_string(size)) && Contains(std::to_string(live + (4 << 20))) &&
                                   Contains(std::to_string(live + (8 << 20))));
    }
  }
  CHECK(kept->as<char>()[100] == 7);
  CHECK(cpu::memory_stats().live == live + (4 << 20));
  CHECK_NOTHROW(Buffer::allocate(2 << 20));
}

TEST_CASE("kept blocks give way before memory is out", "[runtime]") {
  cpu::release_cached_memory();
  const ScopedEnv limit("SINTER_MEMORY_LIMIT", std::to_string(cpu::memory_stats().live + (8 << 20)));
  Buffer::allocate(6 << 20).reset();
  CHECK(cpu::memory_stats().cached == 6 << 20);
  auto other = Buffer::allocate(7 << 20);  // another class: both do not fit
  CHECK(cpu::memory_stats().cached == 0);
}

TEST_CASE("threads allocate and free at once", "[runtime]") {
  const uint64_t bytes = cpu::memory_stats().live;
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t, &wrong] {
      std::mt19937 random(static_cast<unsigned>(t));
      std::vector<std::unique_ptr<Buffer>> held(16);
      for (int i = 0; i < 2000; ++i) {
        auto& slot = held[random() % 16];
        if (slot && slot->as<unsigned char>()[slot->bytes() - 1] != static_cast<unsigned char>(t)) ++wrong;
        slot = Buffer::allocate(1 + random() % 5000);
        std::memset(slot->data(), t, slot->bytes());
      }
    });
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(cpu::memory_stats().live == bytes);
}
