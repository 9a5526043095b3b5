// Random programs in the public API, replayable from a seed, for comparing one way of running with another.
//
// An exact program holds only whole numbers so small that every order of summation gives the same result, and only ops
// that keep them whole: all ways of running must agree to the bit. A real program works on real numbers; each value
// carries a bound on its magnitude and on the error that roundings can have caused, and takes part in no op that is
// discontinuous on inexact values.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuzz/coverage.h"
#include "sinter/sinter.h"

namespace fuzz {

struct Item {
  sinter::Tensor t;
  double magnitude = 0;  ///< no element is larger
  double error = 0;      ///< two correct ways of running differ by at most this
};

/// Long: rows longer than codegen keeps, tall matrices, and little else.
enum class Sizes : uint8_t { Small, Long };

struct OpCase;

/// A program that nobody has asked for anything yet.
struct BuiltProgram {
  std::deque<Item> pool;  ///< each value, leaves too, as updates have left it
  std::vector<std::pair<const OpCase*, Item>> made;
  std::vector<size_t> asked;  ///< of `made`: the last, and some others
  std::vector<sinter::Tensor> asked_tensors() const;
};

/// A value read to the host.
struct Result {
  std::string name;  ///< the op that made it
  sinter::DType dtype;
  sinter::Shape shape;
  std::vector<double> values;
  double error;
};

class Program {
 public:
  /// Half of the ops are drawn from `often`, if it names any; of a long program, else from what goes along rows.
  Program(uint64_t seed, bool exact, int ops, std::vector<std::string_view> often = {}, Sizes sizes = Sizes::Small);
  /// `text` gets a line per op.
  BuiltProgram build(Coverage* coverage = nullptr, std::string* text = nullptr) const;
  /// Builds and runs the program as the library is now configured, and reads what it is asked for.
  std::vector<Result> run(Coverage* coverage = nullptr) const;
  /// The ops in order with the types and shapes of what they make, for reports. Runs the program on the interpreter.
  std::string listing() const;

 private:
  uint64_t seed_;
  bool exact_;
  int ops_;
  std::vector<std::string_view> often_;
  Sizes sizes_;
};

/// All elements, on the host.
std::vector<double> read(const sinter::Tensor& t);
std::vector<Result> read_all(const std::vector<std::pair<const OpCase*, Item>>& values);

/// Empty when the two agree: to the bit, or within the bounds that the program propagated.
std::string difference(const std::vector<Result>& a, const std::vector<Result>& b, bool bitwise);

/// How the program's results differ between running it interpreted, fused, and with every op a kernel of its own. Empty
/// if they agree: exact ones to the bit, real ones within their bounds, and both to the bit between the fused and
/// unfused run.
std::string disagreement(const Program& program, bool exact, Coverage* coverage = nullptr);

/// The state of one run, which the op table works on.
class ProgramBuilder {
 public:
  ProgramBuilder(uint64_t seed, bool exact, Coverage* coverage = nullptr, Sizes sizes = Sizes::Small);
  int64_t pick(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random() % static_cast<uint64_t>(high - low + 1));
  }
  bool chance(int percent) { return pick(0, 99) < percent; }
  Item& any();
  /// An item whose dtype satisfies the predicate; a new leaf when there is none.
  Item& of(const std::function<bool(sinter::DType)>& good, sinter::DType otherwise);
  Item& floating() {
    return of([](sinter::DType d) { return sinter::is_float(d); }, sinter::float32);
  }
  Item& number() {
    return of([](sinter::DType d) { return d != sinter::boolean; }, sinter::int32);
  }
  Item& leaf(sinter::DType dtype, const sinter::Shape& shape, int64_t low = -3, int64_t high = 3);
  /// In a long program not of a lowest rank beyond 1.
  sinter::Shape shape(size_t lowest_rank = 0);
  /// Another item of that shape and dtype: an existing one or a new leaf.
  Item& like(const Item& x);
  /// One of the types that ops compute in; float32 the most often, and no other than floats in real programs.
  sinter::DType type();
  /// For what a case stores before it returns: its nodes are gone afterwards.
  void met(const sinter::Tensor& value) {
    if (coverage_) coverage_->count(value);
  }
  double unit(sinter::DType d) const {
    return d == sinter::float64 ? 0x1p-52 : d == sinter::float16 ? 0x1p-10 : d == sinter::bfloat16 ? 0x1p-7 : 0x1p-23;
  }

  const bool exact;
  std::mt19937_64 random;
  sinter::Generator generator;  ///< of its own: every way of running draws the same numbers
  std::deque<Item> pool;

 private:
  Coverage* coverage_;
  std::vector<sinter::Shape> family_;  ///< of a long program: the shapes that it is made of
};

struct OpCase {
  const char* name;
  bool in_exact, in_real;
  std::function<Item(ProgramBuilder&)> make;
};
/// Every op that all programs are made of.
const std::vector<OpCase>& op_cases();
/// Those of product_cases.cpp, for programs that draw them often: they take the time of many others.
const std::vector<OpCase>& product_cases();
/// Those of row_cases.cpp.
void add_row_cases(std::vector<OpCase>& cases);
/// Those of matrix_cases.cpp.
void add_matrix_cases(std::vector<OpCase>& cases);
/// Those of situation_cases.cpp.
void add_situation_cases(std::vector<OpCase>& cases);

}  // namespace fuzz
