// The version of these headers. CMake reads it from here; the installed package has the same version.
#pragma once

#define SINTER_VERSION_MAJOR 0  ///< a change may break programs
#define SINTER_VERSION_MINOR 2  ///< so may this, before 1.0
#define SINTER_VERSION_PATCH 0  ///< breaks nothing
