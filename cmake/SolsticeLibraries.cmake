# Third-party libraries and the two functions that every folder of src/ uses.
find_package(Threads REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(CLI11 REQUIRED)
find_package(fmt 9 REQUIRED)
find_library(SECCOMP_STATIC libseccomp.a REQUIRED)
find_library(SQLITE_STATIC libsqlite3.a REQUIRED)
find_library(XXHASH_STATIC libxxhash.a REQUIRED)
find_library(SSL_STATIC libssl.a REQUIRED)
find_library(CRYPTO_STATIC libcrypto.a REQUIRED)
find_path(BOOST_BEAST_INCLUDE boost/beast/http.hpp REQUIRED)  # headers only
find_path(TOMLPLUSPLUS_INCLUDE toml++/toml.h REQUIRED)

add_library(solstice_flags INTERFACE)
target_compile_options(solstice_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow $<$<BOOL:${SOLSTICE_WERROR}>:-Werror>)
# g++ 12 sees overlapping copies in `"a" + std::string` where there are none (GCC bug 105651).
target_compile_options(solstice_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
target_include_directories(solstice_flags INTERFACE ${CMAKE_SOURCE_DIR}/src)
if(SOLSTICE_SANITIZE)
  target_compile_options(solstice_flags INTERFACE -fsanitize=${SOLSTICE_SANITIZE} -fno-omit-frame-pointer -g1)
  target_link_options(solstice_flags INTERFACE -fsanitize=${SOLSTICE_SANITIZE})
  target_compile_definitions(solstice_flags INTERFACE SOLSTICE_SANITIZED)  # clang has no macro for it
else()
  # The binary runs on machines with another libstdc++; only glibc stays dynamic.
  target_link_options(solstice_flags INTERFACE -static-libstdc++ -static-libgcc)
endif()

# Several files are compiled as one unit: most of a unit's time goes into reading the same headers and instantiating the
# same templates. `-DSOLSTICE_UNITY=0` compiles each file alone, for work on a few files.
set(SOLSTICE_UNITY 24 CACHE STRING "source files compiled as one unit; 0: each alone")
function(solstice_unity target)
  if(SOLSTICE_UNITY GREATER 0)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${SOLSTICE_UNITY})
  endif()
endfunction()

# solstice_library(NAME [DEPENDS lib...] [SYSTEM lib...]): the static library solstice_NAME of all .cpp files of
# src/NAME. DEPENDS are other layers; tools/layers.txt says which are allowed, and a test checks the includes.
function(solstice_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;SYSTEM;EXCLUDE" ${ARGN})
  string(REPLACE "/" "_" target ${name})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.cpp)
  if(ARG_EXCLUDE)
    list(FILTER sources EXCLUDE REGEX "${ARG_EXCLUDE}")
  endif()
  if(NOT sources)
    add_library(solstice_${target} INTERFACE)
    return()
  endif()
  add_library(solstice_${target} STATIC ${sources})
  solstice_unity(solstice_${target})
  target_link_libraries(solstice_${target} PUBLIC solstice_flags fmt_static)
  foreach(dep ${ARG_DEPENDS})
    string(REPLACE "/" "_" dep_target ${dep})
    target_link_libraries(solstice_${target} PUBLIC solstice_${dep_target})
  endforeach()
  target_link_libraries(solstice_${target} PRIVATE ${ARG_SYSTEM})
endfunction()
