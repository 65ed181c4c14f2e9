#!/usr/bin/env -S MALLOC_ARENA_MAX=1 MALLOC_TRIM_THRESHOLD_=65536 node --max-semi-space-size=2 --optimize-for-size --heap-growing-percent=15 --max-opt=1
if (Number(process.versions.node.split('.')[0]) < 24) {
  console.error(`semaphore-wireguard needs Node.js 24, this is ${process.version}: start it with "npx semaphore-wireguard"`);
  process.exit(2);
}
await import('../src/main.ts');
