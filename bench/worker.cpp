#include "worker.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;
double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Before the first measurement: runs for so many seconds and at least three runs, but no longer than kLongWarmUp.
constexpr double kWarmUp = 0.1, kLongWarmUp = 1;
constexpr int kWarmRuns = 3;

uint32_t hash(uint32_t i, uint32_t seed) {
  uint32_t h = (i + seed * 0x9E3779B9u) * 2654435761u;
  h ^= h >> 15;
  h *= 0x2C1B3C6Du;
  return h ^ h >> 12;
}

Arguments parse(const std::string& name) {
  Arguments arguments;
  std::istringstream in(name);
  for (std::string part; std::getline(in, part, ':');) arguments.parts.push_back(part);
  static const std::map<std::string, std::string> types{{"bf16", "bfloat16"}, {"f16", "float16"}};
  if (const auto type = types.find(arguments.text(0)); type != types.end()) {
    arguments.type = type->second;
    arguments.parts.erase(arguments.parts.begin());
  }
  return arguments;
}

const CaseFamily& find(const std::map<std::string, CaseFamily>& families, const Arguments& arguments) {
  const auto found = families.find(arguments.text(0));
  if (found == families.end() || (arguments.type != "float32" && !found->second.narrow))
    throw std::invalid_argument("unknown case");
  return found->second;
}

std::string join(const std::vector<double>& values) {
  std::string text;
  for (double v : values) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.9g", v);
    text += (text.empty() ? "" : ",") + std::string(digits);
  }
  return text;
}

/// An answer is one line.
std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

/// The most memory that was resident so far, in KiB.
int64_t peak_resident() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::stoll(line.substr(6));
  return 0;
}

void warm_up(const BenchCase& work) {
  const auto start = Clock::now();
  for (int runs = 0; since(start) < (runs < kWarmRuns ? kLongWarmUp : kWarmUp); ++runs) work.run();
}

struct Sample {
  int runs;
  double median;
};

Sample measure(const BenchCase& work, double seconds) {
  std::vector<double> times;
  for (const auto start = Clock::now(); times.empty() || since(start) < seconds;) {
    const auto begin = Clock::now();
    if (work.seconds) {
      times.push_back(work.seconds());
    } else {
      work.run();
      times.push_back(since(begin));
    }
  }
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return {static_cast<int>(times.size()), *middle};
}

/// Answers requests until stdin ends. Only the last case is kept, so that none stands in another's memory.
void answer_requests(const std::map<std::string, CaseFamily>& families) {
  std::string current, values;
  BenchCase work;
  std::string name;
  double seconds = 0;
  while (std::cin >> name >> seconds) {
    try {
      if (name != current) {
        current.clear();
        work = {};
        const Arguments arguments = parse(name);
        work = find(families, arguments).make(arguments);
        values = join(work.check());
        warm_up(work);
        current = name;
      }
      const Sample sample = measure(work, seconds);
      std::printf("%s ok %d %.4f %s\n", name.c_str(), sample.runs, sample.median * 1e6, values.c_str());
    } catch (const std::exception& e) { std::printf("%s error %s\n", name.c_str(), one_line(e.what()).c_str()); }
    std::fflush(stdout);
  }
}

}  // namespace

const std::string& Arguments::text(size_t i) const {
  if (i >= parts.size()) throw std::invalid_argument("unknown case");
  return parts[i];
}

std::vector<int64_t> Arguments::sizes(size_t i) const {
  std::vector<int64_t> sizes;
  std::istringstream in(text(i));
  for (std::string part; std::getline(in, part, 'x');) sizes.push_back(std::stoll(part));
  return sizes;
}

Floats uniform(size_t count, uint32_t seed) {
  Floats data(count);
  for (size_t i = 0; i < count; ++i)
    data[i] = static_cast<float>(hash(static_cast<uint32_t>(i), seed) >> 8) * 0x1p-24f - 0.5f;
  return data;
}

std::vector<int64_t> labels(size_t count, int64_t classes) {
  std::vector<int64_t> data(count);
  for (size_t i = 0; i < count; ++i) data[i] = (hash(static_cast<uint32_t>(i), 7) >> 8) % classes;
  return data;
}

std::vector<double> fingerprint(std::span<const float> data) {
  const Floats weights = uniform(data.size(), 99);
  double squares = 0, projection = 0;
  for (size_t i = 0; i < data.size(); ++i) {
    squares += static_cast<double>(data[i]) * data[i];
    projection += static_cast<double>(data[i]) * weights[i];
  }
  return {std::sqrt(squares), projection};
}

int serve(int argc, char** argv, const std::map<std::string, CaseFamily>& families) {
  if (argc == 1) {
    answer_requests(families);
    return 0;
  }
  if (argc != 4 || std::string(argv[1]) != "--once") {
    std::fprintf(stderr, "usage: %s [--once CASE STEPS]; without, cases come on stdin: CASE SECONDS\n", argv[0]);
    return 2;
  }
  try {
    const Arguments arguments = parse(argv[2]);
    const CaseFamily& family = find(families, arguments);
    if (!family.train) throw std::invalid_argument("no training");
    const std::string values = join(family.train(arguments, std::atoi(argv[3])));
    std::printf("%s ok %lld %s\n", argv[2], static_cast<long long>(peak_resident()), values.c_str());
    return 0;
  } catch (const std::exception& e) {
    std::printf("%s error %s\n", argv[2], one_line(e.what()).c_str());
    return 1;
  }
}

}  // namespace bench
