# Writes OUTPUT, a C++ source that holds the style sheet and script OWN and, where CHARTS names them,
# the chart library's script, style sheet, licence and package.json.
cmake_minimum_required(VERSION 3.25)

# Leaves the file as a C++ literal; one that would end its literal or the page's element early stops
# the build.
function(literal_of file variable)
  file(READ ${file} content)
  foreach(ending IN ITEMS ")page\"" "</script" "</style" "<!--")
    string(FIND "${content}" "${ending}" early_end)
    if(NOT early_end EQUAL -1)
      message(FATAL_ERROR "${file} contains ${ending}, which ends what it is put into")
    endif()
  endforeach()
  set(${variable} "R\"page(${content})page\"" PARENT_SCOPE)
endfunction()

list(GET OWN 0 style_file)
list(GET OWN 1 script_file)
literal_of(${style_file} style)
literal_of(${script_file} script)
set(chart_script "{}")
set(chart_style "{}")
set(chart_licence "{}")
set(chart_name "{}")
if(CHARTS)
  list(GET CHARTS 0 chart_script_file)
  list(GET CHARTS 1 chart_style_file)
  list(GET CHARTS 2 chart_licence_file)
  list(GET CHARTS 3 chart_package_file)
  literal_of(${chart_script_file} chart_script)
  literal_of(${chart_style_file} chart_style)
  literal_of(${chart_licence_file} chart_licence)
  file(READ ${chart_package_file} package)
  string(JSON version GET "${package}" version)
  set(chart_name "\"uPlot ${version}\"")
endif()
file(
  WRITE ${OUTPUT}
  "// Written by cmake/write_page.cmake from web/report.\n"
  "#include \"report/page_parts.h\"\n\n"
  "namespace edgewise {\n\n"
  "const PageParts& pageParts() {\n"
  "  static constexpr PageParts kParts = {\n"
  "      .style = ${style},\n"
  "      .script = ${script},\n"
  "      .chart_name = ${chart_name},\n"
  "      .chart_script = ${chart_script},\n"
  "      .chart_style = ${chart_style},\n"
  "      .chart_licence = ${chart_licence}};\n"
  "  return kParts;\n"
  "}\n\n"
  "}  // namespace edgewise\n")
