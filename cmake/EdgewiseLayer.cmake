# The layers from the lowest to the highest. A layer may link, and include headers of, those before
# it alone (tests/house checks the includes).
set(EDGEWISE_LAYERS util graph sampling data ops nn views evaluation training serving report experiments)
# Those that do without libtorch, as does everything that links them alone.
set(EDGEWISE_TORCH_FREE_LAYERS util graph sampling data evaluation)
# The layers of this build, in the same order: those with sources whose needs are met.
set(EDGEWISE_BUILT_LAYERS "")

# edgewise_add_layer(<name> [TORCH] LINK <layers and libraries>...)
# A static library edgewise::<name> from src/<name>/*.cpp with its public headers in
# include/edgewise/<name>. Nothing happens for a layer without sources, nor for a TORCH layer in a
# build without libtorch; linking such a layer is then left out.
function(edgewise_add_layer name)
  cmake_parse_arguments(ARG "TORCH" "" "LINK" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cpp)
  if(NOT sources OR (ARG_TORCH AND NOT EDGEWISE_TORCH))
    return()
  endif()
  set(target edgewise_${name})
  add_library(${target} STATIC ${sources})
  add_library(edgewise::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(
    ${target}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:edgewise_flags>)
  if(ARG_TORCH)
    target_link_libraries(${target} PUBLIC edgewise::torch)
  endif()
  foreach(item IN LISTS ARG_LINK)
    if(NOT item IN_LIST EDGEWISE_LAYERS)
      target_link_libraries(${target} PUBLIC ${item})
    elseif(TARGET edgewise_${item})
      target_link_libraries(${target} PUBLIC edgewise_${item})
    endif()
  endforeach()
  set(EDGEWISE_BUILT_LAYERS ${EDGEWISE_BUILT_LAYERS} ${name} PARENT_SCOPE)
endfunction()
