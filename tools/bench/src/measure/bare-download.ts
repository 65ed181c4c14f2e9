/**
 * A program that downloads like a reflector, and parses nothing: the lower limit of the time. Its argument is a
 * {@link Download} as JSON. It prints a {@link Downloaded} after the last initial event.
 */
import { readFileSync } from 'node:fs';
import { connect } from 'node:tls';
import type { Download, Downloaded } from './download.ts';

const { url, caFile, token, path, accept } = JSON.parse(process.argv[2] ?? '') as Download;
const { hostname, host, port } = new URL(url);
const head = [`GET ${path} HTTP/1.1`, `Host: ${host}`, `Accept: ${accept}`, `Authorization: Bearer ${token}`];

/** An annotation of the bookmark after the last initial event. */
const end = 'k8s.io/initial-events-end';

const start = performance.now();
const socket = connect({ host: hostname, port: Number(port), ca: readFileSync(caFile) });
socket.write(`${head.join('\r\n')}\r\nUser-Agent: bench\r\n\r\n`);
let bytes = 0;
for await (const chunk of socket as AsyncIterable<Buffer>) {
  bytes += chunk.length;
  if (chunk.subarray(-1024).includes(end)) break;
}
const seconds = (performance.now() - start) / 1000;
const { user, system } = process.cpuUsage();
console.log(JSON.stringify({ seconds, bytes, cpuSeconds: (user + system) / 1e6 } satisfies Downloaded));
