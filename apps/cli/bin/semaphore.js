#!/usr/bin/env -S node --disable-sigusr1
// SIGUSR1 would open a debugger, by which anyone on this machine could use the credentials of the kubeconfig.
if (Number(process.versions.node.split('.')[0]) < 24) {
  console.error(`semaphore needs Node.js 24, this is ${process.version}: start it with "npx semaphore"`);
  process.exit(2);
}
void import('../src/main.ts');
