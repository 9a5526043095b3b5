// Loops that are cut where a condition on their range changes: what is left in each segment, and when that is worth it.
#include <numeric>

#include "unit/codegen/choice.h"

using namespace codegen_test;
using codegen::Cut, codegen::Lanes, codegen::Split, codegen::TaskBlock, codegen::Unroll;

namespace {

using Sizes = std::vector<int64_t>;

/// Gradients of parts side by side: out [rows, sum of sizes], of part k a quotient of its own inputs, where a mask is
/// false. Each part is a sum's term, +0 outside of its columns.
struct Joined {
  Sizes sizes{64, 64, 64, 64};
  int64_t rows = 8;
  bool masks = true;
  bool along_rows = false;  ///< the parts lie one below the other

  int64_t length() const { return std::accumulate(sizes.begin(), sizes.end(), int64_t{0}); }
  KernelHarness bench() const {
    KernelHarness b;
    const auto shape = [&](int64_t n) { return along_rows ? std::vector{n, rows} : std::vector{rows, n}; };
    UOp first = b.outer(shape(length())[0]), second = b.outer(shape(length())[1]);
    UOp place = along_rows ? first : second, zero = constant(b.g(), DType::F32, 0.0), all;
    int64_t from = 0;
    for (size_t k = 0; k < sizes.size(); ++k) {
      const unsigned seed = static_cast<unsigned>(3 * k);
      UOp x = b.buffer(random_array(DType::F32, shape(sizes[k]), seed + 1)),
          y = b.buffer(random_array(DType::F32, shape(sizes[k]), seed + 2)), mask;
      UOp open = le(b.index(from), place) & lt(place, b.index(from + sizes[k])), at = place - b.index(from);
      const std::vector<UOp> index = along_rows ? std::vector{at, second} : std::vector{first, at};
      UOp part = b.at(x, index, open, zero) / (b.at(y, index, open, zero) + 4.0);
      if (masks) {
        mask = b.buffer(random_array(DType::Bool, shape(sizes[k]), seed + 3));
        part = where(b.at(mask, index, open, constant(b.g(), DType::Bool, 0)), zero, part);
      }
      part = where(open, part, zero);
      all = all ? all + part : part;
      from += sizes[k];
    }
    UOp out = b.buffer(Array(DType::F32, shape(length())));
    b.stores({b.put(out, {first, second}, all)});
    return b;
  }
};

/// The texts of the loops over range 1.
std::vector<std::string> loops_of(const std::string& text) {
  const std::string note = "// outer range 1 of ";
  std::vector<std::string> out;
  for (size_t at = text.find(note); at != std::string::npos;) {
    const size_t next = text.find(note, at + 1);
    out.push_back(text.substr(at, next - at));
    at = next;
  }
  return out;
}

}  // namespace

TEST_CASE("each segment of a cut loop computes its own part, with whole vectors", "[codegen][cut]") {
  const bool whole = GENERATE(true, false);  // whether a task begins and ends where segments do
  const Joined joined;
  KernelHarness b = joined.bench();
  const TaskBlock block{1, whole ? 256 : 96};
  const std::string cut = b.check({Lanes{1, 16}, Unroll{1, 2}, block, Cut{1, {64, 128, 192}}}, false),
                    plain = b.check({Lanes{1, 16}, Unroll{1, 2}, block}, false);
  INFO(cut);
  const std::vector<std::string> segments = loops_of(cut);
  REQUIRE(segments.size() == joined.sizes.size());
  for (const std::string& segment : segments) {
    CHECK(count(segment, " / ") == 2);  // of two copies
    CHECK(count(segment, "sn_select_") == 2);
    CHECK(count(segment, "if") + count(segment, "?") + count(segment, "below") + count(segment, " && ") == 0);
  }
  CHECK(count(loops_of(plain).front(), " / ") == 2 * 4);
}

TEST_CASE("a loop is cut anywhere, by any steps and tasks, and keeps every bit", "[codegen][cut]") {
  Joined joined;
  joined.rows = 3;
  joined.sizes = GENERATE(Sizes{5, 40, 3}, Sizes{16, 16}, Sizes{1, 30, 1}, Sizes{33});
  joined.along_rows = GENERATE(false, true);
  KernelHarness b = joined.bench();
  const int range = joined.along_rows ? 0 : 1;
  const int64_t n = joined.length();
  for (const int64_t width : {1, 2, 4, 8})
    for (const int64_t block : {width, 2 * width, 3 * width, 64 * width}) {
      std::vector<Opt> opts{TaskBlock{range, block}, Cut{range, {}}};
      for (int64_t at = width; at < n && std::get<Cut>(opts[1]).at.size() < 4; at += 2 * width)
        std::get<Cut>(opts[1]).at.push_back(at);
      if (std::get<Cut>(opts[1]).at.empty()) continue;
      if (width > 1) opts.push_back(Unroll{range, 2});
      if (width > 2) opts.push_back(Lanes{range, static_cast<int>(width) / 2});
      b.check(opts, false);
      if (block % (2 * width)) continue;
      opts.push_back(Split{range, 2 * width});
      b.check(opts, false);
    }
}

TEST_CASE("an index that no segment selects is checked all the same", "[codegen][cut]") {
  KernelHarness b;
  const int64_t n = 32;
  Array index(DType::I64, {n}), x = random_array(DType::F32, {n}, 1);
  for (int64_t i = 0; i < n; ++i) index.set(i, Scalar::of(DType::I64, i == 3 ? n : i));  // of what is not selected
  UOp from = b.buffer(index), values = b.buffer(x), out = b.buffer(Array(DType::F32, {n})), i = b.outer(n);
  UOp place = cast(b.at(from, {i}), DType::Index), ok = le(b.index(0), place) & lt(place, b.index(n));
  UOp checked = b.g().make({Op::Check, DType::Index, {}, {place, ok}, int64_t{1}});
  UOp open = le(b.index(16), i), zero = constant(b.g(), DType::F32, 0.0);
  b.stores({b.put(out, {i}, where(open, b.at(values, {checked}, ok, zero), zero))});
  for (const auto& opts : {std::vector<Opt>{}, {Cut{0, {16}}}, {Lanes{0, 4}, Cut{0, {8, 16}}}}) {
    std::vector<Opt> all{TaskBlock{0, n}};
    all.insert(all.end(), opts.begin(), opts.end());
    b.check(all, false);
    CHECK(b.error != 0);
  }
}

TEST_CASE("joined gradients are cut at their seams, for any number of threads", "[codegen][cut]") {
  Joined joined;
  joined.rows = 32;
  joined.sizes = GENERATE(Sizes{256, 256, 256, 256}, Sizes{100, 300, 56});
  KernelHarness b = joined.bench();
  const auto threads = GENERATE(1, 2, 16);
  const Choice choice(b, with_threads(threads));
  INFO(to_string(choice.opts()));
  CHECK(choice.is_cut(1));
  CHECK(choice.tasks(0) * choice.tasks(1) >= threads);
  b.check(choice.opts(), false);
}

TEST_CASE("rows one below the other are cut too", "[codegen][cut]") {
  Joined joined;
  joined.rows = 96;
  joined.along_rows = true;
  joined.sizes = {40, 24};
  KernelHarness b = joined.bench();
  const Choice choice(b);
  INFO(to_string(choice.opts()));
  CHECK(choice.is_cut(0));
  b.check(choice.opts(), false);
}

TEST_CASE("what cuts hardly save is left whole", "[codegen][cut]") {
  KernelHarness b;  // a long computation, and a select of its result
  const int64_t n = 1 << 12;
  UOp x = b.buffer(random_array(DType::F32, {n}, 1)), out = b.buffer(Array(DType::F32, {n})), i = b.outer(n),
      v = b.at(x, {i});
  for (int k = 0; k < 12; ++k) v = v * v + 0.5;
  b.stores({b.put(out, {i}, where(lt(i, b.index(1)), constant(b.g(), DType::F32, 0.0), v))});
  const Choice choice(b);
  CHECK_FALSE(choice.is_cut(0));
}

TEST_CASE("seams inside of vectors are cut if the code stays short", "[codegen][cut]") {
  Joined joined;
  joined.sizes.assign(12, 32);
  CHECK(Choice(joined.bench()).is_cut(1));
  joined.sizes.assign(12, 33);
  CHECK_FALSE(Choice(joined.bench()).is_cut(1));
}

TEST_CASE("a stack of many parts reads one of them for each element", "[codegen][cut]") {
  KernelHarness b;  // out [parts, rows, columns] of x [rows, parts, columns]: a select for each part
  const int64_t parts = 21, rows = 8, columns = 64;
  UOp x = b.buffer(random_array(DType::F32, {rows, parts, columns}, 1)),
      out = b.buffer(Array(DType::F32, {parts, rows, columns}));
  UOp part = b.outer(parts), row = b.outer(rows), column = b.outer(columns), v = constant(b.g(), DType::F32, 0.0);
  for (int64_t k = 0; k < parts; ++k) v = where(eq(part, b.index(k)), b.at(x, {row, b.index(k), column}), v);
  b.stores({b.put(out, {part, row, column}, v)});
  const Choice choice(b);
  INFO(to_string(choice.opts()));
  CHECK(choice.is_cut(0));
  const std::string text = b.check(choice.opts(), false);
  INFO(text);
  CHECK(count(text, "sn_select_") == 0);
  CHECK(choice.tasks(0) * choice.tasks(1) * choice.tasks(2) > 1);
}

TEST_CASE("a sum over parts is cut, and of the zeros that a part has beside it one is left", "[codegen][cut]") {
  KernelHarness b;  // gradients of a sequence's steps, which are stored and summed
  const int64_t parts = 23, rows = 8, columns = 64;
  const bool negative_zeros = GENERATE(false, true);
  const auto values = [&](unsigned seed) {
    Array all = random_array(DType::F32, {rows, columns}, seed);
    for (int64_t i = 0; negative_zeros && i < rows * columns; ++i) all.set(i, Scalar::of(DType::F32, -0.0));
    return all;
  };
  UOp out = b.buffer(Array(DType::F32, {parts, rows, columns})), sums = b.buffer(Array(DType::F32, {columns}));
  UOp column = b.outer(columns), part = b.inner(parts, 1), row = b.inner(rows, 2),
      zero = constant(b.g(), DType::F32, 0.0), v;
  for (int64_t k = 0; k < parts; ++k) {
    const UOp x = b.at(b.buffer(values(static_cast<unsigned>(k + 1))), {row, column});
    const UOp step = where(eq(part, b.index(k)), x, zero);
    v = v ? v + step : step;
  }
  b.stores({b.put(out, {part, row, column}, v), b.put(sums, {column}, b.reduce(Combine::Add, {v}, {part, row}))});
  const Choice choice(b);
  INFO(to_string(choice.opts()));
  CHECK(choice.is_cut(1));
  const std::string text = b.check(choice.opts(), false);
  INFO(text);
  CHECK(count(text, "sn_select_") == 0);
  // Beside a part lie zeros before and behind it. One is added, in each of four copies.
  const size_t zero_end = text.find(" = sn_splat_f32x16_f32(0.0f);");
  REQUIRE(zero_end != std::string::npos);
  const size_t zero_begin = text.rfind(' ', zero_end - 1) + 1;
  const std::string zero_name = text.substr(zero_begin, zero_end - zero_begin);
  CHECK(count(text, zero_name + " + " + zero_name) == 0);
  CHECK(count(text, " + " + zero_name + ";") + count(text, "= " + zero_name + " + ") <= 4 * parts);
}
