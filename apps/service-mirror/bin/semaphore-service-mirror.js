#!/usr/bin/env -S MALLOC_ARENA_MAX=2 node --max-semi-space-size=2
if (Number(process.versions.node.split('.')[0]) < 24) {
  console.error(`semaphore-service-mirror needs Node.js 24, this is ${process.version}: start it with "npx semaphore-service-mirror"`);
  process.exit(2);
}
await import('../src/main.ts');
