# Writes OUTPUT, a C++ source that holds the files RECIPES by their names without ending. A file that
# is not JSON with a text "about" stops the build here, with its name, rather than a user's run later.
cmake_minimum_required(VERSION 3.25)

list(LENGTH RECIPES count)
set(entries "")
foreach(recipe IN LISTS RECIPES)
  cmake_path(GET recipe STEM LAST_ONLY name)
  file(READ ${recipe} content)
  string(JSON kind ERROR_VARIABLE problem TYPE "${content}" about)
  if(NOT problem AND NOT kind STREQUAL "STRING")
    set(problem "it is ${kind}")
  endif()
  if(problem)
    message(FATAL_ERROR "${recipe} is not a recipe with a text \"about\": ${problem}")
  endif()
  string(FIND "${content}" ")recipe\"" early_end)
  if(NOT early_end EQUAL -1)
    message(FATAL_ERROR "${recipe} contains )recipe\", which ends the C++ literal it is put into")
  endif()
  string(APPEND entries "    {\"${name}\", R\"recipe(${content})recipe\"},\n")
endforeach()
file(
  WRITE ${OUTPUT}
  "// Written by cmake/write_recipes.cmake from recipes/*.json.\n"
  "#include \"util/embedded_recipes.h\"\n\n"
  "#include <array>\n\n"
  "namespace edgewise {\n\n"
  "std::span<const EmbeddedRecipe> embeddedRecipes() {\n"
  "  static constexpr std::array<EmbeddedRecipe, ${count}> kRecipes = {{\n${entries}  }};\n"
  "  return kRecipes;\n"
  "}\n\n"
  "}  // namespace edgewise\n")
