# Installs the build into a folder of its own, then configures, builds and runs the examples against
# it, as somebody would who has only the package.
cmake_minimum_required(VERSION 3.25)

foreach(name IN ITEMS BUILD_DIR EXAMPLES_DIR WORK_DIR CONFIG GENERATOR CXX)
  if(NOT ${name})
    message(FATAL_ERROR "${name} is not set")
  endif()
endforeach()

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\nfailed (${result}):\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/prefix --config ${CONFIG})
string(REPLACE ";" "\\;" prefixes "${WORK_DIR}/prefix;${PREFIX_PATH}")

# An example must print something like this.
function(check_example name expected)
  run(${CMAKE_COMMAND} -S ${EXAMPLES_DIR}/${name} -B ${WORK_DIR}/${name} -G ${GENERATOR}
      -D CMAKE_BUILD_TYPE=${CONFIG} -D CMAKE_CXX_COMPILER=${CXX} -D Torch_DIR=${TORCH_DIR}
      -D "CMAKE_PREFIX_PATH=${prefixes}")
  run(${CMAKE_COMMAND} --build ${WORK_DIR}/${name})
  run(${CMAKE_COMMAND} -E chdir ${WORK_DIR}/${name} ./${name})
  if(NOT output MATCHES "${expected}")
    message(FATAL_ERROR "${name} printed something else:\n${output}")
  endif()
  message(STATUS "${name} printed:\n${output}")
endfunction()

check_example(heuristic_scores "4000 nodes.* 0 leaks\ncn .*ppr +auc 0\\.[0-9]+")
check_example(train_and_predict "test auc 0\\.[0-9]+\n([0-9]+ - [0-9]+: score .*\n)+")
