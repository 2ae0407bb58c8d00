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
# Any Debian or Ubuntu since Debian 12 and Ubuntu 22.04 will do for either base; the one to build on must not be newer than
# the one to run on, so it is the oldest. Without the CUDA toolkit in BASE the image captures through nsys only, if that
# is in BASE_RUNTIME.

ARG CUDA_VERSION=13.0.1
ARG BASE=nvidia/cuda:${CUDA_VERSION}-devel-ubuntu22.04
ARG BASE_RUNTIME=nvidia/cuda:${CUDA_VERSION}-base-ubuntu24.04

FROM ${BASE} AS build
ENV DEBIAN_FRONTEND=noninteractive
RUN apt-get update && apt-get install -y --no-install-recommends \
	gcc libc6-dev cmake ninja-build pkg-config libsqlite3-dev libxml2-dev zlib1g-dev libzstd-dev libyajl-dev
WORKDIR /gapline
COPY . .
# Without the presets, which need a newer CMake than Ubuntu 22.04's.
RUN cmake -S . -B /build -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DGAPLINE_COMMAND_ONLY=ON \
		-DCMAKE_INSTALL_PREFIX=/usr/local -DCMAKE_INSTALL_LIBDIR=lib && \
	cmake --build /build && DESTDIR=/image cmake --install /build --strip
# CUPTI, for programs that bring none, to where the system's libraries are: the collector looks there last.
RUN libraries=/image/usr/lib/$(gcc -print-multiarch) && mkdir -p "$libraries" && \
	for file in /usr/local/cuda*/extras/CUPTI/lib64/libcupti.so.[0-9]* /usr/local/cuda*/lib64/libcupti.so.[0-9]* \
		/usr/lib/*-linux-gnu/libcupti.so.[0-9]*; do \
		if [ -e "$file" ]; then cp -a "$file" "$libraries"; fi; \
	done

FROM ${BASE_RUNTIME}
RUN apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \
	libsqlite3-0 libxml2 zlib1g libzstd1 libyajl2 && rm -rf /var/lib/apt/lists/* && \
	mkdir -p /work && chmod 1777 /work
COPY --from=build /image/ /
RUN gapline --version || { echo "BASE_RUNTIME is older than BASE; give --build-arg BASE=... as well" >&2; exit 1; }
# compute: the driver's CUDA; utility: NVML, for clocks and temperatures.
ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility HOME=/tmp
USER 65534:65534
WORKDIR /work
ENTRYPOINT ["gapline"]
CMD ["help"]
