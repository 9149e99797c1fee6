# Installs libraries, headers, the program, the recipes and the CMake package `edgewise`.
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/edgewise)
list(TRANSFORM EDGEWISE_BUILT_LAYERS PREPEND edgewise_ OUTPUT_VARIABLE layer_targets)
install(
  TARGETS ${layer_targets} edgewise_all
  EXPORT edgewiseTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
foreach(layer IN LISTS EDGEWISE_BUILT_LAYERS)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/edgewise/${layer}/
          DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/edgewise/${layer} OPTIONAL)
endforeach()
if(TARGET edgewise)
  install(TARGETS edgewise RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  set(words ${PROJECT_BINARY_DIR}/share)
  install(FILES ${words}/edgewise.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 OPTIONAL)
  install(FILES ${words}/edgewise.bash RENAME edgewise OPTIONAL
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${words}/_edgewise OPTIONAL
          DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${words}/edgewise.fish OPTIONAL
          DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
# To read and to start one's own from; the program carries its own copies.
install(FILES ${EDGEWISE_RECIPES} DESTINATION ${CMAKE_INSTALL_DATADIR}/edgewise/recipes)

configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/edgewiseConfig.cmake.in ${PROJECT_BINARY_DIR}/edgewiseConfig.cmake
  INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/edgewiseConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(
  EXPORT edgewiseTargets
  NAMESPACE edgewise::
  DESTINATION ${package_folder})
install(
  FILES ${PROJECT_BINARY_DIR}/edgewiseConfig.cmake ${PROJECT_BINARY_DIR}/edgewiseConfigVersion.cmake
        ${PROJECT_SOURCE_DIR}/cmake/EdgewiseTorch.cmake
  DESTINATION ${package_folder})
