# SPDX-License-Identifier: GPL-3.0-or-later
# The warnings of the house, the sanitizers, and one function that makes a
# folder a static library.

add_compile_definitions(_GNU_SOURCE)
include_directories(${PROJECT_SOURCE_DIR})

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion
	-Wstrict-prototypes -Wmissing-prototypes -Wvla -Wcast-qual -Wundef
	-Wframe-larger-than=4096 -Werror
	-fno-strict-overflow -fstack-protector-strong)
if(CMAKE_C_COMPILER_ID STREQUAL "Clang")
	add_compile_options(-Wthread-safety)
elseif(ROTARY_TESTS AND NOT ROTARY_SANITIZE)
	# One more file beside each object, for tests/rt/callgraph.
	add_compile_options(-fcallgraph-info=su)
endif()

# Every symbol is bound at start, so that no real-time thread meets the
# dynamic linker.
add_link_options(-Wl,-z,now -Wl,-z,relro)

if(ROTARY_SANITIZE STREQUAL "address")
	add_compile_options(-fsanitize=address,undefined
		-fno-sanitize-recover=undefined -fno-omit-frame-pointer)
	add_link_options(-fsanitize=address,undefined)
elseif(ROTARY_SANITIZE)
	add_compile_options(-fsanitize=${ROTARY_SANITIZE} -fno-omit-frame-pointer)
	add_link_options(-fsanitize=${ROTARY_SANITIZE})
endif()
if(ROTARY_SANITIZE)
	# Sanitizers make frames larger, which is no fault of ours.
	add_compile_options(-Wno-frame-larger-than)
	add_compile_definitions(ROTARY_SANITIZED=1)
endif()

# rotary_library(NAME SOURCES ... LINKS ...): the static library rotary_NAME.
function(rotary_library name)
	cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
	add_library(rotary_${name} STATIC ${ARG_SOURCES})
	target_link_libraries(rotary_${name} PUBLIC ${ARG_LINKS})
endfunction()
