# cmake "-DINPUT=a.txt;b.txt" -DOUTPUT=rows.def -P rows.cmake
#
# The rows of the catalogue as C, which gen/fact/facts.def includes: the heads of blocks as they stand there, and of each
# list of words the keys. A row, and the file, stays what it was while only words change, so that nothing is built anew.
set(rows "")
foreach(file ${INPUT})
  file(READ ${file} text)
  string(REGEX REPLACE "[];[]" "|" text "\n${text}") # what CMake's lists take for their own
  string(REGEX MATCHALL "\n[A-Z]+\\([^\n]*(\n +[^\n]*)*" heads "${text}")
  foreach(head ${heads})
    string(APPEND rows "${head}")
  endforeach()
  string(REGEX MATCHALL "\n\\|words [^\n]*(\n[^\n]+)*" lists "${text}")
  foreach(list ${lists})
    string(REGEX REPLACE "^\n.words ([a-z_0-9]+).*" "\\1" name "${list}")
    string(REGEX MATCHALL "\n[a-z_0-9]+:" keys "${list}")
    string(REGEX REPLACE "[\n:]" "" keys "${keys}")
    string(REPLACE ";" "|" keys "${keys}")
    string(APPEND rows "\nWORDS(${name}, ${keys})")
  endforeach()
endforeach()
set(before "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} before)
endif()
if(NOT before STREQUAL "${rows}\n")
  file(WRITE ${OUTPUT} "${rows}\n")
endif()
