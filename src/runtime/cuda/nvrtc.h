// NVIDIA's compiler library as a function table, opened at run time like the driver, and where to search for it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace sinter::runtime::cuda {

using NvrtcProgram = struct OpaqueNvrtcProgram*;

/// The NVRTC functions that are used. The int results are 0 or an error code.
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

/// The NVRTC of this process, or the reason why there is none.
struct NvrtcLibrary {
  std::optional<NvrtcApi> table;
  int major = 0, minor = 0;
  std::vector<int> archs;  ///< supported architectures, ascending: 90 for sm_90
  std::string library;     ///< the file that was opened
  std::string reason;      ///< if there is no table, a sentence: where it was searched for and the remedy
};

/// The newest NVRTC whose major version is at most `most_major`: a driver runs the output of compilers of its own major
/// version and of older ones. Searches SINTER_NVRTC_LIB, or else the dynamic linker's path, toolkits under CUDA_HOME,
/// CUDA_PATH and /usr/local, and Python packages. Searched once per major version. Safe from several threads.
const NvrtcLibrary& find_nvrtc(int most_major = 99);

}  // namespace sinter::runtime::cuda
