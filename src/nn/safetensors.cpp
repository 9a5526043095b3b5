// The safetensors format: writing aside and renaming, reading with every size checked before anything is believed.
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "sinter/call.h"
#include "sinter/create.h"
#include "sinter/nn/state.h"

namespace sinter {
inline namespace v0 {
namespace nn {
namespace {

using nlohmann::json;
constexpr uint64_t kMaxHeader = 100u << 20;

struct Format {
  DType dtype;
  const char* name;
};
constexpr std::array<Format, 13> kFormats = {{
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
const char* format_of(DType dtype) {
  for (const Format& f : kFormats)
    if (f.dtype == dtype) return f.name;
  throw UsageError(fmt::format("save: no safetensors name for dtype {}", name_of(dtype)));
}
DType dtype_of_format(const std::string& name) {
  for (const Format& f : kFormats)
    if (name == f.name) return f.dtype;
  return DType::Void;
}

/// A file that is written beside its place and takes it at the end. Gone if it does not come to that.
class Aside {
 public:
  explicit Aside(const std::filesystem::path& place) : place_(place), path_(place) {
    static std::atomic<uint64_t> count{0};
    path_ += fmt::format(".{}.{}.part", getpid(), count++);
    errno = 0;
    out_.open(path_, std::ios::binary);
    check();
  }
  ~Aside() {
    out_.close();
    std::error_code ignored;
    if (!done_) std::filesystem::remove(path_, ignored);
  }
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;

  void write(const void* bytes, size_t size) {
    out_.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(size));
    check();
  }
  void finish() {
    out_.close();
    check();
    std::error_code failed;
    std::filesystem::rename(path_, place_, failed);
    if (failed)
      throw BackendError(
          fmt::format("save: cannot rename {} to {}: {}", path_.string(), place_.string(), failed.message()));
    done_ = true;
  }

 private:
  void check() const {
    if (!out_) throw BackendError(fmt::format("save: cannot write {}: {}", path_.string(), std::strerror(errno)));
  }

  const std::filesystem::path place_;
  std::filesystem::path path_;
  std::ofstream out_;
  bool done_ = false;
};

/// Text of JSON; UsageError where a name is no UTF-8.
std::string text_of(const json& header, Loc where) {
  try {
    return header.dump();
  } catch (const json::exception& e) {
    throw UsageError(fmt::format("save: a tensor's name is no UTF-8 text ({}); give it another", e.what()), where);
  }
}

constexpr std::string_view kMetadata = "__metadata__";  ///< an entry of the header that is no tensor

/// Every name has a tensor, and stands once.
void check_names(std::string_view call, const NamedTensors& tensors, Loc where) {
  std::set<std::string_view> met;
  for (const auto& [name, t] : tensors) {
    if (!t.defined())
      throw UsageError(fmt::format("{}: \"{}\" is an empty handle; give a tensor, or leave the name out", call, name),
                       where);
    if (!met.insert(name).second)
      throw UsageError(fmt::format("{}: the name \"{}\" stands twice; give each tensor its own", call, name), where);
  }
}

[[noreturn]] void damaged(const std::filesystem::path& path, const std::string& why, Loc where) {
  throw UsageError(
      fmt::format("load: {} is no valid safetensors file: {}; save() writes such files", path.string(), why), where);
}

}  // namespace

void save(const NamedTensors& tensors, const std::filesystem::path& path, Loc where) {
  CallScope call("save", where);
  std::error_code ignored;
  if (path.has_parent_path() && !std::filesystem::is_directory(path.parent_path(), ignored))
    throw UsageError(fmt::format("save: there is no folder {} for {}; create it", path.parent_path().string(),
                                 path.filename().string()),
                     where);
  check_names("save", tensors, where);
  for (const auto& [name, t] : tensors)
    if (name == kMetadata)
      throw UsageError(fmt::format("save: \"{}\" is a word of the format's own; give the tensor another name", name),
                       where);
  std::vector<Tensor> list;
  for (const auto& [name, t] : tensors) list.push_back(t);
  realize_all(list, where);
  json header = json::object();
  uint64_t offset = 0;
  for (const auto& [name, t] : tensors) {
    std::vector<int64_t> shape;
    for (const Dim& d : t.shape()) shape.push_back(d.value());
    const uint64_t bytes = static_cast<uint64_t>(t.numel()) * size_of(t.dtype());
    header[name] = {{"dtype", format_of(t.dtype())}, {"shape", shape}, {"data_offsets", {offset, offset + bytes}}};
    offset += bytes;
  }
  std::string text = text_of(header, where);
  text.append((8 - text.size() % 8) % 8, ' ');  // numbers begin at a multiple of 8

  Aside file(path);
  std::array<unsigned char, 8> size;
  for (size_t i = 0; i < 8; ++i) size[i] = static_cast<unsigned char>(text.size() >> (8 * i));
  file.write(size.data(), size.size());
  file.write(text.data(), text.size());
  for (const auto& [name, t] : tensors) {
    const std::vector<std::byte> bytes = t.to_bytes();
    file.write(bytes.data(), bytes.size());
  }
  file.finish();
}

NamedTensors load_file(const std::filesystem::path& path, Device device, Loc where) {
  CallScope call("load", where);
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored))
    throw UsageError(fmt::format("load: {} is no regular file; give the path of a safetensors file", path.string()),
                     where);
  std::ifstream in(path, std::ios::binary);
  if (!in) throw UsageError(fmt::format("load: cannot open {}: {}", path.string(), std::strerror(errno)), where);
  in.seekg(0, std::ios::end);
  const uint64_t total = static_cast<uint64_t>(in.tellg());
  in.seekg(0);
  std::array<unsigned char, 8> size_bytes{};
  if (total < 8 || !in.read(reinterpret_cast<char*>(size_bytes.data()), 8))
    damaged(path, fmt::format("{} bytes, shorter than a header's size of 8", total), where);
  uint64_t header_size = 0;
  for (size_t i = 0; i < 8; ++i) header_size |= static_cast<uint64_t>(size_bytes[i]) << (8 * i);
  if (header_size > kMaxHeader || header_size > total - 8)
    damaged(path, fmt::format("it says that its header has {} bytes, and {} follow", header_size, total - 8), where);
  std::string text(header_size, '\0');
  in.read(text.data(), static_cast<std::streamsize>(header_size));
  json header = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!header.is_object()) damaged(path, "its header is no JSON object", where);
  std::vector<std::byte> data(total - 8 - header_size);
  in.read(reinterpret_cast<char*>(data.data()), static_cast<std::streamsize>(data.size()));
  if (!in) damaged(path, "it ends early", where);

  struct Entry {
    std::string name;
    uint64_t begin;
    Tensor tensor;
  };
  std::vector<Entry> entries;
  for (auto& [name, entry] : header.items()) {
    if (name == kMetadata) continue;
    const bool formed = entry.is_object() && entry.contains("dtype") && entry["dtype"].is_string() &&
                        entry.contains("shape") && entry["shape"].is_array() && entry.contains("data_offsets") &&
                        entry["data_offsets"].is_array() && entry["data_offsets"].size() == 2;
    if (!formed) damaged(path, fmt::format("the entry \"{}\" lacks dtype, shape or data_offsets", name), where);
    const DType dtype = dtype_of_format(entry["dtype"].get<std::string>());
    if (dtype == DType::Void)
      damaged(path, fmt::format("\"{}\" has the unknown dtype {}", name, entry["dtype"].dump()), where);
    std::vector<int64_t> sizes;
    uint64_t count = 1;
    for (const json& d : entry["shape"]) {
      if (!d.is_number_unsigned() || d.get<uint64_t>() > uint64_t{INT64_MAX})
        damaged(path, fmt::format("\"{}\" has the shape {}", name, entry["shape"].dump()), where);
      sizes.push_back(d.get<int64_t>());
      if (__builtin_mul_overflow(count, d.get<uint64_t>(), &count))
        damaged(path, fmt::format("\"{}\" has the shape {}", name, entry["shape"].dump()), where);
    }
    for (const json& o : entry["data_offsets"])
      if (!o.is_number_unsigned())
        damaged(path, fmt::format("\"{}\" has the offsets {}", name, entry["data_offsets"].dump()), where);
    const uint64_t begin = entry["data_offsets"][0].get<uint64_t>(), end = entry["data_offsets"][1].get<uint64_t>();
    uint64_t bytes = 0;
    if (__builtin_mul_overflow(count, static_cast<uint64_t>(size_of(dtype)), &bytes) || begin > end ||
        end > data.size() || end - begin != bytes)
      damaged(path,
              fmt::format("\"{}\" needs {} bytes, its offsets are {} of {}", name, bytes, entry["data_offsets"].dump(),
                          data.size()),
              where);
    entries.push_back({name, begin, from_bytes(data.data() + begin, bytes, dtype, Shape(sizes), device, where)});
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.name < b.name;  // empty tensors share an offset
  });
  NamedTensors found;
  for (Entry& e : entries) found.emplace_back(std::move(e.name), std::move(e.tensor));
  return found;
}

void load(const NamedTensors& into, const NamedTensors& from, bool strict, Loc where) {
  CallScope call("load", where);
  check_names("load", into, where);
  check_names("load", from, where);
  std::map<std::string, Tensor> given(from.begin(), from.end());
  std::vector<std::pair<Tensor, Tensor>> pairs;
  for (const auto& [name, target] : into) {
    auto it = given.find(name);
    if (it == given.end()) {
      if (strict)
        throw UsageError(
            fmt::format("load: \"{}\" is to be loaded, but the state has it not; pass strict = false to leave it alone",
                        name),
            where);
      continue;
    }
    const Tensor& value = it->second;
    if (!(value.shape() == target.shape()) || value.dtype() != target.dtype())
      throw UsageError(fmt::format("load: \"{}\" is {} {} where it belongs and {} {} in the state; they must agree",
                                   name, name_of(target.dtype()), sinter::to_string(target.shape()),
                                   name_of(value.dtype()), sinter::to_string(value.shape())),
                       where);
    pairs.emplace_back(target, value);
    given.erase(it);
  }
  if (strict && !given.empty())
    throw UsageError(fmt::format("load: the state has \"{}\", which belongs nowhere; pass strict = false to skip it",
                                 given.begin()->first),
                     where);
  no_grad guard;
  std::vector<Tensor> assigned;
  for (auto& [target, value] : pairs)
    value = value.detach().to(target.device());  // all of them first: one may be another's target
  for (auto& [target, value] : pairs) {
    target.assign(value, where);
    assigned.push_back(target);
  }
  realize_all(assigned, where);
}

}  // namespace nn
}  // namespace v0
}  // namespace sinter
