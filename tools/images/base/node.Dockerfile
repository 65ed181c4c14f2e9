# Node.js alone, as npm has brought it, for others to copy from.
FROM scratch
COPY node /usr/local/bin/node
