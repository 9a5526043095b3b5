// The machine's roofs. How high they are is no test's business; that they are of one machine is.
#include "catch.h"
#include "runtime/cpu/roofline.h"

#include <sched.h>

#include <cmath>

using namespace sinter::runtime;

TEST_CASE("measured roofs are rates, and the caller keeps its CPUs", "[runtime]") {
  cpu_set_t before, after;
  REQUIRE(sched_getaffinity(0, sizeof before, &before) == 0);
  for (int threads : {0, 1, 3}) {
    const cpu::Roofline roofs = cpu::measure_roofline(threads);
    for (double rate : {roofs.flops, roofs.copy, roofs.read}) CHECK((std::isfinite(rate) && rate > 0));
  }
  REQUIRE(sched_getaffinity(0, sizeof after, &after) == 0);
  CHECK(CPU_EQUAL(&before, &after));
}
