// The safetensors format. Files are written to a temporary name and renamed. They are read directly into the tensors'
// memory after every size was checked.
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <new>
#include <nlohmann/json.hpp>
#include <set>
#include <span>

#include "nn/atomic_file.h"
#include "nn/safetensors_header.h"
#include "runtime/base/files.h"
#include "sinter/call.h"
#include "sinter/create.h"
#include "sinter/nn/state.h"
#include "tensor/core/cell.h"
#include "tensor/eval/uninitialized.h"

namespace sinter::inline v0::nn {
namespace {

using namespace tensor;
using nlohmann::json;

/// The JSON text. UsageError if a name is not UTF-8.
std::string text_of(const json& header, Loc where) {
  try {
    return header.dump();
  } catch (const json::exception& e) {
    usage_error_at(where, "save: a tensor's name is no UTF-8 text ({}); give it another", e.what());
  }
}

/// Checks that every name has a tensor and occurs once.
void check_names(std::string_view call, const NamedTensors& tensors, Loc where) {
  std::set<std::string_view> met;
  for (const auto& [name, t] : tensors) {
    if (!t.defined())
      usage_error_at(where, "{}: \"{}\" is an empty handle; give a tensor, or leave the name out", call, name);
    if (!met.insert(name).second)
      usage_error_at(where, "{}: the name \"{}\" stands twice; give each tensor its own", call, name);
  }
}

void check_fits(const std::string& name, const Tensor& target, const Tensor& value, LoadOptions options, Loc where) {
  const auto refuse = [&](std::string_view why) {
    usage_error_at(where, "load: \"{}\" is {} {} where it belongs and {} {} in the state; {}", name,
                   name_of(target.dtype()), sinter::to_string(target.shape()), name_of(value.dtype()),
                   sinter::to_string(value.shape()), why);
  };
  if (!(value.shape() == target.shape())) refuse("they must agree");
  if (value.dtype() == target.dtype()) return;
  const auto kind = [](DType t) { return is_float(t) ? 2 : is_bool(t) ? 0 : 1; };
  if (kind(value.dtype()) > kind(target.dtype()))  // the rule of Tensor::assign()
    refuse("what one holds does not fit the other; convert it with .to()");
  if (!options.cast) refuse("pass {.cast = true} to convert it");
}

/// Whether the name is that of the batch count of a norm whose running statistics are among the tensors. PyTorch stores
/// it always, and only a norm without momentum has it here.
bool counts_batches(const std::string& name, const NamedTensors& tensors) {
  constexpr std::string_view kCount = "num_batches_tracked";
  if (!name.ends_with(kCount)) return false;
  const std::string module = name.substr(0, name.size() - kCount.size());
  const auto has = [&](std::string_view statistic) {
    return std::ranges::any_of(tensors,
                               [&](const auto& entry) { return entry.first == module + std::string(statistic); });
  };
  return (module.empty() || module.ends_with('.')) && has("running_mean") && has("running_var");
}

/// A file that is read sequentially.
class SequentialFile {
 public:
  /// Without O_NONBLOCK, open() would wait for the other end of a pipe.
  SequentialFile(const std::string& path, Loc where)
      : path_(path), where_(where), file_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    struct stat info{};
    if (file_.get() < 0 || fstat(file_.get(), &info))
      usage_error_at(where, "load: cannot open {}: {}", path, std::strerror(errno));
    if (!S_ISREG(info.st_mode))
      usage_error_at(where, "load: {} is no regular file; give the path of a safetensors file", path);
    left_ = static_cast<uint64_t>(info.st_size);
  }

  uint64_t left() const { return left_; }  ///< bytes not read yet
  [[noreturn]] void report_damage(const std::string& why) const {
    usage_error_at(where_, "load: {} is no valid safetensors file: {}; save() writes such files", path_, why);
  }
  /// Reads the next bytes into all of `to`.
  void read(std::span<std::byte> to) {
    while (!to.empty()) {
      const ssize_t got = ::read(file_.get(), to.data(), to.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) throw BackendError(fmt::format("load: cannot read {}: {}", path_, std::strerror(errno)));
      if (got == 0) report_damage("it ends early");
      to = to.subspan(static_cast<size_t>(got));
      left_ -= std::min(left_, static_cast<uint64_t>(got));
    }
  }

 private:
  const std::string path_;
  const Loc where_;
  const runtime::Descriptor file_;
  uint64_t left_ = 0;
};

std::vector<StoredTensor> read_header(SequentialFile& file) {
  std::array<unsigned char, 8> bytes{};
  if (file.left() < bytes.size())
    file.report_damage(fmt::format("{} bytes, shorter than a header's size of {}", file.left(), bytes.size()));
  file.read(std::as_writable_bytes(std::span(bytes)));
  uint64_t size = 0;
  for (size_t i = 0; i < bytes.size(); ++i) size |= static_cast<uint64_t>(bytes[i]) << (8 * i);
  if (size > kMaxHeader || size > file.left())
    file.report_damage(fmt::format("it says that its header has {} bytes; {} follow, and at most {} are allowed", size,
                                   file.left(), kMaxHeader));
  std::string text(size, '\0');
  file.read(std::as_writable_bytes(std::span(text)));
  try {
    return parse_header(text, file.left());
  } catch (const HeaderError& f) { file.report_damage(f.why); }
}

NamedTensors read_file(const std::string& path, Device device, Loc where) {
  SequentialFile file(path, where);
  std::vector<StoredTensor> stored = read_header(file);
  // Allocate all memory first: if it does not suffice, no data are read.
  std::vector<UninitializedTensor> uninitialized;
  for (const StoredTensor& t : stored) uninitialized.emplace_back(t.dtype, t.shape, device);
  NamedTensors found;
  for (size_t i = 0; i < stored.size(); ++i)
    found.emplace_back(std::move(stored[i].name),
                       uninitialized[i].fill([&](std::span<std::byte> piece) { file.read(piece); }));
  return found;
}

}  // namespace

void save(const NamedTensors& tensors, const std::string& path, Loc where) {
  CallScope call("save", where);
  check_names("save", tensors, where);
  for (const auto& [name, t] : tensors) {
    if (format_name(t.dtype()).empty())
      usage_error_at(where, "save: the format has no name for the dtype {} of \"{}\"; convert it with .to()",
                     name_of(t.dtype()), name);
    if (name == kMetadata)
      usage_error_at(where, "save: \"{}\" is a word of the format's own; give the tensor another name", name);
  }
  std::vector<Tensor> list;
  for (const auto& [name, t] : tensors) list.push_back(t);
  realize_all(list, where);
  json header = json::object();
  uint64_t offset = 0;
  for (const auto& [name, t] : tensors) {
    std::vector<int64_t> shape = ir::mapped(t.shape(), &Dim::value);
    const uint64_t bytes = static_cast<uint64_t>(t.numel()) * size_of(t.dtype());
    header[name] = {{"dtype", format_name(t.dtype())}, {"shape", shape}, {"data_offsets", {offset, offset + bytes}}};
    offset += bytes;
  }
  std::string text = text_of(header, where);
  text.append((8 - text.size() % 8) % 8, ' ');  // data begin at a multiple of 8

  if (text.size() > kMaxHeader)
    usage_error_at(where,
                   "save: the names and shapes of {} tensors take {} bytes, and a file has room for {}; "
                   "save to several files",
                   tensors.size(), text.size(), kMaxHeader);

  AtomicFile file(path);
  std::array<unsigned char, 8> size;
  for (size_t i = 0; i < 8; ++i) size[i] = static_cast<unsigned char>(text.size() >> (8 * i));
  file.write(size.data(), size.size());
  file.write(text.data(), text.size());
  for (const auto& [name, t] : tensors) {
    const std::vector<std::byte> bytes = t.to_bytes();
    file.write(bytes.data(), bytes.size());
  }
  file.commit();
}

NamedTensors load_file(const std::string& path, Device device, Loc where) {
  CallScope call("load", where);
  try {
    return read_file(path, device, where);
  } catch (const std::bad_alloc&) { throw OutOfMemory(fmt::format("load: the host has no memory to read {}", path)); }
}

void load(const NamedTensors& into, const NamedTensors& from, LoadOptions options, Loc where) {
  CallScope call("load", where);
  check_names("load", into, where);
  check_names("load", from, where);
  std::map<std::string, Tensor> given(from.begin(), from.end());
  std::vector<std::pair<Tensor, Tensor>> pairs;
  for (const auto& [name, target] : into) {
    auto it = given.find(name);
    if (it == given.end()) {
      if (options.strict && !counts_batches(name, from))
        usage_error_at(where,
                       "load: \"{}\" is to be loaded, but the state has it not; pass {{.strict = false}} "
                       "to leave it alone",
                       name);
      continue;
    }
    check_fits(name, target, it->second, options, where);
    pairs.emplace_back(target, it->second);
    given.erase(it);
  }
  std::erase_if(given, [&](const auto& entry) { return counts_batches(entry.first, into); });
  if (options.strict && !given.empty())
    usage_error_at(where, "load: the state has \"{}\", which belongs nowhere; pass {{.strict = false}} to skip it",
                   given.begin()->first);
  no_grad guard;
  std::vector<Tensor> assigned;
  for (auto& [target, value] : pairs)
    value = value.detach().to(target.device());  // all values first: one may be the target of another
  for (auto& [target, value] : pairs) {
    target.assign(value, where);
    assigned.push_back(target);
  }
  realize_all(assigned, where);
}

}  // namespace sinter::inline v0::nn
