// The parameters of a model as one vector, for methods that work on vectors.
#pragma once

#include <vector>

#include "sinter/tensor.h"

namespace sinter::inline v0::nn {

/// @defgroup parameter_vectors Parameters as a vector
/// As torch.nn.utils.parameters_to_vector.
/// @snippet training.cpp vector
/// @{

/// The elements of all tensors, one after the other, [n], in their common type. It depends on them: gradients go
/// through. UsageError for no tensor, and for tensors on several devices.
Tensor parameters_to_vector(const std::vector<Tensor>& parameters, Loc where = Loc::current());
/// Assigns the elements of `vector`, [n], to the tensors in that order, under no_grad. UsageError unless n is their
/// number of elements; nothing is assigned then.
void vector_to_parameters(const Tensor& vector, const std::vector<Tensor>& parameters, Loc where = Loc::current());
/// @}

}  // namespace sinter::inline v0::nn
