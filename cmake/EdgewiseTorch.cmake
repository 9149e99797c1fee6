# Finds libtorch and gives it the name edgewise::torch. Used by the build and, installed beside
# edgewiseConfig.cmake, by whoever uses the package.
#
# Debian's libtorch is found by itself. For another one (PyTorch's own, with CUDA) pass
#   -DCMAKE_PREFIX_PATH=$(python3 -c 'import torch; print(torch.utils.cmake_prefix_path)')
if(NOT TARGET edgewise::torch)
  # libtorch's configuration appends to these for the whole project; what it needs comes with its
  # targets anyway.
  set(_edgewise_cxx_flags "${CMAKE_CXX_FLAGS}")
  # PyTorch asks for every optional part it could have been built with; their absence is no news.
  set(_edgewise_message_level "${CMAKE_MESSAGE_LOG_LEVEL}")
  if(NOT CMAKE_MESSAGE_LOG_LEVEL)
    set(CMAKE_MESSAGE_LOG_LEVEL NOTICE)
  endif()
  find_package(Torch QUIET)
  set(CMAKE_MESSAGE_LOG_LEVEL "${_edgewise_message_level}")
  set(CMAKE_CXX_FLAGS "${_edgewise_cxx_flags}")
  if(Torch_FOUND)
    # Imported, so that its include folders count as system ones and their warnings stay quiet.
    add_library(edgewise::torch INTERFACE IMPORTED GLOBAL)
    target_link_libraries(edgewise::torch INTERFACE ${TORCH_LIBRARIES})
    # PyTorch's own libtorch exports an older std::filesystem of its own, and programs that resolve to
    # it crash. The dynamic linker asks libraries in the order they were named: name the real one first.
    if(CMAKE_SYSTEM_NAME STREQUAL "Linux")
      target_link_options(edgewise::torch INTERFACE
                          "LINKER:--push-state,--no-as-needed,-l:libstdc++.so.6,--pop-state")
    endif()
    # It also carries headers of another fmt, which would hide the one that our libraries are built
    # with; a compiler's own folder cannot be put before it, a link to it can.
    find_path(EDGEWISE_FMT_HEADERS fmt/core.h NO_CMAKE_FIND_ROOT_PATH HINTS ${fmt_DIR}/../../../include
                                              ${fmt_DIR}/../../../../include)
    mark_as_advanced(EDGEWISE_FMT_HEADERS)
    list(GET TORCH_INCLUDE_DIRS 0 _edgewise_torch_headers)
    if(EXISTS ${_edgewise_torch_headers}/fmt AND EDGEWISE_FMT_HEADERS
       AND NOT _edgewise_torch_headers STREQUAL EDGEWISE_FMT_HEADERS)
      set(_edgewise_first ${CMAKE_BINARY_DIR}/edgewise-headers-first)
      file(MAKE_DIRECTORY ${_edgewise_first})
      file(CREATE_LINK ${EDGEWISE_FMT_HEADERS}/fmt ${_edgewise_first}/fmt SYMBOLIC)
      target_include_directories(edgewise::torch BEFORE INTERFACE ${_edgewise_first})
    endif()
    message(STATUS "Found libtorch ${Torch_VERSION}: ${TORCH_LIBRARY}")
  endif()
endif()
