# What edgewise stands on. zlib and curl are optional: without them compressed files and downloads are refused with a
# message.
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(ZLIB)
find_package(CURL)
if(EDGEWISE_BUILD_TESTS)
  find_package(GTest REQUIRED)
endif()
if(EDGEWISE_BUILD_BENCHMARKS)
  find_package(benchmark REQUIRED)
endif()
