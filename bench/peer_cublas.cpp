// cuBLAS: products on a GPU, in its default mode, which uses tensor cores for 16-bit floats alone, and sums in float32.
#include "gpu_peer.h"

namespace bench {
namespace {

namespace gpu = sinter::runtime::cuda;
using sinter::DType;

constexpr int kSumFloat32 = 68, kItsChoice = -1;  // CUBLAS_COMPUTE_32F and CUBLAS_GEMM_DEFAULT

/// cudaDataType of a type: CUDA_R_32F, CUDA_R_16BF, CUDA_R_16F.
int data_type(DType type) { return type == sinter::float32 ? 0 : type == sinter::bfloat16 ? 14 : 2; }

/// The functions of cublas_v2.h that products need. A matrix is column-major; an operation is 0 (as it lies) or 1
/// (transposed); what they return is 0 if all went well.
struct Cublas {
  int (*create)(void** handle);
  int (*set_stream)(void* handle, gpu::StreamHandle stream);
  int (*gemm)(void* handle, int op_a, int op_b, int m, int n, int k, const float* alpha, gpu::DevicePointer a,
              int type_a, int lda, gpu::DevicePointer b, int type_b, int ldb, const float* beta, gpu::DevicePointer c,
              int type_c, int ldc, int sums, int algorithm);
  void* handle = nullptr;
};

const Cublas& cublas(gpu::Context& device) {
  static const Cublas opened = [&] {
    void* library = open_library({"libcublas.so.13", "libcublas.so.12", "/usr/local/cuda/lib64/libcublas.so"});
    Cublas c;
    find(library, "cublasCreate_v2", c.create);
    find(library, "cublasSetStream_v2", c.set_stream);
    find(library, "cublasGemmEx", c.gemm);
    check(c.create(&c.handle), "cublasCreate");
    check(c.set_stream(c.handle, device.stream()), "cublasSetStream");
    return c;
  }();
  return opened;
}

/// sgemm:LAYOUT:MxKxN and gemm:LAYOUT:MxKxN, as bench_sinter's. A row-major product is the column-major one of the
/// operands in the other order.
BenchCase product(const Arguments& arguments) {
  const auto device = gpu::Context::get(0);
  const Cublas& library = cublas(*device);
  const auto s = arguments.sizes(2);
  const bool ta = arguments.text(1) == "tn", tb = arguments.text(1) == "nt";
  const auto m = static_cast<int>(s.at(0)), k = static_cast<int>(s.at(1)), n = static_cast<int>(s.at(2));
  const auto count = [](int64_t rows, int64_t columns) { return static_cast<size_t>(rows * columns); };
  const DType type = sinter::dtype_named(arguments.type);
  const auto a = input(device, count(s[0], s[1]), 1, type), b = input(device, count(s[1], s[2]), 2, type);
  const auto c = std::make_shared<DeviceFloats>(device, count(s[0], s[2]), type);
  return evaluate(
      [=, &library] {
        const float one = 1, zero = 0;
        const int t = data_type(type);
        check(library.gemm(library.handle, tb, ta, n, m, k, &one, b->memory, t, tb ? k : n, a->memory, t, ta ? m : k,
                           &zero, c->memory, t, n, kSumFloat32, kItsChoice),
              "cublasGemmEx");
      },
      c);
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  return bench::serve(argc, argv, {{"sgemm", {bench::product}}, {"gemm", {.make = bench::product, .narrow = true}}});
}
