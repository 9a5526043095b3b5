// The worker of Sinter.
#include "sinter_cases.h"

namespace sn = sinter;

namespace bench {

sn::Tensor input(const sn::Shape& shape, uint32_t seed, sn::DType type) {
  const sn::Tensor numbers = sn::from(uniform(static_cast<size_t>(sn::zeros(shape).numel()), seed).data(), shape);
  return numbers.to(type).realize();
}

void finish() {
  const sn::Device device = sn::default_device();
  if (device.kind() == sn::Device::Kind::Cuda) sn::cuda::synchronize(device.index());
}

BenchCase evaluate(std::function<sn::Tensor()> f) {
  auto result = std::make_shared<sn::Tensor>();
  return {.run =
              [=] {
                *result = f();
                result->realize();
                finish();
              },
          .check = [=] { return fingerprint(f().to(sn::float32).to_vector<float>()); }};
}

BenchCase evaluate_all(std::function<std::vector<sn::Tensor>()> f) {
  auto results = std::make_shared<std::vector<sn::Tensor>>();
  const auto run = [=] {
    *results = f();
    sn::realize_all(*results);
    finish();
  };
  return {.run = run, .check = [=] {
            run();
            std::vector<double> values;
            for (const sn::Tensor& result : *results)
              for (const double value : fingerprint(result.to(sn::float32).to_vector<float>())) values.push_back(value);
            return values;
          }};
}

}  // namespace bench

int main(int argc, char** argv) {
  std::map<std::string, bench::CaseFamily> all = bench::products();
  all.merge(bench::convolutions());
  all.merge(bench::streams());
  all.merge(bench::orders());
  all.merge(bench::programs());
  all.merge(bench::trainings());
  all.merge(bench::networks());
  all.merge(bench::decoders());
  all.merge(bench::host());
  return bench::serve(argc, argv, all);
}
