import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { TIMEOUT_MS } from '@kube-semaphore/eventually';
import type { Place } from '@kube-semaphore/testnet';
import { decodeAnswer, type DnsAnswer, encodeQuery, type RecordType } from './dns-message.ts';

const programs = {
  ask: fileURLToPath(new URL('./ask.ts', import.meta.url)),
  call: fileURLToPath(new URL('./call.ts', import.meta.url)),
};

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

/** Lets a node or pod answer every connection to port 8080, and whatever comes on it, with its name, until the caller hangs up. */
export async function serve(place: Place, name: string): Promise<void> {
  const script = `const answer = process.argv[1];
    require('node:net')
    .createServer((socket) => socket.on('error', () => {}).on('data', () => socket.write(answer)).write(answer))
    .listen(8080, '::', () => console.log('listening'))`;
  const server = place.spawn(process.execPath, ['-e', script, name], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(server.stdout ?? server, 'data', { signal: AbortSignal.timeout(TIMEOUT_MS) });
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
