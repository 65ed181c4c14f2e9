import type { RunOptions, WriteOptions } from '@kube-semaphore/kube-client';
import { quotedWords } from '@kube-semaphore/text';
import { isMissingRight, refusalOf } from './local/refusal.ts';

/** A change of a plan that the API server can be asked about. */
export type PlannedWrite = {
  /** The kind and the name of the object. */
  readonly object: string;
  readonly send: (options: WriteOptions) => Promise<unknown>;
};

/** What the API server says about the changes of a plan. */
export type Refusals = {
  /** In the order of the plan; `words` are the API server's, and may have text of others. */
  readonly refused: readonly { readonly object: string; readonly words: string }[];
  /** How many changes there are of which it isn't known, and the reasons, for people. */
  readonly unknown: { readonly count: number; readonly reasons: readonly string[] };
};

/** A plan may have thousands of changes, and each costs the API server as much as a write. */
const MOST = 200;

const PARALLEL = 8;

/**
 * Asks the API server, by dry runs, which changes of a plan it would refuse. As nothing is stored, a quota counts each change
 * alone. Rejects only with the reason of `signal`.
 *
 * @param timeoutMs for all of them
 */
export async function foreseeRefusals(
  writes: readonly PlannedWrite[],
  { signal, timeoutMs }: RunOptions & { readonly timeoutMs: number },
): Promise<Refusals> {
  const asked = writes.slice(0, MOST);
  const words = new Map<PlannedWrite, string>();
  const unknown = new Map<string, number>();
  const count = (reason: string, changes: number): unknown =>
    changes > 0 && unknown.set(reason, (unknown.get(reason) ?? 0) + changes);
  count(`only ${MOST} are asked about`, writes.length - asked.length);
  const stopped = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  let failure: string | undefined;
  const ask = async (write: PlannedWrite): Promise<void> => {
    try {
      await write.send({ signal: stopped, dryRun: true });
    } catch (error) {
      signal.throwIfAborted();
      const refusal = isAnswer(error) ? refusalOf(error) : undefined;
      if (refusal !== undefined) words.set(write, refusal.detail);
      else if (stopped.aborted) count('there was no answer in time', 1);
      else if (isMissingRight(error)) count('this account may not make them', 1);
      else count((failure ??= quotedWords((error as Error).message)), 1);
    }
  };
  const queue = asked.values();
  await Promise.all(
    Array.from({ length: PARALLEL }, async () => {
      for (const write of queue) await ask(write);
    }),
  );
  return {
    refused: asked.flatMap((write) => {
      const said = words.get(write);
      return said === undefined ? [] : [{ object: write.object, words: said }];
    }),
    unknown: { count: [...unknown.values()].reduce((sum, changes) => sum + changes, 0), reasons: [...unknown.keys()] },
  };
}

/** For people, after the changes of a plan; none if the API server would accept all. */
export function refusalLines({ refused, unknown }: Refusals): readonly string[] {
  const lines = refused.map(({ object, words }) => `refuse! ${object}: ${quotedWords(words)}`);
  const { count, reasons } = unknown;
  if (count > 0) lines.push(`refuse? unknown for ${count} change${count === 1 ? '' : 's'}: ${reasons.join('; ')}`);
  return lines.length === 0 ? [] : ['', ...lines];
}

/** 400 is also the answer of a webhook that has no dry runs. */
const isAnswer = (error: unknown): boolean => (error as { readonly status?: number }).status !== 400;
