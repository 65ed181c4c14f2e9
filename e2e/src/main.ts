#!/usr/bin/env -S node --max-semi-space-size=1
/** Starts two clusters with kube-semaphore, and runs a command on them, or keeps them: see docs/system.md. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { podmanImage } from '@kube-semaphore/real-nodes';
import { help, readCommandLine } from './command-line.ts';
import { missing } from './missing.ts';
import { System } from './system.ts';

const commandLine = readCommandLine(process.argv.slice(2));
if (commandLine.kind === 'bad-usage') {
  process.stderr.write(`${commandLine.problem}\n\n${help}`);
  process.exit(2);
}
const lacks = await missing();
if (lacks.length > 0) {
  process.stderr.write(`missing: ${lacks.join('; ')}\n`);
  process.exit(1);
}

let system: System | undefined;
const { promise: interrupted, resolve: interrupt } = Promise.withResolvers<number>();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => interrupt(130));
// What has been started ends with this process, also in the middle of a start.
const code = await Promise.race([run(commandLine), interrupted]);
await system?.stop();
process.exit(code);

/** @returns the exit code */
async function run({
  nodes,
  images,
  registryPort,
  command: [file, ...args],
}: Extract<typeof commandLine, { kind: 'run' }>) {
  system = await System.start({ nodes, registryPort, images: images.map((image) => podmanImage(image)) });
  if (registryPort === undefined) await system.install();
  const KUBECONFIG = [system.c1, system.c2].map(({ cluster }) => cluster.adminKubeconfig).join(':');
  const LINK = system.linkFlags.join(' ');
  process.stdout.write(
    `export KUBECONFIG=${KUBECONFIG} LINK='${LINK}'\nkubectl --context c1 get pods -A\nkubectl --context c2 get pods -A\n`,
  );
  if (file === undefined) return interrupted;
  const [exitCode] = (await once(
    spawn(file, args, { stdio: 'inherit', env: { ...process.env, KUBECONFIG, LINK } }),
    'exit',
  )) as [number | null];
  return exitCode ?? 1;
}
