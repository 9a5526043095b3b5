// oneDNN: matrix products (with bias and gelu fused), convolutions, rows, sums and transposition as primitives that are
// made once.
#include <oneapi/dnnl/dnnl.hpp>

#include <cstdlib>
#include <memory>
#include <unordered_map>

#include "worker.h"

namespace bench {
namespace {

using dnnl::memory;

const dnnl::engine& engine() {
  static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

memory::desc packed(const memory::dims& sizes) {
  memory::dims strides(sizes.size(), 1);
  for (size_t i = sizes.size(); i-- > 1;) strides[i - 1] = strides[i] * sizes[i];
  return {sizes, memory::data_type::f32, strides};
}

/// A primitive with its operands and its result.
struct Step {
  dnnl::primitive primitive;
  std::unordered_map<int, memory> arguments;
};

Step conversion(memory from, memory to) {
  return {dnnl::reorder(from, to), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}}};
}

/// A primitive and its memories; the first is the result.
struct Bound : Step {
  std::vector<std::shared_ptr<Floats>> storage;  ///< of the memories
  size_t count = 0;                              ///< elements of the result
  std::vector<Step> before = {}, after = {};     ///< changes of layout that are part of a run

  memory store(const memory::desc& desc, const Floats& data, size_t offset = 0) {
    storage.push_back(std::make_shared<Floats>(data));
    return {desc, engine(), storage.back()->data() + offset};
  }
  void bind(int argument, const memory::desc& desc, const Floats& data, size_t offset = 0) {
    arguments.insert({argument, store(desc, data, offset)});
  }
};

BenchCase work(Bound bound) {
  std::vector<Step> steps = bound.before;
  steps.push_back(bound);
  steps.insert(steps.end(), bound.after.begin(), bound.after.end());
  auto stream = std::make_shared<dnnl::stream>(engine());
  const auto run = [=, storage = bound.storage] {  // which lives as long as this
    for (const Step& step : steps) step.primitive.execute(*stream, step.arguments);
    stream->wait();
  };
  return {.run = run, .check = [=] { return run(), fingerprint({bound.storage[0]->data(), bound.count}); }};
}

Floats input(int64_t count, uint32_t seed) { return uniform(static_cast<size_t>(count), seed); }

/// c [dims..., m, n] of a and b as described; with a bias [n] and gelu if `epilogue`.
BenchCase multiply(const memory::desc& a, const Floats& a_data, size_t a_offset, const memory::desc& b,
                   const Floats& b_data, bool epilogue) {
  memory::dims sizes = a.dims();
  sizes.back() = b.dims().back();
  const memory::desc c = packed(sizes);
  memory::dims bias_sizes(sizes.size(), 1);
  bias_sizes.back() = sizes.back();
  const memory::desc bias = packed(bias_sizes);
  dnnl::primitive_attr attributes;
  if (epilogue) {
    dnnl::post_ops after;
    after.append_eltwise(1, dnnl::algorithm::eltwise_gelu_erf, 0, 0);
    attributes.set_post_ops(after);
  }
  const auto desc = epilogue ? dnnl::matmul::desc(a, b, bias, c) : dnnl::matmul::desc(a, b, c);
  Bound bound;
  bound.primitive = dnnl::matmul(dnnl::matmul::primitive_desc(desc, attributes, engine()));
  bound.count = c.get_size() / sizeof(float);
  bound.bind(DNNL_ARG_DST, c, Floats(bound.count));
  bound.bind(DNNL_ARG_SRC, a, a_data, a_offset);
  bound.bind(DNNL_ARG_WEIGHTS, b, b_data);
  if (epilogue) bound.bind(DNNL_ARG_BIAS, bias, input(sizes.back(), 3));
  return work(std::move(bound));
}

BenchCase product_of(const std::string& layout, int64_t m, int64_t k, int64_t n, bool epilogue = false) {
  const auto f32 = memory::data_type::f32;
  const memory::desc a({m, k}, f32, layout == "tn" ? memory::dims{1, m} : memory::dims{k, 1});
  const memory::desc b({k, n}, f32, layout == "nt" ? memory::dims{1, k} : memory::dims{n, 1});
  return multiply(a, input(m * k, 1), 0, b, input(k * n, 2), epilogue);
}

/// The function for products of BLAS that oneDNN has beside its primitive; the quicker of both depends on the shape.
BenchCase sgemm(const std::string& layout, int64_t m, int64_t k, int64_t n) {
  auto c = std::make_shared<Floats>(static_cast<size_t>(m * n));
  const bool ta = layout == "tn", tb = layout == "nt";
  const auto run = [=, a = input(m * k, 1), b = input(k * n, 2)] {
    dnnl::sgemm(ta ? 'T' : 'N', tb ? 'T' : 'N', m, n, k, 1, a.data(), ta ? m : k, b.data(), tb ? k : n, 0, c->data(),
                n);
  };
  return {.run = run, .check = [=] { return run(), fingerprint(*c); }};
}

/// BENCH_SGEMM in the environment chooses the function; only products are cases of that worker.
bool by_function() { return std::getenv("BENCH_SGEMM") != nullptr; }

BenchCase product(const Arguments& arguments) {
  const auto s = arguments.sizes(2);
  return by_function() ? sgemm(arguments.text(1), s.at(0), s.at(1), s.at(2))
                       : product_of(arguments.text(1), s.at(0), s.at(1), s.at(2));
}

BenchCase product_as_sum(const Arguments& arguments) {
  const auto s = arguments.sizes(1);
  return by_function() ? sgemm("nn", s.at(0), s.at(1), s.at(2)) : product_of("nn", s.at(0), s.at(1), s.at(2));
}

BenchCase with_epilogue(const Arguments& arguments) {
  const auto s = arguments.sizes(1);
  return product_of("nn", s.at(0), s.at(1), s.at(2), true);
}

BenchCase permuted_batch(const Arguments& arguments) {
  const auto s = arguments.sizes(1);
  const int64_t p = s.at(0), q = s.at(1), m = s.at(2), k = s.at(3), n = s.at(4);
  const memory::desc a({p, q, m, k}, memory::data_type::f32, memory::dims{m * k, p * m * k, k, 1});
  return multiply(a, input(p * q * m * k, 1), 0, packed({p, q, k, n}), input(p * q * k * n, 2), false);
}

BenchCase of_slice(const Arguments& arguments) {
  const auto s = arguments.sizes(1);
  const int64_t m = s.at(0), k = s.at(1), n = s.at(2);
  const memory::desc a({m, k}, memory::data_type::f32, memory::dims{k + 5, 1});
  return multiply(a, input((m + 3) * (k + 5), 1), static_cast<size_t>(3 * (k + 5) + 5), packed({k, n}), input(k * n, 2),
                  false);
}

BenchCase matrix_vector(const Arguments& arguments) {
  const auto s = arguments.sizes(2);
  const int64_t m = s.at(0), n = s.at(1);
  const memory::desc a = packed({m, n});
  if (arguments.text(1) == "tn") return multiply(packed({1, m}), input(m, 2), 0, a, input(m * n, 1), false);
  return multiply(a, input(m * n, 1), 0, packed({n, 1}), input(n, 2), false);
}

BenchCase softmax_rows(const Arguments& arguments) {
  const auto s = arguments.sizes(1);
  const memory::desc x = packed({s.at(0), s.at(1)});
  Bound bound;
  bound.primitive = dnnl::softmax_forward(
      dnnl::softmax_forward::primitive_desc({dnnl::prop_kind::forward_inference, x, 1}, engine()));
  bound.count = x.get_size() / sizeof(float);
  bound.bind(DNNL_ARG_DST, x, Floats(bound.count));
  bound.bind(DNNL_ARG_SRC, x, input(s[0] * s[1], 1));
  return work(std::move(bound));
}

BenchCase layer_norm_rows(const Arguments& arguments) {
  const auto s = arguments.sizes(1);
  const memory::desc x = packed({s.at(0), s.at(1)}), row = packed({s[1]});
  const auto flags = dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift;
  Bound bound;
  bound.primitive = dnnl::layer_normalization_forward(dnnl::layer_normalization_forward::primitive_desc(
      {dnnl::prop_kind::forward_inference, x, 1e-5f, flags}, engine()));
  bound.count = x.get_size() / sizeof(float);
  bound.bind(DNNL_ARG_DST, x, Floats(bound.count));
  bound.bind(DNNL_ARG_SRC, x, input(s[0] * s[1], 1));
  bound.bind(DNNL_ARG_SCALE, row, input(s[1], 2));
  bound.bind(DNNL_ARG_SHIFT, row, input(s[1], 3));
  return work(std::move(bound));
}

BenchCase total(const Arguments& arguments) {
  const int64_t n = arguments.sizes(1).at(0);
  const memory::desc x = packed({n}), y = packed({1});
  Bound bound;
  bound.primitive =
      dnnl::reduction(dnnl::reduction::primitive_desc({dnnl::algorithm::reduction_sum, x, y, 0, 0}, engine()));
  bound.count = 1;
  bound.bind(DNNL_ARG_DST, y, Floats(1));
  bound.bind(DNNL_ARG_SRC, x, input(n, 1));
  return work(std::move(bound));
}

BenchCase transposed(const Arguments& arguments) {
  const auto s = arguments.sizes(1);
  const memory::desc x({s.at(1), s.at(0)}, memory::data_type::f32, memory::dims{1, s[1]}), y = packed({s[1], s[0]});
  Bound bound;
  bound.count = y.get_size() / sizeof(float);
  bound.bind(DNNL_ARG_TO, y, Floats(bound.count));
  bound.bind(DNNL_ARG_FROM, x, input(s[0] * s[1], 1));
  bound.primitive = dnnl::reorder(dnnl::reorder::primitive_desc(engine(), x, engine(), y));
  return work(std::move(bound));
}

/// conv:KIND:NxCxHxW:KxRxS[:STRIDExPADDINGxGROUPS], as bench_sinter's. Images and results lie as Sinter's do, and are
/// converted in each run where the primitive works on another layout, which is far quicker than one that works on this;
/// filters are converted beforehand.
BenchCase convolution(const Arguments& arguments) {
  const std::string& kind = arguments.text(1);
  const auto s = arguments.sizes(2), f = arguments.sizes(3);
  const auto options = arguments.parts.size() > 4 ? arguments.sizes(4) : std::vector<int64_t>{1, 0, 1};
  const int64_t stride = options.at(0), padding = options.at(1), groups = options.at(2);
  const auto windows = [&](int64_t size, int64_t window) { return (size + 2 * padding - window) / stride + 1; };
  const memory::desc x = packed({s.at(0), s.at(1), s.at(2), s.at(3)}),
                     y = packed({s[0], f.at(0), windows(s[2], f.at(1)), windows(s[3], f.at(2))});
  const memory::desc w =
      groups == 1 ? packed({f[0], s[1], f[1], f[2]}) : packed({groups, f[0] / groups, s[1] / groups, f[1], f[2]});
  const auto any = [](const memory::desc& plain) {
    return memory::desc(plain.dims(), memory::data_type::f32, memory::format_tag::any);
  };
  const auto room = [](const memory::desc& desc) { return Floats(desc.get_size() / sizeof(float)); };
  const memory::dims steps(2, stride), border(2, padding);
  const auto direct = dnnl::algorithm::convolution_direct;
  const dnnl::convolution_forward::primitive_desc forward(
      {dnnl::prop_kind::forward_training, direct, any(x), any(w), any(y), steps, border, border}, engine());

  Bound bound;
  const auto writes = [&](int argument, const memory::desc& plain, const memory::desc& wanted) {
    bound.count = room(plain).size();
    const memory result = bound.store(plain, room(plain));
    if (wanted == plain) {
      bound.arguments.insert({argument, result});
    } else {
      bound.bind(argument, wanted, room(wanted));
      bound.after.push_back(conversion(bound.arguments.at(argument), result));
    }
  };
  const auto reads = [&](int argument, const memory::desc& plain, const memory::desc& wanted, uint32_t seed) {
    const memory given = bound.store(plain, uniform(room(plain).size(), seed));
    if (wanted == plain) return void(bound.arguments.insert({argument, given}));
    bound.bind(argument, wanted, room(wanted));
    const Step step = conversion(given, bound.arguments.at(argument));
    if (argument != DNNL_ARG_WEIGHTS) return bound.before.push_back(step);
    dnnl::stream stream(engine());
    step.primitive.execute(stream, step.arguments);
    stream.wait();
  };
  if (kind == "forward") {
    bound.primitive = dnnl::convolution_forward(forward);
    writes(DNNL_ARG_DST, y, forward.dst_desc());
    reads(DNNL_ARG_SRC, x, forward.src_desc(), 1);
    reads(DNNL_ARG_WEIGHTS, w, forward.weights_desc(), 2);
  } else if (kind == "data") {
    const dnnl::convolution_backward_data::primitive_desc backward(
        {direct, any(x), any(w), any(y), steps, border, border}, engine(), forward);
    bound.primitive = dnnl::convolution_backward_data(backward);
    writes(DNNL_ARG_DIFF_SRC, x, backward.diff_src_desc());
    reads(DNNL_ARG_WEIGHTS, w, backward.weights_desc(), 2);
    reads(DNNL_ARG_DIFF_DST, y, backward.diff_dst_desc(), 3);
  } else {
    const dnnl::convolution_backward_weights::primitive_desc backward(
        {direct, any(x), any(w), any(y), steps, border, border}, engine(), forward);
    bound.primitive = dnnl::convolution_backward_weights(backward);
    writes(DNNL_ARG_DIFF_WEIGHTS, w, backward.diff_weights_desc());
    reads(DNNL_ARG_SRC, x, backward.src_desc(), 1);
    reads(DNNL_ARG_DIFF_DST, y, backward.diff_dst_desc(), 3);
  }
  return work(std::move(bound));
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  using namespace bench;
  if (by_function())
    return serve(argc, argv,
                 {{"sgemm", {product}}, {"jit", {product}}, {"sum", {product_as_sum}}, {"panels", {product_as_sum}}});
  return serve(argc, argv,
               {{"sgemm", {product}},
                {"jit", {product}},
                {"sum", {product_as_sum}},
                {"panels", {product_as_sum}},
                {"gelu", {with_epilogue}},
                {"batch", {permuted_batch}},
                {"slice", {of_slice}},
                {"matvec", {matrix_vector}},
                {"softmax", {softmax_rows}},
                {"layernorm", {layer_norm_rows}},
                {"total", {total}},
                {"transpose", {transposed}},
                {"conv", {convolution}}});
}
