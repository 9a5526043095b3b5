// What the runtime's tests share: a changed environment, a folder of their own, captured log lines, simple kernels.
#pragma once

#include <fmt/core.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/base/env.h"
#include "runtime/base/log.h"
#include "runtime/base/subprocess.h"
#include "runtime/program/host_target.h"
#include "runtime/program/program.h"

namespace runtime_test {

/// All bytes of a file.
inline std::string slurp(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;  // much faster than an iterator over a program's bytes
  text << file.rdbuf();
  return std::move(text).str();
}

/// A compiler of this machine, by the first of its names that is found; a test is skipped where it is "".
inline std::string installed(std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (sinter::runtime::cpu::find_executable(name)) return name;
  return "";
}
inline std::string gcc() { return installed({"gcc", "gcc-12", "gcc-13", "gcc-14", "gcc-15"}); }
inline std::string clang() { return installed({"clang-19", "clang"}); }

/// Sets (or, without a value, unsets) a variable for a scope.
class ScopedEnv {
 public:
  ScopedEnv(const char* name, std::optional<std::string> value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    apply(value);
  }
  ~ScopedEnv() { apply(before_); }
  ScopedEnv(const ScopedEnv&) = delete;
  ScopedEnv& operator=(const ScopedEnv&) = delete;

 private:
  void apply(const std::optional<std::string>& value) {
    if (value)
      setenv(name_, value->c_str(), 1);
    else
      unsetenv(name_);
    try {
      sinter::runtime::reload_env();
    } catch (const std::exception&) {
      // A test of bad values: env() throws it again.
    }
  }
  const char* name_;
  std::optional<std::string> before_;
};

class Folder {
 public:
  Folder() {
    std::string path = (std::filesystem::temp_directory_path() / "sinter-test-XXXXXX").string();
    path_ = mkdtemp(path.data());
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }
  /// All files below that end in `ending`.
  std::vector<std::filesystem::path> files(const std::string& ending) const {
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path_))
      if (entry.is_regular_file() && entry.path().string().ends_with(ending)) found.push_back(entry.path());
    return found;
  }

 private:
  std::string path_;
};

class CapturedLog final : public sinter::runtime::LogSink {
 public:
  CapturedLog() { before_ = sinter::runtime::set_log_sink(this); }
  ~CapturedLog() override { sinter::runtime::set_log_sink(before_); }
  void write(int, std::string_view text) override {
    std::lock_guard lock(mutex_);
    text_ += text;
  }
  std::string text() {
    std::lock_guard lock(mutex_);
    return text_;
  }

 private:
  std::mutex mutex_;
  std::string text_;
  sinter::runtime::LogSink* before_;
};

/// A cache folder of its own and an empty memory cache.
struct FreshCache {
  Folder folder;
  ScopedEnv setting{"SINTER_CACHE", folder.path()};
  FreshCache() { sinter::runtime::forget_programs(); }
  ~FreshCache() { sinter::runtime::forget_programs(); }
};

/// y[i] = x[i] * 2 + c over [begin, end).
inline sinter::runtime::KernelSource scale_kernel(const std::string& name, float c) {
  return {name,
          fmt::format(R"(
static const float {0}_table[4] = {{2.0f, {1:.1f}f, 0.0f, 0.0f}};
static inline float {0}_one(float x, const float* t) {{ return x * t[0] + t[1]; }}
int {0}(void* const* bufs, const long* vars, long begin, long end) {{
  float* y = (float*)bufs[1];
  const float* x = (const float*)bufs[2];
  for (long i = begin; i < end; ++i) y[i] = {0}_one(x[i], {0}_table + vars[0]);
  return 0;
}}
)",
                      name, c),
          false};
}

/// True if the program computes scale_kernel(c).
inline bool scales(const sinter::runtime::Program& program, float c) {
  std::vector<float> x(100), y(100, -1.0f);
  for (int i = 0; i < 100; ++i) x[static_cast<size_t>(i)] = static_cast<float>(i);
  int32_t error = 0;
  void* bufs[] = {&error, y.data(), x.data()};
  const int64_t vars[] = {0};
  if (program.entry()(bufs, vars, 10, 100) != 0) return false;
  for (size_t i = 0; i < 100; ++i)
    if (y[i] != (i < 10 ? -1.0f : static_cast<float>(i) * 2.0f + c)) return false;
  return true;
}

inline std::shared_ptr<const sinter::runtime::Program> compile_one(const sinter::runtime::KernelSource& kernel) {
  return sinter::runtime::compile({&kernel, 1}, sinter::runtime::host_target()).at(0);
}

}  // namespace runtime_test
