// Trains a network on MNIST or Fashion-MNIST. Contract: after each epoch one line on stdout, "epoch E  loss L  test
// accuracy A %  S s"; progress goes to the terminal (a bar) or, where stderr is none, to plain lines.
#include <sinter/data.h>
#include <sinter/sinter.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

namespace sn = sinter;
using Clock = std::chrono::steady_clock;

struct Mlp {
  sn::nn::Linear l1{784, 128}, l2{128, 10};
  SINTER_MODULE(l1, l2)
  sn::Tensor operator()(const sn::Tensor& x) const { return l2(relu(l1(x))); }  // [n, 784] to [n, 10]
};

struct ConvNet {
  sn::nn::Conv2d c1{1, 32, 5}, c2{32, 32, 5}, c3{32, 64, 3}, c4{64, 64, 3};
  sn::nn::Linear out{576, 10};
  SINTER_MODULE(c1, c2, c3, c4, out)
  sn::Tensor operator()(const sn::Tensor& x) const {  // [n, 784] to [n, 10]
    sn::Tensor h = x.reshape({-1, 1, 28, 28});
    h = max_pool2d(relu(c2(relu(c1(h)))), 2);  // [n, 32, 10, 10]
    h = max_pool2d(relu(c4(relu(c3(h)))), 2);  // [n, 64, 3, 3]
    return out(h.flatten(1));
  }
};

struct Options {
  std::string model = "mlp", optimizer = "adam", dataset = "mnist", dtype = "float32", data, save, device;
  bool download = false;
  int epochs = 5, steps = 0, batch = 256;
  double lr = 2e-3;
  uint64_t seed = 0;
};

/// What an option takes; `what` stands in the help and in errors.
template <class T>
CLI::Validator number(const char* what, bool (*fits)(T)) {
  return {[=](std::string& text) {
            T value{};
            const char* end = text.data() + text.size();
            const auto [rest, error] = std::from_chars(text.data(), end, value);
            return error == std::errc() && rest == end && fits(value) ? std::string() : text + " is no " + what;
          },
          what};
}

/// For --device: SINTER_DEVICE, which the library reads at its first call.
std::string use_device(const std::string& name) {
  setenv("SINTER_DEVICE", name.c_str(), /*overwrite=*/1);
  try {
    sn::zeros({});
    return "";
  } catch (const sn::Error& e) { return e.what(); }
}

/// For --save: what can be seen before the training that the file would hold.
std::string savable(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
  if (std::filesystem::is_directory(path)) return path + " is a folder";
  return access(folder.c_str(), W_OK) ? "cannot write into " + folder.string() : "";
}

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::unique_ptr<sn::optim::Optimizer> make_optimizer(const Options& o, std::vector<sn::Tensor> parameters) {
  if (o.optimizer == "adam") return std::make_unique<sn::optim::Adam>(parameters, sn::optim::Adam::Options{.lr = o.lr});
  if (o.optimizer == "adamw")
    return std::make_unique<sn::optim::AdamW>(parameters, sn::optim::AdamW::Options{.lr = o.lr});
  return std::make_unique<sn::optim::SGD>(parameters, sn::optim::SGD::Options{.lr = o.lr, .momentum = 0.9});
}

/// For --dtype, of which short forms are understood.
sn::DType type_named(const std::string& name) {
  return name == "bf16" ? sn::bfloat16 : name == "f16" ? sn::float16 : sn::dtype_named(name);
}

/// Share of right answers, in percent.
template <class Model>
double accuracy(const Model& model, const sn::data::Dataset& set) {
  sn::no_grad guard;
  int64_t right = 0;
  for (auto [x, y] : set.batches(1000)) right += (model(x).argmax(1) == y).sum().template item<int64_t>();
  return 100.0 * static_cast<double>(right) / static_cast<double>(set.size());
}

void report(int64_t step, int64_t steps, double loss, double rate, double left, bool terminal) {
  if (!terminal) {
    std::fprintf(stderr, "step %lld/%lld  loss %.4f  %.0f images/s\n", static_cast<long long>(step),
                 static_cast<long long>(steps), loss, rate);
    return;
  }
  char bar[31] = {};
  for (int i = 0; i < 30; ++i) bar[i] = i * steps < 30 * step ? '#' : '.';
  std::fprintf(stderr, "\r[%s] %lld/%lld  loss %.4f  %.0f images/s  %.0f s left  ", bar, static_cast<long long>(step),
               static_cast<long long>(steps), loss, rate, left);
  if (step == steps) std::fprintf(stderr, "\r\033[K");
}

/// The set that the options name, fetched first if they ask for it.
sn::data::Mnist load(const Options& o) {
  const bool fashion = o.dataset == "fashion", terminal = isatty(STDERR_FILENO);
  if (o.download) {
    sn::data::DownloadOptions to{.folder = o.data};
    to.progress = [terminal](const std::string& name, uint64_t done, uint64_t total) {
      if (terminal || done == total)
        std::fprintf(stderr, "%s%s  %.1f of %.1f MB%s", terminal ? "\r\033[K" : "", name.c_str(),
                     static_cast<double>(done) * 1e-6, static_cast<double>(total) * 1e-6, done == total ? "\n" : "");
    };
    (fashion ? sn::data::download_fashion_mnist : sn::data::download_mnist)(to, sn::Loc::current());
  }
  return fashion ? sn::data::fashion_mnist(o.data) : sn::data::mnist(o.data);
}

template <class Model>
int train(Model model, const Options& o, sn::data::Mnist& data) {
  auto optimizer = make_optimizer(o, sn::nn::parameters(model));
  const sn::DType dtype = type_named(o.dtype);
  sn::optim::GradScaler scaler({.enabled = dtype == sn::float16});
  const bool terminal = isatty(STDERR_FILENO);
  int64_t done = 0;
  for (int epoch = 1; epoch <= o.epochs; ++epoch) {
    const auto start = Clock::now();
    const auto pass = data.train.batches(o.batch, sn::shuffle);
    double total = 0;
    int64_t step = 0;
    for (auto [x, y] : pass) {
      sn::Tensor loss;
      {
        const sn::autocast scope(dtype);
        loss = cross_entropy(model(x), y);
      }
      optimizer->zero_grad();
      scaler.scale(loss).backward();
      scaler.step(*optimizer);
      scaler.update();
      const double value = loss.item();  // a read: the step has stored it
      total += value;
      ++step;
      ++done;
      const bool last = step == pass.count() || (o.steps && done == o.steps);
      if (last || step % (terminal ? 10 : 100) == 0) {
        const double s = seconds_since(start);
        report(step, pass.count(), value, static_cast<double>(step * o.batch) / s,
               s / static_cast<double>(step) * static_cast<double>(pass.count() - step), terminal);
      }
      if (o.steps && done == o.steps) break;
    }
    std::printf("epoch %d  loss %.4f  test accuracy %.2f %%  %.1f s\n", epoch, total / static_cast<double>(step),
                accuracy(model, data.test), seconds_since(start));
    std::fflush(stdout);
    if (o.steps && done == o.steps) break;
  }
  if (!o.save.empty()) {
    sn::nn::save(model, o.save);
    std::printf("saved %s\n", o.save.c_str());
  }
  return 0;
}

int main(int argc, char** argv) {
  Options o;
  CLI::App app{"Trains a network on MNIST or Fashion-MNIST"};
  const CLI::Validator positive = number<int>("whole number from 1 on", [](int n) { return n >= 1; });
  app.add_option("--model", o.model, "network")->check(CLI::IsMember({"mlp", "conv"}))->capture_default_str();
  app.add_option("--epochs", o.epochs, "passes over the training images")->check(positive)->capture_default_str();
  app.add_option("--steps", o.steps, "stop after so many steps (0: never)")
      ->check(number<int>("whole number from 0 on", [](int n) { return n >= 0; }))
      ->capture_default_str();
  const auto* batch = app.add_option("--batch", o.batch, "images a step (256; conv: 128)")->check(positive);
  app.add_option("--optimizer", o.optimizer, "update rule")
      ->check(CLI::IsMember({"adam", "adamw", "sgd"}))
      ->capture_default_str();
  const auto* lr = app.add_option("--lr", o.lr, "learning rate (2e-3; conv: 1e-3)")
                       ->check(number<double>("number above 0", [](double r) { return r > 0 && std::isfinite(r); }));
  app.add_option("--dataset", o.dataset, "images")->check(CLI::IsMember({"mnist", "fashion"}))->capture_default_str();
  app.add_option("--data", o.data, "folder with the four IDX files, plain or .gz");
  app.add_flag("--download", o.download, "fetch the files first, into the folder of --data or the user's cache folder");
  app.add_option("--seed", o.seed, "of initial values and of the order of images")
      ->check(number<uint64_t>("whole number from 0 to 2^64 - 1", [](uint64_t) { return true; }))
      ->capture_default_str();
  app.add_option("--dtype", o.dtype, "of products: float32, bfloat16 (bf16) or float16 (f16); weights are float32")
      ->check(CLI::IsMember({"float32", "bfloat16", "bf16", "float16", "f16"}))
      ->capture_default_str();
  app.add_option("--device", o.device, "cpu, cuda, cuda:N or cuda-sim, a GPU that is simulated (cpu, or SINTER_DEVICE)")
      ->check(use_device);
  app.add_option("--save", o.save, "file for the trained weights (safetensors)")->check(savable);
  CLI11_PARSE(app, argc, argv);
  const bool conv = o.model == "conv";
  if (conv && !*batch) o.batch = 128;
  if (conv && !*lr) o.lr = 1e-3;
  try {
    sn::manual_seed(o.seed);
    sn::data::Mnist data = load(o);
    data.train.seed(o.seed);
    std::printf("%s: %lld training and %lld test images from %s\n", o.dataset == "fashion" ? "Fashion-MNIST" : "MNIST",
                static_cast<long long>(data.train.size()), static_cast<long long>(data.test.size()),
                data.origin.c_str());
    return conv ? train(ConvNet(), o, data) : train(Mlp(), o, data);
  } catch (const sn::Error& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
