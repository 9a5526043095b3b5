/* The C interface between libsinter and its Clang plugin: C text in, an ELF object out, or CUDA text in and PTX out. No
   C++ type crosses it, so only the plugin is built with LLVM's flags (no RTTI). All functions are thread-safe. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Incremented when a struct or function below changes. libsinter rejects a plugin with another number. */
enum { SINTER_CLANG_ABI = 3 };

enum SinterClangResult {
  SINTER_CLANG_OK = 0,
  SINTER_CLANG_BAD_SOURCE = 1, /* the source does not compile; reason in the log */
  SINTER_CLANG_BROKEN = 2,     /* the request or LLVM itself is at fault; reason in the log */
};

/* The sanitizer of the process, which its kernels need, too. The arguments tell the front end the same. */
enum SinterClangSanitizer { SINTER_CLANG_PLAIN = 0, SINTER_CLANG_ADDRESS = 1, SINTER_CLANG_THREAD = 2 };

enum SinterClangOutput { SINTER_CLANG_OBJECT = 0, SINTER_CLANG_ASSEMBLY = 1 };

struct SinterClangRequest {
  const char* source; /* text in the language given by the arguments: `source_size` bytes and a terminating zero */
  size_t source_size;
  const char* const* args; /* cc1 arguments: triple, CPU, dialect, floating point */
  size_t arg_count;
  const char* passes; /* LLVM pass pipeline in `opt -passes=` syntax */
  int codegen_level;  /* 0..3: effort of instruction selection and register allocation */
  int sanitizer;      /* a SinterClangSanitizer; instrumentation runs after `passes` */
  int output;         /* a SinterClangOutput */
};

typedef int (*SinterClangAbi)(void);
typedef int (*SinterClangCompile)(const struct SinterClangRequest* request, char** object, size_t* object_size,
                                  char** log);
typedef int (*SinterClangDisassemble)(const char* triple, const char* cpu, const void* code, size_t size,
                                      uint64_t address, char** text);
typedef void (*SinterClangFree)(void* memory);

/* The SINTER_CLANG_ABI that the plugin was built with. */
int sinter_clang_abi(void);
/* Returns a SinterClangResult. The caller owns `*object` and `*log` and frees them with sinter_clang_free; either may
   be null. Never exits, aborts or prints. */
int sinter_clang_compile(const struct SinterClangRequest* request, char** object, size_t* object_size, char** log);
/* Returns a SinterClangResult. `*text` has one instruction per line, as `address: text`. */
int sinter_clang_disassemble(const char* triple, const char* cpu, const void* code, size_t size, uint64_t address,
                             char** text);
void sinter_clang_free(void* memory);

#ifdef __cplusplus
}
#endif
