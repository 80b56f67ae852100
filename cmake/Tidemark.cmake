# What every target of the project shares: warnings, sanitizers, the linker, and three functions that make targets.

find_package(Threads REQUIRED)
find_package(Boost 1.81 REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(ZLIB REQUIRED)
find_package(OpenSSL REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(isal REQUIRED IMPORTED_TARGET libisal)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(lz4 REQUIRED IMPORTED_TARGET liblz4)
pkg_check_modules(re2 REQUIRED IMPORTED_TARGET re2)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)
find_library(SNAPPY_LIBRARY snappy REQUIRED)

find_program(TIDEMARK_CCACHE ccache)
if(TIDEMARK_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${TIDEMARK_CCACHE})
endif()
find_program(TIDEMARK_MOLD mold)
find_program(TIDEMARK_LLD NAMES ld.lld ld.lld-19)

add_library(tidemark_options INTERFACE)
target_compile_options(tidemark_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-qual -Wundef -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # std::stable_sort of libstdc++ 12 uses what the same library deprecates.
  target_compile_options(tidemark_options INTERFACE
    -Wthread-safety -Wno-missing-field-initializers -Wno-deprecated-declarations)
else()
  # False alarms of g++ 12 on std::expected, std::variant and std::optional.
  target_compile_options(tidemark_options INTERFACE
    -Wno-missing-field-initializers -Wno-maybe-uninitialized -Wno-restrict -Wno-dangling-reference)
  if(CMAKE_UNITY_BUILD)
    # A source that is compiled jointly is an included file to g++, and its classes may have members of unnamed namespaces. g++
    # may take 0.75 GB before it looks for what it no longer needs, which is up to a tenth of its time. The largest source takes
    # 1.9 GB in the end.
    target_compile_options(tidemark_options INTERFACE -Wno-subobject-linkage --param=ggc-min-heapsize=750000)
  endif()
endif()
target_include_directories(tidemark_options INTERFACE ${CMAKE_SOURCE_DIR}/engine)
if(TIDEMARK_MUTATIONS)
  target_compile_definitions(tidemark_options INTERFACE TIDEMARK_MUTATIONS)
endif()
target_link_libraries(tidemark_options INTERFACE fmt::fmt Threads::Threads)

foreach(sanitizer IN LISTS TIDEMARK_SANITIZE)
  add_compile_options(-fsanitize=${sanitizer} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${sanitizer})
endforeach()
if(TIDEMARK_SANITIZE MATCHES undefined)
  add_compile_options(-fno-sanitize-recover=undefined)
endif()
if(TIDEMARK_MOLD)
  add_link_options(-fuse-ld=mold)
elseif(TIDEMARK_LLD)
  add_link_options(-fuse-ld=lld)
endif()

# With sanitizers clang takes twice to three times as long for optimised code as for what is not optimised: that pays where
# records go through and in what the simulator does after each event, not in the rest.
function(tidemark_seldom_runs target)
  if(TIDEMARK_SANITIZE)
    target_compile_options(${target} PRIVATE -O0)
  endif()
endfunction()

# tidemark_folder(NAME SELDOM SOURCES a.cpp … USES folder… LINKS target…): the library tidemark_NAME of the current folder. Most
# presets compile its sources jointly (CMAKE_UNITY_BUILD), so a name of an unnamed namespace may be there once in a folder. SELDOM:
# see above.
function(tidemark_folder name)
  cmake_parse_arguments(F "SELDOM" "" "SOURCES;USES;LINKS" ${ARGN})
  set(target tidemark_${name})
  add_library(${target} STATIC ${F_SOURCES})
  target_link_libraries(${target} PUBLIC tidemark_options)
  foreach(used IN LISTS F_USES)
    target_link_libraries(${target} PUBLIC tidemark_${used})
  endforeach()
  target_link_libraries(${target} PRIVATE ${F_LINKS})
  if(F_SELDOM)
    tidemark_seldom_runs(${target})
  endif()
endfunction()

# tidemark_test(NAME LABEL unit SOURCES a_test.cpp … USES folder… LINKS target…): one program, one CTest test.
# THREADS: it runs real threads, so it is among those that run under TSan. The target LABEL_tests builds all
# programs of a label. TIMEOUT: in seconds; what may take longest is begun first.
function(tidemark_test name)
  cmake_parse_arguments(T "THREADS" "LABEL;TIMEOUT" "SOURCES;USES;LINKS" ${ARGN})
  set(target tests_${name})
  add_executable(${target} ${T_SOURCES})
  target_link_libraries(${target} PRIVATE tidemark_options GTest::gmock GTest::gtest_main ${T_LINKS})
  foreach(used IN LISTS T_USES)
    target_link_libraries(${target} PRIVATE tidemark_${used})
  endforeach()
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_compile_definitions(${target} PRIVATE TIDEMARK_TEST_DATA="${CMAKE_SOURCE_DIR}/tests/data")
  if(TIDEMARK_SANITIZE)
    target_compile_definitions(${target} PRIVATE TIDEMARK_SANITIZED)
  endif()
  # What is tested is optimised; the tests themselves need not be. The simulator's look at everything after each event. g++
  # compiles for -Og in three quarters of the time of -O1, and of -O0. In a sanitizer's report a test bears its name, and what it
  # calls the numbers of its lines as well.
  if(CMAKE_BUILD_TYPE STREQUAL "Release" AND T_LABEL STREQUAL "sim")
    target_compile_options(${target} PRIVATE -O1)
  elseif(CMAKE_BUILD_TYPE STREQUAL "Release")
    target_compile_options(${target} PRIVATE -Og)
  elseif(TIDEMARK_SANITIZE AND NOT T_LABEL STREQUAL "sim")
    target_compile_options(${target} PRIVATE -O0 -g0)
  endif()
  if(NOT T_LABEL)
    set(T_LABEL unit)
  endif()
  if(NOT T_TIMEOUT)
    set(T_TIMEOUT 120)
  endif()
  if(TIDEMARK_SANITIZE)
    math(EXPR T_TIMEOUT "${T_TIMEOUT} * 4")
  endif()
  if(T_THREADS)
    list(APPEND T_LABEL threads)
  endif()
  foreach(label IN LISTS T_LABEL)
    if(NOT TARGET ${label}_tests)
      add_custom_target(${label}_tests)
    endif()
    add_dependencies(${label}_tests ${target})
  endforeach()
  add_test(NAME ${name} COMMAND ${target})
  set_tests_properties(${name} PROPERTIES LABELS "${T_LABEL}" TIMEOUT ${T_TIMEOUT} COST ${T_TIMEOUT})
endfunction()
