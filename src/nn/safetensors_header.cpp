// The JSON is parsed by events (SAX), not into a document. A document does not report duplicate keys, and one of 100
// MiB may need gigabytes.
#include "nn/safetensors_header.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

namespace sinter::inline v0::nn {
namespace {

using nlohmann::json;

struct DtypeName {
  DType dtype;
  std::string_view name;
};
constexpr std::array<DtypeName, 13> kDtypeNames = {{
    {DType::Bool, "BOOL"},
    {DType::U8, "U8"},
    {DType::I8, "I8"},
    {DType::U16, "U16"},
    {DType::I16, "I16"},
    {DType::U32, "U32"},
    {DType::I32, "I32"},
    {DType::U64, "U64"},
    {DType::I64, "I64"},
    {DType::F16, "F16"},
    {DType::BF16, "BF16"},
    {DType::F32, "F32"},
    {DType::F64, "F64"},
}};

[[noreturn]] void header_error(std::string why) { throw HeaderError{std::move(why)}; }
/// Quotes a name, with terminal control characters escaped.
std::string quote(const std::string& name) { return json(name).dump(); }
std::string range(const StoredTensor& t) { return fmt::format("[{}, {})", t.begin, t.end); }

/// Receives the header's tokens in order. Level 1 is the list of names, level 2 a tensor's fields or the metadata,
/// level 3 a list of numbers.
class HeaderParser final : public nlohmann::json_sax<json> {
 public:
  std::vector<StoredTensor> tensors;

  bool null() override { return reject_value("null"); }
  bool boolean(bool value) override { return reject_value(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { return reject_value(fmt::format("{}", value)); }
  bool number_float(number_float_t, const string_t& text) override { return reject_value(text); }
  bool number_unsigned(number_unsigned_t value) override {
    if (level_ != 3 || inside_) return reject_value(fmt::format("{}", value));
    list().push_back(value);
    return true;
  }
  bool string(string_t& text) override {
    if (inside_) return true;
    if (level_ == 2 && metadata_) return true;
    if (level_ != 2 || field_ != kDType) return reject_value(quote(text));
    for (const DtypeName& f : kDtypeNames)
      if (text == f.name) tensors.back().dtype = f.dtype;
    if (tensors.back().dtype == DType::Void) {
      std::vector<std::string_view> known;
      for (const DtypeName& f : kDtypeNames) known.push_back(f.name);
      header_error(
          fmt::format("{} has the dtype {}, and only {} are read", name(), quote(text), fmt::join(known, ", ")));
    }
    return true;
  }
  bool binary(binary_t&) override { return reject_value("bytes"); }

  bool start_object(size_t) override {
    if (inside_ || (level_ == 2 && field_ == kUnknown && !metadata_)) return ++inside_;
    if (level_ >= 2) return reject_value("an object");
    ++level_;
    return true;
  }
  bool key(string_t& key) override {
    if (inside_) return true;
    if (level_ == 1) {
      metadata_ = key == kMetadata;
      if (metadata_ && std::exchange(has_metadata_, true)) header_error(fmt::format("{} stands twice", kMetadata));
      if (!metadata_) tensors.push_back({key, DType::Void, {}, 0, 0});
      keys_.clear();
      shape_.clear();
      offsets_.clear();
      return true;
    }
    if (!keys_.insert(key).second)
      header_error(fmt::format("{} has the field {} twice", metadata_ ? std::string(kMetadata) : name(), quote(key)));
    field_ = key == "dtype" ? kDType : key == "shape" ? kShape : key == "data_offsets" ? kOffsets : kUnknown;
    return true;
  }
  bool end_object() override {
    if (inside_) return --inside_, true;
    if (--level_ == 1 && !metadata_) finish_entry();
    return true;
  }
  bool start_array(size_t) override {
    if (inside_ || (level_ == 2 && field_ == kUnknown && !metadata_)) return ++inside_;
    if (level_ != 2 || metadata_ || field_ == kDType) return reject_value("a list");
    ++level_;
    return true;
  }
  bool end_array() override {
    if (inside_) return --inside_, true;
    --level_;
    return true;
  }
  bool parse_error(size_t position, const std::string&, const json::exception&) override {
    header_error(fmt::format("its header is no JSON in UTF-8, from its byte {} on", position));
  }

 private:
  enum Field : uint8_t { kDType, kShape, kOffsets, kUnknown };

  std::string name() const { return quote(tensors.back().name); }
  std::vector<uint64_t>& list() { return field_ == kShape ? shape_ : offsets_; }

  /// Rejects a value that the format does not allow here.
  bool reject_value(const std::string& what) {
    if (inside_ || (level_ == 2 && !metadata_ && field_ == kUnknown)) return true;  // of a later version of the format
    if (level_ == 0) header_error(fmt::format("its header is {} and no JSON object", what));
    if (metadata_) header_error(fmt::format("{} holds {}, and is text by text", kMetadata, what));
    if (level_ == 1) header_error(fmt::format("the entry {} is {} and no object", name(), what));
    if (level_ == 2)
      header_error(fmt::format("the {} of {} is {}, which is no {}",
                               field_ == kDType   ? "dtype"
                               : field_ == kShape ? "shape"
                                                  : "data_offsets",
                               name(), what, field_ == kDType ? "name of a type" : "list"));
    header_error(fmt::format("{} has {} in its {}, which are whole numbers from 0 on", name(), what,
                             field_ == kShape ? "shape" : "data_offsets"));
  }

  /// Checks that the last tensor has all fields and that they agree.
  void finish_entry() {
    StoredTensor& t = tensors.back();
    for (const char* needed : {"dtype", "shape", "data_offsets"})
      if (!keys_.contains(needed)) header_error(fmt::format("the entry {} lacks {}", name(), needed));
    if (offsets_.size() != 2) header_error(fmt::format("{} has {} data_offsets, which are 2", name(), offsets_.size()));
    t.begin = offsets_[0];
    t.end = offsets_[1];
    t.shape = Shape(shape_);
    if (!t.shape.countable())
      header_error(
          fmt::format("{} has the shape [{}], which spans more than 2^56 elements", name(), fmt::join(shape_, ", ")));
    const uint64_t bytes = static_cast<uint64_t>(t.shape.numel()) * size_of(t.dtype);
    if (t.begin > t.end || t.end - t.begin != bytes)
      header_error(fmt::format("{} is {} {} and needs {} bytes, its data_offsets are {}", name(), name_of(t.dtype),
                               to_string(t.shape), bytes, range(t)));
  }

  int level_ = 0;
  size_t inside_ = 0;  ///< nesting depth inside an unknown field's value
  Field field_ = kUnknown;
  bool metadata_ = false, has_metadata_ = false;
  std::set<std::string> keys_;  ///< of the level-2 object
  std::vector<uint64_t> shape_, offsets_;
};

/// Checks that no name occurs twice.
void check_names(const std::vector<StoredTensor>& tensors) {
  std::vector<const StoredTensor*> by_name;
  for (const StoredTensor& t : tensors) by_name.push_back(&t);
  std::ranges::sort(by_name, [](const auto* a, const auto* b) {
    return a->name != b->name ? a->name < b->name : a->begin < b->begin;
  });
  for (size_t i = 1; i < by_name.size(); ++i)
    if (by_name[i]->name == by_name[i - 1]->name)
      header_error(fmt::format("the name {} stands twice, for the bytes {} and {}", quote(by_name[i]->name),
                               range(*by_name[i - 1]), range(*by_name[i])));
}

/// Checks that each tensor begins where the previous one ends, and that the last one ends with the file.
void check_ranges(const std::vector<StoredTensor>& tensors, uint64_t bytes) {
  const StoredTensor* before = nullptr;
  for (const StoredTensor& t : tensors) {
    if (t.end > bytes)
      header_error(fmt::format("{} has the bytes {}, and {} follow the header", quote(t.name), range(t), bytes));
    const uint64_t free = before ? before->end : 0;
    const std::string behind = before ? fmt::format(" behind {}, {},", quote(before->name), range(*before)) : "";
    if (t.begin < free)
      header_error(fmt::format("the bytes {} of {} overlap {} of {}", range(t), quote(t.name), range(*before),
                               quote(before->name)));
    if (t.begin > free)
      header_error(fmt::format("the bytes [{}, {}){} before {}, {}, belong to no tensor", free, t.begin, behind,
                               quote(t.name), range(t)));
    before = &t;
  }
  const uint64_t used = before ? before->end : 0;
  if (used != bytes)
    header_error(fmt::format("the bytes [{}, {}){} belong to no tensor", used, bytes,
                             before ? fmt::format(" behind {}, {},", quote(before->name), range(*before)) : ""));
}

}  // namespace

std::string_view format_name(DType dtype) {
  for (const DtypeName& f : kDtypeNames)
    if (f.dtype == dtype) return f.name;
  return {};
}

std::vector<StoredTensor> parse_header(std::string_view text, uint64_t bytes) {
  // The parser would skip a byte order mark, and would take a zero byte for the end.
  if (!text.starts_with('{')) header_error("its header does not begin with {");
  if (const size_t zero = text.find('\0'); zero != text.npos)
    header_error(fmt::format("its header is no JSON in UTF-8, from its byte {} on", zero + 1));
  HeaderParser parser;
  json::sax_parse(text.begin(), text.end(), &parser);
  check_names(parser.tensors);
  std::ranges::sort(parser.tensors, [](const StoredTensor& a, const StoredTensor& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);  // an empty one before its neighbor
  });
  check_ranges(parser.tensors, bytes);
  return std::move(parser.tensors);
}

}  // namespace sinter::inline v0::nn
