// The header of a safetensors file. It is checked against the format and the file's size before any data are read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sinter/dtype.h"
#include "sinter/shape.h"

namespace sinter::inline v0::nn {

/// A tensor of the file, and its bytes [begin, end) after the header.
struct StoredTensor {
  std::string name;
  DType dtype = DType::Void;
  Shape shape;
  uint64_t begin = 0, end = 0;
};

/// The defect of a header.
struct HeaderError {
  std::string why;
};

inline constexpr std::string_view kMetadata = "__metadata__";  ///< a header entry that is not a tensor
inline constexpr uint64_t kMaxHeader = 100u << 20;             ///< largest header in bytes: the format's own limit

/// The format's name for a dtype; empty if it has none.
std::string_view format_name(DType dtype);

/// The tensors, ordered by their bytes, which cover [0, bytes) without gap or overlap. Throws HeaderError.
std::vector<StoredTensor> parse_header(std::string_view text, uint64_t bytes);

}  // namespace sinter::inline v0::nn
