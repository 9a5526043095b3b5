// What the notice of programs for many sizes must know of a size: who chose it. Its advice is for sizes that the
// program of the user chooses.
#pragma once

#include <string_view>

#include "ir/origin.h"

namespace sinter::tensor {

/// While alive, sizes that change in this thread are the library's own, such as the number of steps that an optimizer
/// remembers: no notice.
class OwnSizes {
 public:
  OwnSizes();
  ~OwnSizes();
  OwnSizes(const OwnSizes&) = delete;
  OwnSizes& operator=(const OwnSizes&) = delete;
};
/// Whether one is alive in this thread.
bool sizes_are_own();

/// Marks a call site whose tensors are as long as their data say: the true elements of a mask. Inside a GraphScope, as
/// the question.
void mark_sized_by_data(const ir::NodeOrigin& site);
bool sized_by_data(const ir::NodeOrigin& site);
/// UsageError inside a function whose calls all run one program: `size` is one that the data say; `instead` needs none.
void refuse_size_by_data(std::string_view size, std::string_view instead);

}  // namespace sinter::tensor
