// Candidates of all generators on the simulated GPU: Opts change no bit, so each must leave what the kernel without
// Opts leaves.
#include <fmt/format.h>

#include <functional>
#include <map>
#include <set>
#include <string_view>

#include "codegen/codegen.h"
#include "codegen/tune/gpu/tuner.h"
#include "explain.h"
#include "step_memory.h"
#include "unit/codegen/cuda_support.h"
#include "unit/codegen/tune/gpu/measured_kernels.h"

using namespace codegen_test;

namespace {

struct Case {
  const char* name;
  std::function<Tensor()> make;
};

Tensor short_floats(const Shape& shape, DType dtype = bfloat16) { return stored(shape).to(dtype).realize(); }

Tensor bytes(const Shape& shape, DType dtype = int8) { return stored(shape).to(dtype).realize(); }
/// Of bytes, in int32.
Tensor byte_product(const Tensor& a, const Tensor& b) { return matmul(a.to(int32), b.to(int32)); }

/// Built while products may be in tf32.
template <class F>
auto in_tf32(F make) {
  return [make] {
    set_float32_matmul_precision("high");
    const Tensor made = make();
    set_float32_matmul_precision("highest");
    return made;
  };
}

const std::vector<Case>& programs() {
  static const std::vector<Case> all = {
      {"a product with edges", [] { return matmul(stored({45, 70}), stored({70, 37})); }},
      {"a product by a transposed factor", [] { return matmul(stored({32, 64}), stored({48, 64}).transpose()); }},
      {"a product in blocks", [] { return matmul(stored({20, 2100}), stored({2100, 24})); }},
      {"attention", [] { return attention({2, 1, 64, 16}); }},
      {"attention of an odd length", [] { return attention({1, 2, 37, 24}); }},
      {"causal attention of short floats",
       [] {
         const Shape heads{1, 1, 48, 16};
         return scaled_dot_product_attention(short_floats(heads), short_floats(heads), short_floats(heads),
                                             {.is_causal = true});
       }},
      {"a padded convolution", [] { return conv2d(stored({2, 3, 9, 9}), stored({8, 3, 3, 3}), {}, {.padding = 1}); }},
      {"its gradient by image", [] { return convolution({2, 3, 9, 9}, {8, 3, 3, 3}, Part::Input); }},
      {"its gradient by filter", [] { return convolution({2, 3, 9, 9}, {8, 3, 3, 3}, Part::Filter); }},
      {"a filter gradient of many results", [] { return convolution({2, 16, 7, 8}, {32, 16, 3, 3}, Part::Filter); }},
      {"a filter gradient in blocks", [] { return convolution({64, 2, 7, 7}, {4, 2, 3, 3}, Part::Filter); }},
      {"column sums", [] { return stored({1300, 33}).sum(0); }},
      {"row sums", [] { return stored({33, 1300}).sum(1); }},
      {"a whole sum", [] { return stored({70000}).sum(); }},
      {"a softmax", [] { return softmax(stored({9, 300}), 1); }},
      {"a transposed sum", [] { return (stored({65, 70}).transpose() + stored({70, 65})).contiguous(); }},
      {"a transposed matrix of bytes", [] { return stored({65, 70}).to(int8).realize().transpose().contiguous(); }},
      {"a product of short floats", [] { return matmul(short_floats({40, 64}), short_floats({64, 40})); }},
      {"short floats by rows", [] { return matmul(short_floats({80, 160}), short_floats({72, 160}).transpose()); }},
      {"short floats by columns", [] { return matmul(short_floats({96, 64}).transpose(), short_floats({96, 72})); }},
      {"halves with edges", [] { return matmul(short_floats({45, 70}, float16), short_floats({70, 37}, float16)); }},
      {"a batch of short floats", [] { return matmul(short_floats({3, 33, 48}), short_floats({3, 48, 40})); }},
      {"short floats with an epilogue",
       [] { return gelu(matmul(short_floats({64, 64}), short_floats({64, 64})) + short_floats({64})); }},
      {"short floats with a prologue",
       [] { return matmul((stored({64, 64}) * 2.0 + 1.0).to(bfloat16), short_floats({64, 64})); }},
      {"a convolution of short floats",
       [] { return conv2d(short_floats({2, 32, 6, 6}), short_floats({16, 32, 3, 3}), {}, {.padding = 1}); }},
      {"the gradient of a convolution of short floats by image",
       [] {
         Tensor x = short_floats({2, 16, 8, 8}).requires_grad();
         const Tensor y = conv2d(x, short_floats({32, 16, 3, 3}), {}, {.padding = 1});
         return gradient(y, {x}, short_floats({2, 32, 8, 8}))[0];
       }},
      {"tf32 with edges", in_tf32([] { return matmul(stored({45, 70}), stored({70, 37})); })},
      {"tf32 by rows", in_tf32([] { return matmul(stored({80, 96}), stored({72, 96}).transpose()); })},
      {"tf32 by columns", in_tf32([] { return matmul(stored({64, 96}).transpose(), stored({64, 72})); })},
      {"a convolution in tf32",
       in_tf32([] { return conv2d(stored({2, 32, 6, 6}), stored({16, 32, 3, 3}), {}, {.padding = 1}); })},
      {"bytes by rows", [] { return byte_product(bytes({80, 160}), bytes({72, 160}).transpose()); }},
      {"bytes with edges", [] { return byte_product(bytes({45, 70}), bytes({70, 37})); }},
      {"bytes with edges by rows", [] { return byte_product(bytes({45, 70}), bytes({37, 70}).transpose()); }},
      {"bytes by columns", [] { return byte_product(bytes({96, 64}).transpose(), bytes({96, 72})); }},
      {"bytes with a sign by bytes without", [] { return byte_product(bytes({64, 96}), bytes({96, 64}, uint8)); }},
      {"a quantised linear layer",
       [] {
         const Tensor x = round(stored({64, 128}) * 20.0).to(int8),
                      sums = byte_product(x, bytes({72, 128}).transpose());
         return sums.to(float32) * stored({72}) + stored({72});
       }},
      {"attention with scores of bytes",
       [] {
         const Tensor scores = byte_product(bytes({1, 48, 32}), bytes({1, 64, 32}).transpose(1, 2)).to(float32) * 1e-3;
         return matmul(softmax(scores, 2).to(bfloat16), short_floats({1, 64, 16}));
       }},
      {"a convolution of bytes",
       [] {
         return conv2d(bytes({2, 32, 6, 6}, uint8).to(int32), bytes({16, 32, 3, 3}).to(int32), {}, {.padding = 1});
       }},
      {"the largest of columns", [] { return stored({300, 40}).argmax(0); }},
      {"a narrow product", [] { return matmul(stored({200, 64}), stored({64, 10})); }},
      {"a scan", [] { return cumsum(stored({70, 40}), 1); }},
  };
  return all;
}

constexpr size_t kMostSampled = 7;       ///< candidates of a kernel, beside the best of each generator
constexpr size_t kLongestText = 60'000;  ///< a longer one differs in how often it is unrolled, and compiles for seconds

/// The best of each generator, and candidates from all parts of the list.
std::vector<codegen::Candidate> sample(const std::vector<codegen::RankedCandidate>& list) {
  const size_t count = std::min(kMostSampled, list.size());
  std::set<size_t> places;
  std::set<std::string_view> seen;
  for (size_t i = 0; i < list.size(); ++i)
    if (seen.insert(list[i].candidate.generator).second) places.insert(i);
  const auto ordered = std::ranges::find_if(list, [](const codegen::RankedCandidate& r) {
    return to_string(r.candidate.opts).find("order(") != std::string::npos;
  });
  if (ordered != list.end()) places.insert(static_cast<size_t>(ordered - list.begin()));
  for (size_t i = 0; i < count; ++i) places.insert(i * list.size() / count);
  std::vector<codegen::Candidate> out;
  for (const size_t place : places) out.push_back(list[place].candidate);
  return out;
}

}  // namespace

TEST_CASE("every candidate leaves what the kernel without Opts leaves", "[codegen][cuda][candidates]") {
  const SimulatedGpu gpu;
  auto context = runtime::cuda::Context::get(0);
  runtime::Target small = gpu.target();
  small.threads = 2;               // a machine that large tiles fill
  std::map<std::string, int> ran;  // by generator and by what a list has
  for (const Case& program : programs()) {
    const auto sources = testing::explain(std::vector{program.make()}, gpu.target());
    const runtime::Plan& plan = sources.scheduled.plan;
    for (const runtime::PlanStep& step : plan.steps) {
      const codegen::NormalizedKernel kernel =
          codegen::normalize(sources.scheduled.kernels[static_cast<size_t>(step.program)], gpu.target());
      const std::vector<Array> memory = memory_of(plan, step);
      const std::vector<int64_t> outer = fixed_sizes(step.outer);
      const std::vector<uint64_t> numbers = numbers_of(kernel.main);
      std::vector<std::vector<Opt>> lists;
      std::vector<std::string> generators;
      std::vector<runtime::KernelSource> texts;
      const auto add = [&](const std::vector<Opt>& list, const char* generator) {
        runtime::KernelSource text = codegen::generate_source(
            kernel, gpu.target(), list, codegen::choose_epilogue_opts(kernel, gpu.target(), list));
        if (!list.empty() && text.text.size() > kLongestText) return;
        lists.push_back(list);
        generators.emplace_back(generator);
        texts.push_back(std::move(text));
      };
      add({}, "plain");
      for (const codegen::Candidate& c : sample(codegen::rank_candidates(kernel.main, small))) add(c.opts, c.generator);
      const auto compiled = runtime::compile(texts, gpu.target());
      std::vector<runtime::PoolVector<std::byte>> right;
      for (size_t i = 0; i < compiled.size(); ++i) {
        INFO(program.name << ", " << kernel.main.name << ": " << to_string(lists[i]));
        auto left = launched(*context, *compiled[i], compiled[i]->task_count(outer), memory, numbers);
        if (i == 0)
          right = std::move(left);
        else
          CHECK(left == right);
        ++ran[generators[i]];
        const std::string text = to_string(lists[i]);
        for (const char* what : {"slots 2", "async", "mma(", "order(", "materialize(", "swizzle", "pad "})
          ran[what] += text.find(what) != std::string::npos;
        ran["bytes"] += texts[i].text.find("m16n8k32") != std::string::npos;
        ran["staged shares"] += generators[i] == "share" && text.find("tile_copy(") != std::string::npos;
      }
    }
  }
  CHECK(ran["bytes"] > 0);
  for (const char* what : {"share", "product", "window", "mma", "transpose", "slots 2", "async", "mma(", "order(",
                           "materialize(", "swizzle", "pad ", "staged shares"}) {
    INFO(what);
    CHECK(ran[what] > 0);
  }
}
