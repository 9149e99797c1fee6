# What edgewise stands on. zlib and curl are optional: without them compressed files and downloads
# are refused with a message.
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(ZLIB)
find_package(CURL)

if(EDGEWISE_TORCH)
  include(EdgewiseTorch)
  if(NOT TARGET edgewise::torch)
    message(
      FATAL_ERROR
        "libtorch was not found. On Debian: apt-get install libtorch-dev. For a PyTorch of your own:\n"
        "  -DCMAKE_PREFIX_PATH=$(python3 -c 'import torch; print(torch.utils.cmake_prefix_path)')\n"
        "-DEDGEWISE_TORCH=OFF builds the layers that do without it.")
  endif()
endif()
if(EDGEWISE_CUDA AND NOT TARGET torch_cuda)
  message(
    FATAL_ERROR
      "EDGEWISE_CUDA is on, but the libtorch found (${TORCH_LIBRARY}) is for CPUs alone. For the one of "
      "an installed PyTorch:\n"
      "  -DCMAKE_PREFIX_PATH=$(python3 -c 'import torch; print(torch.utils.cmake_prefix_path)')")
endif()
if(EDGEWISE_BUILD_APPS AND EDGEWISE_TORCH)
  find_package(CLI11 REQUIRED)
endif()
if(EDGEWISE_BUILD_TESTS)
  find_package(GTest REQUIRED)
endif()
if(EDGEWISE_BUILD_BENCHMARKS)
  find_package(benchmark REQUIRED)
endif()
