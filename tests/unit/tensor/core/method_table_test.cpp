// Every method of tensor_methods.h gives what the function of its name gives, and its errors name it and the caller.
#include <functional>

#include "repository.h"
#include "unit/tensor_support.h"

using namespace sinter;
using namespace sinter::testing;
using Catch::Matchers::Contains;

namespace {

using Tensors = std::vector<Tensor>;

Tensors parts(const Tensor& t) { return {t}; }
Tensors parts(bool b) { return {Tensor(b)}; }
Tensors parts(const Tensors& t) { return t; }
Tensors parts(const Ranked& r) { return {r.values, r.indices}; }
Tensors parts(const Distinct& d) { return {d.values, d.inverse, d.counts}; }
Tensors parts(const std::pair<Tensor, Tensor>& p) { return {p.first, p.second}; }
Tensors parts(const Histogram& h) { return {h.counts, h.edges}; }
Tensors parts(const LU& f) { return {f.p, f.l, f.u}; }
Tensors parts(const QR& f) { return {f.q, f.r}; }
Tensors parts(const SVD& f) { return {f.u, f.s, f.vh}; }
Tensors parts(const SlogDet& d) { return {d.sign, d.logabsdet}; }

/// The generator of both calls starts anew.
Generator& anew() {
  static Generator generator;
  generator.manual_seed(5);
  return generator;
}

using OfTensor = std::function<Tensors(const Tensor&)>;
struct Method {
  const char* name;
  Tensor of;  ///< what it is called on
  OfTensor method, function;
};

// x.name(...) beside name(x, ...), or beside another expression of x.
#define SAME(name, of, ...)                                                        \
  Method {                                                                         \
    #name, of, [=](const Tensor& x) { return parts(x.name(__VA_ARGS__)); },        \
        [=](const Tensor& x) { return parts(name(x __VA_OPT__(, ) __VA_ARGS__)); } \
  }
#define LIKE(name, of, call, expression)                                    \
  Method {                                                                  \
    #name, of, [=](const Tensor& x) { return parts(x.call); },              \
        [=]([[maybe_unused]] const Tensor& x) { return parts(expression); } \
  }

struct Table {
  std::vector<Method> methods, decompositions;
};

/// Made anew: no tensor outlives a test.
Table table() {
  const Tensor y = from({{0.75, 0.5, 0.25}, {0.5, 0.5, 1.5}}), v = from({1.0, 2.0, -1.0});
  const Tensor a = from({{4.0, 1.0, 0.5}, {1.0, 3.0, 0.25}, {0.5, 0.25, 2.0}}), batch = a.unsqueeze(0);
  const Tensor places = from({{2, 0, 1}, {1, 1, 0}}), columns = from({2, 0}), mask = y > 0.4;
  const Tensor real = from({{0.5, 0.125, 0.25}, {0.75, 0.875, 0.5}}), above = real + 1.0;
  const Tensor whole = from({{3, 0, 5}, {7, 2, 6}}), special = from({{0.5, NAN, 0.25}, {0.75, INFINITY, 0.5}});
  Table made;
  made.methods = {
      // Of one tensor.
      SAME(abs, -real),
      SAME(acos, real),
      SAME(acosh, above),
      SAME(asin, real),
      SAME(asinh, real),
      SAME(atan, real),
      SAME(atanh, real),
      SAME(bitwise_not, whole),
      SAME(ceil, real),
      SAME(cos, real),
      SAME(cosh, real),
      SAME(deg2rad, real),
      SAME(erf, real),
      SAME(erfc, real),
      SAME(erfinv, real),
      SAME(exp, real),
      SAME(exp2, real),
      SAME(expm1, real),
      SAME(floor, above),
      SAME(frac, above),
      SAME(isfinite, special),
      SAME(isinf, special),
      SAME(isnan, special),
      SAME(log, real),
      SAME(log10, real),
      SAME(log1p, real),
      SAME(log2, real),
      SAME(logical_not, whole),
      SAME(negative, real),
      SAME(positive, real),
      SAME(rad2deg, real),
      SAME(reciprocal, real),
      SAME(relu, real - 0.5),
      SAME(round, above),
      SAME(rsqrt, real),
      SAME(sigmoid, real),
      SAME(sign, real - 0.5),
      SAME(signbit, real - 0.5),
      SAME(sin, real),
      SAME(sinc, real),
      SAME(sinh, real),
      SAME(sqrt, real),
      SAME(square, real),
      SAME(tan, real),
      SAME(tanh, real),
      SAME(trunc, above),
      SAME(hardshrink, real),
      SAME(hardshrink, real, 0.8),
      SAME(prelu, -real, v.slice(0, 0, 1)),
      SAME(logit, real),
      SAME(logit, real, 0.1),
      SAME(nan_to_num, special),
      SAME(nan_to_num, special, 1.0, 2.0, 3.0),
      // Of several.
      SAME(atan2, real, y),
      SAME(bitwise_and, whole, 6),
      SAME(bitwise_left_shift, whole, 2),
      SAME(bitwise_or, whole, 1),
      SAME(bitwise_right_shift, whole, 1),
      SAME(bitwise_xor, whole, 3),
      SAME(clamp_max, real, 0.5),
      SAME(clamp_min, real, 0.5),
      SAME(copysign, real, -y),
      SAME(eq, real, y),
      SAME(float_power, real, y),
      SAME(floor_divide, real, y),
      SAME(fmod, real, y),
      SAME(ge, real, y),
      SAME(gt, real, y),
      SAME(heaviside, real - 0.5, y),
      SAME(hypot, real, y),
      SAME(ldexp, real, whole),
      SAME(le, real, y),
      SAME(logaddexp, real, y),
      SAME(logaddexp2, real, y),
      SAME(logical_and, whole, mask),
      SAME(logical_or, whole, mask),
      SAME(logical_xor, whole, mask),
      SAME(lt, real, y),
      SAME(maximum, real, y),
      SAME(minimum, real, y),
      SAME(mul, real, y),
      SAME(ne, real, y),
      SAME(pow, real, y),
      SAME(remainder, real, y),
      SAME(true_divide, whole, 2),
      SAME(xlogy, real, y),
      SAME(add, real, y),
      SAME(add, real, y, 3),
      SAME(sub, real, y),
      SAME(sub, real, y, 3),
      SAME(div, real, y),
      SAME(div, real, y, "floor"),
      SAME(clamp, real, 0.25, 0.5),
      SAME(clamp, real, 0.5),
      SAME(clamp, real, std::nullopt, 0.5),
      SAME(clamp, real, 0.5, std::nullopt),
      SAME(lerp, real, y, 0.25),
      SAME(addcmul, real, y, y),
      SAME(addcmul, real, y, y, 3),
      SAME(addcdiv, real, y, y),
      SAME(addcdiv, real, y, y, 3),
      LIKE(where, real, where(mask, 7), where(mask, x, 7)),
      SAME(masked_fill, real, mask, 7),
      SAME(isclose, special, special, 0.1, 0.1, true),
      SAME(allclose, real, y, 9),
      SAME(equal, real, y),
      // Shapes and parts.
      LIKE(view, real, view({3, -1}), reshape(x, {3, -1})),
      SAME(view_as, real, y.reshape({3, 2})),
      SAME(reshape_as, real, y.reshape({6})),
      SAME(expand_as, v, y),
      SAME(unflatten, real, 1, {3, 1}),
      SAME(t, real),
      SAME(ravel, real),
      SAME(fliplr, real),
      SAME(flipud, real),
      SAME(swapaxes, real, 0, 1),
      SAME(broadcast_to, v, {2, 3}),
      SAME(narrow, real, 1, 1, 2),
      SAME(narrow, real, 1, Tensor(1), 2),
      SAME(select, real, 1, 2),
      SAME(unbind, real),
      SAME(unbind, real, 1),
      SAME(tensor_split, real, {1}, 1),
      SAME(tensor_split, real, 2, 1),
      SAME(hsplit, real, {1}),
      SAME(hsplit, real, 3),
      SAME(vsplit, real, {1}),
      SAME(vsplit, real, 2),
      SAME(roll, real, 1),
      SAME(roll, real, 1, 1),
      SAME(roll, real, {1, 1}, {0, 1}),
      SAME(rot90, real),
      SAME(rot90, real, 2, {1, 0}),
      SAME(repeat, real, {2, 1}),
      SAME(tile, real, {2}),
      SAME(repeat_interleave, real, 2),
      SAME(repeat_interleave, real, 2, 1),
      SAME(repeat_interleave, real, columns, 0),
      SAME(repeat_interleave, real, columns, 0, 2),
      SAME(diagonal, real),
      SAME(diagonal, real, 1, 1, 0),
      SAME(diag_embed, v),
      SAME(diag_embed, v, 1, 1, 0),
      SAME(diag, v, -1),
      SAME(trace, a),
      SAME(triu, a, 1),
      SAME(tril, a, -1),
      SAME(diff, real),
      SAME(diff, real, 1, 0),
      // Products and norms.
      SAME(matmul, real, a),
      SAME(mm, real, a),
      SAME(bmm, batch, batch),
      SAME(mv, a, v),
      SAME(dot, v, v),
      SAME(inner, real, y),
      SAME(outer, v, v),
      SAME(kron, real, y),
      SAME(cross, real, y),
      SAME(cross, a, a, 0),
      SAME(matrix_power, a, 2),
      SAME(addmm, a, a, a),
      SAME(addmm, a, a, a, 0.5, 2),
      SAME(baddbmm, batch, batch, batch),
      SAME(baddbmm, batch, batch, batch, 1, 3),
      SAME(addmv, v, a, v),
      SAME(addmv, v, a, v, 2),
      SAME(norm, real),
      SAME(norm, real, 1, 1, true),
      // Reductions, scans and order.
      SAME(amax, real, 1),
      SAME(amin, real, 1),
      SAME(aminmax, real, 1, true),
      SAME(count_nonzero, whole, 1),
      SAME(nansum, special, 0),
      SAME(nanmean, special, 0),
      SAME(softmax, real),
      SAME(softmax, real, 0),
      SAME(log_softmax, real, 0),
      SAME(logsumexp, real, 0, true),
      SAME(cumsum, real, 1),
      SAME(cumprod, real, 0),
      SAME(logcumsumexp, real, 1),
      SAME(cummax, real, 1),
      SAME(cummin, real, 0),
      SAME(sort, real),
      SAME(sort, real, 0, true),
      SAME(sort, real, 0, true, true),
      SAME(argsort, real),
      SAME(argsort, real, 0, true),
      SAME(topk, real, 2),
      SAME(topk, real, 1, 0, false),
      SAME(kthvalue, real, 2),
      SAME(kthvalue, real, 1, 0, true),
      SAME(median, real),
      SAME(median, real, 1),
      SAME(median, real, 0, true),
      SAME(quantile, real, 0.25),
      SAME(quantile, real, 0.25, 1),
      SAME(quantile, real, 0.3, 1, true, "higher"),
      SAME(nanquantile, special, 0.25, 1),
      SAME(nanquantile, special, 0.3, 1, true, "lower"),
      SAME(nanmedian, special),
      SAME(nanmedian, special, 1),
      SAME(mode, whole),
      SAME(mode, whole, 0, true),
      SAME(msort, real),
      SAME(unique, whole),
      SAME(unique, whole, true, true, true),
      SAME(unique_consecutive, whole),
      SAME(isin, whole, columns),
      SAME(isin, whole, columns, false, true),
      SAME(bincount, columns),
      SAME(bincount, columns, 6),
      SAME(bincount, columns, v.slice(0, 0, 2), 6),
      SAME(histc, real, 4, 0, 4),
      SAME(histogram, real, 4),
      SAME(histogram, real, 4, std::pair(0.0, 2.0)),
      // Picking and scattering.
      SAME(gather, real, 1, places),
      LIKE(take_along_dim, real, take_along_dim(places, 1), take_along_dim(x, places, 1)),
      SAME(index_select, real, 1, columns),
      SAME(take, real, columns),
      SAME(scatter, real, 1, places, 7),
      SAME(scatter_add, real, 1, places, y),
      SAME(scatter_reduce, real, 1, places, y, "mean"),
      SAME(scatter_reduce, real, 1, places, y, ScatterReduce::Prod, false),
      SAME(index_add, real, 1, columns, 2),
      SAME(index_copy, real, 1, columns, 2),
      SAME(index_fill, real, 1, columns, 2),
      SAME(index_reduce, real, 1, columns, 2, "amax"),
      SAME(index_reduce, real, 1, columns, 2, "prod", false),
      SAME(put, real, columns, 7),
      SAME(put, real, columns, 7, true),
      SAME(index_put, real, {places.select(0, 1)}, 7),
      SAME(index_put, real, {columns / 2.0 > 0.5}, 7, true),
      SAME(masked_select, real, mask),
      SAME(masked_scatter, real, mask, y),
      SAME(nonzero, whole),
      SAME(argwhere, whole),
      LIKE(multinomial, real, multinomial(2), multinomial(x, 2)),
      LIKE(multinomial, real, multinomial(2, false, {.generator = &anew()}),
           multinomial(x, 2, false, {.generator = &anew()})),
      LIKE(bernoulli, real, bernoulli(), bernoulli(x)),
      LIKE(bernoulli, real, bernoulli({.generator = &anew()}), bernoulli(x, {.generator = &anew()})),
      // Types, and tensors like this one.
      LIKE(type_as, real, type_as(whole), x.to(int64)),
      LIKE(bfloat16, real, bfloat16(), x.to(bfloat16)),
      LIKE(is_floating_point, real, is_floating_point(), true),
      LIKE(is_floating_point, whole, is_floating_point(), false),
      LIKE(half, real, half(), x.to(float16)),
      LIKE(new_zeros, whole, new_zeros({2, 1}), zeros({2, 1}, int64)),
      LIKE(new_ones, whole, new_ones(3), ones(3, int64)),
      LIKE(new_zeros, whole, new_zeros(2, float16), zeros(2, float16)),
      LIKE(new_empty, real, new_empty({0, 2}), zeros({0, 2})),
      LIKE(new_full, whole, new_full(2, 7), full(2, 7)),
      LIKE(new_full, whole, new_full(2, 7, float64), full(2, 7, float64)),
      // Other names.
      SAME(absolute, -real),
      SAME(arccos, real),
      SAME(arccosh, above),
      SAME(arcsin, real),
      SAME(arcsinh, real),
      SAME(arctan, real),
      SAME(arctanh, real),
      SAME(fix, above),
      SAME(neg, real),
      SAME(arctan2, real, y),
      SAME(multiply, real, y),
      SAME(less, real, y),
      SAME(less_equal, real, y),
      SAME(greater, real, y),
      SAME(greater_equal, real, y),
      SAME(not_equal, real, y),
      SAME(subtract, real, y),
      SAME(subtract, real, y, 3),
      SAME(divide, real, y),
      SAME(divide, real, y, "trunc"),
      SAME(clip, real, 0.25, 0.5),
      SAME(clip, real, 0.5),
      SAME(clip, real, std::nullopt, 0.5),
      SAME(clip, real, 0.5, std::nullopt),
      SAME(moveaxis, real, 0, 1),
      SAME(moveaxis, real, {0, 1}, {1, 0}),
      SAME(swapdims, real, 0, 1),
      SAME(split_with_sizes, real, {1, 2}, 1),
      LIKE(T, real, T(), t(x)),
  };
  made.decompositions = {
      SAME(cholesky, a),
      SAME(cholesky, a, true),
      SAME(det, a),
      SAME(inverse, a),
      SAME(logdet, a),
      SAME(lu, a),
      SAME(pinverse, a),
      SAME(pinverse, a, 0.3),
      SAME(cholesky_solve, real.t(), cholesky(a)),
      SAME(cholesky_solve, real.t(), cholesky(a, true), true),
      SAME(slogdet, a),
      SAME(qr, a),
      SAME(qr, a, "complete"),
      SAME(svd, a),
      SAME(svd, real, false),
  };
  return made;
}

void check_all(const std::vector<Method>& all) {
  for (const Method& m : all) {
    INFO(m.name);
    manual_seed(3);
    const Tensors got = m.method(m.of);
    manual_seed(3);
    const Tensors want = m.function(m.of);
    REQUIRE(got.size() == want.size());
    for (size_t i = 0; i < got.size(); ++i) {
      CHECK(got[i].dtype() == want[i].dtype());
      CHECK(got[i].shape() == want[i].shape());
      CHECK(same(numbers(got[i]), numbers(want[i])));
    }
  }
}

/// That the error of an empty handle names the method, or the function that it calls, and this file.
void check_errors(const std::vector<Method>& all) {
  for (const Method& m : all) {
    INFO(m.name);
    try {
      m.method(Tensor());
      FAIL_CHECK("accepted an empty handle");
    } catch (const UsageError& e) {
      CHECK(std::string(e.where().file_name()).ends_with("method_table_test.cpp"));
      const std::string text = e.what(), head = text.substr(0, text.find(':'));
      INFO(text);
      if (head != "reshape" && head != "t") CHECK(head == m.name);  // view and T are these
    }
  }
}

}  // namespace

TEST_CASE("every method gives what the function of its name gives", "[tensor]") {
  const ScopedExecutor interpreted(debug::Executor::Interpreter);
  check_all(table().methods);
}

TEST_CASE("methods of decompositions give what the functions give", "[tensor][lapack]") {
  check_all(table().decompositions);
}

TEST_CASE("the error of a method names it and the caller's file", "[tensor]") {
  check_errors(table().methods);
  check_errors(table().decompositions);
}

TEST_CASE("every method of tensor_methods.h has a row above", "[tensor]") {
  std::set<std::string> rows = {"register_hook", "remove"};  // custom_gradient_test.cpp
  const Table made = table();
  for (const std::vector<Method>* all : {&made.methods, &made.decompositions})
    for (const Method& m : *all) rows.insert(m.name);
  const std::set<std::string> declared =
      names_in("include/sinter/tensor_methods.h",
               std::regex(R"(^  (?:Tensor|bool|void|[A-Z]\w+|std::vector<Tensor>|std::pair<Tensor, Tensor>) (\w+)\()"));
  CHECK(declared.size() > 150);
  for (const std::string& name : declared) {
    INFO(name);
    CHECK((rows.contains(name) || name == "add_gradient_hook" || name.ends_with("split_evenly")));  // private
  }
}
