// The benchmark's networks on stored inputs, and what their training steps without an optimiser ask for.
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

template <class Model>
sinter::Tensor stored_tokens(const sinter::Shape& shape) {
  return stored(sinter::randint(0, Model::kTokens, shape));
}

/// `x`, `y`: tokens of texts, and those that follow them.
template <class Model>
sinter::Tensor text_loss(const Model& model, const sinter::Tensor& x, const sinter::Tensor& y) {
  return cross_entropy(model(x).flatten(0, 1), y.flatten());
}

/// `n` texts.
template <class Model>
TensorList text_step(const Model& model, int64_t n) {
  const sinter::Shape shape{n, Model::kPositions};
  return step_of(model, text_loss(model, stored_tokens<Model>(shape), stored_tokens<Model>(shape)));
}
