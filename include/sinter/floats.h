// How floats are computed.
#pragma once

namespace sinter {
inline namespace v0 {

/// Whether computations on the CPU take denormal floats, those below the smallest normal number (1.2e-38 of float32),
/// for zeros, as operands and as results: torch.set_flush_denormal. Off at first. Arithmetic with them may be many
/// times slower, as in a simulation that decays. Of the process, and read when something is evaluated, by whichever
/// thread, not when it is built. What is moved, chosen or converted may stay denormal; a GPU keeps them all
/// (docs/semantics.md, N7).
/// @snippet reading.cpp denormal
void set_flush_denormal(bool on);
/// What was set.
bool flush_denormal();

}  // namespace v0
}  // namespace sinter
