// What the refusals of jit() advise: each program that is refused, and the same one after the advice was followed to
// the letter, which must give what it gives without jit.
#include "catch.h"
#include "jit_support.h"
#include "sinter/sinter.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

using namespace sinter;
using namespace jit_test;
using Catch::Matchers::Contains;

namespace {

/// With f jitted or as it is.
class Caller {
 public:
  explicit Caller(bool fast) : fast_(fast) {}
  template <class F>
  auto operator()(F f) const {
    const auto plain = std::make_shared<F>(f);
    const auto jitted = std::make_shared<Jitted<F>>(jit(f));
    return [fast = fast_, plain, jitted](const auto&... inputs) {
      return fast ? (*jitted)(inputs...) : (*plain)(inputs...);
    };
  }

 private:
  bool fast_;
};

struct Advice {
  std::string fault;   ///< what the message says is wrong
  std::string advice;  ///< what it says to do
  std::function<Tensor(const Caller&)> refused, advised;
};

constexpr int kCalls = 6;  // the function's own, and those of its plan alone

/// The sum of what f gives at each call, which is told its number.
template <class F>
Tensor over_calls(F f) {
  Tensor sum;
  for (int i = 0; i < kCalls; ++i) {
    const Tensor y = f(i).detach().clone().realize();
    sum = sum.defined() ? (sum * 0.5 + y).realize() : y;
  }
  return sum;
}
Tensor input(int i) { return numbers({4}, i); }

const std::vector<Advice>& table() {
  static const std::vector<Advice> all{
      {"share their memory", "t = t.clone().realize()",
       [](const Caller& caller) {
         const Tensor b = numbers({4}), t = b.reshape({2, 2});
         t.realize();
         const auto f = caller([=](const Tensor& x) { return x * b + t.sum(); });
         return over_calls([&](int i) { return f(input(i)); });
       },
       [](const Caller& caller) {
         const Tensor b = numbers({4});
         Tensor t = b.reshape({2, 2});
         t = t.clone().realize();
         const auto f = caller([=](const Tensor& x) { return x * b + t.sum(); });
         return over_calls([&](int i) { return f(input(i)); });
       }},
      {"share their memory", "use one",
       [](const Caller& caller) {
         const Tensor b = numbers({4});
         const auto f = caller([=](const Tensor& x) { return x * b; });
         return over_calls([&](int) { return f(b); });
       },
       [](const Caller& caller) {
         const Tensor b = numbers({4});
         const auto f = caller([=](const Tensor& x) { return x * x; });
         return over_calls([&](int) { return f(b); });
       }},
      {"share their memory", "copy the other before, by t = t.clone().realize()",
       [](const Caller& caller) {
         const Tensor b = numbers({4});
         const auto f = caller([=](const Tensor& x) { return x * b; });
         return over_calls([&](int) { return f(b.reshape({4})); });
       },
       [](const Caller& caller) {
         const Tensor b = numbers({4});
         Tensor t = b.reshape({4});
         t = t.clone().realize();
         const auto f = caller([=](const Tensor& x) { return x * b; });
         return over_calls([&](int) { return f(t); });
       }},
      {"waits to be computed", "t.realize()",
       [](const Caller& caller) {
         const Tensor b = numbers({4}), t = exp(b);
         const auto f = caller([=](const Tensor& x) { return x * t + b; });
         return over_calls([&](int i) { return f(input(i)); });
       },
       [](const Caller& caller) {
         const Tensor b = numbers({4}), t = exp(b);
         t.realize();
         const auto f = caller([=](const Tensor& x) { return x * t + b; });
         return over_calls([&](int i) { return f(input(i)); });
       }},
      {"waits to be computed", "t.realize()",
       [](const Caller& caller) {
         const Tensor b = numbers({4}), t = b.clone();
         const auto f = caller([=](const Tensor& x) { return x * t + b; });
         return over_calls([&](int i) { return f(input(i)); });
       },
       [](const Caller& caller) {
         const Tensor b = numbers({4}), t = b.clone();
         t.realize();
         const auto f = caller([=](const Tensor& x) { return x * t + b; });
         return over_calls([&](int i) { return f(input(i)); });
       }},
      {"waits to be computed", "t = t.clone().realize()",
       [](const Caller& caller) {
         const Tensor b = numbers({2, 2}), t = b.reshape({4});
         const auto f = caller([=](const Tensor& x) { return x * t + b.sum(); });
         return over_calls([&](int i) { return f(input(i)); });
       },
       [](const Caller& caller) {
         const Tensor b = numbers({2, 2});
         Tensor t = b.reshape({4});
         t = t.clone().realize();
         const auto f = caller([=](const Tensor& x) { return x * t + b.sum(); });
         return over_calls([&](int i) { return f(input(i)); });
       }},
      {"waits to be computed", "t.realize()",
       [](const Caller& caller) {
         manual_seed(3);
         const Tensor t = rand({4});
         const auto f = caller([=](const Tensor& x) { return x * t; });
         return over_calls([&](int i) { return f(input(i)); });
       },
       [](const Caller& caller) {
         manual_seed(3);
         const Tensor t = rand({4});
         t.realize();
         const auto f = caller([=](const Tensor& x) { return x * t; });
         return over_calls([&](int i) { return f(input(i)); });
       }},
      {"data from host memory", "make it outside",
       [](const Caller& caller) {
         const auto f = caller([](const Tensor& x) { return x * from({1.0, 2.0, 3.0, 4.0}); });
         return over_calls([&](int i) { return f(input(i)); });
       },
       [](const Caller& caller) {
         const Tensor data = from({1.0, 2.0, 3.0, 4.0});
         const auto f = caller([=](const Tensor& x) { return x * data; });
         return over_calls([&](int i) { return f(input(i)); });
       }},
      {"data from host memory", "pass it as an input",
       [](const Caller& caller) {
         const auto f = caller([](const Tensor& x) { return x * from({1.0, 2.0, 3.0, 4.0}); });
         return over_calls([&](int i) { return f(input(i)); });
       },
       [](const Caller& caller) {
         const auto f = caller([](const Tensor& x, const Tensor& data) { return x * data; });
         return over_calls([&](int i) { return f(input(i), from({1.0, 2.0, 3.0, 4.0})); });
       }},
      {"assigns its input 0", "assign outside",
       [](const Caller& caller) {
         Tensor w = numbers({4}, 1);
         const auto f = caller([](Tensor t) { return t += 1.0, t * 2.0; });
         return over_calls([&](int) { return f(w); });
       },
       [](const Caller& caller) {
         Tensor w = numbers({4}, 1);
         const auto f = caller([](const Tensor& t) { return t * 2.0; });
         return over_calls([&](int) { return w += 1.0, f(w); });
       }},
      {"assigns its input 0", "use that tensor without passing it",
       [](const Caller& caller) {
         Tensor w = numbers({4}, 1);
         const auto f = caller([](Tensor t) { return t += 1.0, t * 2.0; });
         return over_calls([&](int) { return f(w); });
       },
       [](const Caller& caller) {
         Tensor w = numbers({4}, 1);
         const auto f = caller([w]() mutable { return w += 1.0, w * 2.0; });
         return over_calls([&](int) { return f(); });
       }},
      {"the gradient that input 0 has collected", "use that tensor without passing it",
       [](const Caller& caller) {
         Tensor p = numbers({4}).requires_grad();
         (p * p).sum().backward();
         const no_grad off;
         const auto f = caller([](const Tensor& t) { return t.grad() * 2.0; });
         return over_calls([&](int) { return f(p); });
       },
       [](const Caller& caller) {
         Tensor p = numbers({4}).requires_grad();
         (p * p).sum().backward();
         p.grad().realize();
         const no_grad off;
         const auto f = caller([=] { return p.grad() * 2.0; });
         return over_calls([&](int) { return f(); });
       }},
      {"the gradient that input 0 has collected", "pass its grad()",
       [](const Caller& caller) {
         Tensor p = numbers({4}).requires_grad();
         (p * p).sum().backward();
         const no_grad off;
         const auto f = caller([](const Tensor& t) { return t.grad() * 2.0; });
         return over_calls([&](int) { return f(p); });
       },
       [](const Caller& caller) {
         Tensor p = numbers({4}).requires_grad();
         (p * p).sum().backward();
         const no_grad off;
         const auto f = caller([](const Tensor& g) { return g * 2.0; });
         return over_calls([&](int) { return f(p.grad()); });
       }},
      {"leaves a gradient in a tensor", "return what gradient() gives",
       [](const Caller& caller) {
         Tensor p = numbers({4}).requires_grad();
         const auto f = caller([=](const Tensor& x) { return (x * p * p).sum().backward(), x * 2.0; });
         return over_calls([&](int i) { return f(input(i)); });
       },
       [](const Caller& caller) {
         Tensor p = numbers({4}).requires_grad();
         const auto f = caller([=](const Tensor& x) { return gradient((x * p * p).sum(), {p})[0].detach(); });
         return over_calls([&](int i) { return f(input(i)); });
       }},
      {"takes the gradient of a tensor that has a gradient from before", "take it before, by zero_grad()",
       [](const Caller& caller) {
         Tensor p = numbers({4}).requires_grad();
         p.set_grad(numbers({4}));
         const auto f = caller([p](const Tensor& x) mutable { return p.zero_grad(), x * 2.0; });
         return over_calls([&](int i) { return f(input(i)); });
       },
       [](const Caller& caller) {
         Tensor p = numbers({4}).requires_grad();
         p.set_grad(numbers({4}));
         const auto f = caller([](const Tensor& x) { return x * 2.0; });
         return over_calls([&](int i) { return p.zero_grad(), f(input(i)); });
       }},
      {"reads or realizes a tensor", "return the tensor, and read it",
       [](const Caller& caller) {
         const auto f = caller([](const Tensor& x) { return x * x.sum().item(); });
         return over_calls([&](int i) { return f(input(i)); });
       },
       [](const Caller& caller) {
         const auto f = caller([](const Tensor& x) { return x.sum(); });
         return over_calls([&](int i) { return input(i) * f(input(i)).item(); });
       }},
      {"takes the gradient of a tensor that has a gradient from before", "let the function make its own by backward()",
       [](const Caller& caller) {
         Tensor p = numbers({4}).requires_grad();
         auto sgd = std::make_shared<optim::SGD>(std::vector<Tensor>{p}, optim::SGDOptions{.lr = 0.125});
         p.set_grad(numbers({4}));
         const auto f = caller([=](const Tensor& x) { return sgd->step(), x * 2.0; });
         return over_calls([&](int i) { return f(input(i)); });
       },
       [](const Caller& caller) {
         Tensor p = numbers({4}).requires_grad();
         optim::SGD sgd({p}, {.lr = 0.125});
         p.set_grad(numbers({4}));
         const Tensor seed = p.grad();
         const auto f = caller([=, &sgd](const Tensor& x) {
           (p * seed).sum().backward();
           sgd.step();
           return x * 2.0;
         });
         return over_calls([&](int i) { return p.zero_grad(), f(input(i)); });
       }},
      {"a generator that is gone", "make the generator outside",
       [](const Caller& caller) {
         const auto f = caller([](const Tensor& x) {
           Generator own(5);
           return x * rand({4}, {.generator = &own});
         });
         return over_calls([&](int i) { return f(input(i)); });
       },
       [](const Caller& caller) {
         Generator own(5);
         const auto f = caller([&](const Tensor& x) { return x * rand({4}, {.generator = &own}); });
         return over_calls([&](int i) { return f(input(i)); });
       }},
      {"sets the state of a generator", "do it outside",
       [](const Caller& caller) {
         const auto f = caller([](const Tensor& x) { return manual_seed(7), x * rand({4}); });
         return over_calls([&](int i) { return f(input(i)); });
       },
       [](const Caller& caller) {
         const auto f = caller([](const Tensor& x) { return x * rand({4}); });
         return over_calls([&](int i) { return manual_seed(7), f(input(i)); });
       }},
      {"result 0 of the jitted function is not computed by it", "a clone()",
       [](const Caller& caller) {
         const auto f = caller([](const Tensor& x) { return x; });
         return over_calls([&](int i) { return f(input(i)); });
       },
       [](const Caller& caller) {
         const auto f = caller([](const Tensor& x) { return x.clone(); });
         return over_calls([&](int i) { return f(input(i)); });
       }},
      {"result 0 of the jitted function is not computed by it", "a clone()",
       [](const Caller& caller) {
         const Tensor w = numbers({4});
         const auto f = caller([=](const Tensor&) { return w; });
         return over_calls([&](int i) { return f(input(i)); });
       },
       [](const Caller& caller) {
         const Tensor w = numbers({4});
         const auto f = caller([=](const Tensor&) { return w.clone(); });
         return over_calls([&](int i) { return f(input(i)); });
       }},
      {"result 0 of the jitted function requires grad", "return what detach() gives",
       [](const Caller& caller) {
         Tensor p = numbers({4}).requires_grad();
         const auto f = caller([=](const Tensor& x) { return x * p; });
         return over_calls([&](int i) { return f(input(i)); });
       },
       [](const Caller& caller) {
         Tensor p = numbers({4}).requires_grad();
         const auto f = caller([=](const Tensor& x) { return (x * p).detach(); });
         return over_calls([&](int i) { return f(input(i)); });
       }},
      {"result 0 of the jitted function requires grad", "call it under no_grad",
       [](const Caller& caller) {
         Tensor p = numbers({4}).requires_grad();
         const auto f = caller([=](const Tensor& x) { return x * p; });
         return over_calls([&](int i) { return f(input(i)); });
       },
       [](const Caller& caller) {
         Tensor p = numbers({4}).requires_grad();
         const auto f = caller([=](const Tensor& x) { return x * p; });
         const no_grad off;
         return over_calls([&](int i) { return f(input(i)); });
       }},
      {"computes nothing", "return what it computes",
       [](const Caller& caller) {
         const auto f = caller([](const Tensor& x) { return static_cast<void>(x * 2.0), std::vector<Tensor>{}; });
         return over_calls([&](int i) { return f(input(i)), input(i); });
       },
       [](const Caller& caller) {
         const auto f = caller([](const Tensor& x) { return std::vector<Tensor>{x * 2.0}; });
         return over_calls([&](int i) { return f(input(i))[0]; });
       }},
      {"keeps a handle to its input 0", "return its clone() and keep that",
       [](const Caller& caller) {
         const auto kept = std::make_shared<Tensor>();
         const auto f = caller([=](const Tensor& x) { return *kept = x, x * 2.0; });
         return over_calls([&](int i) { return f(input(i)) + *kept; });
       },
       [](const Caller& caller) {
         Tensor kept;
         const auto f = caller([](const Tensor& x) { return std::vector<Tensor>{x * 2.0, x.clone()}; });
         return over_calls([&](int i) {
           const std::vector<Tensor> results = f(input(i));
           kept = results[1];
           return results[0] + kept;
         });
       }},
      {"something beside the results of the jitted function holds a value", "return it, and hold what the call gives",
       [](const Caller& caller) {
         const auto kept = std::make_shared<Tensor>();
         const auto f = caller([=](const Tensor& x) { return *kept = exp(x), *kept * 2.0; });
         return over_calls([&](int i) { return f(input(i)) + *kept; });
       },
       [](const Caller& caller) {
         Tensor kept;
         const auto f = caller([](const Tensor& x) {
           const Tensor e = exp(x);
           return std::vector<Tensor>{e * 2.0, e};
         });
         return over_calls([&](int i) {
           const std::vector<Tensor> results = f(input(i));
           kept = results[1];
           return results[0] + kept;
         });
       }},
      {"uses a number()", "pass it as a tensor",
       [](const Caller& caller) {
         const auto f = caller([](const Tensor& x) { return x * number(2.0); });
         return over_calls([&](int i) { return f(input(i)); });
       },
       [](const Caller& caller) {
         const auto f = caller([](const Tensor& x, const Tensor& n) { return x * n; });
         return over_calls([&](int i) { return f(input(i), number(2.0 + i)); });
       }},
      {"assigns a value that requires grad", "or what detach() gives",
       [](const Caller& caller) {
         Tensor p = numbers({4}).requires_grad(), w = numbers({4});
         const auto f = caller([p, w](const Tensor& x) mutable { return w.assign(p * x), (w * 2.0).detach(); });
         return over_calls([&](int i) { return f(input(i)); });
       },
       [](const Caller& caller) {
         Tensor p = numbers({4}).requires_grad(), w = numbers({4});
         const auto f = caller([p, w](const Tensor& x) mutable { return w.assign((p * x).detach()), w * 2.0; });
         return over_calls([&](int i) { return f(input(i)); });
       }},
      {"assigns a value that requires grad", "assign under no_grad",
       [](const Caller& caller) {
         Tensor p = numbers({4}).requires_grad(), w = numbers({4});
         const auto f = caller([p, w](const Tensor& x) mutable { return w.assign(p * x), (w * 2.0).detach(); });
         return over_calls([&](int i) { return f(input(i)); });
       },
       [](const Caller& caller) {
         Tensor p = numbers({4}).requires_grad(), w = numbers({4});
         const auto f = caller([p, w](const Tensor& x) mutable {
           const no_grad off;
           return w.assign(p * x), w * 2.0;
         });
         return over_calls([&](int i) { return f(input(i)); });
       }},
      {"calls another one", "jit the outer one alone",
       [](const Caller& caller) {
         const auto inner = caller([](const Tensor& x) { return x * 2.0; });
         const auto f = caller([=](const Tensor& x) { return inner(x) + 1.0; });
         return over_calls([&](int i) { return f(input(i)); });
       },
       [](const Caller& caller) {
         const auto inner = [](const Tensor& x) { return x * 2.0; };
         const auto f = caller([=](const Tensor& x) { return inner(x) + 1.0; });
         return over_calls([&](int i) { return f(input(i)); });
       }},
      {"a number of the jitted function was", "pass it as a tensor",
       [](const Caller& caller) {
         double factor = 1;
         const auto f = caller([&](const Tensor& x) { return x * factor; });
         return over_calls([&](int i) { return factor += 0.5, f(input(i)); });
       },
       [](const Caller& caller) {
         double factor = 1;
         const auto f = caller([](const Tensor& x, const Tensor& by) { return x * by; });
         return over_calls([&](int i) { return factor += 0.5, f(input(i), Tensor(factor)); });
       }},
      {"a symbolic size that the jitted function binds itself was", "bind it to an axis of an input",
       [](const Caller& caller) {
         const Var size("size", 1, 256);
         int64_t n = 90;
         const auto f = caller([&](const Tensor& x) { return x + arange(size(n)).sum().to(float32); });
         return over_calls([&](int i) { return ++n, f(input(i)); });
       },
       [](const Caller& caller) {
         const Var size("size", 1, 256);
         int64_t n = 90;
         const auto f = caller(
             [](const Tensor& x, const Tensor& sized) { return x + arange(sized.shape()[0]).sum().to(float32); });
         return over_calls([&](int i) {
           ++n;
           return f(input(i), from(std::vector<float>(static_cast<size_t>(n)), {size(n)}));
         });
       }},
      {"built another program at each of", "jit a part that does the same every time",
       [](const Caller& caller) {
         const auto calls = std::make_shared<int>(0);
         const auto f = caller([=](const Tensor& x) {
           Tensor y = x * 2.0;
           for (int i = ++*calls; i >= 0; --i) y = y + x;
           return y;
         });
         return over_calls([&](int i) { return f(input(i)); });
       },
       [](const Caller& caller) {
         int calls = 0;
         const auto f = caller([](const Tensor& y, const Tensor& x) { return y + x; });
         return over_calls([&](int i) {
           Tensor y = input(i) * 2.0;
           for (int k = ++calls; k >= 0; --k) y = f(y, input(i));
           return y;
         });
       }},
  };
  return all;
}

}  // namespace

TEST_CASE("what a refusal of jit advises makes the program work", "[jit]") {
  for (const Advice& row : table()) {
    CAPTURE(row.fault, row.advice);
    const std::string text = [&] {
      try {
        row.refused(Caller(true));
      } catch (const UsageError& error) { return std::string(error.what()); }
      return std::string("nothing was refused");
    }();
    CHECK_THAT(text, Contains(row.fault) && Contains(row.advice));
    std::vector<float> expected;
    CHECK_NOTHROW(expected = values(row.advised(Caller(false))));
    std::vector<float> got;
    CHECK_NOTHROW(got = values(row.advised(Caller(true))));
    CHECK(got == expected);
  }
}
