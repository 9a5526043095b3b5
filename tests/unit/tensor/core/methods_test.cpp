// Methods that are functions as well give what the functions give, and those with _ write it.
#include "unit/tensor_support.h"

using namespace sinter;
using namespace sinter::testing;
using Catch::Matchers::Contains;

namespace {

using Tensors = std::vector<Tensor>;

/// Whether two calls have the same results: types, shapes and bits.
void check_same(const Tensors& method, const Tensors& function) {
  REQUIRE(method.size() == function.size());
  for (size_t i = 0; i < method.size(); ++i) {
    CHECK(method[i].dtype() == function[i].dtype());
    CHECK(method[i].shape() == function[i].shape());
    CHECK(same(numbers(method[i]), numbers(function[i])));
  }
}
Tensors parts(const Ranked& r) { return {r.values, r.indices}; }
Tensors parts(const Distinct& d) { return {d.values, d.inverse, d.counts}; }
Tensors parts(const std::pair<Tensor, Tensor>& p) { return {p.first, p.second}; }

Tensor matrix() { return from({{4.0, 1.0, 0.5}, {1.0, 3.0, 0.25}, {0.5, 0.25, 2.0}}); }

/// A method that writes gives the handle back, and the cell holds what the function gives.
template <class Write>
void check_writes(const Tensor& x, const Tensor& want, Write write) {
  Tensor y = x.clone();
  const Tensor alias = y;
  CHECK(&write(y) == &y);
  check_same({alias}, {want});
}

}  // namespace

TEST_CASE("methods give what the functions of their names give", "[tensor]") {
  const Tensor x = from({{0.5, NAN, 0.25}, {0.75, 0.5, 0.5}}), a = matrix(), v = from({1.0, 2.0, -1.0});
  check_same({x.logit(), x.logit(0.1)}, {logit(x), logit(x, 0.1)});
  check_same({x.where(x > 0.3, -1.0)}, {where(x > 0.3, x, -1.0)});
  check_same(x.split({1, 2}, 1), split(x, {1, 2}, 1));
  check_same(x.tensor_split({2}, 1), tensor_split(x, {2}, 1));
  check_same(x.tensor_split(2, 1), tensor_split(x, 2, 1));
  check_same({ones({2, 3, 4}).movedim({0, 1}, {2, 0})}, {movedim(ones({2, 3, 4}), {0, 1}, {2, 0})});
  check_same({a.addmm(a, a), a.addmm(a, a, 0.5, 2)}, {addmm(a, a, a), addmm(a, a, a, 0.5, 2)});
  check_same({v.addmv(a, v, 2)}, {addmv(v, a, v, 2)});
  const Tensor batch = a.unsqueeze(0);
  check_same({batch.baddbmm(batch, batch, 1, 3)}, {baddbmm(batch, batch, batch, 1, 3)});
  check_same(parts(x.aminmax(1, true)), parts(aminmax(x, 1, true)));
  check_same({x.nanmedian(), x.nanquantile(0.25, 1)}, {nanmedian(x), nanquantile(x, 0.25, 1)});
  check_same(parts(x.nanmedian(1)), parts(nanmedian(x, 1)));
  check_same(parts(x.mode(0)), parts(mode(x, 0)));
  check_same({x.msort(), a.histc(4, 0, 4)}, {msort(x), histc(a, 4, 0, 4)});
  const Tensor counted = from({1, 3, 1});
  check_same(parts(counted.unique()), parts(unique(counted)));
  check_same({counted.bincount(), counted.bincount(v, 6)}, {bincount(counted), bincount(counted, v, 6)});
  check_same({v.scatter_reduce(0, from({0, 0}), from({5.0, 7.0}), ScatterReduce::Mean, false)},
             {scatter_reduce(v, 0, from({0, 0}), from({5.0, 7.0}), ScatterReduce::Mean, false)});
  Generator one(5), two(5);
  check_same({a.multinomial(2, false, {.generator = &one})}, {multinomial(a, 2, false, {.generator = &two})});
}

TEST_CASE("methods of decompositions give what the functions give", "[tensor][lapack]") {
  const Tensor a = matrix();
  check_same({a.cholesky(), a.cholesky(true)}, {cholesky(a), cholesky(a, true)});
  check_same({a.det(), a.inverse(), a.logdet()}, {det(a), inverse(a), logdet(a)});
  check_same({a.slogdet().sign, a.slogdet().logabsdet}, {slogdet(a).sign, slogdet(a).logabsdet});
  check_same({a.qr("complete").q, a.qr().r}, {qr(a, "complete").q, qr(a).r});
  check_same({a.svd().s, a.svd(false).vh}, {svd(a).s, svd(a, false).vh});
}

TEST_CASE("methods with _ write what the functions give", "[tensor]") {
  ON_BOTH_EXECUTORS();
  const Tensor x = from({{0.4, 1.6, -2.5}, {3.5, -0.2, 0.0}}), y = x.flip(1) + 1.0;
  check_writes(x, floor(x), [](Tensor& t) -> Tensor& { return t.floor_(); });
  check_writes(x, round(x), [](Tensor& t) -> Tensor& { return t.round_(); });
  check_writes(x, triu(x, 1), [](Tensor& t) -> Tensor& { return t.triu_(1); });
  check_writes(x, tril(x), [](Tensor& t) -> Tensor& { return t.tril_(); });
  check_writes(x, lerp(x, y, 0.25), [&](Tensor& t) -> Tensor& { return t.lerp_(y, 0.25); });
  check_writes(x, addcmul(x, y, x, 3), [&](Tensor& t) -> Tensor& { return t.addcmul_(y, x, 3); });
  check_writes(x, addcdiv(x, x, y), [&](Tensor& t) -> Tensor& { return t.addcdiv_(x, y); });
  check_writes(x, masked_scatter(x, x > 1, y), [&](Tensor& t) -> Tensor& { return t.masked_scatter_(x > 1, y); });
}

TEST_CASE("index_put_ takes the items of an index", "[tensor]") {
  ON_BOTH_EXECUTORS();
  const Tensor x = arange(12).reshape({3, 4}), places = from({2, 0, 2}), values = from({{7, 8, 9}});
  const auto written = [&](auto write) {
    Tensor y = x.clone();
    write(y);
    return y;
  };
  const auto ints = [](const Tensor& t) { return t.to_vector<int64_t>(); };
  CHECK(ints(written([&](Tensor& y) { y.index_put_({Slice{}, places}, values); })) ==
        ints(written([&](Tensor& y) { y.at({Slice{}, places}) = values; })));
  CHECK(ints(written([&](Tensor& y) { y.index_put_({1, "..."}, -1); }))[5] == -1);
  CHECK(ints(written([&](Tensor& y) { y.index_put_({x > 9}, 0); })) == ints(where(x > 9, 0, x)));
  CHECK(ints(written([&](Tensor& y) { y.index_put_({places, places}, 5); })) ==
        ints(index_put(x, {places, places}, 5)));
  const std::vector<Tensor> indices{places};
  CHECK(ints(written([&](Tensor& y) { y.index_put_(indices, 5); })) == ints(index_put(x, indices, 5)));
  // Added for each time that an element is named.
  CHECK(ints(written([&](Tensor& y) { y.index_put_({Slice{0, 1}, places}, values, true); })) ==
        std::vector<int64_t>{8, 1, 18, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  CHECK(ints(written([&](Tensor& y) { y.index_put_(indices, 1, true); })) == ints(index_put(x, indices, 1, true)));
  Tensor d = zeros({3}, float64);
  d.index_put_({places}, 0.1, true);
  CHECK(numbers(d) == list({0.1, 0, 0.1 + 0.1}));
}

TEST_CASE("errors of methods with _ bear their names", "[tensor]") {
  Tensor x = zeros({3}), n = zeros({3}, int64), leaf = zeros({3});
  leaf.requires_grad();
  CHECK_THROWS_WITH(leaf.fill_(1), Catch::StartsWith("fill_: ") && Contains("no_grad"));
  CHECK_THROWS_WITH(leaf.add_(1), Catch::StartsWith("add_: "));
  CHECK_THROWS_WITH(n.fill_(0.5), Catch::StartsWith("fill_: ") && Contains("int64"));
  CHECK_THROWS_WITH(x.mul_(ones({2})), Catch::StartsWith("mul_: ") && Contains("[2]"));
  CHECK_THROWS_WITH(leaf.zero_(), Catch::StartsWith("zero_: "));
  CHECK_THROWS_WITH(leaf.uniform_(), Catch::StartsWith("uniform_: "));
  CHECK_THROWS_WITH(leaf.index_put_({0}, 1), Catch::StartsWith("index_put_: "));
}

TEST_CASE("the error of too many pairs of widths says what they are", "[tensor]") {
  CHECK_THROWS_WITH(zeros({3}).pad({{1, 1}, {2, 2}}), Contains("2 pairs") && Contains("in the order of the axes"));
}

TEST_CASE("unfold gives windows along an axis, which share elements and gradients", "[tensor][gradient]") {
  ON_BOTH_EXECUTORS();
  Tensor x = arange(5, float32);
  const Tensor windows = x.unfold(0, 3, 2);
  CHECK(windows.shape() == Shape{2, 3});
  CHECK(numbers(windows) == list({0, 1, 2, 2, 3, 4}));
  CHECK(ones({2, 5, 3}).unfold(1, 2, 3).shape() == Shape{2, 2, 3, 2});
  CHECK(x.unfold(-1, 1, 9).shape() == Shape{1, 1});
  x.requires_grad();
  CHECK(numbers(gradient((x.unfold(0, 3, 1) * from({1.0, 10.0, 100.0})).sum(), {x})[0]) ==
        list({1, 11, 111, 110, 100}));
  CHECK_THROWS_WITH(x.unfold(0, 6, 1), Contains("6 elements") && Contains("float32 [5]"));
  CHECK_THROWS_WITH(x.unfold(0, 2, 0), Contains("one every 0"));
  CHECK_THROWS_WITH(x.unfold(1, 2, 1), Contains("unfold") && Contains("[5]"));
}
