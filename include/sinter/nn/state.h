// Saving and loading in the safetensors format (huggingface.co/docs/safetensors): an 8-byte little-endian header size,
// a JSON header {"name": {"dtype", "shape", "data_offsets"}}, then the numbers, row-major.
#pragma once

#include <string>

#include "sinter/nn/module.h"

namespace sinter::inline v0::nn {

/// @defgroup files Files of weights
/// @snippet training.cpp save
/// @{

/// Writes all tensors, realized in one plan. The file is written under another name in its folder and renamed, so it is
/// complete or unchanged. A symbolic link stands for its target; a replaced file keeps its mode. BackendError if it
/// cannot be written: its folder does not exist, or its name is that of something other than a regular file.
void save(const NamedTensors& tensors, const std::string& path, Loc where = Loc::current());
/// The tensors of the module: state_dict(module).
template <Module M>
void save(const M& module, const std::string& path, Loc where = Loc::current()) {
  save(state_dict(module), path, where);
}

/// The tensors of a file, on that device, in the order of their numbers. UsageError, which says what is wrong where,
/// for a file that violates the format (damaged, truncated, a duplicate name, numbers of two tensors or of none).
/// OutOfMemory, before any numbers are read, if the tensors do not fit into memory.
NamedTensors load_file(const std::string& path, Device device = default_device(), Loc where = Loc::current());

/// Assigns to each tensor the one of that name. Names, shapes and, unless `options` say otherwise, dtypes must agree;
/// otherwise a UsageError names the difference and nothing is loaded. Each tensor stays on its device.
/// "x.num_batches_tracked", which PyTorch stores with each batch norm and Sinter with one without momentum, may be
/// absent on either side if x.running_mean and x.running_var are there.
void load(const NamedTensors& into, const NamedTensors& from, LoadOptions options = {}, Loc where = Loc::current());
/// Loads into the module's tensors: state_dict(module).
template <Module M>
void load(M& module, const NamedTensors& from, LoadOptions options = {}, Loc where = Loc::current()) {
  load(state_dict(module), from, options, where);
}
/// The same from a file.
template <Module M>
void load(M& module, const std::string& path, LoadOptions options = {}, Loc where = Loc::current()) {
  load(state_dict(module), load_file(path, Device::cpu(), where), options, where);
}
/// @}

}  // namespace sinter::inline v0::nn
