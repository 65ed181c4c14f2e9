/**
 * A replica as a process of its own, for signals. Its words are those of `electorOf`, as JSON. As long as it leads it
 * creates Leases that are called after it, for a create is the one write that no resourceVersion protects. What
 * happens it says line by line: started, stopped, and the identity of each leader that it sees.
 */
import { Codec, leaseKind } from '@kube-semaphore/kube-objects';
import { machineClock, sleep } from '../../src/clock.ts';
import { type ElectorOptions, electorOf, NAMESPACE } from './elector.ts';

const WRITE_PERIOD_MS = 20;

const options = JSON.parse(process.argv[2]!) as ElectorOptions;
const { connection, client, elector, leaders } = await electorOf(options);
const stopped = new AbortController();
const { signal } = stopped;
process.once('SIGTERM', () => stopped.abort());

const codec = new Codec(leaseKind);
let count = 0;

function write(): Promise<unknown> {
  const metadata = { namespace: NAMESPACE, name: `${options.identity}-${count++}` };
  return elector.guard((permit) => client.create(codec, { metadata }, permit));
}

async function writeOnAndOn(): Promise<void> {
  while (!signal.aborted) {
    // It doesn't always lead.
    await write().catch(() => undefined);
    for (const leader of leaders.splice(0)) console.log(leader);
    await sleep(WRITE_PERIOD_MS, { signal, clock: machineClock });
  }
}

const say = (event: string) => () => console.log(event);
await Promise.all([
  elector.run({ signal, onStartedLeading: say('started'), onStoppedLeading: say('stopped') }),
  writeOnAndOn(),
]);
// Nothing else keeps the process alive.
connection.close();
