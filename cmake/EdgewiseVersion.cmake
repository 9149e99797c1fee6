# The revision the program was built from. The number itself is project(VERSION) and nowhere else.
# Looked up at every build, so that it is never stale; the header changes, and one file is compiled
# again, only when the revision does.
set(EDGEWISE_GENERATED_DIR ${PROJECT_BINARY_DIR}/generated)
add_custom_target(
  edgewise_revision
  COMMAND
    ${CMAKE_COMMAND} -D SOURCE_DIR=${PROJECT_SOURCE_DIR} -D
    OUTPUT=${EDGEWISE_GENERATED_DIR}/edgewise_revision.h -P
    ${PROJECT_SOURCE_DIR}/cmake/write_revision.cmake
  BYPRODUCTS ${EDGEWISE_GENERATED_DIR}/edgewise_revision.h
  COMMENT "Looking up the revision"
  VERBATIM)

function(edgewise_use_version target source)
  add_dependencies(${target} edgewise_revision)
  set_source_files_properties(
    ${source} PROPERTIES COMPILE_DEFINITIONS EDGEWISE_VERSION="${PROJECT_VERSION}" INCLUDE_DIRECTORIES
                                                                ${EDGEWISE_GENERATED_DIR})
endfunction()
