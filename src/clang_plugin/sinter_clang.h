/* The C interface between libsinter and its Clang plugin: C text in, an ELF object out, or CUDA text in and PTX out. No
   C++ type crosses it, so that the plugin alone is built with LLVM's flags (no RTTI). Every function is safe to call
   from several threads. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised when a struct or function below changes; libsinter refuses a plugin of another number. */
enum { SINTER_CLANG_ABI = 3 };

enum SinterClangResult {
  SINTER_CLANG_OK = 0,
  SINTER_CLANG_BAD_SOURCE = 1, /* the source does not compile: the log says why */
  SINTER_CLANG_BROKEN = 2,     /* the request or LLVM itself is at fault: the log says why */
};

/* What an instrumented process compiles its kernels with. The arguments say the same to the front end. */
enum SinterClangSanitizer { SINTER_CLANG_PLAIN = 0, SINTER_CLANG_ADDRESS = 1, SINTER_CLANG_THREAD = 2 };

enum SinterClangOutput { SINTER_CLANG_OBJECT = 0, SINTER_CLANG_ASSEMBLY = 1 };

struct SinterClangRequest {
  const char* source; /* text in the language that the arguments say, `source_size` bytes, followed by a zero byte */
  size_t source_size;
  const char* const* args; /* cc1 arguments: triple, CPU, dialect, floating point */
  size_t arg_count;
  const char* passes; /* LLVM pass pipeline in `opt -passes=` syntax */
  int codegen_level;  /* 0..3: the effort of instruction selection and register allocation */
  int sanitizer;      /* a SinterClangSanitizer: instrumented after `passes` */
  int output;         /* a SinterClangOutput */
};

typedef int (*SinterClangAbi)(void);
typedef int (*SinterClangCompile)(const struct SinterClangRequest* request, char** object, size_t* object_size,
                                  char** log);
typedef int (*SinterClangDisassemble)(const char* triple, const char* cpu, const void* code, size_t size,
                                      uint64_t address, char** text);
typedef void (*SinterClangFree)(void* memory);

/* SINTER_CLANG_ABI of the plugin. */
int sinter_clang_abi(void);
/* A SinterClangResult. `*object` and `*log` belong to the caller, who gives them back to sinter_clang_free; a field
   that was not set is null. Never exits, aborts or prints. */
int sinter_clang_compile(const struct SinterClangRequest* request, char** object, size_t* object_size, char** log);
/* A SinterClangResult; one instruction per line, as `address: text`. */
int sinter_clang_disassemble(const char* triple, const char* cpu, const void* code, size_t size, uint64_t address,
                             char** text);
void sinter_clang_free(void* memory);

#ifdef __cplusplus
}
#endif
