# cmake -DINPUT=file -DNAME=symbol -DOUTPUT=file.c -P embed.cmake
#
# Turns a file into C: its bytes, their number, and the base64 SHA-256 that a content security policy names it by.
file(READ ${INPUT} bytes HEX)
string(LENGTH "${bytes}" size)
math(EXPR size "${size} / 2")
string(REGEX REPLACE "(..)" "0x\\1," array "${bytes}")
string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n\t" array "${array}")

# 32 bytes are ten groups of three and one of two.
file(SHA256 ${INPUT} digest)
set(alphabet "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
set(base64 "")
string(APPEND digest "00")
foreach(at RANGE 0 60 6)
  string(SUBSTRING ${digest} ${at} 6 group)
  foreach(shift 18 12 6 0)
    math(EXPR index "(0x${group} >> ${shift}) & 63")
    string(SUBSTRING ${alphabet} ${index} 1 letter)
    string(APPEND base64 ${letter})
  endforeach()
endforeach()
string(REGEX REPLACE ".$" "=" base64 ${base64})

file(WRITE ${OUTPUT} "#include \"render/assets.h\"

static const unsigned char bytes[] = {
\t${array}0x00 /* not counted */
};
const struct asset ${NAME} = {(const char *)bytes, ${size}, \"${base64}\"};
")
