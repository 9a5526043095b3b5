// Every method of in_place_methods.h writes what the function of its name gives, and gives the handle back.
#include <functional>

#include "repository.h"
#include "unit/tensor_support.h"

using namespace sinter;
using namespace sinter::testing;
using Catch::Matchers::Contains;

namespace {

struct Writing {
  const char* name;
  Tensor of;  ///< what it is called on
  std::function<Tensor&(Tensor&)> write;
  std::function<Tensor(const Tensor&)> function;
};

// x.name(...), beside an expression of x.
#define WRITES(name, of, call, expression)                           \
  Writing {                                                          \
    #name, of, [=](Tensor& x) -> Tensor& { return x.name call; },    \
        [=]([[maybe_unused]] const Tensor& x) { return expression; } \
  }

std::vector<Writing> writings() {
  const Tensor x = from({{0.4, 1.6, -2.5}, {3.5, -0.2, 0.0}}), y = x.flip(1) + 1.0, mask = x > 0.5;
  const Tensor positive = abs(x) + 0.5, whole = from({{3, 0, -5}, {7, 2, 6}}),
               special = from({{0.5, NAN}, {INFINITY, 2.0}});
  const Tensor places = from({{2, 0, 1}, {1, 1, 0}}), columns = from({2, 0}), a = from({{1.0, 2.0}, {3.0, 4.0}});
  const Tensor column = from({1.0, -2.0});
  return {
      WRITES(abs_, x, (), abs(x)),
      WRITES(add_, x, (y), add(x, y)),
      WRITES(add_, x, (y, 3), add(x, y, 3)),
      WRITES(add_, whole, (2), whole + 2),
      WRITES(addcdiv_, x, (x, positive), addcdiv(x, x, positive)),
      WRITES(addcdiv_, x, (x, positive, 2), addcdiv(x, x, positive, 2)),
      WRITES(addcmul_, x, (y, x), addcmul(x, y, x)),
      WRITES(addcmul_, x, (y, x, 3), addcmul(x, y, x, 3)),
      WRITES(addmm_, a, (a, a), addmm(a, a, a)),
      WRITES(addmm_, a, (a, a, 0.5, 2), addmm(a, a, a, 0.5, 2)),
      WRITES(addmv_, column, (a, column), addmv(x, a, x)),
      WRITES(addmv_, column, (a, column, 0.5, 2), addmv(x, a, x, 0.5, 2)),
      WRITES(baddbmm_, a.unsqueeze(0), (a.unsqueeze(0), a.unsqueeze(0)), baddbmm(x, x, x)),
      WRITES(baddbmm_, a.unsqueeze(0), (a.unsqueeze(0), a.unsqueeze(0), 0.5, 2), baddbmm(x, x, x, 0.5, 2)),
      WRITES(bitwise_and_, whole, (6), whole & 6),
      WRITES(bitwise_not_, whole, (), ~whole),
      WRITES(bitwise_or_, whole, (1), whole | 1),
      WRITES(bitwise_xor_, whole, (3), whole ^ 3),
      WRITES(ceil_, x, (), ceil(x)),
      WRITES(clamp_, x, (-1, 1), clamp(x, -1, 1)),
      WRITES(clamp_, x, (y, 1), clamp(x, y, 1)),
      WRITES(clamp_, x, (1), clamp_min(x, 1)),
      WRITES(clamp_, x, (std::nullopt, 1), clamp_max(x, 1)),
      WRITES(clamp_max_, x, (1), clamp_max(x, 1)),
      WRITES(clamp_min_, x, (-1), clamp_min(x, -1)),
      WRITES(clip_, x, (-1, 1), clamp(x, -1, 1)),
      WRITES(clip_, x, (1), clamp_min(x, 1)),
      WRITES(clip_, x, (std::nullopt, 1), clamp_max(x, 1)),
      WRITES(copy_, x, (y), y),
      WRITES(copy_, x, (from({7, 8, 9})), from({{7, 8, 9}, {7, 8, 9}}).to(float32)),
      WRITES(copy_, whole, (mask), mask.to(int64)),
      WRITES(cos_, x, (), cos(x)),
      WRITES(cosh_, x, (), cosh(x)),
      WRITES(cumprod_, x, (1), cumprod(x, 1)),
      WRITES(cumsum_, x, (0), cumsum(x, 0)),
      WRITES(cumsum_, whole.to(int32), (0), cumsum(whole, 0).to(int32)),
      WRITES(div_, x, (y), x / y),
      WRITES(div_, x, (positive, "floor"), div(x, positive, RoundingMode::Floor)),
      WRITES(erf_, x, (), erf(x)),
      WRITES(exp_, x, (), exp(x)),
      WRITES(exp2_, x, (), exp2(x)),
      WRITES(expm1_, x, (), expm1(x)),
      WRITES(fill_, x, (7), full({2, 3}, 7.0)),
      WRITES(fill_diagonal_, x, (7), where(from({{true, false, false}, {false, true, false}}), 7, x)),
      WRITES(floor_, x, (), floor(x)),
      WRITES(floor_divide_, whole, (2), floor_divide(x, 2)),
      WRITES(fmod_, whole, (-2), fmod(x, -2)),
      WRITES(frac_, x, (), frac(x)),
      WRITES(index_add_, x, (1, columns, 2), index_add(x, 1, columns, 2)),
      WRITES(index_copy_, x, (1, columns, a), index_copy(x, 1, columns, a)),
      WRITES(index_fill_, x, (1, columns, 7), index_fill(x, 1, columns, 7)),
      WRITES(index_put_, x, ({Slice{}, columns}, a), index_copy(x, 1, columns, a)),
      WRITES(index_reduce_, x, (1, columns, a, "prod"), index_reduce(x, 1, columns, a, ScatterReduce::Prod)),
      WRITES(index_reduce_, x, (1, columns, a, "amax", false), index_reduce(x, 1, columns, a, "amax", false)),
      WRITES(lerp_, x, (y, 0.25), lerp(x, y, 0.25)),
      WRITES(log_, positive, (), log(x)),
      WRITES(log10_, positive, (), log10(x)),
      WRITES(log1p_, positive, (), log1p(x)),
      WRITES(log2_, positive, (), log2(x)),
      WRITES(logical_and_, mask, (y > 0), logical_and(x, y > 0)),
      WRITES(logical_not_, x, (), logical_not(x).to(float32)),
      WRITES(logical_or_, mask, (y > 0), logical_or(x, y > 0)),
      WRITES(logical_xor_, mask, (y > 0), logical_xor(x, y > 0)),
      WRITES(masked_fill_, x, (mask, 7), masked_fill(x, mask, 7)),
      WRITES(masked_scatter_, x, (mask, y), masked_scatter(x, mask, y)),
      WRITES(mul_, x, (y), x * y),
      WRITES(nan_to_num_, special, (), nan_to_num(x)),
      WRITES(nan_to_num_, special, (1, 2, 3), nan_to_num(x, 1, 2, 3)),
      WRITES(neg_, x, (), -x),
      WRITES(pow_, positive, (y), pow(x, y)),
      WRITES(pow_, whole, (2), pow(x, 2)),
      WRITES(put_, x, (columns, 7), put(x, columns, 7)),
      WRITES(put_, x, (columns, from({1.0, 2.0}), true), put(x, columns, from({1.0, 2.0}), true)),
      WRITES(reciprocal_, positive, (), reciprocal(x)),
      WRITES(relu_, x, (), relu(x)),
      WRITES(remainder_, x, (positive), x % positive),
      WRITES(round_, x, (), round(x)),
      WRITES(rsqrt_, positive, (), rsqrt(x)),
      WRITES(scatter_, x, (1, places, y), scatter(x, 1, places, y)),
      WRITES(scatter_add_, x, (1, places, y), scatter_add(x, 1, places, y)),
      WRITES(scatter_reduce_, x, (1, places, y, "amin"), scatter_reduce(x, 1, places, y, ScatterReduce::Amin)),
      WRITES(scatter_reduce_, x, (1, places, y, "mean", false), scatter_reduce(x, 1, places, y, "mean", false)),
      WRITES(sigmoid_, x, (), sigmoid(x)),
      WRITES(sign_, x, (), sign(x)),
      WRITES(sin_, x, (), sin(x)),
      WRITES(sinh_, x, (), sinh(x)),
      WRITES(sqrt_, positive, (), sqrt(x)),
      WRITES(square_, x, (), square(x)),
      WRITES(sub_, x, (y), x - y),
      WRITES(sub_, x, (y, 3), sub(x, y, 3)),
      WRITES(tan_, x, (), tan(x)),
      WRITES(tanh_, x, (), tanh(x)),
      WRITES(tril_, x, (), tril(x)),
      WRITES(triu_, x, (1), triu(x, 1)),
      WRITES(trunc_, x, (), trunc(x)),
      WRITES(zero_, x, (), zeros({2, 3})),
      WRITES(detach_, x, (), x),
      // Draws: both from the default generator, which starts anew.
      WRITES(bernoulli_, x, (0.75), bernoulli(0.75, {2, 3}).to(float32)),
      WRITES(bernoulli_, whole, (), bernoulli(0.5, {2, 3}).to(int64)),
      WRITES(bernoulli_, x, (from({0.1, 0.5, 0.9})), bernoulli(from({{0.1, 0.5, 0.9}, {0.1, 0.5, 0.9}})).to(float32)),
      WRITES(cauchy_, x, (), cauchy(0, 1, {2, 3})),
      WRITES(cauchy_, x, (2, 0.5), cauchy(2, 0.5, {2, 3})),
      WRITES(geometric_, x, (0.25), geometric(0.25, {2, 3})),
      WRITES(log_normal_, x, (), log_normal(1, 2, {2, 3})),
      WRITES(log_normal_, x.to(float64), (0, 0.5), log_normal(0, 0.5, {2, 3}, {.dtype = float64})),
      WRITES(exponential_, x, (), exponential(1, {2, 3})),
      WRITES(exponential_, x.to(float64), (2), exponential(2, {2, 3}, {.dtype = float64})),
      WRITES(normal_, x, (2, 0.5), normal(2, 0.5, {2, 3})),
      WRITES(random_, x, (-3, 9), randint(-3, 9, {2, 3}).to(float32)),
      WRITES(random_, whole.to(uint8), (200), randint(0, 200, {2, 3}, {.dtype = uint8})),
      WRITES(random_, mask, (2), randint(0, 2, {2, 3}).to(boolean)),
      WRITES(uniform_, x, (-1, 1), uniform(-1, 1, {2, 3})),
  };
}

}  // namespace

TEST_CASE("every method with _ writes what the function of its name gives", "[tensor]") {
  ON_BOTH_EXECUTORS();
  for (const Writing& w : writings()) {
    INFO(w.name);
    manual_seed(3);
    const Tensor want = w.function(w.of);
    manual_seed(3);
    Tensor x = w.of.clone();
    const Tensor alias = x, before = x + x;
    CHECK(&w.write(x) == &x);
    CHECK(alias.dtype() == w.of.dtype());
    CHECK(alias.dtype() == want.dtype());
    CHECK(alias.shape() == want.shape());
    CHECK(same(numbers(alias), numbers(want)));
    CHECK(same(numbers(before), numbers(w.of + w.of)));  // values made before are not written
  }
}

TEST_CASE("every method with _ has a row above", "[tensor]") {
  std::set<std::string> rows;
  for (const Writing& w : writings()) rows.insert(w.name);
  const std::set<std::string> declared =
      names_in("include/sinter/in_place_methods.h", std::regex(R"(^  Tensor& (\w+_)\()"));
  CHECK(declared.size() > 50);
  for (const std::string& name : declared) {
    INFO(name);
    CHECK(rows.contains(name));
  }
}

TEST_CASE("errors of methods with _ name them and the caller's file", "[tensor]") {
  for (const Writing& w : writings()) {
    INFO(w.name);
    Tensor empty;
    try {
      w.write(empty);
      FAIL_CHECK("accepted an empty handle");
    } catch (const UsageError& e) {
      INFO(e.what());
      CHECK(std::string(e.what()).starts_with(std::string(w.name) + ":"));
      CHECK(std::string(e.where().file_name()).ends_with("in_place_test.cpp"));
    }
  }
  Tensor whole = zeros({2}, int64);
  CHECK_THROWS_WITH(whole.sqrt_(), Catch::StartsWith("sqrt_: ") && Contains("float"));
  CHECK_THROWS_WITH(whole.random_(3, 3), Catch::StartsWith("random_: ") && Contains("[3, 3)"));
  CHECK_THROWS_WITH(whole.bernoulli_(1.5), Catch::StartsWith("bernoulli_: ") && Contains("1.5"));
  CHECK_THROWS_WITH(whole.exponential_(), Catch::StartsWith("exponential_: ") && Contains("int64"));
}

TEST_CASE("detach_ forgets the history, of leaves and of others", "[tensor][gradient]") {
  Tensor leaf = from({1.0, 2.0});
  leaf.requires_grad();
  Tensor y = leaf * 3.0;
  const Tensor z = y * 2.0;
  CHECK(y.needs_grad());
  CHECK(&y.detach_() == &y);
  CHECK_FALSE(y.needs_grad());
  CHECK(z.needs_grad());  // was made before
  CHECK(numbers(y) == list({3, 6}));
  leaf.detach_();
  CHECK_FALSE(leaf.needs_grad());
  CHECK(numbers(leaf) == list({1, 2}));
}
