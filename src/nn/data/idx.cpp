// IDX files: two zero bytes, the type (8 = uint8), the rank, one big-endian uint32 per size, the values.
// Format: yann.lecun.com/exdb/mnist, "THE IDX FILE FORMAT". Gzip is recognised by its first two bytes.
#include <fmt/core.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "sinter/data.h"

namespace sinter {
inline namespace v0 {
namespace data {
namespace {

constexpr size_t kLargest = size_t{1} << 32;  ///< no data set that is read here unpacks to more

[[noreturn]] void damaged(const std::string& name, const std::string& why, Loc where) {
  throw UsageError(fmt::format("read_idx: {} is damaged: {}; fetch the file again", name, why), where);
}

std::vector<uint8_t> gunzip(const std::vector<uint8_t>& packed, const std::string& name, Loc where) {
  z_stream stream{};
  if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK) throw BackendError("zlib: inflateInit2 failed");
  struct End {
    z_stream& s;
    ~End() { inflateEnd(&s); }
  } end{stream};
  stream.next_in = const_cast<Bytef*>(packed.data());
  size_t left = packed.size();  // beyond what zlib, which counts in 32 bits, has been told of
  std::vector<uint8_t> out;
  int status = Z_OK;
  while (status != Z_STREAM_END) {
    if (stream.avail_in == 0) {
      stream.avail_in = static_cast<uInt>(std::min(left, size_t{1} << 30));
      left -= stream.avail_in;
    }
    const size_t old = out.size();
    if (old > kLargest) damaged(name, fmt::format("it unpacks to more than {} bytes", kLargest), where);
    out.resize(old + (size_t{1} << 20));
    stream.next_out = out.data() + old;
    stream.avail_out = static_cast<uInt>(out.size() - old);
    status = inflate(&stream, Z_NO_FLUSH);
    out.resize(out.size() - stream.avail_out);
    if (status == Z_STREAM_END) break;
    if (status != Z_OK || (stream.avail_in == 0 && left == 0 && stream.avail_out != 0))
      damaged(name,
              fmt::format("gzip stops after {} bytes ({})", out.size(), stream.msg ? stream.msg : "it ends early"),
              where);
  }
  return out;
}

}  // namespace

Idx parse_idx(const std::vector<uint8_t>& given, const std::string& name, Loc where) {
  const bool packed = given.size() >= 2 && given[0] == 0x1f && given[1] == 0x8b;
  const std::vector<uint8_t> unpacked = packed ? gunzip(given, name, where) : std::vector<uint8_t>();
  const std::vector<uint8_t>& bytes = packed ? unpacked : given;
  if (bytes.size() < 4 || bytes[0] != 0 || bytes[1] != 0)
    damaged(name, "it does not begin with the mark of an IDX file", where);
  if (bytes[2] != 8) damaged(name, fmt::format("its type is {:#x}, only 0x8 (uint8) is read", bytes[2]), where);
  const size_t rank = bytes[3], head = 4 + 4 * rank;
  if (rank == 0 || bytes.size() < head)
    damaged(name, fmt::format("{} bytes are too few for {} sizes", bytes.size(), rank), where);
  Idx idx;
  uint64_t count = 1;
  for (size_t i = 0; i < rank; ++i) {
    const uint8_t* p = &bytes[4 + 4 * i];
    const uint32_t size = uint32_t{p[0]} << 24 | uint32_t{p[1]} << 16 | uint32_t{p[2]} << 8 | p[3];
    idx.shape.push_back(size);
    if (__builtin_mul_overflow(count, uint64_t{size}, &count)) damaged(name, "its sizes are too large", where);
  }
  if (bytes.size() - head != count)
    damaged(name, fmt::format("its sizes ask for {} values, it holds {}", count, bytes.size() - head), where);
  idx.values.assign(bytes.begin() + static_cast<std::ptrdiff_t>(head), bytes.end());
  return idx;
}

Idx read_idx(const std::filesystem::path& path, Loc where) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    throw UsageError(fmt::format("read_idx: {} is a folder; name a file in it", path.string()), where);
  std::ifstream in(path, std::ios::binary);
  if (!in) throw UsageError(fmt::format("read_idx: cannot open {}: {}", path.string(), std::strerror(errno)), where);
  std::vector<uint8_t> bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  return parse_idx(bytes, path.string(), where);
}

}  // namespace data
}  // namespace v0
}  // namespace sinter
