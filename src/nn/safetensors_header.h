// The header of a safetensors file, checked against the format and the size of the file before a number is read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sinter/dtype.h"
#include "sinter/shape.h"

namespace sinter {
inline namespace v0 {
namespace nn {

/// A tensor of the file, and its bytes [begin, end) behind the header.
struct StoredTensor {
  std::string name;
  DType dtype = DType::Void;
  Shape shape;
  uint64_t begin = 0, end = 0;
};

/// What is wrong with a header.
struct HeaderError {
  std::string why;
};

inline constexpr std::string_view kMetadata = "__metadata__";  ///< an entry of the header that is no tensor
inline constexpr uint64_t kMaxHeader = 100u << 20;             ///< bytes of a header: the format's own limit

/// The name that the format has for a type; empty where it has none.
std::string_view format_name(DType dtype);

/// The tensors in the order of their bytes, which are those [0, bytes) without gap or overlap. Throws HeaderError.
std::vector<StoredTensor> parse_header(std::string_view text, uint64_t bytes);

}  // namespace nn
}  // namespace v0
}  // namespace sinter
