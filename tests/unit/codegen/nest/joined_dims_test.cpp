// Tiles whose copying loop takes several dims as one, and tiles of results.
#include "codegen/kernel/access.h"

#include "unit/codegen/convolution.h"
#include "unit/codegen/cuda_support.h"

using namespace codegen_test;
using codegen::Lanes, codegen::Split, codegen::TaskBlock, codegen::ThreadBind, codegen::TileCopy, codegen::Unroll;

namespace {

int load_of(const KernelHarness& b, int64_t slot) {
  return place_of(b, [&](UOp n) { return n->op == Op::Load && codegen::slot_of(n) == slot; });
}
int store_of(const KernelHarness& b) {
  return place_of(b, [](UOp n) { return n->op == Op::Store; });
}

/// y [rows, columns, 6] = sums over 3 of x [rows, 3, columns, 6]. Ranges: 0 rows, 1 columns, 2 depth; 3 summed.
KernelHarness cube(int64_t rows, int64_t columns) {
  KernelHarness b;
  UOp x = b.buffer(random_array(DType::F32, {rows, 3, columns, 6}, 1)),
      out = b.buffer(Array(DType::F32, {rows, columns, 6}));
  UOp r = b.outer(rows), c = b.outer(columns), d = b.outer(6), k = b.over(3, 3);
  b.stores({b.put(out, {r, c, d}, b.reduce(Combine::Add, {b.at(x, {r, k, c, d})}, {k}))});
  return b;
}

}  // namespace

TEST_CASE("one loop copies dims that lie one behind another", "[codegen][cuda][joined]") {
  const SimulatedGpu gpu;
  KernelHarness b = Convolution{.rows = 8, .columns = 8, .channels = 4, .filters = 6, .border = 0}.kernel();
  const int image = load_of(b, 0), filters = load_of(b, 1);
  const std::vector<Opt> threads{ThreadBind{3, 8, 1}, ThreadBind{2, 8, 8}, Unroll{1, 6}};
  const auto with = [&](std::vector<Opt> more) {
    more.insert(more.begin(), threads.begin(), threads.end());
    return more;
  };
  // Channels, rows and columns of an image; channels and taps of the filters. 400 and 36 elements, 64 threads.
  const TileCopy planes{image,
                        {{.range = 4, .joined = true},
                         {.range = 2, .taps = 5, .joined = true},
                         {.range = 3, .lanes = 4, .threads = 64, .taps = 6}}};
  const TileCopy taps{
      filters,
      {{.range = 1}, {.range = 4, .joined = true}, {.range = 5, .joined = true}, {.range = 6, .threads = 16}},
      0,
      3};
  TileCopy all = taps, last = taps;  // the filters too; the filters last
  all.dims[0].joined = true, all.dims[3] = {.range = 6, .lanes = 2, .unroll = 3, .threads = 4}, all.pad = 0;
  std::rotate(last.dims.begin(), last.dims.begin() + 1, last.dims.end());
  const auto in_parts = [](TileCopy copy, size_t channels) {
    copy.dims[channels].level = 0;
    return copy;
  };
  TileCopy parts = all;  // filters and a part of the channels do not lie one behind another
  parts.dims[1].level = 0;
  gpu.check(b, {with({planes}), with({taps}), with({all}), with({last}), with({planes, taps}),
                with({Split{4, 2}, in_parts(planes, 0), in_parts(taps, 1)}),
                with({Split{4, 2}, in_parts(planes, 0), in_parts(last, 0)})});
  refused(b, with({Split{4, 2}, parts}), "do not lie one behind another along range 1", gpu.target());
  refused(b, with({Split{4, 3}, in_parts(taps, 1)}), "whole blocks", gpu.target());
}

TEST_CASE("one loop copies several dims on a CPU", "[codegen][joined]") {
  KernelHarness b = cube(4, 5);
  const int load = load_of(b, 0);
  const auto tile = [&](std::vector<TileCopy::CopyDim> dims) { return TileCopy{load, std::move(dims)}; };
  const TaskBlock rows{0, 4}, columns{1, 5}, depth{2, 6};
  for (const int lanes : {1, 2, 4, 8})
    for (const int unroll : {1, 3}) {
      const TileCopy::CopyDim last{.range = 2, .lanes = lanes, .unroll = unroll};
      b.check({columns, depth, tile({{.range = 1, .joined = true}, last})});
      b.check({rows, columns, depth, tile({{3}, {.range = 1, .joined = true}, last})}, false);
      b.check({columns, depth, Lanes{2, 8}, tile({{.range = 3, .joined = true}, {.range = 1, .joined = true}, last})});
    }
}

TEST_CASE("results go to memory by way of a tile", "[codegen][cuda][joined]") {
  const SimulatedGpu gpu;
  for (const int64_t rows : {8, 7}) {  // the last block is shorter
    KernelHarness b = cube(rows, 4);
    const int store = store_of(b);
    const std::vector<Opt> threads{ThreadBind{0, 4, 1}, Unroll{2, 6}, ThreadBind{1, 4, 4}};
    const auto with = [&](TileCopy copy) {
      std::vector<Opt> opts = threads;
      opts.emplace_back(std::move(copy));
      return opts;
    };
    const TileCopy apart{store, {{.range = 0}, {.range = 1, .threads = 4, .stride = 4}, {.range = 2, .threads = 4}}},
        rows_of{store,
                {{.range = 0, .threads = 2, .stride = 8},
                 {.range = 1, .joined = true},
                 {.range = 2, .lanes = 4, .threads = 8}},
                0,
                4},
        all{store,
            {{.range = 0, .joined = true},
             {.range = 1, .joined = true},
             {.range = 2, .lanes = 4, .unroll = 2, .threads = 8}}};
    std::vector<std::vector<Opt>> lists{with(apart), with(rows_of)};
    if (rows % 4 == 0) lists.push_back(with(all));
    const std::vector<std::string> texts = gpu.check(b, lists);
    for (const std::string& text : texts) CHECK(count(text, "__syncthreads") == 1);
    if (rows % 4) refused(b, with(all), "whole blocks", gpu.target());
  }
  // Threads that copy joined dims have other elements than those that share the last of them have.
  KernelHarness four = cube(4, 4);
  gpu.check(four, {{TaskBlock{1, 4}, TaskBlock{2, 6}, ThreadBind{2, 4, 1},
                    TileCopy{store_of(four), {{.range = 1, .joined = true}, {.range = 2, .threads = 4}}}}});
  KernelHarness b = cube(3, 4);
  b.check({TaskBlock{1, 4}, TaskBlock{2, 6},
           TileCopy{store_of(b), {{.range = 1, .joined = true}, {.range = 2, .lanes = 4, .unroll = 3}}}});
}

TEST_CASE("joined dims of which one has a single value keep their places", "[codegen][joined]") {
  KernelHarness b = Convolution{.border = 0}.kernel();
  const TileCopy image{load_of(b, 0), {{.range = 2, .joined = true}, {.range = 5, .level = 0}, {3}, {6}}};
  b.check({Split{5, 1}, TaskBlock{2, 6}, TaskBlock{3, 16}, image}, false);
}

TEST_CASE("joined dims and tiles of results that cannot be are refused", "[codegen][joined]") {
  KernelHarness b = cube(4, 5);
  const int load = load_of(b, 0), store = store_of(b);
  const TaskBlock rows{0, 4}, columns{1, 5}, depth{2, 6};
  const auto fails = [&](int value, std::vector<TileCopy::CopyDim> dims, const char* why, int panel = 0,
                         int slots = 1) {
    refused(b, {rows, columns, depth, TileCopy{value, std::move(dims), panel, 0, 0, 1, slots}}, why);
  };
  fails(load, {{.range = 2, .joined = true}}, "the last of joined dims");
  fails(load, {{.range = 1, .lanes = 2, .joined = true}, {2}}, "the last of joined dims");
  fails(load, {{.range = 2, .joined = true}, {1}}, "do not lie one behind another along range 2");
  fails(load, {{.range = 0, .joined = true}, {.range = 1, .joined = true}, {2}}, "along range 0");
  fails(load, {{.range = 1, .joined = true}, {2}}, "neither panels", 6);
  fails(store, {{.range = 0}, {.range = 1}, {2}}, "no windows, panels", 2);
  fails(store, {{.range = 0}, {.range = 1}, {2}}, "no windows, panels", 0, 2);
  refused(b, {rows, columns, depth, Lanes{2, 2}, TileCopy{store, {{.range = 0}, {1}}}}, "also depends on range 2");
  KernelHarness large = cube(8, 8);  // at its end a block of rows would be copied with those of other blocks
  refused(large,
          {TaskBlock{0, 8}, Split{0, 4}, TaskBlock{1, 8}, Split{1, 4}, TaskBlock{2, 6},
           codegen::LoopOrder{{{0, 0}, {1, 0}, {0, 1}, {1, 1}}},
           TileCopy{store_of(large), {{.range = 0}, {.range = 1, .level = 0}, {2}}}},
          "outside of the loops");
  KernelHarness gated = Convolution{.border = 1}.kernel();
  refused(gated,
          {TaskBlock{2, 6}, TaskBlock{3, 16},
           TileCopy{load_of(gated, 0), {{.range = 2, .taps = 5, .joined = true}, {.range = 3, .taps = 6}}}},
          "predicate along joined dims");
}
