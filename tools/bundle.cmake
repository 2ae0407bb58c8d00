# cmake -DINPUT="a.js;b.js" -DOUTPUT=file.js -P bundle.cmake
#
# Makes one file of several style sheets, or one module of several, in the order given, which is the order of their
# imports: a page that may load nothing has its style and its script inline. Lines that import from another file go, and
# `export` in front of a declaration goes; so names at the top level have to be different in all files.
set(bundle "")
foreach(file ${INPUT})
  file(READ ${file} text)
  string(REGEX REPLACE "(^|\n)import [^\n]*" "\\1" text "${text}")
  string(REGEX REPLACE "(^|\n)export " "\\1" text "${text}")
  string(APPEND bundle "${text}")
endforeach()
file(WRITE ${OUTPUT} "${bundle}")
