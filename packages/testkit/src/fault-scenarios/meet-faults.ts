import { eventually } from '@kube-semaphore/eventually';
import type { Fault, FaultProxy } from '@kube-semaphore/fault-proxy';
import type { FaultOutcome, FaultScenario } from './fault-scenario.ts';
import type { Lab } from './lab.ts';
import type { Side } from './sides.ts';

/** So many local writes fail. */
const STRUCK = 6;

/**
 * Shows that a program uses, on both sides, what survives faults: while its sources change, its watches are cut, their
 * connections are half open, the answers to its writes are lost, and its writes are refused.
 *
 * @param notWritten its log message for a failed write
 * @returns what it cost, and how many warnings said so while all writes were refused
 */
export async function meetFaults(
  { begin, proxies }: Lab,
  notWritten: string,
): Promise<FaultOutcome & { readonly warnings: number }> {
  const { remote, local } = proxies;
  const scenario = await begin({ 'watch-idle-timeout': '1s', 'log-level': 'debug' });
  const over = () => Promise.all([remote.clear(), local.clear()]);
  /** Changes something until a fault made the program open its watches again, for this reason or any. */
  const strikeWatches = async (fault: Fault, reason?: string) => {
    const before = {
      remote: await scenario.restarts('remote', reason),
      local: await scenario.restarts('local', reason),
    };
    const reopened = (side: Side) => scenario.restarted(side, { reason, times: 1, before: before[side] });
    await Promise.all([remote.set(fault, { verb: 'watch' }), local.set(fault, { verb: 'watch' })]);
    await scenario.changeUntil(async () => (await reopened('remote')) && reopened('local'));
  };

  await strikeWatches({ kind: 'cut', everyMs: 500, by: 'reset' }, 'cut');
  await over();
  // Open watches are silent, and the next ones get no answer.
  await scenario.settled();
  await strikeWatches({ kind: 'stall' });
  // What the remote sent is lost; the rest arrives late.
  await remote.set({ kind: 'reset', connections: 'open' });
  await over();
  await scenario.settled();

  await failWrites(local, scenario, { kind: 'truncate', after: 0, by: 'reset' });
  await scenario.settled();
  await over();
  await failWrites(local, scenario, { kind: 'answer', status: 500 });
  const refused = () =>
    scenario.program
      .log()
      .filter(({ msg, error }) => msg === notWritten && (error as { status?: number }).status === 500);
  await eventually(() => refused().length > 1, true);
  const warnings = refused().filter(({ level }) => level === 'warn').length;
  await over();
  // So that there is something to write, even if the changes have undone each other.
  await scenario.tamper();
  const outcome = await scenario.outcome();
  await scenario.program.logged('local writes recovered');
  return { ...outcome, warnings };
}

/** Changes something until a fault struck some local writes. */
async function failWrites(local: FaultProxy, scenario: FaultScenario, fault: Fault): Promise<void> {
  const isWrite = ({ method }: { readonly method: string }) => method !== 'GET';
  const struck = () => local.requests().filter((seen) => isWrite(seen) && seen.faults.includes(fault.kind)).length;
  // A late answer to an earlier write would count as a recovery while others fail.
  await eventually(() => local.underWay().filter(isWrite), []);
  for (const method of ['POST', 'PUT', 'DELETE']) await local.set(fault, { method });
  await scenario.changeUntil(() => struck() >= STRUCK);
}
