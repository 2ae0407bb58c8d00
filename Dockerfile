# Gapline in a container with a GPU:
#
#	docker build -t gapline .
#	docker run --gpus all --user "$(id -u):$(id -g)" -v "$PWD:/work" gapline \
#		run --baseline './train' --fixed './train --prefetch' -o report
#
# The programs that are measured run in this container, so build it on top of the image that they need:
#
#	docker build -t gapline --build-arg BASE_RUNTIME=pytorch/pytorch:2.9.0-cuda13.0-cudnn9-runtime .
#
# or put the program into that image by a line in its own Dockerfile:
#
#	docker build -t gapline-program --target program .
#	COPY --from=gapline-program / /
#
# The program needs the C library alone, built on an older one or the same: with the BASE below glibc 2.34 or newer, as in
# Ubuntu 22.04, Debian 12, RHEL 9 and what came after them (not musl). What it is linked from is BASE's, a Debian or an
# Ubuntu since Debian 11, which makes it 2.31 (tools/package.sh builds there), and Ubuntu 22.04.
# Without the CUDA toolkit in BASE the program captures through nsys only, where the programs run.

ARG CUDA_VERSION=13.0.1
ARG BASE=nvidia/cuda:${CUDA_VERSION}-devel-ubuntu22.04
ARG BASE_RUNTIME=nvidia/cuda:${CUDA_VERSION}-base-ubuntu24.04

FROM ${BASE} AS build
ENV DEBIAN_FRONTEND=noninteractive
# ICU and lzma because libxml2's static library wants them, and a C++ library because ICU does.
RUN apt-get update && apt-get install -y --no-install-recommends \
	gcc g++ libc6-dev cmake ninja-build pkg-config libsqlite3-dev libxml2-dev libicu-dev liblzma-dev zlib1g-dev libzstd-dev \
	python3
WORKDIR /gapline
COPY . .
# Without the presets, which need a newer CMake than Ubuntu 22.04's.
RUN cmake -S . -B /build -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DGAPLINE_COMMAND_ONLY=ON -DGAPLINE_BUNDLE=ON \
		-DCMAKE_INSTALL_PREFIX=/usr/local -DCMAKE_INSTALL_LIBDIR=lib && \
	cmake --build /build && DESTDIR=/image cmake --install /build --strip
# CUPTI, for programs that bring none, to where Debian's and Ubuntu's libraries are: the collector looks there last.
RUN libraries=/cupti/usr/lib/$(gcc -print-multiarch) && mkdir -p "$libraries" && \
	for file in /usr/local/cuda*/extras/CUPTI/lib64/libcupti.so.[0-9]* /usr/local/cuda*/lib64/libcupti.so.[0-9]* \
		/usr/lib/*-linux-gnu/libcupti.so.[0-9]*; do \
		if [ -e "$file" ]; then cp -a "$file" "$libraries"; fi; \
	done

# Just the program, its collectors, manual pages and completions: all in /usr/local, no shell, no CUPTI.
FROM scratch AS program
COPY --from=build /image/ /

FROM ${BASE_RUNTIME}
COPY --from=program / /
COPY --from=build /cupti/ /
RUN gapline --version || { echo "BASE_RUNTIME is older than BASE; give --build-arg BASE=... as well" >&2; exit 1; }
RUN mkdir -p /work && chmod 1777 /work
# compute: the driver's CUDA; utility: NVML, for clocks and temperatures.
ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility HOME=/tmp
USER 65534:65534
WORKDIR /work
ENTRYPOINT ["gapline"]
CMD ["help"]
