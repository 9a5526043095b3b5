# What `cmake --install` lays down: libraries, the plugins (their own CMakeLists.txt), headers, the CMake package and the
# pkg-config files. The tree may be moved: all paths in it are relative to where it is found.
include(CMakePackageConfigHelpers)
set(SINTER_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Sinter)

set_target_properties(sinter sinter_data PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set_target_properties(sinter_data PROPERTIES EXPORT_NAME data INSTALL_RPATH "$ORIGIN")
install(TARGETS sinter EXPORT SinterTargets)
install(TARGETS sinter_data EXPORT SinterDataTargets)
install(DIRECTORY include/sinter DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES src/nn/data/mnist/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME mnist-subset.md)

foreach(set SinterTargets SinterDataTargets)
  install(EXPORT ${set} NAMESPACE Sinter:: DESTINATION ${SINTER_CMAKE_DIR})
endforeach()
configure_package_config_file(cmake/SinterConfig.cmake.in SinterConfig.cmake INSTALL_DESTINATION ${SINTER_CMAKE_DIR})
write_basic_package_version_file(SinterConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/SinterConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/SinterConfigVersion.cmake
        DESTINATION ${SINTER_CMAKE_DIR})

# pc_file(NAME DESCRIPTION REQUIRES LIBS): NAME.pc. A static library names what it was linked with, and the plugins' folder.
function(pc_file name description requires libs)
  file(RELATIVE_PATH SINTER_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  string(REGEX REPLACE "/$" "" SINTER_PC_PREFIX ${SINTER_PC_PREFIX})
  set(SINTER_PC_NAME ${name})
  set(SINTER_PC_DESCRIPTION ${description})
  set(SINTER_PC_REQUIRES ${requires})
  set(SINTER_PC_LIBS ${libs})
  configure_file(cmake/sinter.pc.in ${name}.pc @ONLY)
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
if(BUILD_SHARED_LIBS)
  pc_file(sinter "Lazy tensor compiler" "" "-L\${libdir} -lsinter")
  pc_file(sinter-data "Data sets for Sinter" "sinter" "-L\${libdir} -lsinter_data")
else()
  pc_file(sinter "Lazy tensor compiler" "" "-L\${libdir} -lsinter -Wl,-rpath,\${libdir} -ldl -pthread")
  pc_file(sinter-data "Data sets for Sinter" "sinter zlib" "-L\${libdir} -lsinter_data")
endif()
