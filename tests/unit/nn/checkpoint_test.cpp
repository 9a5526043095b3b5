// Trainings that are saved and go on elsewhere, and files that PyTorch has written.
#include <sys/wait.h>
#include <unistd.h>

#include <bit>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "catch.h"
#include "ir/short_float.h"
#include "on_cpu.h"
#include "sinter/sinter.h"

using namespace sinter;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

/// A path of this test's own; what lies there goes with it.
struct File {
  explicit File(const std::string& name)
      : path(fs::temp_directory_path() / (name + "." + std::to_string(getpid()) + ".safetensors")) {}
  ~File() { fs::remove(path); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  const fs::path path;
};

/// What `run` refuses, in words.
std::string refusal(const std::function<void()>& run) {
  try {
    run();
  } catch (const UsageError& error) { return error.what(); }
  return "nothing was refused";
}

// -- training

struct Net {
  nn::Linear in{8, 16}, out{16, 4};
  nn::Dropout drop{0.3}, late{0.5};
  SINTER_MODULE(in, drop, late, out)
  Tensor operator()(const Tensor& x) const { return out(late(relu(drop(in(x))))); }
};

/// A network with dropout and its optimiser, jitted or not.
class Training {
 public:
  explicit Training(bool jitted) : jitted_(jitted) { realize_all(nn::parameters(net_)); }

  void run(int steps) {
    for (int i = 0; i < steps; ++i) {
      const Tensor x = randn({6, 8}).realize(), y = randint(0, 4, {6}).realize();  // these come from the generator too
      if (jitted_) {
        const std::vector<Tensor> gradients = gradients_(x, y);
        const std::vector<Tensor> parameters = nn::parameters(net_);
        for (size_t p = 0; p < parameters.size(); ++p) Tensor(parameters[p]).set_grad(gradients[p]);
      } else {
        cross_entropy(net_(x), y).backward();
      }
      adam_.step();
    }
  }
  void save(const fs::path& path) const {
    nn::NamedTensors all = nn::state_dict(net_);
    for (const auto& entry : adam_.state_dict()) all.push_back(entry);
    all.emplace_back("generator", default_generator().state());
    nn::save(all, path);
  }
  void load(const fs::path& path) {
    const nn::NamedTensors all = nn::load_file(path);
    nn::load(net_, all, {.strict = false});
    adam_.load(all, {.strict = false});
    for (const auto& [name, t] : all)
      if (name == "generator") default_generator().set_state(t);
  }
  /// All that a training goes on from.
  std::vector<std::vector<std::byte>> bytes() const {
    std::vector<std::vector<std::byte>> out{default_generator().state().to_bytes()};
    for (const auto& [name, t] : nn::state_dict(net_)) out.push_back(t.to_bytes());
    for (const auto& [name, t] : adam_.state_dict()) out.push_back(t.to_bytes());
    return out;
  }

 private:
  std::vector<Tensor> derive(const Tensor& x, const Tensor& y) const {
    std::vector<Tensor> out;
    for (const Tensor& g : gradient(cross_entropy(net_(x), y), nn::parameters(net_))) out.push_back(g.detach());
    return out;
  }
  struct Derive {
    const Training* training;
    std::vector<Tensor> operator()(const Tensor& x, const Tensor& y) const { return training->derive(x, y); }
  };

  const bool jitted_;
  Net net_;
  optim::Adam adam_{nn::parameters(net_), {.lr = 0.01}};
  Jitted<Derive> gradients_ = jit(Derive{this});
};

/// In a process of its own, which has a minute.
bool in_child(const std::function<bool()>& check) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    int status = 1;
    try {
      status = check() ? 0 : 2;
    } catch (...) { status = 3; }
    _exit(status);
  }
  int status = -1;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// -- files in PyTorch's layout

struct Entry {
  std::string name, dtype, shape, bytes;
};

template <class T>
std::string raw(const std::vector<T>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}
std::string shorts(DType dtype, const std::vector<double>& values) {
  std::vector<uint16_t> bits;
  for (const double v : values) bits.push_back(static_cast<uint16_t>(ir::short_float_bits(dtype, v)));
  return raw(bits);
}

/// As safetensors.torch.save_file() writes them.
void write(const fs::path& path, const std::vector<Entry>& entries) {
  std::string header = R"({"__metadata__":{"format":"pt"})", numbers;
  for (const Entry& e : entries) {
    const size_t begin = numbers.size();
    numbers += e.bytes;
    header += ",\"" + e.name + "\":{\"dtype\":\"" + e.dtype + "\",\"shape\":" + e.shape + ",\"data_offsets\":[" +
              std::to_string(begin) + "," + std::to_string(numbers.size()) + "]}";
  }
  header += "}";
  header.append((8 - header.size() % 8) % 8, ' ');
  const uint64_t size = header.size();
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(&size), 8) << header << numbers;
}

/// What a BatchNorm2d of two channels has in PyTorch.
std::vector<Entry> batch_norm(const std::string& prefix) {
  return {{prefix + "weight", "F32", "[2]", raw<float>({1.5f, 2.5f})},
          {prefix + "bias", "F32", "[2]", raw<float>({-1, 1})},
          {prefix + "running_mean", "F32", "[2]", raw<float>({0.25f, 0.5f})},
          {prefix + "running_var", "F32", "[2]", raw<float>({4, 9})},
          {prefix + "num_batches_tracked", "I64", "[]", raw<int64_t>({77})}};
}

struct Counted {
  nn::BatchNorm2d norm{2};
  Tensor num_batches_tracked = zeros({}, int64);
  SINTER_MODULE(norm, num_batches_tracked)
};

}  // namespace

TEST_CASE("a checkpoint of a network with Dropout resumes to the bit", "[nn]") {
  const OnCpu cpu;  // a forked child has no GPU
  const bool jitted = GENERATE(false, true);
  const bool jitted_later = GENERATE(false, true);
  CAPTURE(jitted, jitted_later);
  const File file("sinter-checkpoint");
  manual_seed(5);
  Training whole(jitted);
  whole.run(10);
  const auto expected = whole.bytes();

  manual_seed(5);
  Training first(jitted);
  first.run(6);
  first.save(file.path);
  const auto saved = first.bytes();
  const auto resumes = [&] {
    manual_seed(99);  // another state than that of the file, and other parameters
    Training second(jitted_later);
    second.run(1);
    second.load(file.path);
    if (second.bytes() != saved) return false;
    second.run(4);
    return second.bytes() == expected;
  };
  CHECK(resumes());
  CHECK(in_child(resumes));
  // The one that was saved goes back to where it was, with the plans that it has.
  first.run(3);
  first.load(file.path);
  first.run(4);
  CHECK(first.bytes() == expected);
}

TEST_CASE("a generator goes on where another one's state was taken", "[random]") {
  const std::vector<std::function<Tensor(Generator&)>> calls{
      [](Generator& g) { return rand({5}, {.generator = &g}); },
      [](Generator& g) { return randn({3}, {.dtype = float64, .generator = &g}); },
      [](Generator& g) { return randint(0, 100, {7}, {.generator = &g}).to(float32); },
      [](Generator& g) { return bernoulli(0.5, {9}, {.generator = &g}).to(float32); },
  };
  const auto draw = [&](Generator& g) {
    std::vector<std::vector<std::byte>> all;
    for (const auto& call : calls) all.push_back(call(g).to_bytes());
    return all;
  };
  Generator a(uint64_t{1} << 63 | 5), b(2);
  draw(a);
  const Tensor state = a.state();
  CHECK(state.dtype() == uint64);
  CHECK(state.shape() == Shape{2});
  CHECK(state.device() == Device::cpu());
  const auto expected = draw(a);
  CHECK(state.to_vector<uint64_t>()[0] == (uint64_t{1} << 63 | 5));  // what was taken stays
  CHECK(draw(b) != expected);
  b.set_state(state);
  CHECK(draw(b) == expected);
  a.set_state(state.clone());
  CHECK(draw(a) == expected);
  b.set_state(a.state());
  b.manual_seed(2);
  CHECK(b.state().to_vector<uint64_t>() == std::vector<uint64_t>{2, 0});
  CHECK_THAT(refusal([&] { b.set_state(zeros({2}, int64)); }), Contains("set_state: the state is int64 [2]"));
  CHECK_THAT(refusal([&] { b.set_state(zeros({3}, uint64)); }), Contains("uint64 [3]") && Contains("state() gave"));
}

TEST_CASE("PyTorch's BatchNorm weights load, with their num_batches_tracked", "[nn]") {
  const File file("sinter-batch-norm");
  const std::vector<float> mean{0.25f, 0.5f};
  SECTION("of a network") {
    nn::Sequential net(nn::Conv2d(2, 2, 1), nn::BatchNorm2d(2));
    std::vector<Entry> entries{{"0.weight", "F32", "[2,2,1,1]", raw<float>({1, 2, 3, 4})},
                               {"0.bias", "F32", "[2]", raw<float>({1, 2})}};
    for (const Entry& e : batch_norm("1.")) entries.push_back(e);
    write(file.path, entries);
    nn::load(net, file.path);
    CHECK(std::get<1>(net.layers).running_mean.to_vector<float>() == mean);
    nn::load(net, nn::load_file(file.path));
    nn::load(nn::state_dict(net), nn::load_file(file.path));
    nn::save(net, file.path);  // and what is saved again loads
    nn::load(net, file.path);
    for (const char* other :
         {"0.num_batches_tracked", "num_batches_tracked", "2.num_batches_tracked", "1.num_batches",
          "1num_batches_tracked", "1.xnum_batches_tracked", "1.num_batches_tracked.x", "1.running_std"}) {
      CAPTURE(other);
      std::vector<Entry> more = entries;
      more.push_back({other, "I64", "[]", raw<int64_t>({77})});
      write(file.path, more);
      CHECK_THAT(refusal([&] { nn::load(net, file.path); }),
                 Contains("\"" + std::string(other) + "\"") && Contains("{.strict = false}"));
    }
  }
  SECTION("into one without momentum, which needs the count") {
    nn::BatchNorm2d norm(2, {.momentum = std::nullopt});
    write(file.path, batch_norm(""));
    nn::load(norm, file.path);
    CHECK(norm.num_batches_tracked.item<int64_t>() == 77);
    nn::save(norm, file.path);
    nn::BatchNorm2d same(2, {.momentum = std::nullopt}), other(2);
    nn::load(same, file.path);
    CHECK(same.num_batches_tracked.item<int64_t>() == 77);
    nn::load(other, file.path);
    CHECK(other.running_mean.to_vector<float>() == mean);
    std::vector<Entry> entries = batch_norm("");  // of one with momentum
    entries.pop_back();
    write(file.path, entries);
    nn::load(same, file.path);
    CHECK(same.running_mean.to_vector<float>() == mean);
    CHECK(same.num_batches_tracked.item<int64_t>() == 77);
    entries.pop_back();  // no statistics, no norm
    write(file.path, entries);
    CHECK_THAT(refusal([&] { nn::load(same, file.path); }), Contains("{.strict = false}"));
  }
  SECTION("alone, and without weights") {
    nn::BatchNorm2d norm(2), plain(2, {.affine = false});
    write(file.path, batch_norm(""));
    nn::load(norm, file.path);
    CHECK(norm.running_mean.to_vector<float>() == mean);
    std::vector<Entry> entries = batch_norm("");
    entries.erase(entries.begin(), entries.begin() + 2);
    write(file.path, entries);
    nn::load(plain, file.path);
    CHECK(plain.running_mean.to_vector<float>() == mean);
  }
  SECTION("an InstanceNorm with statistics, which has the same names") {
    nn::InstanceNorm2d norm(2, {.affine = true, .track_running_stats = true}),
        counted(2, {.momentum = std::nullopt, .affine = true, .track_running_stats = true}), plain(2, {.affine = true});
    write(file.path, batch_norm(""));
    nn::load(norm, file.path);
    nn::load(counted, file.path);
    CHECK(norm.running_mean.to_vector<float>() == mean);
    CHECK(counted.num_batches_tracked.item<int64_t>() == 77);
    CHECK_THAT(refusal([&] { nn::load(plain, file.path); }),
               Contains("num_batches_tracked") && Contains("belongs nowhere"));
  }
  SECTION("a tensor of that name is loaded") {
    Counted counted;
    std::vector<Entry> entries = batch_norm("norm.");
    entries.push_back({"num_batches_tracked", "I64", "[]", raw<int64_t>({78})});
    write(file.path, entries);
    nn::load(counted, file.path);
    CHECK(counted.num_batches_tracked.item<int64_t>() == 78);
  }
}

TEST_CASE("a file of 16-bit floats loads into float32 layers where .cast says so", "[nn]") {
  const File file("sinter-cast");
  struct Case {
    DType from, to;
    std::string dtype, bytes;
  };
  const std::vector<double> values{0.5, -1.25, 3, 0.1};
  const auto of = [&](auto zero) {
    std::vector<decltype(zero)> out;
    for (const double v : values) out.push_back(static_cast<decltype(zero)>(v));
    return raw(out);
  };
  const std::vector<Case> cases{
      {float16, float32, "F16", shorts(float16, values)},
      {bfloat16, float32, "BF16", shorts(bfloat16, values)},
      {float64, float32, "F64", of(double{})},
      {float32, float64, "F32", of(float{})},
      {float32, float16, "F32", of(float{})},
      {float32, bfloat16, "F32", of(float{})},
      {float16, bfloat16, "F16", shorts(float16, values)},
      {int64, int32, "I64", of(int64_t{})},
      {int32, float32, "I32", of(int32_t{})},
  };
  for (const Case& c : cases) {
    CAPTURE(name_of(c.from), name_of(c.to));
    write(file.path, {{"w", c.dtype, "[2,2]", c.bytes}});
    Tensor w = zeros({2, 2}, c.to).clone();
    const std::string text = refusal([&] { nn::load({{"w", w}}, nn::load_file(file.path)); });
    CHECK_THAT(text, Contains(std::string(name_of(c.from))) && Contains(std::string(name_of(c.to))) &&
                         Contains("pass {.cast = true} to convert it"));
    CHECK((w == 0).all().item<bool>());
    nn::load({{"w", w}}, nn::load_file(file.path), {.cast = true});
    CHECK(w.dtype() == c.to);
    CHECK(w.to_bytes() == nn::load_file(file.path)[0].second.to(c.to).to_bytes());
  }

  write(file.path,
        {{"weight", "F16", "[1,2]", shorts(float16, {0.1, 2})}, {"bias", "BF16", "[1]", shorts(bfloat16, {3})}});
  nn::Linear layer(2, 1);
  const std::vector<float> before = layer.weight.to_vector<float>();
  CHECK_THAT(refusal([&] { nn::load(layer, file.path); }), Contains(".cast"));
  CHECK_THAT(refusal([&] { nn::load(layer, nn::load_file(file.path), {.strict = false}); }), Contains(".cast"));
  CHECK(layer.weight.to_vector<float>() == before);
  nn::load(layer, file.path, {.cast = true});
  CHECK(layer.weight.dtype() == float32);
  CHECK(layer.weight.needs_grad());
  CHECK(layer.weight.to_vector<float>() ==
        std::vector<float>{static_cast<float>(ir::short_float_value(
                               float16, static_cast<uint16_t>(ir::short_float_bits(float16, 0.1)))),
                           2});
  CHECK(layer.bias.to_vector<float>() == std::vector<float>{3});
  nn::load(layer, nn::load_file(file.path), {.cast = true});

  Tensor count = zeros({2, 2}, int64).clone();
  write(file.path, {{"w", "F32", "[2,2]", of(float{})}});
  for (const bool cast : {false, true})
    CHECK_THAT(refusal([&] { nn::load({{"w", count}}, nn::load_file(file.path), {.cast = cast}); }),
               Contains("float32") && Contains("int64") && Contains("convert it with .to()"));
  Tensor shaped = zeros({4}).clone();
  CHECK_THAT(refusal([&] { nn::load({{"w", shaped}}, nn::load_file(file.path), {.cast = true}); }),
             Contains("float32 [2, 2]") && Contains("float32 [4]") && Contains("must agree"));
}

TEST_CASE("an optimiser's state of 16-bit floats loads where .cast says so", "[nn]") {
  Tensor p = full({2}, 1.0).clone().requires_grad();
  optim::SGD sgd({p}, {.lr = 0.5, .momentum = 0.5});
  nn::NamedTensors state = sgd.state_dict();
  for (auto& [name, t] : state)
    if (name == "0.momentum_buffer") t = from({0.5, 2.0}).to(float16);
  CHECK_THAT(refusal([&] { sgd.load(state); }), Contains("float16") && Contains(".cast"));
  sgd.load(state, {.cast = true});
  CHECK(sgd.state_dict()[2].second.to_vector<float>() == std::vector<float>{0.5f, 2});
}
