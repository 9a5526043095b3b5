// The benchmark's networks as values to plan: what a training step without its optimiser asks for, and what inference
// does.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/networks/gpt.h"
#include "bench/networks/lstm.h"
#include "bench/networks/mixer.h"
#include "bench/networks/mobilenet.h"
#include "bench/networks/resnet.h"
#include "bench/networks/transformer.h"
#include "bench/networks/unet.h"
#include "bench/networks/vae.h"
#include "cost.h"

using TensorList = std::vector<sinter::Tensor>;

inline sinter::Tensor stored_images(const sinter::Shape& shape) { return stored(randn(shape)); }
inline sinter::Tensor stored_classes(const sinter::Shape& shape) { return stored(sinter::randint(0, 10, shape)); }

/// The loss and its gradients.
template <class Model>
TensorList step_of(const Model& model, const sinter::Tensor& loss) {
  TensorList asked{loss};
  for (sinter::Tensor& g : gradient(loss, sinter::nn::parameters(model))) asked.push_back(g);
  return asked;
}

template <class Model>
TensorList classifier_step(const Model& model, const sinter::Tensor& x, const sinter::Tensor& classes) {
  return step_of(model, cross_entropy(model(x), classes));
}

/// `n` texts.
template <class Model>
TensorList text_step(const Model& model, int64_t n) {
  const sinter::Shape shape{n, Model::kPositions};
  const sinter::Tensor x = stored(sinter::randint(0, Model::kTokens, shape));
  const sinter::Tensor y = stored(sinter::randint(0, Model::kTokens, shape));
  return step_of(model, cross_entropy(model(x).flatten(0, 1), y.flatten()));
}
