// NVIDIA's compiler library as a table of functions, opened at run time like the driver, and where it is looked for.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace sinter::runtime::cuda {

using NvrtcProgram = struct OpaqueNvrtcProgram*;

/// The functions of NVRTC that are called; they return 0 or an error's number.
struct NvrtcApi {
  int (*version)(int* major, int* minor);
  const char* (*error_string)(int code);
  int (*supported_archs_count)(int* count);
  int (*supported_archs)(int* archs);
  int (*create)(NvrtcProgram* program, const char* text, const char* name, int headers, const char* const* header_texts,
                const char* const* header_names);
  int (*destroy)(NvrtcProgram* program);
  int (*compile)(NvrtcProgram program, int count, const char* const* options);
  int (*log_size)(NvrtcProgram program, size_t* bytes);
  int (*log)(NvrtcProgram program, char* text);
  int (*cubin_size)(NvrtcProgram program, size_t* bytes);
  int (*cubin)(NvrtcProgram program, char* bytes);
  int (*ptx_size)(NvrtcProgram program, size_t* bytes);
  int (*ptx)(NvrtcProgram program, char* text);
};

/// The NVRTC of this process, or why there is none.
struct NvrtcLibrary {
  std::optional<NvrtcApi> table;
  int major = 0, minor = 0;
  std::vector<int> archs;  ///< that it compiles for, ascending: 90 for sm_90
  std::string library;     ///< the file that was opened
  std::string reason;      ///< a sentence that says where it was looked for and what to do, if there is no table
};

/// The newest whose major version is at most this: a driver runs what compilers of its own major version make, and of
/// older ones. SINTER_NVRTC_LIB, or else what the system's loader finds, toolkits under CUDA_HOME, CUDA_PATH and
/// /usr/local, and packages of Python. Looked for once per major version. Safe from several threads.
const NvrtcLibrary& find_nvrtc(int most_major = 99);

}  // namespace sinter::runtime::cuda
