#!/usr/bin/env -S MALLOC_ARENA_MAX=1 MALLOC_TRIM_THRESHOLD_=65536 node --disable-sigusr1 --min-semi-space-size=4 --max-semi-space-size=4 --heap-growing-percent=50 --max-opt=2 --no-concurrent-recompilation
// One arena of malloc. A young generation of 4 MB, and a heap that is marked after it grew by half: less CPU than with
// --optimize-for-size, which overrides both. Maglev on the main thread, as another thread keeps 8 MB for it; TurboFan takes
// more memory, and no less CPU.
// SIGUSR1 would open a debugger, by which anyone on this machine could run code here.
if (Number(process.versions.node.split('.')[0]) < 24) {
  console.error(`semaphore-policy needs Node.js 24, this is ${process.version}: start it with "npx semaphore-policy"`);
  process.exit(2);
}
await import('../src/main.ts');
