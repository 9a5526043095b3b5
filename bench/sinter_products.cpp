// Matrix products: by matmul(), and as loop nests that never name it.
#include "sinter_cases.h"

namespace sn = sinter;

namespace bench {
namespace {

/// sgemm:LAYOUT:MxKxN. The layout says which operand is stored transposed: nn, tn (a), nt (b). jit:LAYOUT:MxKxN, the
/// same under jit(). gemm:LAYOUT:MxKxN, the same of any type.
BenchCase product(const Arguments& arguments) {
  const auto s = arguments.sizes(2);
  const int64_t m = s.at(0), k = s.at(1), n = s.at(2);
  const std::string& layout = arguments.text(1);
  const sn::DType type = sn::dtype_named(arguments.type);
  const sn::Tensor a = layout == "tn" ? input({k, m}, 1, type) : input({m, k}, 1, type);
  const sn::Tensor b = layout == "nt" ? input({n, k}, 2, type) : input({k, n}, 2, type);
  const auto call = [=](const sn::Tensor& x, const sn::Tensor& y) {
    return matmul(layout == "tn" ? x.transpose() : x, layout == "nt" ? y.transpose() : y);
  };
  if (arguments.text(0) != "jit") return evaluate([=] { return call(a, b); });
  auto jitted = std::make_shared<decltype(sn::jit(call))>(sn::jit(call));
  return evaluate([=] { return (*jitted)(a, b); });
}

/// sum:MxKxN: the sum of a product of expanded operands.
BenchCase product_as_sum(const Arguments& arguments) {
  const auto s = arguments.sizes(1);
  const sn::Shape all{s.at(0), s.at(1), s.at(2)};
  const sn::Tensor a = input({s[0], s[1]}, 1), b = input({s[1], s[2]}, 2);
  return evaluate([=] { return (a.unsqueeze(2).expand(all) * b.unsqueeze(0).expand(all)).sum(1); });
}

/// batch:PxQxMxKxN: two batch axes, which a has in the other order.
BenchCase permuted_batch(const Arguments& arguments) {
  const auto s = arguments.sizes(1);
  const sn::Tensor a = input({s.at(1), s.at(0), s.at(2), s.at(3)}, 1), b = input({s[0], s[1], s[3], s.at(4)}, 2);
  return evaluate([=] { return matmul(a.permute({1, 0, 2, 3}), b); });
}

/// gelu:MxKxN: a bias and gelu behind the product.
BenchCase with_epilogue(const Arguments& arguments) {
  const auto s = arguments.sizes(1);
  const sn::Tensor a = input({s.at(0), s.at(1)}, 1), b = input({s[1], s.at(2)}, 2), bias = input({s[2]}, 3);
  return evaluate([=] { return gelu(matmul(a, b) + bias); });
}

/// slice:MxKxN: a is [3:, 5:] of a larger tensor.
BenchCase of_slice(const Arguments& arguments) {
  const auto s = arguments.sizes(1);
  const sn::Tensor padded = input({s.at(0) + 3, s.at(1) + 5}, 1), b = input({s[1], s.at(2)}, 2);
  return evaluate([=] { return matmul(padded.index({sn::Slice{3}, sn::Slice{5}}), b); });
}

/// panels:MxKxN: b lies in panels of 64 columns, as one who keeps packed weights lays them out.
BenchCase in_panels(const Arguments& arguments) {
  const auto s = arguments.sizes(1);
  const int64_t m = s.at(0), k = s.at(1), n = s.at(2), width = n % 64 ? n : 64;
  const sn::Tensor a = input({m, k}, 1), b = input({k, n}, 2);
  const sn::Tensor packed = b.reshape({k, n / width, width}).permute({1, 0, 2}).contiguous();
  packed.realize();
  return evaluate([=] { return matmul(a, packed.permute({1, 0, 2}).reshape({k, n})); });
}

/// matvec:LAYOUT:MxN: a [m, n] times a vector (nn), or a vector times a (tn).
BenchCase matrix_vector(const Arguments& arguments) {
  const auto s = arguments.sizes(2);
  const bool left = arguments.text(1) == "tn";
  const sn::Tensor a = input({s.at(0), s.at(1)}, 1), x = input({left ? s[0] : s[1]}, 2);
  return evaluate([=] { return left ? matmul(x, a) : matmul(a, x); });
}

/// attention:BxHxTxD. attention-gradients:BxHxTxD, of queries, keys and values, given that of the result.
BenchCase attention(const Arguments& arguments) {
  const auto s = arguments.sizes(1);
  const sn::DType type = sn::dtype_named(arguments.type);
  const sn::Shape shape{s.at(0), s.at(1), s.at(2), s.at(3)};
  sn::Tensor q = input(shape, 1, type), k = input(shape, 2, type), v = input(shape, 3, type);
  if (arguments.text(0) == "attention") return evaluate([=] { return scaled_dot_product_attention(q, k, v); });
  const sn::Tensor seed = input(shape, 4, type);
  for (sn::Tensor* x : {&q, &k, &v}) x->requires_grad();
  return evaluate_all([=] { return gradient(scaled_dot_product_attention(q, k, v), {q, k, v}, seed); });
}

}  // namespace

std::map<std::string, CaseFamily> products() {
  return {{"sgemm", {product}},
          {"gemm", {.make = product, .narrow = true}},
          {"jit", {product}},
          {"sum", {product_as_sum}},
          {"batch", {permuted_batch}},
          {"gelu", {with_epilogue}},
          {"slice", {of_slice}},
          {"panels", {in_panels}},
          {"matvec", {matrix_vector}},
          {"attention", {.make = attention, .narrow = true}},
          {"attention-gradients", {.make = attention, .narrow = true}}};
}

}  // namespace bench
