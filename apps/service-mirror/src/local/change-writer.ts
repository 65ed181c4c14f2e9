import type { LocalWrites } from '@kube-semaphore/multicluster';
import type { ReconcileContext } from '@kube-semaphore/controller';
import { KubeApiError } from '@kube-semaphore/kube-client';
import type { Service } from '@kube-semaphore/kube-objects';
import { GLOBAL, mirrorClusterLabel, parseServiceKey, serviceNameLabel } from '../names.ts';
import type { Change } from '../desired/change.ts';
import type { Gaps } from '../metrics/gaps.ts';
import { changeEvent, writeChange, type WriteTargets } from './write-change.ts';

/** Whose a change is. */
type ChangeSources = {
  /** Of the remotes, by cluster. */
  readonly prefixes: ReadonlyMap<string, string>;
  /** The keys that a local Service of this name may be for. */
  keysOfName(name: string): readonly string[];
  /** The remotes that have a part in a global Service now. */
  remotesOfGlobal(key: string): readonly string[];
};

export type ChangeWriterOptions = WriteTargets & {
  readonly writes: LocalWrites;
  readonly gaps: Gaps;
  readonly sources: ChangeSources;
};

/** Carries out one change, when it is its turn. @returns a Service that was written */
export type WriteChange = (change: Change, context: Pick<ReconcileContext, 'since'>) => Promise<Service | undefined>;

export function changeWriter({ writes, writer, local, gaps, sources }: ChangeWriterOptions): WriteChange {
  const eventOf = (change: Change): ReturnType<typeof changeEvent> => {
    const { event, facts } = changeEvent(change);
    const gapMs = change.kind === 'create-service' ? gaps.over(change.to.name) : undefined;
    return { event, facts: gapMs === undefined ? facts : { ...facts, awayMs: gapMs } };
  };
  return async (change, { since }) => {
    const [key = ''] = sources.keysOfName(serviceOf(change));
    const remote = remoteOf(key);
    const payer = payerOf(change, key, sources);
    const write = {
      payer,
      isDeletion: change.kind.startsWith('delete'),
      since,
      remote,
      repairs: remote ?? GLOBAL,
      event: () => eventOf(change),
    };
    return writes.write(write, async (options) => {
      // Its end may be told before the answer.
      if (change.kind === 'replace-service') gaps.expect(change.to.name);
      return writeChange(change, { writer, local }, options).catch((error: unknown) => {
        // What is there and isn't known was made just now, or the list that we go by lacked it. Slices are looked at by `writeChange`.
        if (isConflict(error) && change.kind === 'create-service') local.recheck();
        throw error;
      });
    });
  };
}

/** The remote that a key's changes come from; of global Services that isn't known. */
function remoteOf(key: string): string | undefined {
  const parsed = parseServiceKey(key);
  return parsed?.kind === 'mirror' ? parsed.cluster : undefined;
}

/**
 * Whose writes a change counts among; undefined: nobody's. The definition of a global Service that several remotes have
 * a part in could be any one's: all such writes count together, as those of `global`.
 */
function payerOf(
  change: Change,
  key: string,
  sources: Pick<ChangeSources, 'prefixes' | 'remotesOfGlobal'>,
): string | undefined {
  const cluster = 'to' in change ? change.to.labels[mirrorClusterLabel] : undefined;
  if (cluster !== undefined) return sources.prefixes.has(cluster) ? cluster : undefined;
  const mirrored = remoteOf(key);
  if (mirrored !== undefined) return mirrored;
  const remotes = sources.remotesOfGlobal(key);
  return remotes.length > 1 ? GLOBAL : remotes[0];
}

/** The local Service that a change is about. */
function serviceOf(change: Change): string {
  if ('owner' in change) return change.owner.name;
  if (change.kind === 'delete-slice') return change.from.labels[serviceNameLabel] ?? '';
  return 'to' in change ? change.to.name : change.from.name;
}

const isConflict = (error: unknown): boolean => error instanceof KubeApiError && error.status === 409;
