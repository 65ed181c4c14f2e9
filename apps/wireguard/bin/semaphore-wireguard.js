#!/usr/bin/env -S MALLOC_ARENA_MAX=1 MALLOC_TRIM_THRESHOLD_=65536 node --disable-sigusr1 --optimize-for-size --max-opt=1
// Memory first: one arena of malloc, a V8 that collects early, and no optimizing compiler, by which a program that waits
// for API servers gains nothing. docs/bench.md has the figures.
// SIGUSR1 would open a debugger, by which anyone on this machine could run code here.
if (Number(process.versions.node.split('.')[0]) < 24) {
  console.error(
    `semaphore-wireguard needs Node.js 24, this is ${process.version}: start it with "npx semaphore-wireguard"`,
  );
  process.exit(2);
}
await import('../src/main.ts');
