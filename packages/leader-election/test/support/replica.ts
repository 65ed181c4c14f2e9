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
    /** Began to lead, ceased to, oldest first. */
    events,
    /** Whom it saw lead. */
    leaders,
    /** Why it couldn't reach the Lease. */
    failures,
    /** As SIGTERM. */
    async stop(): Promise<void> {
      stopped.abort();
      await done;
      connection.close();
    },
  };
}
