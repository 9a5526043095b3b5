// IDX files: two zero bytes, the type (8 = uint8), the rank, one big-endian uint32 per size, the values. Format:
// yann.lecun.com/exdb/mnist, "THE IDX FILE FORMAT". Gzip is recognized by its first two bytes. Files are read
// sequentially: the header gives the size of the values before they are allocated.
#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <new>
#include <optional>
#include <span>

#include "runtime/base/files.h"
#include "sinter/data.h"

namespace sinter::inline v0::data {
namespace {

constexpr uint64_t kMaxRatio = 1032;  ///< of deflate: one bit each for two codes of 258 bytes

[[noreturn]] void report_damage(const std::string& name, const std::string& why, Loc where) {
  throw UsageError(fmt::format("read_idx: {} is damaged: {}; fetch the file again", name, why), where);
}

/// Sequential bytes from memory or a file.
class ByteReader {
 public:
  explicit ByteReader(std::span<const uint8_t> memory) : size_(memory.size()), memory_(memory) {}
  /// Without O_NONBLOCK, open() would wait for the other end of a pipe.
  ByteReader(const std::filesystem::path& path, Loc where)
      : path_(path.string()), file_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    struct stat info{};
    if (file_.get() < 0 || fstat(file_.get(), &info))
      throw UsageError(fmt::format("read_idx: cannot open {}: {}", path_, std::strerror(errno)), where);
    if (S_ISDIR(info.st_mode))
      throw UsageError(fmt::format("read_idx: {} is a folder; name a file in it", path_), where);
    if (!S_ISREG(info.st_mode))
      throw UsageError(fmt::format("read_idx: {} is no regular file; give the path of an IDX file", path_), where);
    size_ = static_cast<uint64_t>(info.st_size);
  }

  uint64_t size() const { return size_; }  ///< total bytes, including those already read
  /// Reads the next bytes, as many as fit; fewer only at the end.
  size_t read(std::span<uint8_t> to) {
    if (file_.get() < 0) {
      const size_t count = std::min(to.size(), memory_.size());
      std::copy_n(memory_.begin(), count, to.begin());
      memory_ = memory_.subspan(count);
      return count;
    }
    size_t done = 0;
    while (done < to.size()) {
      const ssize_t got = ::read(file_.get(), to.data() + done, to.size() - done);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) throw BackendError(fmt::format("read_idx: cannot read {}: {}", path_, std::strerror(errno)));
      if (got == 0) break;
      done += static_cast<size_t>(got);
    }
    return done;
  }

 private:
  uint64_t size_ = 0;
  std::span<const uint8_t> memory_;
  std::string path_;
  const runtime::Descriptor file_;
};

/// The concatenated contents of the members of a gzip file.
class GunzipReader {
 public:
  GunzipReader(ByteReader& packed, std::span<const uint8_t> first, const std::string& name, Loc where)
      : packed_(packed), name_(name), where_(where) {
    if (inflateInit2(&stream_, 16 + MAX_WBITS) != Z_OK) throw std::bad_alloc();
    std::ranges::copy(first, input_.begin());
    stream_.next_in = input_.data();
    stream_.avail_in = static_cast<uInt>(first.size());
  }
  ~GunzipReader() { inflateEnd(&stream_); }
  GunzipReader(const GunzipReader&) = delete;
  GunzipReader& operator=(const GunzipReader&) = delete;

  /// As ByteReader::read.
  size_t read(std::span<uint8_t> to) {
    size_t done = 0;
    while (done < to.size() && !ended_) {
      if (!stream_.avail_in) refill();
      const size_t room = std::min<size_t>(to.size() - done, std::numeric_limits<uInt>::max());
      stream_.next_out = to.data() + done;
      stream_.avail_out = static_cast<uInt>(room);
      const bool last = !stream_.avail_in;
      const int status = inflate(&stream_, Z_NO_FLUSH);
      done += room - stream_.avail_out;
      total_ += room - stream_.avail_out;
      if (status == Z_STREAM_END) {
        next_member();
      } else if (status == Z_MEM_ERROR) {
        throw std::bad_alloc();
      } else if (status != Z_OK || (last && stream_.avail_out)) {
        report_damage(
            name_, fmt::format("gzip stops after {} bytes ({})", total_, stream_.msg ? stream_.msg : "it ends early"),
            where_);
      }
    }
    return done;
  }

 private:
  void refill() {
    stream_.next_in = input_.data();
    stream_.avail_in = static_cast<uInt>(packed_.read(input_));
  }
  void next_member() {
    if (!stream_.avail_in) refill();
    if (!stream_.avail_in) {
      ended_ = true;
    } else if (inflateReset(&stream_) != Z_OK) {
      report_damage(name_, "its gzip members do not follow each other", where_);
    }
  }

  ByteReader& packed_;
  const std::string& name_;
  const Loc where_;
  std::array<uint8_t, 1 << 16> input_;
  z_stream stream_{};
  uint64_t total_ = 0;
  bool ended_ = false;
};

/// Reads all of `given`, compressed or not.
Idx parse(ByteReader& given, const std::string& name, Loc where) {
  std::array<uint8_t, 2> first{};
  const size_t begun = given.read(first);
  std::optional<GunzipReader> packed;
  if (begun == 2 && first[0] == 0x1f && first[1] == 0x8b) packed.emplace(given, first, name, where);
  const auto read = [&](std::span<uint8_t> to) { return packed ? packed->read(to) : given.read(to); };

  std::array<uint8_t, 4> mark{};
  size_t got = 0;
  if (!packed) std::copy_n(first.begin(), got = begun, mark.begin());
  got += read(std::span(mark).subspan(got));
  if (got < mark.size() || mark[0] != 0 || mark[1] != 0)
    report_damage(name, "it does not begin with the mark of an IDX file", where);
  if (mark[2] != 8) report_damage(name, fmt::format("its type is {:#x}, only 0x8 (uint8) is read", mark[2]), where);
  std::vector<uint8_t> sizes(4 * size_t{mark[3]});
  got = read(sizes);
  if (sizes.empty() || got < sizes.size())
    report_damage(name, fmt::format("{} bytes are too few for {} sizes", mark.size() + got, mark[3]), where);

  Idx idx;
  uint64_t count = 1;
  for (size_t i = 0; i < sizes.size(); i += 4) {
    const uint32_t size =
        uint32_t{sizes[i]} << 24 | uint32_t{sizes[i + 1]} << 16 | uint32_t{sizes[i + 2]} << 8 | sizes[i + 3];
    idx.shape.push_back(size);
    if (__builtin_mul_overflow(count, uint64_t{size}, &count)) report_damage(name, "its sizes are too large", where);
  }
  // Sizes beyond what the file can hold are rejected, and no more than the header's sizes is decompressed.
  const uint64_t head = mark.size() + sizes.size(),
                 most = packed ? given.size() * kMaxRatio : given.size() - std::min(given.size(), head);
  if (count > most)
    report_damage(name,
                  fmt::format("its sizes ask for {} values, and {} bytes hold at most {}", count, given.size(), most),
                  where);
  idx.values.resize(static_cast<size_t>(count));
  got = read(idx.values);
  if (got < count) report_damage(name, fmt::format("its sizes ask for {} values, it holds {}", count, got), where);
  std::array<uint8_t, 1> behind;
  if (read(behind)) report_damage(name, fmt::format("its sizes ask for {} values, it holds more", count), where);
  return idx;
}

Idx parse_or_throw(ByteReader& given, const std::string& name, Loc where) {
  try {
    return parse(given, name, where);
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(fmt::format("read_idx: the host has no memory for the values of {}", name));
  }
}

}  // namespace

Idx parse_idx(const std::vector<uint8_t>& bytes, const std::string& name, Loc where) {
  ByteReader given{std::span(bytes)};
  return parse_or_throw(given, name, where);
}

Idx read_idx(const std::filesystem::path& path, Loc where) {
  ByteReader given(path, where);
  return parse_or_throw(given, path.string(), where);
}

}  // namespace sinter::inline v0::data
