// Errors of symbolic sizes: each says what to do instead, and what it says can be done.
#include <functional>
#include <string>
#include <vector>

#include "catch.h"
#include "sinter/sinter.h"

using namespace sinter;

namespace {

const Var& batch() {
  static const Var var("batch", 0, 8);
  return var;
}
Tensor rows(int64_t n = 3) { return ones({batch()(n), 4}).contiguous(); }
Tensor f(Shape shape) { return ones(shape); }
Tensor ints(Shape shape) { return zeros(shape, int64); }

struct Case {
  const char* call;
  std::function<void()> run;
  std::vector<const char*> says;  ///< the size, and what to do
};

const char *const kSameVar = "give both tensors the same Var",
                  *const kSameNumber = "bind it to the same number in both",
                  *const kNumber = "make the tensor with 3 in place of the Var", *const kTensor = "index with a tensor";

#define CASE(call, expression, ...)                              \
  {                                                              \
    call, [] { static_cast<void>(expression); }, { __VA_ARGS__ } \
  }

// clang-format off
const Case kCases[] = {
    // -- the variable itself
    CASE("Var", Var("n", 5, 1), "[5, 1]", "give 0 <= min <= max"),
    CASE("Var", batch()(9), "9", "widen the bounds"),
    CASE("size", static_cast<int64_t>(rows().size(0)), "batch=3", "ask value()"),
    // -- two sizes that should agree
    CASE("operator+", rows() + f({3, 4}), "batch=3 against 3", kSameVar),
    CASE("operator+", rows() + ones({Var("n", 1, 8)(3), 4}), "batch=3 against n=3", kSameVar),
    CASE("operator+", rows() + rows(2), "batch=3 against batch=2", kSameNumber),
    CASE("where", where(rows() > 0.0, f({3, 4}), 0.0), "[batch=3, 4]", kSameVar),
    CASE("operator+=", [] { Tensor x = f({3, 4}); x += rows(); }(), "[batch=3, 4]", kSameVar),
    CASE("expand", rows().expand({3, 4}), "batch=3", kSameVar),
    CASE("broadcast", broadcast({rows(), f({3, 4})}), "[batch=3, 4]", kSameVar),
    CASE("matmul", matmul(f({2, 3}), rows()), "3 against batch=3", kSameVar),
    CASE("matmul", matmul(rows().transpose(), rows(2)), "batch=3 against batch=2", kSameNumber),
    CASE("matmul", matmul(ones({batch()(3), 2, 2}), f({3, 2, 2})), "batch=3 against 3", kSameVar),
    CASE("dot", dot(ones({batch()(3)}), f({3})), "[batch=3]", kSameVar),
    CASE("einsum", einsum("ij,ik->jk", {rows(), f({3, 2})}), "batch=3 and for 3", kSameVar),
    CASE("einsum", einsum("ii->i", {ones({batch()(3), 3})}), "batch=3 and 3", kSameVar),
    CASE("gather", gather(rows(), 1, ints({3, 2})), "[batch=3, 4]", kSameVar),
    CASE("take_along_dim", take_along_dim(rows(), ints({3, 2}), 1), "batch=3", kSameVar),
    CASE("scatter_add", scatter_add(rows(), 1, ints({3, 2}), 1.0), "[batch=3, 4]", kSameVar),
    CASE("scatter_add", scatter_add(f({3, 4}), 0, zeros({batch()(3), 4}, int64), f({3, 4})), "batch=3", kSameVar),
    CASE("bmm", bmm(ones({batch()(3), 2, 2}), f({3, 2, 2})), "batch=3 against 3", kSameVar),
    CASE("inner", inner(ones({batch()(3)}), f({3})), "batch=3 against 3", kSameVar),
    CASE("tensordot", tensordot(rows(), f({3, 2}), {0}, {0}), "batch=3 against 3", kSameVar),
    CASE("multi_dot", multi_dot({rows().transpose(), f({3, 2})}), "batch=3", kSameVar),
    CASE("cdist", cdist(ones({2, batch()(3)}), f({2, 3})), "batch=3 columns against 3", kSameVar),
    CASE("stack", stack({rows(), f({3, 4})}), "[batch=3, 4]", kSameVar),
    CASE("stack", stack({rows(), rows(2)}), "[batch=2, 4]", kSameNumber),
    CASE("cat", cat({rows(), f({3, 4})}, 1), "[batch=3, 4]", kSameVar),
    CASE("mse_loss", mse_loss(rows(), f({3, 4})), "[batch=3, 4]", kSameVar),
    CASE("cross_entropy", cross_entropy(rows(), ints({3})), "[batch=3, 4]", kSameVar),
    CASE("attention", scaled_dot_product_attention(rows(), rows(), f({3, 4})), "batch=3 and 3", kSameVar),
    CASE("backward", [] { Tensor x = f({4}); x.requires_grad(); (rows() * x).backward(f({3, 4})); }(), "[batch=3, 4]", kSameVar),
    CASE("set_grad", [] { Tensor x = rows().realize(); x.requires_grad(); x.set_grad(f({3, 4})); }(), "[batch=3, 4]", kSameVar),
    // -- what needs a number
    CASE("reshape", rows().reshape({12}), "[batch=3, 4]", "keep it, as size(axis) of the tensor or as -1"),
    CASE("reshape", rows().reshape({3, 4}), "[batch=3, 4]", "keep it, as size(axis) of the tensor or as -1"),
    CASE("flatten", rows().flatten(), "batch=3", kNumber),
    CASE("operator[]", rows()[0], "batch=3", kNumber, kTensor),
    CASE("slice", rows().slice(0, Slice(1, 2)), "batch=3", kNumber, kTensor, "choose with where()"),
    CASE("index", rows().index({ints({2}), ints({2})}), "batch=3", kNumber),
    CASE("cat", cat({rows(), rows()}), "batch=3", kNumber),
    CASE("split", rows().split(1), "batch=3", kNumber),
    CASE("chunk", rows().chunk(2), "batch=3", kNumber),
    CASE("pad", rows().pad({{1, 1}, {0, 0}}), "batch=3", kNumber),
    CASE("unflatten", unflatten(rows(), 0, {3, 1}), "batch=3", kNumber),
    CASE("narrow", narrow(rows(), 0, 0, 1), "batch=3", kNumber),
    CASE("select", select(rows(), 0, 1), "batch=3", kNumber, kTensor),
    CASE("unbind", unbind(rows()), "batch=3", kNumber),
    CASE("tensor_split", tensor_split(rows(), {1}), "batch=3", kNumber),
    CASE("cartesian_prod", cartesian_prod({ones({batch()(3)}), f({2})}), "batch=3", kNumber),
    CASE("roll", roll(rows(), 1, 0), "batch=3", kNumber),
    CASE("repeat", repeat(rows(), {2, 1}), "batch=3", kNumber),
    CASE("repeat_interleave", repeat_interleave(rows(), 2, 0), "batch=3", kNumber),
    CASE("diagonal", diagonal(rows()), "batch=3", kNumber),
    CASE("diag", diag(ones({batch()(3)}), 1), "batch=3", kNumber),
    CASE("pad", pad(rows(), {{1, 1}, {0, 0}}, PadMode::Circular), "batch=3", kNumber),
    CASE("diff", diff(rows(), 1, 0), "batch=3", kNumber),
    CASE("kron", kron(rows(), rows()), "batch=3", kNumber),
    CASE("pdist", pdist(rows()), "batch=3", kNumber),
    CASE("conv1d", conv1d(ones({1, 4, batch()(3)}), f({2, 4, 2})), "batch=3", kNumber),
    CASE("conv1d", conv1d(ones({1, batch()(3), 4}), f({2, 3, 2})), "batch=3", kNumber),
    CASE("conv1d", conv1d(f({1, 4, 5}), ones({batch()(3), 4, 2})), "batch=3", kNumber),
    CASE("max_pool2d", max_pool2d(ones({1, 1, batch()(3), 4}), 2), "batch=3", kNumber),
    CASE("group_norm", group_norm(ones({2, batch()(3), 4}), 1), "batch=3", kNumber),
    CASE("rotary_embedding", rotary_embedding(ones({4, batch()(3)})), "batch=3", kNumber),
    CASE("arange", arange(static_cast<int64_t>(batch()(3))), "batch=3", "ask value()"),
};
// clang-format on

std::string error_of(const Case& c) {
  try {
    c.run();
  } catch (const UsageError& e) { return e.what(); }
  return "no error";
}

}  // namespace

TEST_CASE("every error of a symbolic size names the way out", "[error]") {
  for (const Case& c : kCases) {
    const std::string text = error_of(c);
    INFO(c.call << "\n" << text);
    for (const char* part : c.says) CHECK(text.find(part) != std::string::npos);
  }
}

TEST_CASE("the ways out that errors of symbolic sizes name are open", "[error]") {
  const Tensor x = rows() * 2.0;
  CHECK(x.index({zeros({2}, int64)}).to_vector<float>() == std::vector<float>(8, 2.0f));
  CHECK(x.reshape({x.size(0), 2, 2}).shape() == Shape{batch()(3), 2, 2});
  CHECK(x.reshape({-1, 2, 2}).shape() == Shape{batch()(3), 2, 2});
  CHECK((x + rows()).to_vector<float>() == std::vector<float>(12, 3.0f));
  CHECK(x.size(0).value() == 3);
  CHECK(where(arange(x.size(0).value()).unsqueeze(1) < 2, f({3, 1}), 0.0).sum().item() == 2);
}
