import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import type { Place } from '@kube-semaphore/testnet';

/** Accepts connections to the ports `process.argv`, of both families. */
const SERVER = `
const { createServer } = require('node:net');
const ports = process.argv.slice(1);
let missing = ports.length;
for (const port of ports) createServer((socket) => socket.end()).listen(+port, '::', () => --missing || console.log('ready'));
`;

/**
 * Tries to connect to all of `[address, port]` at once, and says which of them are possible. A policy drops packets, so
 * nothing answers. The kernel would try again after 1 s. An answer that is there after the time counts, however late we are.
 *
 * With a second argument, it says `ready` after that, tries again and again until its input ends, and says which never failed
 * as many times in a row as their target says.
 */
const CLIENT = `
const { connect } = require('node:net');
const { setTimeout: delay } = require('node:timers/promises');
const [targets, repeats] = [JSON.parse(process.argv[1]), process.argv[2]];
const isOpen = ([host, port]) => new Promise((resolve) => {
  const socket = connect({ host, port }, () => done(true)).on('error', () => done(false));
  const timer = setTimeout(() => setImmediate(done, false), 900);
  const done = (open) => (clearTimeout(timer), socket.destroy(), resolve(open));
});
const attempt = () => Promise.all(targets.map(isOpen));
(async () => {
  const once = await attempt();
  if (!repeats) return console.log(JSON.stringify(once));
  let ended = false;
  process.stdin.on('end', () => (ended = true)).resume();
  console.log('ready');
  const attempts = [];
  while (!ended || attempts.length < 2) {
    attempts.push(attempt());
    await delay(25);
  }
  const answers = await Promise.all(attempts);
  const isRefused = ([, , inARow], i) =>
    answers.some((_, n) => n + 1 >= inARow && answers.slice(n + 1 - inARow, n + 1).every((open) => !open[i]));
  console.log(JSON.stringify(targets.map((target, i) => !isRefused(target, i))));
})();
`;

/** `refusals`: how many in a row show that connections are refused; fewer are loss. */
export type Target = readonly [address: string, port: number, refusals: number];

/** Listens on ports of a place until that ends. */
export async function listen(place: Place, ports: readonly number[]): Promise<void> {
  const server = place.spawn(process.execPath, ['--eval', SERVER, ...ports.map(String)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [ready] = await Promise.race([once(server.stdout!, 'data'), once(server, 'exit').then(() => [])]);
  if (ready === undefined) throw new Error(`nothing listens on ${ports.join(', ')}`);
}

/** @returns for each address and port, in order, whether a connection is possible from a place */
export async function connections(place: Place, to: readonly Target[]): Promise<readonly boolean[]> {
  return JSON.parse(await place.run(process.execPath, ['--eval', CLIENT, JSON.stringify(to)])) as boolean[];
}

/** Connects again and again, some dozens of times a second, from when it resolves until its `stop`. */
export async function connectRepeatedly(
  place: Place,
  to: readonly Target[],
): Promise<{ stop(): Promise<readonly boolean[]> }> {
  const client = place.spawn(process.execPath, ['--eval', CLIENT, JSON.stringify(to), 'repeats'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const output = text(client.stdout!);
  await Promise.race([once(client.stdout!, 'data'), once(client, 'exit')]);
  return {
    /** @returns for each address and port, in order, whether connections were possible all the time */
    async stop() {
      client.stdin!.end();
      return JSON.parse((await output).replace('ready\n', '')) as boolean[];
    },
  };
}
