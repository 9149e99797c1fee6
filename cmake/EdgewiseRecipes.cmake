# The recipes of recipes/*.json become part of the library, so that `--recipe best` needs no file at
# run time. A new file there is a new recipe by its name.
file(GLOB EDGEWISE_RECIPES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/recipes/*.json)
add_custom_command(
  OUTPUT ${EDGEWISE_GENERATED_DIR}/embedded_recipes.cpp
  COMMAND
    ${CMAKE_COMMAND} -D "RECIPES=${EDGEWISE_RECIPES}" -D
    OUTPUT=${EDGEWISE_GENERATED_DIR}/embedded_recipes.cpp -P
    ${PROJECT_SOURCE_DIR}/cmake/write_recipes.cmake
  DEPENDS ${EDGEWISE_RECIPES} ${PROJECT_SOURCE_DIR}/cmake/write_recipes.cmake
  COMMENT "Embedding the recipes"
  VERBATIM)

# src/util/embedded_recipes.h declares what the generated source defines.
function(edgewise_embed_recipes target)
  target_sources(${target} PRIVATE ${EDGEWISE_GENERATED_DIR}/embedded_recipes.cpp)
endfunction()
