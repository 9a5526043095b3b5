// Prints the machine's roofs with N threads: FLOP/s, bytes/s of a copy, bytes/s of a read.
#include <cstdio>
#include <cstdlib>

#include "runtime/cpu/roofs.h"

int main(int argc, char** argv) {
  const auto roofs = sinter::runtime::cpu::measure_roofs(argc > 1 ? std::atoi(argv[1]) : 1);
  std::printf("%.6g %.6g %.6g\n", roofs.flops, roofs.copy, roofs.read);
}
