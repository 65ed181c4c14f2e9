#!/usr/bin/env -S MALLOC_ARENA_MAX=1 MALLOC_TRIM_THRESHOLD_=65536 node --disable-sigusr1 --min-semi-space-size=4 --max-semi-space-size=4 --optimize-for-size --heap-growing-percent=50 --max-opt=2
// One arena of malloc, and a V8 that collects early, in a young generation that holds the requests in flight. A heap that
// grows by half before the next full collection saves CPU with many endpoints. Maglev saves CPU; TurboFan saves no more, and
// takes more memory.
// SIGUSR1 would open a debugger, by which anyone on this machine could run code here.
if (Number(process.versions.node.split('.')[0]) < 24) {
  console.error(
    `semaphore-service-mirror needs Node.js 24, this is ${process.version}: start it with "npx semaphore-service-mirror"`,
  );
  process.exit(2);
}
await import('../src/main.ts');
