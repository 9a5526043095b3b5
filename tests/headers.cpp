// Nothing but the precompiled header that the tests share (tests/CMakeLists.txt).
