// One list of fields per type, traversed by PlanSerializer and PlanDeserializer.
#include "runtime/exec/plan_bytes.h"

#include <algorithm>
#include <concepts>
#include <cstring>
#include <numeric>
#include <type_traits>

namespace sinter::runtime {
namespace {

template <class T, class Of>
concept SameType = std::same_as<std::remove_const_t<T>, Of>;

void fields(auto& a, SameType<PlanDim> auto& d) { a(d.fixed, d.var); }
void fields(auto& a, SameType<PlanBuffer> auto& b) { a(b.kind, b.dtype, b.shape, b.bound_bytes, b.first, b.last); }
void fields(auto& a, SameType<PlanStep> auto& s) {
  a(s.program, s.buffers, s.vars, s.args, s.outer, s.writes, s.time, s.price, s.offsets, s.section_of, s.position);
}
void fields(auto& a, SameType<SizePolynomial::Term> auto& t) { a(t.factor, t.vars); }
void fields(auto& a, SameType<SizePolynomial> auto& m) { a(m.terms); }
void fields(auto& a, SameType<KernelWork> auto& w) { a(w.flops, w.accesses, w.tensor); }
void fields(auto& a, SameType<Hash128> auto& h) { a(h.low, h.high); }
void fields(auto& a, SameType<KernelSource> auto& k) {
  a(k.name, k.has_epilogue, k.takes_tickets, k.blocks, k.scratch, k.threads, k.epilogue_threads, k.epilogue_blocks,
    k.shared);
}
void fields(auto& a, SameType<StoredPlan> auto& s) {
  a(s.plan.buffers, s.plan.steps, s.plan.launches, s.plan.work, s.plan.outputs, s.plan.raises_errors, s.kernels,
    s.keys);
}

class PlanSerializer {
 public:
  template <class... Ts>
  void operator()(const Ts&... values) {
    (write(values), ...);
  }
  std::string bytes;

 private:
  template <class T>
  void write(const T& v) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>)
      bytes.append(reinterpret_cast<const char*>(&v), sizeof v);
    else
      fields(*this, v);
  }
  void write(const std::string& text) { list(text); }
  template <class T>
  void write(const std::vector<T>& all) {
    list(all);
  }
  template <class List>
  void list(const List& all) {
    write(static_cast<uint32_t>(all.size()));
    for (const auto& v : all) write(v);
  }
};

/// Past the end of the bytes it reads zeros.
class PlanDeserializer {
 public:
  explicit PlanDeserializer(std::string_view bytes) : left_(bytes) {}
  template <class... Ts>
  void operator()(Ts&... values) {
    (read(values), ...);
  }
  bool good() const { return good_; }
  bool at_end() const { return good_ && left_.empty(); }

 private:
  template <class T>
  void read(T& v) {
    if constexpr (std::is_same_v<T, bool>) {
      uint8_t byte = 0;
      read(byte);
      good_ &= byte <= 1;
      v = byte == 1;
    } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      good_ &= left_.size() >= sizeof v;
      if (!good_) return;
      std::memcpy(&v, left_.data(), sizeof v);  // NOLINT(bugprone-suspicious-stringview-data-usage): there are as many
      left_.remove_prefix(sizeof v);
    } else {
      fields(*this, v);
    }
  }
  void read(std::string& text) { list(text); }
  template <class T>
  void read(std::vector<T>& all) {
    list(all);
  }
  template <class List>
  void list(List& all) {
    uint32_t count = 0;
    read(count);
    good_ &= count <= left_.size();  // each element takes at least one byte
    if (!good_) return;
    all.resize(count);
    for (auto& v : all) read(v);
  }

  std::string_view left_;
  bool good_ = true;
};

bool indices_below(const std::vector<int>& numbers, size_t count) {
  return std::ranges::all_of(numbers, [&](int n) { return n >= 0 && static_cast<size_t>(n) < count; });
}

/// Whether every buffer and kernel number is in range.
bool is_consistent(const StoredPlan& s) {
  const Plan& plan = s.plan;
  const auto known = [](const PlanBuffer& b) { return b.kind <= PlanBuffer::Kind::Scratch && b.dtype < DType::Index; };
  const auto fits = [&](const PlanStep& step) {
    return indices_below({step.program}, s.kernels.size()) && indices_below(step.buffers, plan.buffers.size()) &&
           indices_below(step.writes, plan.buffers.size()) &&
           plan.work[step.program].accesses.size() == step.buffers.size();
  };
  return s.keys.size() == s.kernels.size() && plan.work.size() == s.kernels.size() &&
         std::ranges::all_of(plan.buffers, known) && std::ranges::all_of(plan.steps, fits) &&
         indices_below(plan.outputs, plan.buffers.size()) && indices_below(plan.launches, plan.steps.size() + 1) &&
         std::accumulate(plan.launches.begin(), plan.launches.end(), size_t{0}) == plan.steps.size();
}

}  // namespace

std::string to_bytes(const StoredPlan& plan) {
  PlanSerializer writer;
  const auto kind = plan.plan.device.kind();
  const int index = plan.plan.device.index();
  writer(std::string(kPlanFormat), kind, index);
  fields(writer, plan);
  return std::move(writer.bytes);
}

std::optional<StoredPlan> plan_from_bytes(std::string_view bytes) {
  PlanDeserializer reader(bytes);
  std::string format;
  Device::Kind kind{};
  int index = 0;
  reader(format, kind, index);
  if (format != kPlanFormat || kind > Device::Kind::Cuda) return std::nullopt;
  StoredPlan out;
  fields(reader, out);
  out.plan.device = Device(kind, index);
  return reader.at_end() && is_consistent(out) ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace sinter::runtime
