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

/** Lets a node or pod answer every connection to port 8080 with its name, even if a caller hangs up first. */
export async function serve(place: Place, name: string): Promise<void> {
  const script = `require('node:net')
    .createServer((socket) => socket.on('error', () => {}).end(process.argv[1]))
    .listen(8080, '::', () => console.log('listening'))`;
  const server = place.spawn(process.execPath, ['-e', script, name], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(server.stdout ?? server, 'data', { signal: AbortSignal.timeout(TIMEOUT_MS) });
}
