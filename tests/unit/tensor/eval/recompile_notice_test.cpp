// The notice of programs that are compiled anew for each size: when it comes, what it says, and when it must not.
#include "catch.h"

#include <optional>
#include <string>
#include <vector>

#include "sinter/sinter.h"
#include "unit/runtime_support.h"

using namespace sinter;
using runtime_test::CapturedLog;
using runtime_test::ScopedEnv;

namespace {

int count(const std::string& text, const std::string& what) {
  int n = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}
const std::string kSaid = "differ in sizes only";

Tensor rows(int64_t n, int64_t columns = 5) {
  return from(std::vector<float>(static_cast<size_t>(n * columns), 1.5f), {n, columns});
}

/// Notices while `run` runs.
template <class Run>
std::string said(Run run) {
  CapturedLog log;
  run();
  return log.text();
}

}  // namespace

TEST_CASE("sizes that change are said once, with the line and Var, after the third plan of a call site", "[notice]") {
  uint32_t made = 0, read = 0;
  const auto call = [&](int64_t n) {
    made = __LINE__ + 1;
    const Tensor x = from(std::vector<float>(static_cast<size_t>(n * 3), 2.0f), {n, 3});
    read = __LINE__ + 1;
    return (x * x).sum().item();
  };
  const std::string two = said([&] { call(7), call(8), call(7), call(8); });
  CHECK(two.empty());
  const std::string third = said([&] { call(9); });
  INFO(third);
  CHECK(count(third, kSaid) == 1);
  CHECK(count(third, "\n") == 1);
  CHECK(third.starts_with(std::string("sinter: item at ") + __FILE__ + ":" + std::to_string(read) + ": "));
  CHECK(count(third, "axis 0 of a tensor was 7 and is 9") == 1);
  CHECK(count(third, "Var n(\"n\", 1, LARGEST), then n(9) in place of 9") == 1);
  CHECK(count(third, std::string("in place of 9, from at ") + __FILE__ + ":" + std::to_string(made) + ".") == 1);
  CHECK(count(third, "SINTER_NOTICES=0") == 1);
  CHECK(said([&] {
          for (int64_t n = 10; n < 16; ++n) call(n);
        }).empty());
}

TEST_CASE("sizes that change: what is a case of it, and what is none", "[notice]") {
  struct Case {
    const char* name;
    int notices;
    void (*run)();
  };
  const Case cases[] = {
      {"what is kept changes, and no size", 0,
       [] {
         std::vector<Tensor> kept;
         for (const int what : {0, 1, 2, 3}) {
           const Tensor a = exp(rows(7)), b = a + 1.0;
           if (what & 1) kept.push_back(a);
           if (what & 2) kept.push_back(b);
           (b * b).sum().item();
         }
       }},
      {"updates of a model on episodes of several lengths", 1,
       [] {
         nn::Linear net(5, 2);
         optim::SGD optimiser(nn::parameters(net), {.lr = 0.01});
         for (int64_t n : {11, 12, 13, 14}) {
           (net(rows(n)) * 2.0).sum().backward();
           optimiser.step();
         }
       }},
      {"sequences that lie in a container, through one model", 1,
       [] {
         const nn::Linear net(5, 2);  // the first plan makes its weights too, and is another program
         std::vector<Tensor> data;
         for (int64_t n : {11, 12, 13, 14}) data.push_back(rows(n));
         for (const Tensor& x : data) net(x).sum().item();
       }},
      {"inference with numbers that are no parameters", 1,
       [] {
         const Tensor w = rows(5, 4);
         std::vector<Tensor> data;
         for (int64_t n : {11, 12, 13}) data.push_back(rows(n));
         for (const Tensor& x : data) matmul(x, w).sum().item();
       }},
      {"sizes inside of a number", 1,
       [] {
         for (int64_t n : {11, 12, 13}) (arange(n) * 3).sum().item();
       }},
      {"a jitted function", 1,
       [] {
         const Tensor w = rows(5, 4).realize();
         auto f = jit([&](const Tensor& x) { return matmul(x, w) + 1.0; });
         for (int64_t n : {11, 12, 13, 14}) f(rows(n));
       }},
      {"a Var", 0,
       [] {
         const Var n("n", 1, 64);
         for (int64_t size : {11, 12, 13, 14})
           (from(std::vector<float>(static_cast<size_t>(size * 5), 1.0f), {n(size), 5}) * 2.0).sum().item();
       }},
      {"an epoch's last batch", 0,
       [] {
         for (int64_t n : {16, 16, 7, 16, 16, 7, 16, 7}) (rows(n) * 2.0).sum().item();
       }},
      {"layers of three sizes, each evaluated once in a loop", 0,
       [] {
         const nn::Linear a(5, 7), b(7, 9), c(9, 11);
         Tensor x = rows(3);
         for (const nn::Linear* layer : {&a, &b, &c}) {
           x = relu((*layer)(x));
           x.realize();
         }
       }},
      {"weights of three sizes that are no parameters", 0,
       [] {
         const Tensor a = rows(5, 7), b = rows(7, 9), c = rows(9, 11);
         Tensor x = rows(3);
         for (const Tensor& w : {a, b, c}) x = relu(matmul(x, w)).realize();
       }},
      {"three lines that evaluate through one function", 0,
       [] {
         const auto value = [](const Tensor& t) { return t.item(); };
         value((rows(3) * 2.0).sum());
         value((rows(4) * 2.0).sum());
         value((rows(5) * 2.0).sum());
       }},
      {"the norms of a model's parameters", 0,
       [] {
         const nn::Linear a(5, 7), b(7, 9), c(9, 11), d(11, 13);
         for (const nn::Linear* layer : {&a, &b, &c, &d})
           for (const Tensor& p : nn::parameters(*layer)) (p * p).sum().item();
       }},
      {"the entries of a file", 0,
       [] {
         std::vector<Tensor> entries;
         for (int64_t n : {3, 4, 5, 6}) entries.push_back(rows(n));
         for (const Tensor& t : entries) t.mean().item();
       }},
      {"tensors of several sizes that are made in a loop", 0,
       [] {
         std::vector<Tensor> made;
         for (int64_t n : {3, 4, 5, 6}) made.push_back((rand({n, 2}) * 0.1).realize());
       }},
      {"three programs of one line", 0,
       [] {
         for (int i = 0; i < 3; ++i) {
           Tensor x = rows(4 + i);
           for (int k = 0; k < i; ++k) x = x + 1.0;
           x.sum().item();
         }
       }},
      {"the history of LBFGS, which grows", 0,
       [] {
         Tensor w = from({-1.2, 1.0}).requires_grad();
         optim::LBFGS optimizer({w}, {.max_iter = 25});
         optimizer.step([&] {
           optimizer.zero_grad();
           const Tensor loss = 100.0 * square(w[1] - square(w[0])) + square(1.0 - w[0]);
           loss.backward();
           return loss;
         });
       }},
      {"a constant that changes", 0,
       [] {
         for (int i = 0; i < 5; ++i) (rows(4) * (0.5 + i)).sum().item();
       }},
      {"plans that are forgotten and made again", 0,
       [] {
         for (int i = 0; i < 5; ++i) {
           (rows(4) * 7.0).sum().item();
           debug::clear_plans();
         }
       }},
  };
  for (const Case& c : cases) {
    const std::string text = said(c.run);
    INFO(c.name << "\n" << text);
    CHECK(count(text, kSaid) == c.notices);
  }
}

TEST_CASE("sizes that a mask decides: what is said can be followed", "[notice]") {
  const Tensor x = arange(20).to(float32).realize();
  uint32_t line = 0;
  const std::string text = said([&] {
    for (const double least : {18.5, 17.5, 16.5, 15.5}) {
      line = __LINE__ + 1;
      x[x > least].sum().item();
    }
  });
  INFO(text);
  CHECK(count(text, kSaid) == 1);
  CHECK(count(text, "the elements that a mask selects were 1 and are 3, in operator[] at " + std::string(__FILE__) +
                        ":" + std::to_string(line) + ". where(mask, x, 0), ") == 1);
  CHECK(count(text, "Var") == 0);
}

TEST_CASE("sizes that change are not said by the interpreter, which compiles nothing, nor with SINTER_NOTICES=0",
          "[notice]") {
  const auto call = [](int64_t n) { return (rows(n) * 3.0).sum().item(); };
  const auto sizes = [&] {
    for (int64_t n : {21, 22, 23, 24}) call(n);
  };
  {
    const ScopedEnv off("SINTER_NOTICES", "0");
    CHECK(said(sizes).empty());
  }
  debug::set_executor(debug::Executor::Interpreter);
  const std::string interpreted = said(sizes);
  debug::set_executor(debug::Executor::Compiled);
  CHECK(interpreted.empty());
  debug::clear_plans();
  CHECK(count(said(sizes), kSaid) == 1);
}
