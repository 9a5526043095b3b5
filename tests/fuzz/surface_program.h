// Random programs of the functions of tests/surface: each takes what others have given, so that kernels join several of
// them.
//
// What a function takes is made of values of the program by moving, repeating, reducing and joining them, and is
// rounded to a few numbers of the row's range. So no error goes on from one function to the next, functions that jump
// agree, and no argument leaves the range. A value that lies at the edge between two numbers may be rounded to either:
// a program that has one is unsteady, and only its fused and unfused forms must agree.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "fuzz/random_program.h"
#include "surface/row.h"

namespace fuzz {

/// The rows of the table in the order of a seed.
std::vector<const surface::Row*> shuffled_rows(uint64_t seed);

class SurfaceProgram {
 public:
  SurfaceProgram(uint64_t seed, std::vector<const surface::Row*> rows) : seed_(seed), rows_(std::move(rows)) {}
  /// Runs the program as the library is now configured. `steady` tells of the interpreter's run whether no value lies
  /// at an edge; asked for, it reads the values.
  std::vector<Result> run(bool* steady = nullptr) const;
  /// How its results differ between running it interpreted, fused, and with every op a kernel of its own; the last only
  /// of an unsteady program, if `unfused` is false. Empty if they agree.
  std::string disagreement(bool* steady = nullptr, bool unfused = true) const;
  /// The functions in order with the types and shapes of what they give.
  std::string listing() const;

 private:
  uint64_t seed_;
  std::vector<const surface::Row*> rows_;
};

}  // namespace fuzz
