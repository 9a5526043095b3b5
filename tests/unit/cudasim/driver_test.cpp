// The simulated driver: work runs late, faults stick, what is not freed is said.
#include "sim_support.h"

using namespace cuda_sim_test;
using Catch::Matchers::Contains;

namespace {

// k(p, n): p[i] = p[i] + n for 64 threads of a block; its line is 7 of a file that a .loc names.
constexpr const char* kAdd = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry add_n(.param .u64 p, .param .u64 n)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  .loc 1 7 3
  ld.param.u64 %rd0, [p];
  ld.param.u32 %r1, [n];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %rd1, %r0, 4;
  add.s64 %rd0, %rd0, %rd1;
  ld.global.u32 %r2, [%rd0];
  add.u32 %r2, %r2, %r1;
  st.global.u32 [%rd0], %r2;
  ret;
}
.file 1 "/somewhere/kernels.cu"
)";

// dynamic(p): p[tid] = what the neighbour wrote to dynamic shared memory, beside 1024 bytes that it declares.
constexpr const char* kDynamic = R"(
.version 8.0
.target sm_90
.address_size 64
.extern .shared .align 16 .b8 pool[];
.visible .entry dynamic(.param .u64 p)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  .shared .align 4 .b8 own[1024];
  ld.param.u64 %rd0, [p];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %rd1, %r0, 4;
  mov.u64 %rd2, pool;
  add.s64 %rd2, %rd2, %rd1;
  st.shared.u32 [%rd2], %r0;
  mov.u64 %rd3, own;
  bar.sync 0;
  xor.b32 %r1, %r0, 1;
  mul.wide.u32 %rd3, %r1, 4;
  mov.u64 %rd2, pool;
  add.s64 %rd2, %rd2, %rd3;
  ld.shared.u32 %r2, [%rd2];
  add.s64 %rd0, %rd0, %rd1;
  st.global.u32 [%rd0], %r2;
  ret;
}
)";

uint32_t peek(Gpu& gpu, cuda::DevicePointer memory) { return gpu.download<uint32_t>(memory, 1)[0]; }

void enqueue_add(Gpu& gpu, cuda::FunctionHandle add, cuda::DevicePointer memory, uint64_t n,
                 cuda::StreamHandle stream) {
  void* parameters[] = {&memory, &n};
  REQUIRE(gpu.driver().launch_kernel(add, 1, 1, 1, 64, 1, 1, 0, stream, parameters, nullptr) == CudaResult::Success);
}

}  // namespace

TEST_CASE("work on a simulated stream runs when it is waited for", "[cuda-sim]") {
  Gpu gpu;
  const auto& d = gpu.driver();
  const auto add = gpu.load(kAdd, "add_n");
  const auto memory = gpu.upload(std::vector<uint32_t>(64, 1));
  cuda::EventHandle event;
  REQUIRE(d.event_create(&event, 0) == CudaResult::Success);
  CHECK(d.event_query(event) == CudaResult::Success);  // nothing was recorded
  enqueue_add(gpu, add, memory, 1, gpu.stream());
  REQUIRE(d.event_record(event, gpu.stream()) == CudaResult::Success);
  enqueue_add(gpu, add, memory, 1, gpu.stream());
  CHECK(sim::counters("add_n").launches == 0);
  CHECK(d.event_query(event) == CudaResult::NotReady);
  REQUIRE(d.event_synchronize(event) == CudaResult::Success);
  CHECK(sim::counters("add_n").launches == 1);  // and not the one behind it
  CHECK(d.event_query(event) == CudaResult::Success);
  CHECK(d.stream_query(gpu.stream()) == CudaResult::NotReady);
  REQUIRE(d.stream_synchronize(gpu.stream()) == CudaResult::Success);
  CHECK(d.stream_query(gpu.stream()) == CudaResult::Success);
  CHECK(peek(gpu, memory) == 3);
  CHECK(d.event_destroy(event) == CudaResult::Success);
}

TEST_CASE("a stream waits for another one's event, and for what is pinned memory then", "[cuda-sim]") {
  Gpu gpu;
  const auto& d = gpu.driver();
  const auto add = gpu.load(kAdd, "add_n");
  const auto memory = gpu.upload(std::vector<uint32_t>(64, 1));
  cuda::StreamHandle other;
  cuda::EventHandle event;
  void* pinned;
  REQUIRE(d.stream_create(&other, cuda::kStreamNonBlocking) == CudaResult::Success);
  REQUIRE(d.event_create(&event, cuda::kEventDisableTiming) == CudaResult::Success);
  REQUIRE(d.mem_host_alloc(&pinned, 64 * 4, 0) == CudaResult::Success);
  auto* values = static_cast<uint32_t*>(pinned);
  std::fill(values, values + 64, 10);
  REQUIRE(d.memcpy_htod_async(memory, pinned, 64 * 4, gpu.stream()) == CudaResult::Success);
  std::fill(values, values + 64, 20);  // too early: the copy has not been made
  enqueue_add(gpu, add, memory, 5, gpu.stream());
  REQUIRE(d.event_record(event, gpu.stream()) == CudaResult::Success);
  REQUIRE(d.stream_wait_event(other, event, 0) == CudaResult::Success);
  enqueue_add(gpu, add, memory, 100, other);
  REQUIRE(d.stream_synchronize(other) == CudaResult::Success);
  CHECK(peek(gpu, memory) == 125);
  CHECK(d.mem_free_host(pinned) == CudaResult::Success);
  CHECK(d.mem_free_host(pinned) == CudaResult::InvalidValue);
  CHECK(d.event_destroy(event) == CudaResult::Success);
  CHECK(d.stream_destroy(other) == CudaResult::Success);
}

TEST_CASE("a fault of the simulated device sticks until its context is released", "[cuda-sim]") {
  const auto& d = cuda::simulated_driver();
  {
    Gpu gpu;
    const auto add = gpu.load(kAdd, "add_n");
    const auto memory = gpu.upload(std::vector<uint32_t>(63, 1));
    CHECK(gpu.launch(add, 1, 64, {memory, 1}) == CudaResult::IllegalAddress);
    CHECK_THAT(sim::last_fault(),
               Contains("kernel add_n, block (0,0,0), thread (63,0,0), kernels.cu:7 `ld.global.u32"));
    CHECK_THAT(sim::last_fault(), Contains("out of bounds"));
    cuda::DevicePointer more;
    CHECK(d.mem_alloc(&more, 4) == CudaResult::IllegalAddress);
    CHECK(d.ctx_synchronize() == CudaResult::IllegalAddress);
    CHECK(d.mem_free(memory) == CudaResult::IllegalAddress);
  }
  Gpu again;
  CHECK(again.allocate(4) != 0);
  const char *name, *text;
  CHECK(d.get_error_name(CudaResult::IllegalAddress, &name) == CudaResult::Success);
  CHECK(std::string(name) == "CUDA_ERROR_ILLEGAL_ADDRESS");
  CHECK(d.get_error_string(CudaResult::IllegalAddress, &text) == CudaResult::Success);
}

TEST_CASE("memory that was freed is known as such", "[cuda-sim]") {
  Gpu gpu;
  const auto& d = gpu.driver();
  const auto add = gpu.load(kAdd, "add_n");
  cuda::DevicePointer memory;
  REQUIRE(d.mem_alloc(&memory, 256) == CudaResult::Success);
  REQUIRE(d.mem_free(memory) == CudaResult::Success);
  CHECK(d.mem_free(memory) == CudaResult::InvalidValue);  // twice
  CHECK_THAT(sim::last_fault(), Contains("freed"));
  CHECK(gpu.launch(add, 1, 64, {memory, 1}) == CudaResult::IllegalAddress);
  CHECK_THAT(sim::last_fault(), Contains("use after free"));
}

TEST_CASE("what lives on a device when its context ends is reported", "[cuda-sim]") {
  sim::clear_reports();
  { Gpu gpu; }
  CHECK(sim::leaks() == "");
  {
    Gpu gpu;
    cuda::DevicePointer memory;
    cuda::EventHandle event;
    REQUIRE(gpu.driver().mem_alloc(&memory, 100) == CudaResult::Success);
    REQUIRE(gpu.driver().event_create(&event, 0) == CudaResult::Success);
  }
  CHECK_THAT(sim::leaks(), Contains("the 100 bytes") && Contains("1 events"));
}

TEST_CASE("the simulated device has as much memory as a test says, and fails when it is asked to", "[cuda-sim]") {
  Gpu gpu({.memory = 10000, .fail_allocation = 2, .fail_launch = 1});
  const auto& d = gpu.driver();
  size_t free = 0, total = 0;
  cuda::DevicePointer memory;
  CHECK(gpu.allocate(256) != 0);
  CHECK(d.mem_alloc(&memory, 256) == CudaResult::OutOfMemory);
  CHECK(gpu.allocate(256) != 0);
  REQUIRE(d.mem_get_info(&free, &total) == CudaResult::Success);
  CHECK(total == 10000);
  CHECK(free == 10000 - 2 * 512);
  CHECK(d.mem_alloc(&memory, free + 1) == CudaResult::OutOfMemory);
  const auto add = gpu.load(kAdd, "add_n");
  CHECK(gpu.launch(add, 1, 64, {gpu.upload(std::vector<uint32_t>(64)), 1}) == CudaResult::LaunchFailed);
  CHECK_THAT(sim::last_fault(), Contains("add_n"));
}

TEST_CASE("dynamic shared memory needs to be granted", "[cuda-sim]") {
  Gpu gpu;
  const auto& d = gpu.driver();
  const auto kernel = gpu.load(kDynamic, "dynamic");
  const auto out = gpu.allocate(1024 * 4);
  int bytes = 0;
  REQUIRE(d.func_get_attribute(&bytes, cuda::FunctionAttribute::SharedSizeBytes, kernel) == CudaResult::Success);
  CHECK(bytes == 1024);
  CHECK(gpu.launch(kernel, 1, 1024, {out}, 4096) == CudaResult::Success);
  CHECK(peek(gpu, out) == 1);
  const int most = (48 << 10) - 1024;
  CHECK(gpu.launch(kernel, 1, 64, {out}, most) == CudaResult::Success);
  CHECK(gpu.launch(kernel, 1, 64, {out}, most + 4) == CudaResult::InvalidValue);
  const auto attribute = cuda::FunctionAttribute::MaxDynamicSharedSizeBytes;
  CHECK(d.func_set_attribute(kernel, attribute, 227 << 10) == CudaResult::InvalidValue);  // its own count too
  CHECK(d.func_set_attribute(kernel, attribute, (227 << 10) - 1024) == CudaResult::Success);
  CHECK(gpu.launch(kernel, 1, 64, {out}, (227 << 10) - 1024) == CudaResult::Success);
  CHECK(gpu.launch(kernel, 1, 1025, {out}, 4096) == CudaResult::InvalidValue);
  CHECK(gpu.launch(kernel, 1, 64, {out}, 64 * 4 - 4) ==
        CudaResult::IllegalAddress);  // the last thread's word is missing
  CHECK_THAT(sim::last_fault(), Contains("pool"));
}

TEST_CASE("graphs of the simulated driver keep what they were made of", "[cuda-sim]") {
  Gpu gpu;
  const auto& d = gpu.driver();
  const auto add = gpu.load(kAdd, "add_n");
  auto memory = gpu.upload(std::vector<uint32_t>(64, 0));
  uint64_t n = 1;
  void* parameters[] = {&memory, &n};
  cuda::KernelNodeParams node{add, 1, 1, 1, 64, 1, 1, 0, parameters, nullptr, nullptr, nullptr};
  cuda::GraphHandle graph;
  cuda::GraphNodeHandle first, second;
  cuda::GraphExecHandle exec;
  REQUIRE(d.graph_create(&graph, 0) == CudaResult::Success);
  REQUIRE(d.graph_add_kernel_node(&first, graph, nullptr, 0, &node) == CudaResult::Success);
  n = 10;
  REQUIRE(d.graph_add_kernel_node(&second, graph, &first, 1, &node) == CudaResult::Success);
  REQUIRE(d.graph_instantiate_with_flags(&exec, graph, 0) == CudaResult::Success);
  REQUIRE(d.graph_launch(exec, gpu.stream()) == CudaResult::Success);
  n = 100;
  REQUIRE(d.graph_exec_kernel_node_set_params(exec, second, &node) == CudaResult::Success);  // for the next launch
  REQUIRE(d.graph_launch(exec, gpu.stream()) == CudaResult::Success);
  CHECK(sim::counters("add_n").launches == 0);
  CHECK(peek(gpu, memory) == 1 + 10 + 1 + 100);
  CHECK(d.graph_exec_destroy(exec) == CudaResult::Success);
  CHECK(d.graph_destroy(graph) == CudaResult::Success);
  CHECK(d.graph_destroy(graph) == CudaResult::InvalidHandle);
}

TEST_CASE("nodes of a graph that have no order must not meet in memory", "[cuda-sim]") {
  for (const bool ordered : {true, false}) {
    Gpu gpu;
    const auto& d = gpu.driver();
    const auto add = gpu.load(kAdd, "add_n");
    auto memory = gpu.upload(std::vector<uint32_t>(64, 0)), other = gpu.upload(std::vector<uint32_t>(64, 0));
    uint64_t n = 1;
    void* parameters[] = {&memory, &n};
    cuda::KernelNodeParams node{add, 1, 1, 1, 64, 1, 1, 0, parameters, nullptr, nullptr, nullptr};
    cuda::GraphHandle graph;
    cuda::GraphNodeHandle nodes[3];
    cuda::GraphExecHandle exec;
    REQUIRE(d.graph_create(&graph, 0) == CudaResult::Success);
    REQUIRE(d.graph_add_kernel_node(&nodes[0], graph, nullptr, 0, &node) == CudaResult::Success);
    parameters[0] = &other;
    REQUIRE(d.graph_add_kernel_node(&nodes[1], graph, nullptr, 0, &node) == CudaResult::Success);
    parameters[0] = &memory;  // after the first, or beside it
    REQUIRE(d.graph_add_kernel_node(&nodes[2], graph, nodes, ordered ? 2 : 0, &node) == CudaResult::Success);
    REQUIRE(d.graph_instantiate_with_flags(&exec, graph, 0) == CudaResult::Success);
    REQUIRE(d.graph_launch(exec, gpu.stream()) == CudaResult::Success);
    CHECK(d.stream_synchronize(gpu.stream()) == (ordered ? CudaResult::Success : CudaResult::LaunchFailed));
    if (!ordered) CHECK_THAT(sim::last_fault(), Contains("the two launches have no order"));
    d.graph_exec_destroy(exec);
    d.graph_destroy(graph);
  }
}

TEST_CASE("several simulated devices have memories of their own", "[cuda-sim]") {
  Gpu gpu({.devices = 2});
  const auto& d = gpu.driver();
  int count = 0;
  REQUIRE(d.device_get_count(&count) == CudaResult::Success);
  CHECK(count == 2);
  cuda::ContextHandle first, second;
  REQUIRE(d.ctx_get_current(&first) == CudaResult::Success);
  REQUIRE(d.device_primary_ctx_retain(&second, 1) == CudaResult::Success);
  const auto here = gpu.upload(std::vector<uint32_t>{42});
  REQUIRE(d.stream_synchronize(gpu.stream()) == CudaResult::Success);
  REQUIRE(d.ctx_set_current(second) == CudaResult::Success);
  cuda::DevicePointer there;
  cuda::StreamHandle stream;
  REQUIRE(d.mem_alloc(&there, 4) == CudaResult::Success);
  REQUIRE(d.stream_create(&stream, 0) == CudaResult::Success);
  CHECK(there != here);
  CHECK(d.stream_synchronize(gpu.stream()) == CudaResult::InvalidHandle);  // of the other context
  REQUIRE(d.memcpy_peer_async(there, second, here, first, 4, stream) == CudaResult::Success);
  uint32_t value = 0;
  REQUIRE(d.memcpy_dtoh_async(&value, there, 4, stream) == CudaResult::Success);
  CHECK(value == 42);
  CHECK(d.mem_free(there) == CudaResult::Success);
  CHECK(d.stream_destroy(stream) == CudaResult::Success);
  CHECK(d.device_primary_ctx_release(1) == CudaResult::Success);
  REQUIRE(d.ctx_set_current(first) == CudaResult::Success);
}

TEST_CASE("text that is no PTX is refused with a reason", "[cuda-sim]") {
  Gpu gpu;
  char log[200] = "";
  cuda::JitOption options[] = {cuda::JitOption::ErrorLogBuffer, cuda::JitOption::ErrorLogBufferSizeBytes};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  cuda::ModuleHandle module;
  const auto refused = [&](const std::string& body) {
    const std::string text = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n" + body + "\n}\n";
    CHECK(gpu.driver().module_load_data_ex(&module, text.c_str(), 2, options, values) == CudaResult::InvalidPtx);
    return std::string(log);
  };
  CHECK_THAT(refused("wgmma.fence.sync.aligned;"), Contains("wgmma") && Contains("does not know"));
  CHECK_THAT(refused(".reg .b32 %r<2>;\nadd.f64 %r0, %r1, %r1;"), Contains("4 bytes"));
  CHECK_THAT(refused("bra nowhere;"), Contains("no label nowhere"));
  CHECK_THAT(refused(".reg .b32 %r<2>;\nadd.s32.new %r0, %r0, %r1;"), Contains("not supported"));
  CHECK_THAT(refused("ret"), Contains("PTX line"));
}
