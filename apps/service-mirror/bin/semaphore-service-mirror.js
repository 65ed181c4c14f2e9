#!/usr/bin/env -S MALLOC_ARENA_MAX=1 MALLOC_TRIM_THRESHOLD_=65536 node --disable-sigusr1 --max-semi-space-size=4 --optimize-for-size --no-maglev --invocation-count-for-turbofan=100000
// Memory first: one arena of malloc, and a V8 that collects early and compiles anew only what is called very often, as
// when half a million endpoints are read. docs/bench.md has the figures.
// SIGUSR1 would open a debugger, by which anyone on this machine could run code here.
if (Number(process.versions.node.split('.')[0]) < 24) {
  console.error(
    `semaphore-service-mirror needs Node.js 24, this is ${process.version}: start it with "npx semaphore-service-mirror"`,
  );
  process.exit(2);
}
await import('../src/main.ts');
