# The page of a report: our own style sheet and script (web/report), and a chart library from npm,
# pinned by version and checksum in web/report/package-lock.json. All of it becomes part of the
# library, so that a report is one file that asks nobody for anything. Where npm or its registry is
# out of reach the build goes on without the library: reports then show still pictures.
option(EDGEWISE_CHARTS "Put a chart library from npm into reports" ON)

set(EDGEWISE_WEB_DIR ${PROJECT_SOURCE_DIR}/web/report)
set(EDGEWISE_CHARTS_DIR ${PROJECT_BINARY_DIR}/web/report)
set(EDGEWISE_CHART_FILES
    ${EDGEWISE_CHARTS_DIR}/node_modules/uplot/dist/uPlot.iife.min.js
    ${EDGEWISE_CHARTS_DIR}/node_modules/uplot/dist/uPlot.min.css
    ${EDGEWISE_CHARTS_DIR}/node_modules/uplot/LICENSE
    ${EDGEWISE_CHARTS_DIR}/node_modules/uplot/package.json)

# Leaves the reason in `problem`, or nothing.
function(edgewise_fetch_charts problem)
  set(${problem} "" PARENT_SCOPE)
  file(SHA256 ${EDGEWISE_WEB_DIR}/package-lock.json wanted)
  set(stamp ${EDGEWISE_CHARTS_DIR}/fetched)
  if(EXISTS ${stamp})
    file(READ ${stamp} fetched)
    if(fetched STREQUAL wanted)
      return()
    endif()
  endif()
  find_program(EDGEWISE_NPM npm)
  if(NOT EDGEWISE_NPM)
    set(${problem} "npm is not installed" PARENT_SCOPE)
    return()
  endif()
  file(COPY ${EDGEWISE_WEB_DIR}/package.json ${EDGEWISE_WEB_DIR}/package-lock.json
       DESTINATION ${EDGEWISE_CHARTS_DIR})
  execute_process(
    COMMAND ${EDGEWISE_NPM} ci --ignore-scripts --no-audit --no-fund --prefer-offline
            --fetch-retries=1 --fetch-timeout=20000 --loglevel=error
    WORKING_DIRECTORY ${EDGEWISE_CHARTS_DIR}
    TIMEOUT 120
    RESULT_VARIABLE failed
    OUTPUT_QUIET
    ERROR_FILE ${EDGEWISE_CHARTS_DIR}/npm.log)
  foreach(file IN LISTS EDGEWISE_CHART_FILES)
    if(NOT EXISTS ${file})
      set(failed "a package without ${file}")
    endif()
  endforeach()
  if(failed)
    set(${problem} "npm could not fetch it: see ${EDGEWISE_CHARTS_DIR}/npm.log" PARENT_SCOPE)
    return()
  endif()
  file(WRITE ${stamp} ${wanted})
endfunction()

# src/report/page_parts.h declares what the generated source defines.
function(edgewise_embed_page target)
  set(charts "")
  if(EDGEWISE_CHARTS)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
                                           ${EDGEWISE_WEB_DIR}/package-lock.json)
    edgewise_fetch_charts(problem)
    if(problem)
      message(STATUS "edgewise: reports will show still pictures, without the chart library (${problem})")
    else()
      set(charts ${EDGEWISE_CHART_FILES})
    endif()
  endif()
  set(output ${EDGEWISE_GENERATED_DIR}/page_parts.cpp)
  set(sources ${EDGEWISE_WEB_DIR}/report.css ${EDGEWISE_WEB_DIR}/report.js)
  # Named in the command, so that a library that comes or goes makes the source anew.
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -D "OWN=${sources}" -D "CHARTS=${charts}" -D OUTPUT=${output} -P
            ${PROJECT_SOURCE_DIR}/cmake/write_page.cmake
    DEPENDS ${sources} ${charts} ${PROJECT_SOURCE_DIR}/cmake/write_page.cmake
    COMMENT "Embedding the page of a report"
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
