import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { TIMEOUT_MS } from '@kube-semaphore/eventually';
import type { Place } from '@kube-semaphore/testnet';
import { decodeAnswer, type DnsAnswer, encodeQuery, type RecordType } from './dns-message.ts';

const programs = {
  ask: fileURLToPath(new URL('./ask.ts', import.meta.url)),
  call: fileURLToPath(new URL('./call.ts', import.meta.url)),
};

const AGAIN_MS = 1_000;

/** Queries the DNS server of a node or pod. */
export async function ask(place: Place, name: string, type: RecordType): Promise<DnsAnswer> {
  const answer = await place.run(process.execPath, [programs.ask, encodeQuery(name, type).toString('hex')], {
    timeoutMs: TIMEOUT_MS,
  });
  return decodeAnswer(Buffer.from(answer, 'hex'));
}

/** Which pods answer many connections from a node or pod; sorted. */
export async function whoAnswers(place: Place, host: string, port: number): Promise<readonly string[]> {
  return JSON.parse(
    await place.run(process.execPath, [programs.call, host, String(port)], { timeoutMs: TIMEOUT_MS }),
  ) as readonly string[];
}

/**
 * Lets a node or pod answer every connection to port 8080, and whatever comes on it, with its name, until the caller hangs up;
 * and every datagram to that port.
 */
export async function serve(place: Place, name: string): Promise<void> {
  const script = `const answer = process.argv[1];
    const udp = require('node:dgram').createSocket('udp6');
    udp.on('message', (_, { port, address }) => udp.send(answer, port, address));
    require('node:net')
    .createServer((socket) => socket.on('error', () => {}).on('data', () => socket.write(answer)).write(answer))
    .listen(8080, '::', () => udp.bind(8080, '::', () => console.log('listening')))`;
  const server = place.spawn(process.execPath, ['-e', script, name], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(server.stdout ?? server, 'data', { signal: AbortSignal.timeout(TIMEOUT_MS) });
}

/**
 * Sends datagrams from one port: a flow. `ask` resolves with the next answer. It sends again until there is one, as nothing
 * reports a loss.
 */
export function openFlow(place: Place, host: string, port: number) {
  const script = `const udp = require('node:dgram').createSocket(process.argv[1].includes(':') ? 'udp6' : 'udp4');
    udp.on('message', (answer) => process.stdout.write(answer));
    process.stdin.on('data', () => udp.send('?', Number(process.argv[2]), process.argv[1]));`;
  const caller = place.spawn(process.execPath, ['-e', script, host, String(port)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ask = async (): Promise<string> => {
    const timer = setInterval(() => caller.stdin!.write('?'), AGAIN_MS);
    try {
      caller.stdin!.write('?');
      return String((await once(caller.stdout!, 'data', { signal: AbortSignal.timeout(TIMEOUT_MS) }))[0]);
    } finally {
      clearInterval(timer);
    }
  };
  return { ask, close: () => void caller.kill() };
}

/** Opens a connection that stays open. `answer` resolves with what comes next; `ask` sends something before. */
export function openConnection(place: Place, host: string, port: number) {
  const script = `const socket = require('node:net').connect(Number(process.argv[2]), process.argv[1]);
    process.stdin.pipe(socket).pipe(process.stdout);`;
  const caller = place.spawn(process.execPath, ['-e', script, host, String(port)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const answer = async (): Promise<string> =>
    String((await once(caller.stdout!, 'data', { signal: AbortSignal.timeout(TIMEOUT_MS) }))[0]);
  const ask = (): Promise<string> => {
    caller.stdin!.write('?');
    return answer();
  };
  return { answer, ask, close: () => void caller.kill() };
}
