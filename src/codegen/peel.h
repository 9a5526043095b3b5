// The edges of an image: the values of a range at which the gate of a product's elements is closed for some of them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "codegen/choice.h"

namespace sinter::codegen {

/// Values from `from` on and below `to` of a range, at which all conditions hold that change with it; `from` is at most `to`.
struct Inside {
  int64_t from = 0, to = 0;
};

/// Of the gate of a product, if its conditions change with `range` and the copies of a step at the edge know their answers: with nothing else but
/// the innermost range, whose steps may all follow one another.
std::optional<Inside> inside_of(View& view, const Work& product, ir::UOp range);

/// The steps with so many copies of a range that hold values which are not inside; none where these are too many.
std::optional<Peel> peel(const Inside& inside, View& view, ir::UOp range, int copies);

/// Peel of a product's rows, if that gate changes with them.
std::optional<Peel> peel_of(View& view, const Work& product, const RegisterTile& tile);

/// With a Peel for the rows of each product whose gate changes with them. Legal if `opts` are.
std::vector<Opt> peel_products(Choice& choice, std::vector<Opt> opts);

}  // namespace sinter::codegen
