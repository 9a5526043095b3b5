// cuDNN: float32 convolutions, their gradients and softmax on a GPU. Convolutions take the algorithm that is fastest
// when all are tried, without tensor cores, as what Sinter computes.
#include "gpu_peer.h"

#include <array>
#include <stdexcept>

namespace bench {
namespace {

namespace gpu = sinter::runtime::cuda;
using gpu::DevicePointer;

/// What cudnn_cnn.h calls cudnnConvolution...AlgoPerf_t: one algorithm that was tried.
struct AlgorithmTrial {
  int algorithm, status;
  float ms;
  size_t workspace;
  int deterministic, math;
  int reserved[3];
};

constexpr int kNchw = 0, kFloat = 0, kCrossCorrelation = 1, kFmaMath = 3, kAccurate = 1,
              kPerInstance = 0;  // cuDNN's enumerations
constexpr int kMostTried = 16;

/// The functions of cudnn_ops.h and cudnn_cnn.h that the cases need, version 9; what they return is 0 if all went well.
struct Cudnn {
  using Descriptor = void*;
  using Try = int (*)(void* handle, Descriptor a, Descriptor b, Descriptor convolution, Descriptor c, int most,
                      int* count, AlgorithmTrial* tried);
  using Convolve = int (*)(void* handle, const float* alpha, Descriptor a, DevicePointer a_data, Descriptor b,
                           DevicePointer b_data, Descriptor convolution, int algorithm, DevicePointer workspace,
                           size_t bytes, const float* beta, Descriptor c, DevicePointer c_data);
  int (*create)(void** handle);
  int (*set_stream)(void* handle, gpu::StreamHandle stream);
  int (*create_tensor)(Descriptor* made);
  int (*set_tensor)(Descriptor tensor, int format, int dtype, int n, int c, int h, int w);
  int (*create_filter)(Descriptor* made);
  int (*set_filter)(Descriptor filter, int dtype, int format, int k, int c, int h, int w);
  int (*create_convolution)(Descriptor* made);
  int (*set_convolution)(Descriptor convolution, int pad_h, int pad_w, int step_h, int step_w, int dilation_h,
                         int dilation_w, int mode, int dtype);
  int (*set_math)(Descriptor convolution, int math);
  Try try_forward, try_data, try_filter;
  Convolve forward, data, filter;
  int (*softmax)(void* handle, int algorithm, int mode, const float* alpha, Descriptor x, DevicePointer x_data,
                 const float* beta, Descriptor y, DevicePointer y_data);
  void* handle = nullptr;

  Descriptor tensor(const std::array<int64_t, 4>& s) const {
    Descriptor made = nullptr;
    check(create_tensor(&made), "cudnnCreateTensorDescriptor");
    check(set_tensor(made, kNchw, kFloat, static_cast<int>(s[0]), static_cast<int>(s[1]), static_cast<int>(s[2]),
                     static_cast<int>(s[3])),
          "cudnnSetTensor4dDescriptor");
    return made;
  }
  Descriptor filter_of(const std::array<int64_t, 4>& s) const {
    Descriptor made = nullptr;
    check(create_filter(&made), "cudnnCreateFilterDescriptor");
    check(set_filter(made, kFloat, kNchw, static_cast<int>(s[0]), static_cast<int>(s[1]), static_cast<int>(s[2]),
                     static_cast<int>(s[3])),
          "cudnnSetFilter4dDescriptor");
    return made;
  }
  /// Neither padded nor strided.
  Descriptor convolution() const {
    Descriptor made = nullptr;
    check(create_convolution(&made), "cudnnCreateConvolutionDescriptor");
    check(set_convolution(made, 0, 0, 1, 1, 1, 1, kCrossCorrelation, kFloat), "cudnnSetConvolution2dDescriptor");
    check(set_math(made, kFmaMath), "cudnnSetConvolutionMathType");
    return made;
  }
};

const Cudnn& cudnn(gpu::Context& device) {
  static const Cudnn opened = [&] {
    void* library = open_library({"libcudnn.so.9", "/usr/local/cuda/lib64/libcudnn.so.9"});
    Cudnn c;
    find(library, "cudnnCreate", c.create);
    find(library, "cudnnSetStream", c.set_stream);
    find(library, "cudnnCreateTensorDescriptor", c.create_tensor);
    find(library, "cudnnSetTensor4dDescriptor", c.set_tensor);
    find(library, "cudnnCreateFilterDescriptor", c.create_filter);
    find(library, "cudnnSetFilter4dDescriptor", c.set_filter);
    find(library, "cudnnCreateConvolutionDescriptor", c.create_convolution);
    find(library, "cudnnSetConvolution2dDescriptor", c.set_convolution);
    find(library, "cudnnSetConvolutionMathType", c.set_math);
    find(library, "cudnnFindConvolutionForwardAlgorithm", c.try_forward);
    find(library, "cudnnFindConvolutionBackwardDataAlgorithm", c.try_data);
    find(library, "cudnnFindConvolutionBackwardFilterAlgorithm", c.try_filter);
    find(library, "cudnnConvolutionForward", c.forward);
    find(library, "cudnnConvolutionBackwardData", c.data);
    find(library, "cudnnConvolutionBackwardFilter", c.filter);
    find(library, "cudnnSoftmaxForward", c.softmax);
    check(c.create(&c.handle), "cudnnCreate");
    check(c.set_stream(c.handle, device.stream()), "cudnnSetStream");
    return c;
  }();
  return opened;
}

size_t count(const std::array<int64_t, 4>& s) { return static_cast<size_t>(s[0] * s[1] * s[2] * s[3]); }

/// conv:KIND:NxCxHxW:KxRxS, as bench_sinter's. Each kind is a function of two operands in cuDNN's order.
BenchCase convolution(const Arguments& arguments) {
  const auto device = gpu::Context::get(0);
  const Cudnn& library = cudnn(*device);
  const auto s = arguments.sizes(2), f = arguments.sizes(3);
  const std::string& kind = arguments.text(1);
  const std::array<int64_t, 4> x{s.at(0), s.at(1), s.at(2), s.at(3)}, w{f.at(0), s[1], f.at(1), f.at(2)},
      y{x[0], w[0], x[2] - w[2] + 1, x[3] - w[3] + 1};
  const auto xd = library.tensor(x), wd = library.filter_of(w), yd = library.tensor(y),
             convolution = library.convolution();
  struct Operands {
    Cudnn::Descriptor a, b, c;
    size_t a_count, b_count, c_count;
    uint32_t a_seed, b_seed;
    Cudnn::Try try_all;
    Cudnn::Convolve run;
  };
  const Operands o =
      kind == "forward" ? Operands{xd, wd, yd, count(x), count(w), count(y), 1, 2, library.try_forward, library.forward}
      : kind == "data"  ? Operands{wd, yd, xd, count(w), count(y), count(x), 2, 3, library.try_data, library.data}
                        : Operands{xd, yd, wd, count(x), count(y), count(w), 1, 3, library.try_filter, library.filter};
  std::array<AlgorithmTrial, kMostTried> tried{};
  int found = 0;
  check(o.try_all(library.handle, o.a, o.b, convolution, o.c, kMostTried, &found, tried.data()),
        "cudnnFindConvolution");
  const AlgorithmTrial* best = nullptr;  // they come fastest first
  for (int i = found; i-- > 0;)
    if (tried[static_cast<size_t>(i)].status == 0 && tried[static_cast<size_t>(i)].math == kFmaMath)
      best = &tried[static_cast<size_t>(i)];
  if (!best) throw std::runtime_error("cuDNN has no algorithm for " + kind);
  const auto a = input(device, o.a_count, o.a_seed), b = input(device, o.b_count, o.b_seed);
  const auto result = std::make_shared<DeviceFloats>(device, o.c_count);
  const auto workspace = std::make_shared<DeviceFloats>(device, best->workspace / sizeof(float) + 1);
  return evaluate(
      [=, &library, algorithm = best->algorithm, bytes = best->workspace] {
        const float one = 1, zero = 0;
        check(o.run(library.handle, &one, o.a, a->memory, o.b, b->memory, convolution, algorithm, workspace->memory,
                    bytes, &zero, o.c, result->memory),
              "cudnnConvolution");
      },
      result);
}

/// softmax:MxN, along rows.
BenchCase softmax(const Arguments& arguments) {
  const auto device = gpu::Context::get(0);
  const Cudnn& library = cudnn(*device);
  const auto s = arguments.sizes(1);
  const auto rows = library.tensor({s.at(0), s.at(1), 1, 1});
  const auto elements = static_cast<size_t>(s[0] * s[1]);
  const auto x = input(device, elements, 1), y = std::make_shared<DeviceFloats>(device, elements);
  return evaluate(
      [=, &library] {
        const float one = 1, zero = 0;
        check(library.softmax(library.handle, kAccurate, kPerInstance, &one, rows, x->memory, &zero, rows, y->memory),
              "cudnnSoftmaxForward");
      },
      y);
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  return bench::serve(argc, argv, {{"conv", {bench::convolution}}, {"softmax", {bench::softmax}}});
}
