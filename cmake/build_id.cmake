# cmake -DROOT=... -DOUTPUT=... -P build_id.cmake: writes a source file that names the library's sources by a hash of them all.
# Plans in the cache folder are kept under it: another partition or heuristic makes other plans.
file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/src/*.cpp ${ROOT}/src/*.h ${ROOT}/src/*.def ${ROOT}/include/*.h)
list(SORT files)
set(all "")
foreach(file ${files})
  file(SHA256 ${ROOT}/${file} hash)
  string(APPEND all "${file} ${hash}\n")
endforeach()
string(SHA256 id "${all}")
string(SUBSTRING ${id} 0 32 id)
set(text "#include \"runtime/base/build_id.h\"\n\nnamespace sinter::runtime {\n\nconst char* build_id() { return \"${id}\"; }\n\n}  // namespace sinter::runtime\n")
file(WRITE ${OUTPUT} "${text}")
