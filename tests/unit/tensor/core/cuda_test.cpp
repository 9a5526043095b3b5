// sinter/cuda.h: what a program may ask about GPUs.
#include "catch.h"

#include "runtime/cuda/compile_cuda.h"
#include "sinter/sinter.h"
#include "unit/cuda_fake.h"
#include "unit/runtime_support.h"

using Catch::Matchers::Contains;
using cuda_test::FakeDriver;
using runtime_test::ScopedEnv;
namespace cuda = sinter::cuda;

TEST_CASE("a program asks whether there are GPUs, and what they are", "[cuda]") {
  FakeDriver driver;
  driver->devices = 2;
  driver.look_again();
  CHECK(cuda::device_count() == 2);
  const cuda::Properties p = cuda::properties(1);
  CHECK(p.name == "Fake GPU");
  CHECK(p.uuid == "GPU-01000000-0000-0000-0000-000000000000");
  CHECK(p.compute_capability == 90);
  CHECK(p.multiprocessors == 4);
  CHECK(p.memory == 64 << 20);
  CHECK(p.shared_memory_per_block == 227 << 10);
  CHECK(p.memory_bandwidth == 2 * 1e3 / 8);
  CHECK_NOTHROW(cuda::synchronize(1));
  try {
    cuda::properties(2);
    FAIL("there are two");
  } catch (const sinter::UsageError& error) {
    CHECK_THAT(
        error.what(),
        Contains("cuda::properties: there is no device cuda:2, this machine has 2: use one of cuda:0 to cuda:1") &&
            Contains("cuda_test.cpp"));
  }
  CHECK_THROWS_AS(cuda::synchronize(-1), sinter::UsageError);
}

TEST_CASE("a program asks what is held on a GPU, and gives back what is pooled", "[cuda]") {
  FakeDriver driver;
  auto& pool = cuda_test::Context::get(0)->allocator();
  const auto block = pool.allocate(1000);
  CHECK(cuda::memory_stats().live == 1024);
  CHECK(cuda::memory_stats().total == 64 << 20);
  pool.deallocate(block, 1000);
  CHECK(cuda::memory_stats().live == 0);
  CHECK(cuda::memory_stats().pooled == 1024);
  CHECK(cuda::memory_stats().peak == 1024);
  const sinter::memory::Report report = sinter::memory::report();
  REQUIRE(report.devices.size() == 2);
  CHECK(report.devices[1].device == sinter::Device::cuda(0));
  CHECK(report.devices[1].peak == 1024);
  CHECK(report.devices[1].pooled == 1024);
  cuda::release_pool();
  CHECK(cuda::memory_stats().pooled == 0);
  pool.deallocate(pool.allocate(1000), 1000);
  sinter::memory::release_pool();
  CHECK(cuda::memory_stats().pooled == 0);
}

TEST_CASE("no driver, and no compiler, are sentences", "[cuda]") {
  {
    const ScopedEnv place("SINTER_CUDA_LIB", "/nowhere/libcuda.so.1");
    CHECK_FALSE(cuda::is_available());
    CHECK(cuda::device_count() == 0);
    CHECK_THAT(cuda::unavailable_reason(), Contains("there is no CUDA driver") && Contains("/nowhere/libcuda.so.1"));
    CHECK_THROWS_AS(cuda::properties(), sinter::BackendError);
  }
  FakeDriver driver;
  CHECK(cuda::is_available() == cuda::unavailable_reason().empty());
}
