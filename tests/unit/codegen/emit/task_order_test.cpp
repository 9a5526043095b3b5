// In which order tasks go through blocks.
#include "codegen/emit/task_order.h"
#include "codegen/loopschedule/opt.h"
#include "codegen/nest/loop_tree.h"
#include "unit/codegen/cuda_support.h"

using namespace codegen_test;
using codegen::TaskBand, codegen::TaskBlock;

namespace {

using Numbers = std::vector<int64_t>;

/// out[i, j, k] = 2 * in[i, j, k]
KernelHarness doubled(int64_t planes, int64_t rows, int64_t columns) {
  KernelHarness b;
  UOp in = b.buffer(random_array(DType::F32, {planes, rows, columns}, 1)),
      out = b.buffer(Array(DType::F32, {planes, rows, columns}));
  UOp i = b.outer(planes), j = b.outer(rows), k = b.outer(columns), x = b.at(in, {i, j, k});
  b.stores({b.put(out, {i, j, k}, x + x)});
  return b;
}

/// The blocks of all tasks, one value each.
std::vector<Numbers> order_of(const Numbers& counts, size_t banded, int64_t band) {
  std::vector<codegen::LoopAxis> axes(counts.size());
  if (band) axes[banded].band = band;
  std::vector<const codegen::LoopAxis*> all;
  int64_t tasks = 1;
  for (const codegen::LoopAxis& a : axes) all.push_back(&a);
  for (const int64_t n : counts) tasks *= n;
  codegen::Instructions code;
  codegen::BlockWriter emit(code);
  std::vector<codegen::Id> ids;
  for (const int64_t n : counts) ids.push_back(emit.number(n));
  std::vector<Numbers> out;
  for (int64_t task = 0; task < tasks; ++task) {
    Numbers& at = out.emplace_back();
    for (const codegen::Id id : codegen::blocks_of_task(emit, emit.number(task), all, ids)) {
      at.push_back(-1);
      REQUIRE(emit.known(id, at.back()));
    }
  }
  return out;
}

}  // namespace

TEST_CASE("tasks go through a band of blocks before the next block behind it", "[codegen]") {
  CHECK(order_of({2, 3}, 0, 0) == std::vector<Numbers>{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}});
  CHECK(order_of({3, 2}, 0, 2) == std::vector<Numbers>{{0, 0}, {1, 0}, {0, 1}, {1, 1}, {2, 0}, {2, 1}});
  CHECK(order_of({2, 2, 2}, 1, 2) ==
        std::vector<Numbers>{{0, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 1, 1}, {1, 0, 0}, {1, 1, 0}, {1, 0, 1}, {1, 1, 1}});
  CHECK(order_of({2, 3}, 1, 2) == order_of({2, 3}, 0, 0));  // nothing is behind it
  for (const int64_t band : {2, 3, 8}) {
    std::vector<Numbers> all = order_of({5, 3, 2}, 0, band);
    std::ranges::sort(all);
    CHECK(all == order_of({5, 3, 2}, 0, 0));
  }
}

TEST_CASE("bands change no bit", "[codegen][cuda]") {
  const SimulatedGpu gpu;
  for (const std::vector<Opt>& list : std::vector<std::vector<Opt>>{
           {TaskBand{0, 2}}, {TaskBand{1, 3}, TaskBlock{1, 2}}, {TaskBand{0, 2}, TaskBlock{2, 4}}, {TaskBand{2, 2}}}) {
    KernelHarness b = doubled(3, 7, 11);
    b.check(list);
    gpu.check(b, {list});
  }
}

TEST_CASE("bands of a size that varies: the same bits, and indices of 32 bits", "[codegen][cuda]") {
  const SimulatedGpu gpu;
  const Var rows("rows", 1, 4096);
  for (const int64_t n : {1, 7, 16, 21}) {
    KernelHarness b;
    UOp in = b.buffer(random_array(DType::F32, {n, 11}, 1), Shape{rows(n), 11}),
        out = b.buffer(Array(DType::F32, {n, 11}), Shape{rows(n), 11});
    UOp i = b.outer(rows(n)), j = b.outer(11), x = b.at(in, {i, j});
    b.stores({b.put(out, {i, j}, x + x)});
    const std::vector<Opt> list{TaskBand{0, 8}};
    const std::string text = gpu.check(b, {list}).at(0);
    INFO(text);
    CHECK(count(text, "sn_udiv_u32(") > 1);
    CHECK(count(text, "_u64(") + count(text, "_i64(") == 0);
  }
}

TEST_CASE("a band has 2 to 1024 blocks of an outer range, and a kernel one band", "[codegen]") {
  const KernelHarness b = doubled(3, 7, 11);
  const codegen::Kernel kernel = codegen::normalize(b.kernel).main;
  CHECK(codegen::is_legal(kernel, {TaskBand{1, 2}}));
  CHECK(codegen::is_legal(kernel, {TaskBand{1, 1024}}));
  CHECK_FALSE(codegen::is_legal(kernel, {TaskBand{1, 1}}));
  CHECK_FALSE(codegen::is_legal(kernel, {TaskBand{1, 1025}}));
  CHECK_FALSE(codegen::is_legal(kernel, {TaskBand{0, 2}, TaskBand{1, 2}}));
}
