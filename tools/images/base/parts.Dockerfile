# What tells of the parts of an image, for src/image-bom.ts: no program of it is run.
ARG IMAGE
FROM ${IMAGE} AS image
FROM scratch
COPY --from=image /usr/lib/os-release /var/lib/dpkg/statu[s] /var/lib/dpkg/status.[d] /usr/local/lib/semaphore-*/wireguard-g[o] /
