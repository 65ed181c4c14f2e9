/**
 * A program that asks another Node.js process by its inspector, whose URL is the argument. It collects the garbage there, and
 * prints {@link Holds}. It must run in the network of that process.
 */
import { once } from 'node:events';
import type { Holds } from './holds.ts';

const QUESTION = 'JSON.stringify({ memory: process.memoryUsage(), resources: process.getActiveResourcesInfo() })';

const socket = new WebSocket(process.argv[2] ?? '');
await once(socket, 'open');
let asked = 0;
const call = async (method: string, params = {}): Promise<{ readonly result?: { readonly value?: string } }> => {
  socket.send(JSON.stringify({ id: ++asked, method, params }));
  const [{ data }] = (await once(socket, 'message')) as [{ readonly data: string }];
  const { result, error } = JSON.parse(data) as { result: object; error?: { readonly message: string } };
  if (error !== undefined) throw new Error(`${method}: ${error.message}`);
  return result;
};
// What a finalizer frees goes with the second one.
await call('HeapProfiler.collectGarbage');
await call('HeapProfiler.collectGarbage');
const { result } = await call('Runtime.evaluate', { expression: QUESTION });
socket.close();
const { memory, resources } = JSON.parse(result?.value ?? '') as {
  readonly memory: NodeJS.MemoryUsage;
  readonly resources: readonly string[];
};
const holds: Holds = { heapMb: memory.heapUsed / 2 ** 20, externalMb: memory.external / 2 ** 20, resources };
console.log(JSON.stringify(holds));
