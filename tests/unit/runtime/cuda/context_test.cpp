// What the CUDA runtime makes of a driver's answers: devices, memory, copies, faults.
#include "catch.h"

#include <fmt/core.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <numeric>
#include <thread>

#include "runtime/program/program.h"
#include "sinter/sinter.h"
#include "unit/cuda_fake.h"
#include "unit/runtime_support.h"

using namespace sinter;
using namespace cuda_test;
using Catch::Matchers::Contains;
using runtime::KernelSource;
using runtime_test::ScopedEnv;

namespace {

template <class E, class F>
std::string error_of(F&& call) {
  try {
    call();
  } catch (const E& error) { return error.what(); }
  FAIL("nothing was thrown");
  return "";
}

/// Kernels of these names with that many parameters each, as the fake driver reads them.
std::string image_of(const std::vector<std::pair<std::string, int>>& kernels) {
  std::string text;
  for (const auto& [name, parameters] : kernels) text += fmt::format("{}/{}\n", name, parameters);
  return text;
}

KernelSource source(const std::string& name, int threads = 128, int64_t shared = 0) {
  KernelSource k{.name = name, .text = ""};
  k.threads = threads;
  k.shared = shared;
  return k;
}

}  // namespace

TEST_CASE("a driver that cannot be used says why", "[cuda]") {
  FakeDriver driver;
  const auto reason = [&] {
    driver.look_again();
    CHECK(find_driver().table == nullptr);
    const std::string text = error_of<BackendError>([] { Context::get(0); });
    CHECK_THAT(text, Contains("cuda:0 cannot be used: ") && Contains(find_driver().reason));
    return text;
  };
  driver->version = 11040;
  CHECK_THAT(reason(), Contains("version 11.4") && Contains("needs 12.0") && Contains("525"));
  driver->version = 12040;
  driver->init = CudaResult::StubLibrary;
  CHECK_THAT(reason(), Contains("stub"));
  driver->init = CudaResult::NoDevice;
  CHECK_THAT(reason(), Contains("finds no device") && Contains("CUDA_VISIBLE_DEVICES"));
  driver->init = CudaResult::SystemDriverMismatch;
  CHECK_THAT(reason(), Contains("CUDA_ERROR_OTHER (what it means)"));
  driver->init = CudaResult::Success;
  driver->devices = 0;
  CHECK_THAT(reason(), Contains("finds no device"));
}

TEST_CASE("without libcuda the reason says where it was looked for", "[cuda]") {
  inject_driver(nullptr);
  const ScopedEnv place("SINTER_CUDA_LIB", "/nowhere/libcuda.so.1");
  CHECK_THAT(find_driver().reason,
             Contains("there is no CUDA driver") && Contains("/nowhere/libcuda.so.1") && Contains("SINTER_CUDA_LIB"));
  // A library that is no driver.
  const ScopedEnv other("SINTER_CUDA_LIB", "libc.so.6");
  CHECK_THAT(find_driver().reason, Contains("libc.so.6") && Contains("11 or less"));
}

TEST_CASE("devices have numbers, properties and a context each", "[cuda]") {
  FakeDriver driver;
  driver->devices = 2;
  driver.look_again();
  const auto first = Context::get(0), second = Context::get(1);
  CHECK(first != second);
  CHECK(Context::get(1) == second);
  CHECK(second->name() == "cuda:1");
  CHECK(second->properties().name == "Fake GPU");
  CHECK(second->properties().uuid.bytes[0] == 1);
  CHECK(second->properties().sm == 90);
  CHECK(second->properties().memory == 64 << 20);
  CHECK(second->target().sm == 90);
  CHECK(second->target().shared == 227 << 10);
  CHECK_THAT(error_of<UsageError>([] { Context::get(2); }),
             Contains("cuda:2") && Contains("has 2") && Contains("cuda:0 to cuda:1"));
  CHECK_THROWS_AS(Context::get(-1), UsageError);
}

TEST_CASE("numbers travel to a device, on it, between devices and back", "[cuda]") {
  FakeDriver driver;
  driver->devices = 2;
  driver.look_again();
  const auto a = Context::get(0), b = Context::get(1);
  for (const size_t bytes : {size_t{0}, size_t{1}, size_t{1000}, size_t{4} << 20, (size_t{9} << 20) + 7}) {
    std::vector<unsigned char> sent(bytes), received(bytes, 1);
    std::iota(sent.begin(), sent.end(), static_cast<unsigned char>(3));
    const DevicePointer p = a->allocator().allocate(bytes), q = b->allocator().allocate(bytes),
                        r = b->allocator().allocate(bytes);
    for (int again = 0; again < 3; ++again) a->copy_to_device(p, sent.data(), bytes);
    b->copy_from(*a, q, p, bytes);
    b->copy(r, q, bytes);
    b->copy_to_host(received.data(), r, bytes);
    CHECK(received == sent);
    b->fill(r, 9, bytes);
    b->copy_to_host(received.data(), r, bytes);
    CHECK(received == std::vector<unsigned char>(bytes, 9));
    a->allocator().deallocate(p, bytes);
    b->allocator().deallocate(q, bytes);
    b->allocator().deallocate(r, bytes);
  }
  CHECK(driver->calls == std::vector<std::string>{"peer"});
}

TEST_CASE("device memory is pooled, aligned, counted and limited", "[cuda]") {
  FakeDriver driver;
  DeviceAllocator& pool = Context::get(0)->allocator();
  const DevicePointer p = pool.allocate(1000);
  CHECK(p % 256 == 0);
  CHECK(pool.stats().live == 1024);
  CHECK(pool.stats().blocks == 1);
  pool.deallocate(p, 1000);
  CHECK(pool.stats().live == 0);
  CHECK(pool.stats().cached == 1024);
  CHECK(pool.stats().peak == 1024);
  CHECK(pool.allocate(1001) == p);
  pool.deallocate(p, 1001);
  pool.release();
  CHECK(pool.stats().cached == 0);
  CHECK(driver->allocations.empty());
  CHECK(pool.stats().total == 64 << 20);
  CHECK(pool.stats().limit == ((64 << 20) / 4096 * 9 / 10) * 4096);
  {  // Under SINTER_CHECK no block has a second life, which would hide that its first owner still uses it.
    const ScopedEnv check("SINTER_CHECK", "1");
    const DevicePointer q = pool.allocate(1000);
    pool.deallocate(q, 1000);
    const DevicePointer r = pool.allocate(1000);
    CHECK(r != q);
    pool.deallocate(r, 1000);
    const Image image(source("k"), image_of({{"k", 0}}));
    Context::get(0)->launch(image.load_on(*Context::get(0)).main, 1, {});
    CHECK(driver->allocations.empty());
    CHECK(pool.stats().cached == 0);
  }
  const ScopedEnv limit("SINTER_MEMORY_LIMIT", "1M");
  CHECK(pool.stats().limit == 1 << 20);
  CHECK_THROWS_AS(pool.allocate((1 << 20) + 1), OutOfMemory);
  CHECK_THROWS_AS(pool.allocate(SIZE_MAX), OutOfMemory);
  pool.deallocate(pool.allocate(1 << 20), 1 << 20);
}

TEST_CASE("what is cached is given back before a device is out of memory", "[cuda]") {
  FakeDriver driver;
  DeviceAllocator& pool = Context::get(0)->allocator();
  for (int i = 0; i < 2; ++i) {  // of another size, so that nothing fits
    std::vector<DevicePointer> blocks;
    const size_t bytes = i ? size_t{20} << 20 : size_t{10} << 20;
    while (blocks.size() < (i ? 2 : 5)) blocks.push_back(pool.allocate(bytes));
    for (const DevicePointer p : blocks) pool.deallocate(p, bytes);
  }
  CHECK(pool.stats().cached == 40 << 20);
  // Others hold the rest: under the limit, and the driver has none.
  const DevicePointer held = pool.allocate(1 << 20);
  driver->used += 60 << 20;
  const std::string text = error_of<OutOfMemory>([&] { pool.allocate(30 << 20); });
  driver->used -= 60 << 20;
  CHECK_THAT(text, Contains("out of memory on cuda:0: 31457280 bytes (30.0 MiB) asked for") &&
                       Contains("1048576 bytes live in 1 blocks") && Contains("limit") &&
                       Contains("nothing is cached any more"));
  CHECK(pool.stats().cached == 0);
  pool.deallocate(pool.allocate(30 << 20), 30 << 20);
  pool.deallocate(held, 1 << 20);
}

TEST_CASE("out of memory on a device names who holds most", "[cuda]") {
  FakeDriver driver;
  const Tensor large = ones({1000, 1000}, float32, Device::cpu()).contiguous().realize();
  const std::string text = error_of<OutOfMemory>([] { Context::get(0)->allocator().allocate(1 << 30); });
  CHECK_THAT(text, Contains("4000000 bytes held in 1 buffers by") && Contains("context_test.cpp:"));
}

TEST_CASE("a device is used by several threads at once", "[cuda]") {
  FakeDriver driver;
  const auto context = Context::get(0);
  std::atomic<int> launches{0}, wrong{0};
  driver->kernels["k"] = [&](const auto&, unsigned) { ++launches; };
  const Image image(source("k"), image_of({{"k", 0}}));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 100; ++i) {
        const std::vector<int> sent(1000, 100 * t + i);
        std::vector<int> received(1000);
        const DevicePointer p = context->allocator().allocate(4000);
        context->copy_to_device(p, sent.data(), 4000);
        context->launch(image.load_on(*context).main, 1, {});
        context->copy_to_host(received.data(), p, 4000);
        context->allocator().deallocate(p, 4000);
        wrong += received != sent;
      }
    });
  for (std::thread& t : threads) t.join();
  CHECK(wrong == 0);
  CHECK(launches == 400);
  CHECK(context->allocator().stats().live == 0);
  CHECK(driver->modules == 1);
}

TEST_CASE("a forked child is told that CUDA does not work there", "[cuda]") {
  FakeDriver driver;
  const auto context = Context::get(0);
  const DevicePointer p = context->allocator().allocate(100);
  const pid_t child = fork();
  if (child == 0) {
    const std::string text = error_of<BackendError>([&] { context->synchronize(); });
    context->allocator().deallocate(p, 100);  // as the destructor of a tensor does: nothing happens
    _exit(text.find("forked") != std::string::npos && !find_driver().table ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
  context->allocator().deallocate(p, 100);
}

TEST_CASE("kernels are launched with their parameters, and more shared memory is asked for where needed", "[cuda]") {
  FakeDriver driver;
  const auto context = Context::get(0);
  std::vector<uint64_t> seen;
  driver->kernels["k"] = [&](const std::vector<uint64_t>& p, unsigned blocks) { seen = p, seen.push_back(blocks); };
  KernelSource with_finish = source("k", 256, 100 << 10);
  with_finish.has_epilogue = true;
  with_finish.epilogue_threads = 32;
  const Image image(with_finish, image_of({{"k", 2}, {"k_finish", 2}}));
  const LoadedKernel& kernel = image.load_on(*context);
  CHECK(&image.load_on(*context) == &kernel);
  CHECK(*kernel.main.name == "k");
  REQUIRE(kernel.epilogue);
  CHECK(*kernel.epilogue->name == "k_finish");
  CHECK(kernel.main.threads == 256);
  CHECK(kernel.epilogue->threads == 32);
  context->launch(kernel.main, 7, std::vector<uint64_t>{11, 12});
  CHECK(seen == std::vector<uint64_t>{11, 12, 7});
  context->launch(kernel.main, 0, std::vector<uint64_t>{1, 2});
  CHECK(driver->calls == std::vector<std::string>{"attribute 8 = 102400", "attribute 8 = 102400", "launch k"});
  CHECK_THAT(
      error_of<BackendError>([&] { context->launch(kernel.main, int64_t{1} << 31, std::vector<uint64_t>{1, 2}); }),
      Contains("2147483648 blocks") && Contains("at most 2147483647"));
}

TEST_CASE("a kernel that a device cannot run is refused with both numbers", "[cuda]") {
  FakeDriver driver;
  const auto context = Context::get(0);
  driver->static_shared = 1000;
  const Image greedy(source("k", 128, 232000), image_of({{"k", 0}}));
  CHECK_THAT(error_of<BackendError>([&] { greedy.load_on(*context); }),
             Contains("kernel k needs 233000 bytes of shared memory") && Contains("cuda:0 (Fake GPU) has 232448"));
  const Image wide(source("k", 768), image_of({{"k", 0}}));
  driver->most_threads = 512;
  CHECK_THAT(error_of<BackendError>([&] { wide.load_on(*context); }),
             Contains("blocks of 768 threads") && Contains("can run 512"));
  const Image broken(source("k"), "broken");
  CHECK_THAT(error_of<BackendError>([&] { broken.load_on(*context); }),
             Contains("loading kernel k") && Contains("line 3: no such thing"));
  CHECK_THAT(error_of<BackendError>([&] { Image(source("k"), "other/0").load_on(*context); }),
             Contains("looking for kernel k"));
  CHECK(driver->modules == 0);
}

TEST_CASE("after a fault every call says that the context is lost, and by which kernel", "[cuda]") {
  FakeDriver driver;
  auto context = Context::get(0);
  const DevicePointer p = context->allocator().allocate(64);
  driver->kernels["bad"] = [&](const auto&, unsigned) { driver->fault = CudaResult::IllegalAddress; };
  const Image image(source("bad"), image_of({{"bad", 0}}));
  const DeviceKernel& bad = image.load_on(*context).main;

  SECTION("one kernel since the last wait") {
    context->synchronize();
    context->launch(bad, 1, {});
    CHECK_THAT(error_of<BackendError>([&] { context->synchronize(); }),
               Contains("cuda:0: waiting for the device failed: CUDA_ERROR_ILLEGAL_ADDRESS") &&
                   Contains("in kernel bad") && Contains("context of the device is lost"));
  }
  SECTION("one of several") {
    const Image other(source("good"), image_of({{"good", 0}}));
    for (int i = 0; i < 20; ++i) context->launch(other.load_on(*context).main, 1, {});
    context->launch(bad, 1, {});
    CHECK_THAT(error_of<BackendError>([&] { context->synchronize(); }),
               Contains("in one of the 21 launches") && Contains("good, bad") && Contains("SINTER_CHECK=1"));
  }
  SECTION("found where numbers are read") {
    context->launch(bad, 1, {});
    char byte = 0;
    CHECK_THAT(error_of<BackendError>([&] { context->copy_to_host(&byte, p, 1); }), Contains("in kernel bad"));
  }
  SECTION("found at once with SINTER_CHECK") {
    const ScopedEnv check("SINTER_CHECK", "1");
    CHECK_THAT(error_of<BackendError>([&] { context->launch(bad, 1, {}); }), Contains("in kernel bad"));
  }
  CHECK(context->lost());
  char byte = 0;
  const std::function<void()> calls[] = {[&] { context->synchronize(); },
                                         [&] { context->launch(bad, 1, {}); },
                                         [&] { context->copy_to_host(&byte, p, 1); },
                                         [&] { context->copy_to_device(p, &byte, 1); },
                                         [&] { context->fill(p, 0, 1); },
                                         [&] { context->allocator().allocate(1); },
                                         [&] {
                                           image.load_on(*context);
                                           context->launch(bad, 1, {});
                                         }};
  for (const auto& call : calls)
    CHECK_THAT(error_of<BackendError>(call), Contains("cuda:0 cannot be used any more") && Contains("bad"));
  context->allocator().deallocate(p, 64);
  CHECK(driver->allocations.count(p) == 1);  // of a lost device nothing is freed
}

TEST_CASE("a launch that fails without harm leaves the device usable", "[cuda]") {
  FakeDriver driver;
  const auto context = Context::get(0);
  const Image image(source("k"), image_of({{"k", 0}}));
  driver->next_launch = CudaResult::LaunchOutOfResources;
  CHECK_THAT(error_of<BackendError>([&] { context->launch(image.load_on(*context).main, 3, {}); }),
             Contains("launching kernel k (3 blocks of 128 threads") && Contains("CUDA_ERROR_OTHER"));
  CHECK_FALSE(context->lost());
  CHECK_NOTHROW(context->launch(image.load_on(*context).main, 3, {}));
}

TEST_CASE("nothing is left behind on a device", "[cuda]") {
  FakeDriver driver;
  {
    const auto context = Context::get(0);
    int launches = 0;
    driver->kernels["k"] = [&](const auto&, unsigned) { ++launches; };
    const Image image(source("k"), image_of({{"k", 1}}));
    std::vector<char> bytes(5000);
    size_t held = 0;
    for (int i = 0; i < 10000; ++i) {
      const size_t size = static_cast<size_t>(i * 7919 % 5000);
      const DevicePointer p = context->allocator().allocate(size);
      context->copy_to_device(p, bytes.data(), size);
      context->launch(image.load_on(*context).main, 1, std::vector<uint64_t>{p});
      context->copy_to_host(bytes.data(), p, size);
      context->allocator().deallocate(p, size);
      if (i == 5000) held = driver->allocations.size();
    }
    CHECK(launches == 10000);
    CHECK(driver->allocations.size() == held);  // of the pool
    CHECK(context->allocator().stats().live == 0);
  }
  forget_devices();
  CHECK(driver->alive() == 0);
}
