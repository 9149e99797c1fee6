# The kernels in src/ops/cuda: compiled by nvcc into a build for GPUs, or by the C++ compiler where a
# GPU is imitated for tests. Builds for processors alone do not contain them.
file(GLOB EDGEWISE_CUDA_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/ops/cuda/*.cu)

if(EDGEWISE_CUDA)
  set(CMAKE_CUDA_ARCHITECTURES "${EDGEWISE_GPU}")
  enable_language(CUDA)
  find_package(CUDAToolkit REQUIRED)
endif()

# edgewise_use_gpu(<target>): the ops layer with kernels for GPUs.
function(edgewise_use_gpu target)
  # Apart from the layer, whose flags are for another compiler.
  add_library(edgewise_kernels OBJECT ${EDGEWISE_CUDA_SOURCES})
  target_include_directories(edgewise_kernels PRIVATE ${PROJECT_SOURCE_DIR}/src
                                                      ${PROJECT_SOURCE_DIR}/include)
  target_compile_features(edgewise_kernels PRIVATE cuda_std_20)
  set_target_properties(
    edgewise_kernels PROPERTIES CUDA_ARCHITECTURES "${EDGEWISE_GPU}" CUDA_RUNTIME_LIBRARY Shared
                                POSITION_INDEPENDENT_CODE ON)
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:edgewise_kernels>)
  set(least ${EDGEWISE_GPU})
  list(SORT least COMPARE NATURAL)
  list(GET least 0 least)
  string(REGEX MATCH "^[0-9]+" least ${least})
  target_compile_definitions(${target} PRIVATE EDGEWISE_CUDA EDGEWISE_LEAST_GPU=${least})
  target_link_libraries(${target} PUBLIC CUDA::cudart)
endfunction()

# edgewise_imitated_ops(<target>): a second ops layer that imitates a GPU.
function(edgewise_imitated_ops target)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/ops/*.cpp)
  add_library(${target} STATIC ${sources})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${target} PRIVATE edgewise_flags edgewise_ops)
  edgewise_imitate_gpu(${target})
endfunction()

# edgewise_imitate_gpu(<target>): the same kernels in loops on the processor.
function(edgewise_imitate_gpu target)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/imitated)
  set(sources "")
  foreach(source IN LISTS EDGEWISE_CUDA_SOURCES)
    get_filename_component(name ${source} NAME_WE)
    file(CONFIGURE OUTPUT ${folder}/${name}.cpp CONTENT "#include \"ops/cuda/${name}.cu\"\n")
    list(APPEND sources ${folder}/${name}.cpp)
  endforeach()
  target_sources(${target} PRIVATE ${sources})
  target_compile_definitions(${target} PRIVATE EDGEWISE_IMITATE_CUDA)
endfunction()
