// A training step of each network of the benchmark, planned for the reference machine: how many launches it takes, how
// much arithmetic, which grows where something is evaluated more than once, and whether kernels have vectors at all.
#include "catch.h"
#include "cost.h"
#include "explain.h"
#include "fixed_target.h"
#include "ir/walk.h"
#include "network_programs.h"
#include "runtime/program/host_target.h"

using namespace sinter;

namespace {

struct Planned {
  size_t launches = 0;
  double gflop = 0;
  double plain = 0;  ///< share of the arithmetic in kernels without vectors
};

Planned planned(const TensorList& asked) {
  const plan::KernelSources written = testing::explain(asked, runtime::host_target());
  const runtime::Plan& plan = written.scheduled.plan;
  Planned out{.launches = plan.launches.size()};
  for (const runtime::PlanStep& step : plan.steps) {
    const auto program = static_cast<size_t>(step.program);
    const double flops = plan.work[program].flops.at({});
    out.gflop += flops * 1e-9;
    if (written.sources[program].text.find("vector_size") == std::string::npos) out.plain += flops * 1e-9;
  }
  out.plain /= out.gflop;
  return out;
}

/// `launches` and `gflop` are what was counted when they were written down, and 1 percent.
void check(const char* name, const Planned& got, size_t launches, double gflop) {
  INFO(name << ": " << got.launches << " launches, " << got.gflop << " GFLOP");
  CHECK(got.launches <= launches);
  CHECK(got.gflop <= gflop);
  CHECK(got.plain < 0.0001);
}

}  // namespace

TEST_CASE("networks take as few launches and as little arithmetic as they did", "[networks]") {
  const FixedTarget fixed(kSmallPrograms);
  manual_seed(0);
  const Tensor x = stored_images({32, 3, 32, 32}), y = stored_classes({32});
  check("ResNet-18", planned(classifier_step(bench::ResNet18(), x, y)), 96, 112.1);
  check("MobileNetV2", planned(classifier_step(bench::MobileNetV2(), x, y)), 208, 13.34);
  check("MLP-mixer", planned(classifier_step(bench::Mixer(), x, y)), 129, 15.1);
  const Tensor pixels = stored_images({8, 3, 64, 64}), labels = stored_classes({8, 64, 64});
  check("U-Net", planned(classifier_step(bench::UNet(), pixels, labels)), 75, 28.3);
  check("GPT", planned(text_step(bench::Gpt(), 32)), 80, 24.2);
  check("transformer", planned(text_step(bench::Transformer(), 1)), 116, 75.4);
  check("LSTM", planned(text_step(bench::LstmModel(), 32)), 271, 7.4);
  const bench::Vae vae;
  check("VAE", planned(step_of(vae, vae.loss(stored_images({64, 1, 28, 28})))), 22, 2.06);
}

TEST_CASE("a convolution below an enlarged image is evaluated once per element", "[networks]") {
  const FixedTarget fixed(kSmallPrograms);
  const no_grad guard;
  manual_seed(0);
  const bench::Vae vae;
  for (Tensor& p : nn::parameters(vae)) p.realize();
  check("VAE, forward", planned({vae(stored_images({32, 1, 28, 28}))}), 8, 0.324);
}

TEST_CASE("what several layers read of a network in evaluation is one tensor of floats", "[networks]") {
  const FixedTarget fixed(kSmallPrograms);
  const no_grad guard;
  manual_seed(0);
  bench::UNet model;
  nn::eval(model);
  const Tensor x = stored_images({32, 3, 64, 64});
  for (Tensor& p : nn::parameters(model)) p.realize();
  const std::vector<Tensor> y{model(x)};
  const plan::KernelSources written = testing::explain(y, runtime::host_target());
  int stores = 0;
  for (const codegen::Kernel& k : written.scheduled.kernels)
    for (ir::UOp n : ir::topological(k.sink)) {
      if (n->op != ir::Op::Store) continue;
      ++stores;
      CHECK(n->src.back()->dtype == DType::F32);
    }
  CHECK(stores >= 20);
}

TEST_CASE("gradients of strided depthwise convolutions store whole vectors", "[networks]") {
  runtime::Target machine = runtime::reference_target();
  runtime::set_isa(machine, "x86-64-v3");  // it runs nothing
  const Tensor x = stored_images({32, 144, 32, 32}), w = stored_images({144, 1, 3, 3});
  Tensor leaf = x.detach();
  leaf.requires_grad();
  const Tensor y = conv2d(leaf, w, {.stride = 2, .padding = 1, .groups = 144});
  const std::vector<Tensor> asked = gradient(y, std::array{leaf}, stored_images({32, 144, 16, 16}));
  const plan::KernelSources written = testing::explain(asked, machine);
  REQUIRE(written.sources.size() == 1);
  INFO(written.sources[0].text);
  // Neighbors of a row lie two apart, and between them those of the other phase.
  CHECK(written.sources[0].text.find(")[2] = ") == std::string::npos);
}
