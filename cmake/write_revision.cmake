# Writes OUTPUT with the revision of the checkout SOURCE_DIR: `git describe`, or nothing outside git
# (an unpacked archive, also one that lies inside somebody else's checkout).
cmake_minimum_required(VERSION 3.25)

set(revision "")
find_program(git git)
if(git AND EXISTS ${SOURCE_DIR}/.git)
  execute_process(
    COMMAND ${git} describe --tags --always --dirty
    WORKING_DIRECTORY ${SOURCE_DIR}
    OUTPUT_VARIABLE revision
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#pragma once\n#define EDGEWISE_REVISION \"@revision@\"\n"
     @ONLY)
