# edgewise_add_layer(<name> LINK <layers and libraries>...)
# A static library from src/<name>/*.cpp with its public headers in include/edgewise/<name>.
function(edgewise_add_layer name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cpp)
  set(target edgewise_${name})
  add_library(${target} STATIC ${sources})
  add_library(edgewise::${name} ALIAS ${target})
  target_include_directories(
    ${target}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:edgewise_flags>)
  foreach(item IN LISTS ARG_LINK)
    if(TARGET edgewise_${item})
      target_link_libraries(${target} PUBLIC edgewise_${item})
    else()
      target_link_libraries(${target} PUBLIC ${item})
    endif()
  endforeach()
endfunction()
