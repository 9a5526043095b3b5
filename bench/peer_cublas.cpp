// cuBLAS: float32 products on a GPU, in its default mode, which uses no tensor cores for them.
#include "gpu_peer.h"

namespace bench {
namespace {

namespace gpu = sinter::runtime::cuda;

/// The functions of cublas_v2.h that products need. A matrix is column-major; an operation is 0 (as it lies) or 1
/// (transposed); what they return is 0 if all went well.
struct Cublas {
  int (*create)(void** handle);
  int (*set_stream)(void* handle, gpu::StreamHandle stream);
  int (*sgemm)(void* handle, int op_a, int op_b, int m, int n, int k, const float* alpha, gpu::DevicePointer a, int lda,
               gpu::DevicePointer b, int ldb, const float* beta, gpu::DevicePointer c, int ldc);
  void* handle = nullptr;
};

const Cublas& cublas(gpu::Context& device) {
  static const Cublas opened = [&] {
    void* library = open_library({"libcublas.so.13", "libcublas.so.12", "/usr/local/cuda/lib64/libcublas.so"});
    Cublas c;
    find(library, "cublasCreate_v2", c.create);
    find(library, "cublasSetStream_v2", c.set_stream);
    find(library, "cublasSgemm_v2", c.sgemm);
    check(c.create(&c.handle), "cublasCreate");
    check(c.set_stream(c.handle, device.stream()), "cublasSetStream");
    return c;
  }();
  return opened;
}

/// sgemm:LAYOUT:MxKxN, as bench_sinter's. A row-major product is the column-major one of the operands in the other
/// order.
BenchCase product(const Arguments& arguments) {
  const auto device = gpu::Context::get(0);
  const Cublas& library = cublas(*device);
  const auto s = arguments.sizes(2);
  const bool ta = arguments.text(1) == "tn", tb = arguments.text(1) == "nt";
  const auto m = static_cast<int>(s.at(0)), k = static_cast<int>(s.at(1)), n = static_cast<int>(s.at(2));
  const auto count = [](int64_t rows, int64_t columns) { return static_cast<size_t>(rows * columns); };
  const auto a = input(device, count(s[0], s[1]), 1), b = input(device, count(s[1], s[2]), 2);
  const auto c = std::make_shared<DeviceFloats>(device, count(s[0], s[2]));
  return evaluate(
      [=, &library] {
        const float one = 1, zero = 0;
        check(library.sgemm(library.handle, tb, ta, n, m, k, &one, b->memory, tb ? k : n, a->memory, ta ? m : k, &zero,
                            c->memory, n),
              "cublasSgemm");
      },
      c);
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) { return bench::serve(argc, argv, {{"sgemm", {bench::product}}}); }
