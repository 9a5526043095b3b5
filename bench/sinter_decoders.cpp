// One token after the other: memory bounds it, since each reads all weights.
#include "networks/decoder.h"
#include "networks/parameters.h"

namespace sn = sinter;

namespace bench {
namespace {

struct Decoding {
  explicit Decoding(const DecoderSizes& sizes) : model(sizes), length("length", 1, sizes.positions) {
    set_parameters(model);
    for (int64_t i = 0; i < sizes.layers; ++i) caches.emplace_back(sizes);
  }
  Decoder model;
  std::vector<KeyValueCache> caches;
  sn::Var length;
  sn::Tensor token = sn::full({1, 1}, 7, sn::int64).realize();
  int64_t seen = 0;
};

/// decode:LAYERSxSIZExTOKENSxPOSITIONS: a token, at one position after the other, over and over.
BenchCase decode(const Arguments& arguments) {
  const auto s = arguments.sizes(1);
  auto decoding = std::make_shared<Decoding>(DecoderSizes{s.at(0), s.at(1), s.at(2), s.at(3)});
  const auto call = [decoding](const sn::Tensor& last, const sn::Dim& seen) {
    sn::no_grad guard;
    return decoding->model(last, seen, decoding->caches);
  };
  auto step = std::make_shared<decltype(sn::jit(call))>(sn::jit(call));
  return evaluate([=] {
    decoding->seen = decoding->seen % decoding->length.max() + 1;
    return (*step)(decoding->token, decoding->length(decoding->seen));
  });
}

}  // namespace

std::map<std::string, CaseFamily> decoders() { return {{"decode", {decode}}}; }

}  // namespace bench
