// A model, its training, and what goes with it. A line that begins with //> is what the statement above it prints.
#include <sinter/data.h>
#include <sinter/nn/averaged_model.h>
#include <sinter/nn/lbfgs.h>
#include <sinter/nn/optim_rules.h>
#include <sinter/nn/sequence.h>
#include <sinter/sinter.h>

#include <cstdio>
#include <iostream>

namespace sn = sinter;

//! [module]
struct Net {
  sn::nn::Linear in{784, 32}, out{32, 10};
  sn::nn::Dropout drop{0.1};
  SINTER_MODULE(in, drop, out)
  sn::Tensor operator()(const sn::Tensor& x) const { return out(drop(relu(in(x)))); }  // [n, 784] to [n, 10]
};
//! [module]

//! [layer]
struct Scale {
  sn::Tensor factor = sn::ones({1}).requires_grad();
  SINTER_MODULE(factor)
  sn::Tensor operator()(const sn::Tensor& x, sn::Loc where = sn::Loc::current()) const {
    sn::CallScope call("Scale", where);  // an error inside names Scale and the line of its caller
    return x * factor;
  }
};
//! [layer]

//! [rule]
// Steps of one length, in the direction of a running mean of the gradient's sign.
class SignMomentum final : public sn::optim::Optimizer {
 public:
  SignMomentum(std::vector<sn::Tensor> parameters, double lr, sn::Loc where = sn::Loc::current())
      : Optimizer(std::move(parameters), lr, where), mean_(make_state("mean")) {}

 private:
  sn::Tensor updated(Update& u) override {
    sn::Tensor mean = u.set(mean_, u.state(mean_) * 0.9 + sign(u.gradient()) * 0.1);
    return u.parameter() - mean * u.rate();
  }
  State mean_;
};
//! [rule]

int main() {
  sn::manual_seed(1);
  //! [init]
  sn::nn::Sequential net{sn::nn::Linear(4, 8), sn::nn::ReLU(), sn::nn::Linear(8, 2), Scale()};
  std::get<0>(net.layers).weight = sn::nn::init::kaiming_normal({8, 4}).requires_grad();
  for (const auto& [name, p] : sn::nn::named_parameters(net)) std::cout << name << ' ' << to_string(p.shape()) << '\n';
  //> 0.weight [8, 4]
  //> 0.bias [8]
  //> 2.weight [2, 8]
  //> 2.bias [2]
  //> 3.factor [1]
  //! [init]

  //! [init_in_place]
  using namespace sn::nn::init;
  kaiming_normal_(std::get<2>(net.layers).weight, {.mode = FanMode::Out, .nonlinearity = Nonlinearity::ReLU});
  constant_(std::get<2>(net.layers).bias, 0.25);
  std::cout << std::get<2>(net.layers).bias << '\n';
  //> [0.25 0.25]
  //! [init_in_place]

  //! [data]
  sn::data::Mnist mnist = sn::data::mnist();  // the subset in the library, unless the full set is found
  mnist.train.seed(3);
  for (auto [x, y] : mnist.train.batches(256, sn::shuffle)) {
    std::cout << to_string(x.shape()) << ' ' << name_of(x.dtype()) << ' ' << to_string(y.shape()) << '\n';
    break;
  }
  //> [256, 784] float32 [256]
  //! [data]

  //! [training]
  Net model;
  sn::optim::Adam optimizer(sn::nn::parameters(model), {.lr = 2e-3});
  double loss_value = 0;
  for (auto [x, y] : mnist.train.batches(256, sn::shuffle)) {
    sn::Tensor loss = cross_entropy(model(x), y);
    loss.backward();
    optimizer.step();          // forward, backward and update in one plan
    loss_value = loss.item();  // a read: the step has stored it
  }
  sn::nn::eval(model);  // switches Dropout off
  std::cout << (loss_value < 1.0) << '\n';
  //> 1
  //! [training]

  //! [autocast]
  for (auto [x, y] : mnist.train.batches(256, sn::shuffle)) {
    sn::Tensor loss;
    {
      const sn::autocast scope(sn::bfloat16);
      loss = cross_entropy(model(x), y);  // products in bfloat16, the loss in float32
    }
    loss.backward();   // gradients of float32 weights are float32
    optimizer.step();  // which the optimizer updates
    std::cout << name_of(loss.dtype()) << ' ' << name_of(model.in.weight.dtype()) << '\n';
    break;
  }
  //> float32 float32
  //! [autocast]

  //! [tf32]
  sn::set_float32_matmul_precision("high");  // on tensor cores, with 10 bits of fraction
  const sn::Tensor product = matmul(sn::ones({64, 64}), sn::ones({64, 64}));
  sn::set_float32_matmul_precision("highest");
  std::cout << product[0][0].item() << '\n';
  //> 64
  //! [tf32]

  //! [scaler]
  sn::optim::GradScaler scaler;
  for (auto [x, y] : mnist.train.batches(256, sn::shuffle)) {
    sn::Tensor loss;
    {
      const sn::autocast scope(sn::float16);
      loss = cross_entropy(model(x), y);
    }
    scaler.scale(loss).backward();
    scaler.step(optimizer);  // left out if a gradient is not finite
    scaler.update();
    std::cout << scaler.get_scale() << '\n';
    break;
  }
  //> 65536
  //! [scaler]

  //! [schedule]
  sn::optim::SGD sgd(sn::nn::parameters(net), {.lr = 0.1});
  sn::optim::LRScheduler schedule(
      sgd, sn::optim::SequentialLR{{sn::optim::LinearLR{.total_iters = 2}, sn::optim::StepLR{2}}, {2}});
  for (int epoch = 0; epoch < 6; ++epoch) {
    std::cout << (epoch ? " " : "") << sgd.lr;
    schedule.step();
  }
  std::cout << '\n';
  //> 0.0333333 0.0666667 0.1 0.1 0.01 0.01
  //! [schedule]

  //! [jit]
  sn::nn::Linear small(2, 1);
  sn::optim::Adam fast(sn::nn::parameters(small), {.lr = 0.1});
  auto step = sn::jit([&](const sn::Tensor& x) {
    const sn::Tensor loss = sn::square(small(x) - 1.0).mean();
    loss.backward();
    fast.step();
    return loss;
  });
  double first = 0, last = 0;
  for (int i = 0; i < 50; ++i) {
    last = step(sn::ones({8, 2})).item();  // from the third call on, only the kernels run
    if (i == 0) first = last;
    if (i == 30) fast.lr = 0.01;  // acts on the next call
  }
  std::cout << (last < first) << '\n';
  //> 1
  //! [jit]

  //! [groups]
  sn::optim::RMSprop groups({{sn::nn::parameters(std::get<0>(net.layers)), {.lr = 0.1, .weight_decay = 0.01}},
                             {sn::nn::parameters(std::get<2>(net.layers)), {.lr = 0.01}}});
  groups.options(1).lr *= 0.5;
  std::cout << groups.group_count() << ' ' << groups.lr << ' ' << groups.options(1).lr << '\n';
  //> 2 0.1 0.005
  //! [groups]

  //! [replace]
  sn::Tensor points = sn::from({1.0, 2.0, 3.0}).requires_grad();
  sn::optim::Adam moving({points}, {.lr = 0.1});
  square(points).sum().backward();
  moving.step();
  const sn::Tensor kept = sn::from({0, 2});
  auto prune = [&](const sn::Tensor& t) { return index_select(t, 0, kept); };
  moving.replace(points, prune(points.detach()).requires_grad(), prune);  // states go with their elements
  auto grow = [](const sn::Tensor& t) { return sn::cat({t, sn::zeros({2})}, 0); };
  moving.replace(points, grow(points.detach()).requires_grad(), grow);  // new ones begin with a state of 0
  std::cout << points << ' ' << moving.state_dict()[2].second.shape() << '\n';
  //> [0.9 2.9 0.  0. ] [4]
  //! [replace]

  //! [vector]
  sn::Tensor flat = sn::nn::parameters_to_vector(sn::nn::parameters(net));
  sn::nn::vector_to_parameters(flat * 0.5, sn::nn::parameters(net));
  std::cout << flat.shape() << ' ' << std::get<2>(net.layers).bias << '\n';
  //> [59] [0.125 0.125]
  //! [vector]

  //! [lbfgs]
  sn::Tensor point = sn::from({-1.0, 2.0}).requires_grad();
  sn::optim::LBFGS lbfgs({point}, {.line_search = sn::optim::LBFGSOptions::LineSearch::StrongWolfe});
  lbfgs.step([&] {
    lbfgs.zero_grad();
    sn::Tensor loss = square(point - 3.0).sum();
    loss.backward();
    return loss;
  });
  std::cout << (abs(point - 3.0) < 1e-5).all() << '\n';
  //> True
  //! [lbfgs]

  //! [ema]
  sn::nn::AveragedModel average(net, {.ema_decay = 0.9});
  average.update(net);  // after each step
  std::cout << average(sn::ones({3, 4})).shape() << '\n';
  //> [3, 2]
  //! [ema]

  //! [sequence]
  sn::nn::LSTM lstm(3, 8, {.num_layers = 2, .batch_first = true});
  auto [output, state] = lstm(sn::ones({5, 7, 3}));  // 5 sequences of 7 steps
  std::cout << to_string(output.shape()) << ' ' << to_string(state.first.shape()) << '\n';
  //> [5, 7, 8] [2, 5, 8]
  auto packed = sn::nn::pack_padded_sequence(sn::ones({5, 7, 3}), {7, 6, 4, 4, 1}, {.batch_first = true});
  std::cout << lstm(packed).first.data.shape() << '\n';
  //> [22, 8]
  //! [sequence]

  //! [clip]
  (net(sn::ones({3, 4})) * 1e6).sum().backward();
  sn::Tensor norm = sn::nn::clip_grad_norm_(sn::nn::parameters(net), 1.0);
  sgd.step();                                // with gradients of norm 1
  std::cout << (norm.item() > 1e5) << '\n';  // what it was
  //> 1
  //! [clip]

  //! [save]
  sn::nn::save(model, "model.safetensors");
  Net other;
  sn::nn::load(other, "model.safetensors");
  std::cout << (other.in.weight == model.in.weight).all() << '\n';
  //> True
  std::remove("model.safetensors");
  //! [save]

  //! [resume]
  sn::nn::save(optimizer.state_dict(), "adam.safetensors");
  sn::optim::Adam again(sn::nn::parameters(other), {});
  again.load(sn::nn::load_file("adam.safetensors"));  // goes on with `other` as `optimizer` would with `model`
  std::cout << again.lr << '\n';
  //> 0.002
  std::remove("adam.safetensors");
  //! [resume]

  //! [generator]
  sn::nn::NamedTensors checkpoint = sn::nn::state_dict(model);
  checkpoint.emplace_back("generator", sn::default_generator().state());  // what Dropout draws from
  sn::nn::save(checkpoint, "checkpoint.safetensors");
  const sn::Tensor drawn = sn::rand({3});
  for (const auto& [name, t] : sn::nn::load_file("checkpoint.safetensors"))
    if (name == "generator") sn::default_generator().set_state(t);
  std::cout << (sn::rand({3}) == drawn).all() << '\n';
  //> True
  std::remove("checkpoint.safetensors");
  //! [generator]

  SignMomentum rule(sn::nn::parameters(net), 0.01);
  net(sn::ones({3, 4})).sum().backward();
  rule.step();

  //! [memory]
  const sn::memory::Report report = sn::memory::report();
  std::cout << report.origins[0].call << ' ' << report.origins[0].bytes << '\n';  // what holds the most
  //> Linear 203600
  // std::cout << report: a line of sums, a line of the allocator, a line for each call that made what lives
  //! [memory]

  //! [counters]
  sn::debug::reset_counters();
  std::cout << (sn::ones({4}) + 1.0).sum() << ' ' << sn::debug::counters().launches << '\n';
  //> 8.0 1
  //! [counters]
}
