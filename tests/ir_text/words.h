// Words and numbers of IR text.
#pragma once

#include <string_view>

#include "ir/attr.h"
#include "ir/op.h"
#include "ir/text_cursor.h"

namespace sinter::ir {

/// Up to the next of `stops` or a blank. Never empty.
std::string_view next_word(TextCursor& c, std::string_view stops);

/// A number as dump(Scalar) writes it. A point, an exponent, inf or nan makes it a float. Fails at the cursor.
Scalar number(const TextCursor& c, std::string_view word);

/// Looks up an op by name. False if there is none.
bool op_named(std::string_view name, Op& op);

}  // namespace sinter::ir
