import { once } from 'node:events';
import type { Place } from '@kube-semaphore/testnet';

/** Accepts connections to the ports `process.argv`, of both families. */
const SERVER = `
const { createServer } = require('node:net');
const ports = process.argv.slice(1);
let missing = ports.length;
for (const port of ports) createServer((socket) => socket.end()).listen(+port, '::', () => --missing || console.log('ready'));
`;

/**
 * Tries to connect to all of `[address, port]` at once. A policy drops packets, so nothing answers. The kernel would try
 * again after 1 s.
 */
const CLIENT = `
const { connect } = require('node:net');
const isOpen = ([host, port]) => new Promise((resolve) => {
  const socket = connect({ host, port }, () => done(true)).on('error', () => done(false));
  const timer = setTimeout(() => done(false), 900);
  const done = (open) => (clearTimeout(timer), socket.destroy(), resolve(open));
});
Promise.all(JSON.parse(process.argv[1]).map(isOpen)).then((open) => console.log(JSON.stringify(open)));
`;

/** Listens on ports of a place until that ends. */
export async function listen(place: Place, ports: readonly number[]): Promise<void> {
  const server = place.spawn(process.execPath, ['--eval', SERVER, ...ports.map(String)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [ready] = await Promise.race([once(server.stdout!, 'data'), once(server, 'exit').then(() => [])]);
  if (ready === undefined) throw new Error(`nothing listens on ${ports.join(', ')}`);
}

/** @returns for each address and port, in order, whether a connection is possible from a place */
export async function connections(
  place: Place,
  to: readonly (readonly [address: string, port: number])[],
): Promise<readonly boolean[]> {
  return JSON.parse(await place.run(process.execPath, ['--eval', CLIENT, JSON.stringify(to)])) as boolean[];
}
