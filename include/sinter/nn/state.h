// Saving and loading in the safetensors format (huggingface.co/docs/safetensors): an 8-byte little-endian header size,
// a JSON header {"name": {"dtype", "shape", "data_offsets"}}, then the numbers, row-major.
#pragma once

#include <filesystem>

#include "sinter/nn/module.h"

namespace sinter {
inline namespace v0 {
namespace nn {

/// @defgroup files Files of weights
/// @snippet training.cpp save
/// @{

/// Writes all tensors, realised in one plan; aside, in the file's folder, and renamed, so that a file is whole or
/// untouched. A symbolic link stands for what it points to, and a file that is replaced leaves its mode. BackendError
/// when it cannot be written: there is no such folder, or what has that name is no regular file.
void save(const NamedTensors& tensors, const std::filesystem::path& path, Loc where = Loc::current());
/// Those of the module: state_dict(module).
template <Module M>
void save(const M& module, const std::filesystem::path& path, Loc where = Loc::current()) {
  save(state_dict(module), path, where);
}

/// The tensors of a file, on that device, in the order of their numbers. One that the format forbids (damaged,
/// truncated, a name twice, numbers of two tensors or of none) is a UsageError that says what is wrong where; one that
/// does not fit into memory OutOfMemory, before its numbers are read.
NamedTensors load_file(const std::filesystem::path& path, Device device = default_device(), Loc where = Loc::current());

/// Assigns to each tensor the one of that name. Names, shapes and, unless `options` say otherwise, dtypes must agree,
/// or a UsageError names the difference and nothing is loaded. Each stays on its device. "x.num_batches_tracked", which
/// PyTorch keeps with a batch norm, is passed over where there are x.running_mean and x.running_var and no such tensor.
void load(const NamedTensors& into, const NamedTensors& from, LoadOptions options = {}, Loc where = Loc::current());
/// Into the module's tensors: state_dict(module).
template <Module M>
void load(M& module, const NamedTensors& from, LoadOptions options = {}, Loc where = Loc::current()) {
  load(state_dict(module), from, options, where);
}
/// The same from a file.
template <Module M>
void load(M& module, const std::filesystem::path& path, LoadOptions options = {}, Loc where = Loc::current()) {
  load(state_dict(module), load_file(path, Device::cpu(), where), options, where);
}
/// @}

}  // namespace nn
}  // namespace v0
}  // namespace sinter
