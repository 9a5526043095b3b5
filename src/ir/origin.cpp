// The open call of each thread, and the table of call sites.
#include "ir/origin.h"

#include <array>
#include <cstring>
#include <functional>
#include <unordered_set>
#include <utility>

namespace sinter::ir {
namespace {

struct CallFrame {
  Caller caller;
  int depth = 0;
  NodeOrigin* origin = nullptr;  ///< of `caller`, once requested
};
thread_local CallFrame frame;

/// Identity of a call site. Texts are compared, not addresses: a line of a header is one site in all files that include
/// it, and the library of a caller may have been unloaded.
struct CallSite {
  std::string_view call, file;
  uint32_t line;
};
CallSite site_of(const NodeOrigin& o) { return {o.call, o.file, o.line}; }

struct OriginHash {
  using is_transparent = void;
  size_t operator()(const CallSite& s) const {
    const std::hash<std::string_view> hash;
    return (hash(s.call) * 31 + hash(s.file)) * 31 + s.line;
  }
  size_t operator()(const NodeOrigin* o) const { return (*this)(site_of(*o)); }
};
struct OriginEqual {
  using is_transparent = void;
  bool operator()(const CallSite& a, const CallSite& b) const {
    return a.line == b.line && a.call == b.call && a.file == b.file;
  }
  bool operator()(const CallSite& a, const NodeOrigin* b) const { return (*this)(a, site_of(*b)); }
  bool operator()(const NodeOrigin* a, const CallSite& b) const { return (*this)(site_of(*a), b); }
  bool operator()(const NodeOrigin* a, const NodeOrigin* b) const { return a == b; }
};

/// Never destroyed: tensors in static objects die after main.
std::unordered_set<NodeOrigin*, OriginHash, OriginEqual>& table() {
  static auto* all = new std::unordered_set<NodeOrigin*, OriginHash, OriginEqual>;
  return *all;
}

/// Cache of recent origins, keyed by the addresses of the call's and the file's names and the line. Most calls come
/// from a few sites.
NodeOrigin*& recent(const Caller& caller) {
  static std::array<NodeOrigin*, 64> all{};
  const auto file = reinterpret_cast<uintptr_t>(caller.where.file_name()),
             call = reinterpret_cast<uintptr_t>(caller.name.data());
  return all[(file ^ call ^ caller.where.line()) % all.size()];
}

NodeOrigin& find_or_make(const CallSite& site, std::string_view function) {
  if (const auto found = table().find(site); found != table().end()) return **found;
  auto* origin = new NodeOrigin;
  origin->call = site.call;
  origin->file = site.file;
  origin->line = site.line;
  origin->function = function;
  table().insert(origin);
  return *origin;
}

/// As OriginEqual, without a CallSite: lines and lengths tell most apart. It runs once for each call of the program.
bool matches(const NodeOrigin& o, const Caller& caller) {
  return o.line == caller.where.line() && o.call.size() == caller.name.size() &&
         std::memcmp(o.call.data(), caller.name.data(), o.call.size()) == 0 &&
         std::strcmp(o.file.c_str(), caller.where.file_name()) == 0;
}

NodeOrigin& origin_outside() {
  static NodeOrigin& origin = find_or_make({"", "", 0}, "");
  return origin;
}
NodeOrigin& origin_of(const Caller& caller) {
  NodeOrigin*& known = recent(caller);
  if (!known || !matches(*known, caller))
    known = &find_or_make({caller.name, caller.where.file_name(), caller.where.line()}, caller.where.function_name());
  return *known;
}

thread_local bool tracing = false;
thread_local NodeOrigin* traced = nullptr;  ///< of what is made now; null: the open call's
constexpr std::string_view kGradientOf = "the gradient of ";

}  // namespace

void enter_call(std::string_view name, const std::source_location& where) {
  if (frame.depth++ == 0) {
    frame.caller = {name, where};
    frame.origin = nullptr;
  }
}
void leave_call() { --frame.depth; }

NoOpenCall::NoOpenCall() : caller_(frame.caller), depth_(std::exchange(frame.depth, 0)) {}
NoOpenCall::~NoOpenCall() {
  frame.caller = caller_;
  frame.depth = depth_;
  frame.origin = nullptr;
}

const Caller* caller() { return frame.depth ? &frame.caller : nullptr; }

bool traces_gradients() { return tracing; }
void trace_gradients(bool on) { tracing = on; }

GradientOrigin::GradientOrigin(const NodeOrigin* of) : before_(traced) {
  if (!tracing || !of) return;
  const std::string call = differentiated_call(*of).empty() ? std::string(kGradientOf) + of->call : of->call;
  traced = &find_or_make({call, of->file, of->line}, of->function);
}
GradientOrigin::~GradientOrigin() { traced = before_; }

std::string_view differentiated_call(const NodeOrigin& origin) {
  const std::string_view call = origin.call;
  return call.starts_with(kGradientOf) ? call.substr(kGradientOf.size()) : std::string_view();
}

NodeOrigin& current_origin() {
  if (traced) return *traced;
  if (!frame.depth) return origin_outside();
  if (!frame.origin) frame.origin = &origin_of(frame.caller);
  return *frame.origin;
}

std::vector<const NodeOrigin*> origins() { return {table().begin(), table().end()}; }

}  // namespace sinter::ir
