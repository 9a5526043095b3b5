// Distributions: likelihoods, entropies and divergences. What they draw is in tests/unit/tensor/ops/draws_test.cpp.
#include "sinter/create.h"
#include "sinter/distributions.h"
#include "sinter/linalg.h"
#include "sinter/products.h"
#include "surface/row.h"

using namespace sinter;

namespace {

using surface::indices;
using surface::Row;
using surface::Tensors;
using surface::Types;
using surface::within;

Row row(std::string name, surface::Call call, std::string torch, std::vector<std::vector<surface::Input>> cases) {
  return within({std::move(name), std::move(call), std::move(torch), std::move(cases)}, 0.2, 0.9);
}
/// Of logits, which are floats.
Row of_logits(std::string name, surface::Call call, std::string torch, std::vector<std::vector<surface::Input>> cases) {
  return surface::of_types(row(std::move(name), std::move(call), std::move(torch), std::move(cases)), Types::Floats);
}

const char* const kD = "torch.distributions.";
std::string torch(const char* text) { return std::string(kD) + text; }

using distributions::MultivariateNormal;

/// Of a mean x, a covariance made of y, and vectors z.
Row of_vectors(std::string name, Tensor (*f)(const MultivariateNormal&, const Tensor&), std::string text) {
  const std::string made = "torch.distributions.MultivariateNormal(x, y @ y.mT + torch.eye(2))";
  text.replace(text.find("{}"), 2, made);
  Row out = row(std::move(name),
                [f](const Tensors& x) {
                  const Tensor covariance = matmul(x[1], x[1].transpose(-1, -2)) + eye(2).to(x[1].dtype());
                  return f(MultivariateNormal(x[0], covariance), x[2]);
                },
                std::move(text), {{{2}, {2, 3}, {4, 2}}, {{3, 2}, {3, 2, 2}, {2}}});
  out.tolerance = 1e-4;
  return out;
}

const surface::Family kDistributions(
    "distributions",
    {
        row("Normal::log_prob", [](const Tensors& x) { return distributions::Normal(x[0], x[1]).log_prob(x[2]); },
            torch("Normal(x, y).log_prob(z)"), {{{3}, {2, 1}, {2, 3}}}),
        row("Normal::entropy", [](const Tensors& x) { return distributions::Normal(x[0], x[1]).entropy(); },
            torch("Normal(x, y).entropy()"), {{{3}, {2, 1}}}),
        row("Uniform::log_prob",
            [](const Tensors& x) { return distributions::Uniform(x[0] - 1.0, x[1] + 1.0).log_prob(x[2]); },
            torch("Uniform(x - 1, y + 1).log_prob(z)"), {{{3}, {2, 1}, {2, 3}}}),
        of_vectors(
            "MultivariateNormal::log_prob", [](const MultivariateNormal& d, const Tensor& x) { return d.log_prob(x); },
            "{}.log_prob(z)"),
        of_vectors(
            "MultivariateNormal::entropy",
            [](const MultivariateNormal& d, const Tensor& x) { return d.entropy() + 0 * x.sum(-1); },
            "{}.entropy() + 0 * z.sum(-1)"),
        of_vectors(
            "kl_divergence(MultivariateNormal)",
            [](const MultivariateNormal& d, const Tensor& x) {
              return distributions::kl_divergence(d, MultivariateNormal(x, {.scale_tril = eye(2).to(x.dtype()) * 2}));
            },
            "torch.distributions.kl_divergence({}, torch.distributions.MultivariateNormal(z, scale_tril=2 * "
            "torch.eye(2)))"),
        surface::without_gradients(
            row("Uniform::log_prob(outside)",
                [](const Tensors& x) { return distributions::Uniform(x[0], x[1] + 1.0).log_prob(x[2]); },
                "torch.where((z >= x) & (z < y + 1), -torch.log(y + 1 - x), -math.inf)", {{{3}, {2, 1}, {2, 3}}})),
        row("Uniform::entropy", [](const Tensors& x) { return distributions::Uniform(x[0], x[1] + 1.0).entropy(); },
            torch("Uniform(x, y + 1).entropy()"), {{{3}, {2, 1}}}),
        of_logits("Bernoulli::log_prob",
                  [](const Tensors& x) { return distributions::Bernoulli({.logits = x[0]}).log_prob(x[1]); },
                  "-F.binary_cross_entropy_with_logits(x, y, reduction='none')", {{{2, 3}, {2, 3}}}),
        of_logits("Bernoulli::entropy",
                  [](const Tensors& x) { return distributions::Bernoulli({.logits = x[0]}).entropy(); },
                  torch("Bernoulli(logits=x).entropy()"), {{{2, 3}}}),
        of_logits("Bernoulli of probs",
                  [](const Tensors& x) { return distributions::Bernoulli({.probs = x[0]}).entropy(); },
                  torch("Bernoulli(x).entropy()"), {{{2, 3}}}),
        of_logits("Categorical::log_prob",
                  [](const Tensors& x) { return distributions::Categorical({.logits = x[0]}).log_prob(x[1]); },
                  torch("Categorical(logits=x).log_prob(y)"), {{{2, 3}, indices({2}, 3)}, {{3}, indices({4}, 3)}}),
        of_logits("Categorical::entropy",
                  [](const Tensors& x) { return distributions::Categorical({.logits = x[0]}).entropy(); },
                  torch("Categorical(logits=x).entropy()"), {{{2, 3}}}),
        of_logits("Categorical of probs",
                  [](const Tensors& x) { return distributions::Categorical({.probs = x[0]}).probs(); },
                  torch("Categorical(x).probs"), {{{2, 3}}}),
        row("kl_divergence(Normal)",
            [](const Tensors& x) {
              return kl_divergence(distributions::Normal(x[0], x[1]), distributions::Normal(x[2], x[3]));
            },
            torch("kl_divergence(torch.distributions.Normal(x, y), torch.distributions.Normal(z, u))"),
            {{{3}, {2, 1}, {3}, {2, 3}}}),
        of_logits(
            "kl_divergence(Bernoulli)",
            [](const Tensors& x) {
              return kl_divergence(distributions::Bernoulli({.logits = x[0]}),
                                   distributions::Bernoulli({.logits = x[1]}));
            },
            torch("kl_divergence(torch.distributions.Bernoulli(logits=x), torch.distributions.Bernoulli(logits=y))"),
            {{{2, 3}, {2, 3}}}),
        of_logits(
            "kl_divergence(Categorical)",
            [](const Tensors& x) {
              return kl_divergence(distributions::Categorical({.logits = x[0]}),
                                   distributions::Categorical({.logits = x[1]}));
            },
            torch(
                "kl_divergence(torch.distributions.Categorical(logits=x), torch.distributions.Categorical(logits=y))"),
            {{{2, 3}, {2, 3}}}),
    },
    {
        SURFACE_BAD("Normal", distributions::Normal(zeros({2}), 0.0), "the scale is 0", "above 0"),
        SURFACE_BAD("Normal", distributions::Normal(zeros({2}), zeros({3})), "[2]", "[3]"),
        SURFACE_BAD("Uniform", distributions::Uniform(2.0, 1.0), "[2, 1)", "low < high"),
        SURFACE_BAD("Bernoulli", distributions::Bernoulli({.logits = zeros({2}, int32)}), "int32 [2]", "to(float32)"),
        SURFACE_BAD("Categorical", distributions::Categorical({.logits = zeros({})}), "float32 []", "[.., classes]"),
        SURFACE_BAD("MultivariateNormal", distributions::MultivariateNormal(zeros({2}), eye(3)), "[2]", "[3, 3]"),
        SURFACE_BAD("kl_divergence",
                    kl_divergence(distributions::Normal(zeros({2}), 1.0), distributions::Normal(zeros({3}), 1.0)),
                    "[2]", "[3]"),
        SURFACE_BAD("log_prob", distributions::Normal(zeros({2}), 1.0).log_prob(zeros({3})), "[3]", "[2]"),
    });

}  // namespace
