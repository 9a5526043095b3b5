// Settings of float arithmetic.
#pragma once

namespace sinter {
inline namespace v0 {

/// Whether computations on the CPU treat denormal floats, those below the smallest normal number (1.2e-38 for float32),
/// as zeros, both as operands and as results: torch.set_flush_denormal. Off at first. Arithmetic on denormals may be
/// many times slower, for example in a simulation that decays. The setting is global. It is read when a value is
/// computed, by any thread, not when it is built. Values that are moved, selected or converted may stay denormal; a GPU
/// keeps all denormals (docs/semantics.md, N7).
/// @snippet reading.cpp denormal
void set_flush_denormal(bool on);
/// The present setting.
bool flush_denormal();

}  // namespace v0
}  // namespace sinter
