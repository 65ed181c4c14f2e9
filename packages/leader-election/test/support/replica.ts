import { type ElectorOptions, electorOf } from './elector.ts';

/** Starts a replica in this process. */
export async function startReplica(options: ElectorOptions) {
  const { connection, elector, leaders, failures } = await electorOf(options);
  const stopped = new AbortController();
  const events: string[] = [];
  const done = elector.run({
    signal: stopped.signal,
    onStartedLeading: () => events.push('started'),
    onStoppedLeading: () => events.push('stopped'),
  });
  return {
    identity: options.identity,
    elector,
    /** Whether it started (true) or stopped leading, oldest first. */
    events,
    /** The holders that it saw. */
    leaders,
    /** Its failures to read or write the Lease. */
    failures,
    /** As SIGTERM. */
    async stop(): Promise<void> {
      stopped.abort();
      await done;
      connection.close();
    },
  };
}
