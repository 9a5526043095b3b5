// The update of include/sinter/nn/averaged_model.h. The number of updates is a tensor, so that it is saved with the
// rest.
#include "sinter/nn/averaged_model.h"

#include "nn/layer_checks.h"
#include "sinter/gradient.h"
#include "sinter/ops.h"
#include "tensor/core/cell.h"

namespace sinter::inline v0::nn::averaging {

using namespace tensor;

void check(const AveragingOptions& options, Loc where) {
  if (options.ema_decay && !(*options.ema_decay >= 0 && *options.ema_decay <= 1))
    usage_error_at(where, "AveragedModel: ema_decay is {}; give the share that is kept, in [0, 1]", *options.ema_decay);
}

void update(const NamedTensors& means, const NamedTensors& values, Tensor count, const AveragingOptions& options,
            Loc where) {
  const OuterCall call("update", where);
  check(options, where);
  if (means.size() != values.size())
    usage_error("the model has {} tensors, the averaged one {}; they must be of one structure", values.size(),
                means.size());
  const no_grad guard;
  std::vector<Tensor> changed{count};
  const Tensor first = count == 0;
  for (size_t i = 0; i < means.size(); ++i) {
    Tensor mean = means[i].second;
    const Tensor& value = values[i].second;
    if (means[i].first != values[i].first || !(mean.shape() == value.shape()))
      usage_error("the model has {} {} where the averaged one has {} {}; they must be of one structure",
                  values[i].first, to_string(value.shape()), means[i].first, to_string(mean.shape()));
    const Tensor here = value.detach().to(mean.device()).to(mean.dtype());
    if (!is_float(mean.dtype()) || !(options.use_buffers || mean.needs_grad())) {
      mean.assign(here);
    } else {
      const Tensor next = options.ema_decay ? mean * *options.ema_decay + here * (1.0 - *options.ema_decay)
                                            : mean + (here - mean) / (count + 1).to(mean.dtype()).to(mean.device());
      mean.assign(sinter::where(first.to(mean.device()), here, next));
    }
    changed.push_back(mean);
  }
  count.assign(count + 1);
  realize_all(changed);
}

}  // namespace sinter::inline v0::nn::averaging
