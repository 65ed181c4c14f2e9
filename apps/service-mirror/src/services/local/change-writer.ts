import type { LocalWrites } from '@kube-semaphore/multicluster';
import type { ReconcileContext } from '@kube-semaphore/controller';
import { isStatus } from '@kube-semaphore/kube-client';
import type { Service } from '@kube-semaphore/kube-objects';
import { GLOBAL, mirrorClusterLabel, parseServiceKey } from '../../names.ts';
import type { SourceSlice } from '../../endpoints/desired/source.ts';
import type { Change } from '../../endpoints/desired/diff/change.ts';
import type { Gaps } from '../../metrics/gaps.ts';
import type { LocalObjects } from './objects.ts';
import type { ObjectWriter } from './object-writer.ts';
import type { Accounts } from '../../endpoints/local/accounts.ts';
import { changeEvent, writeChange } from './write-change.ts';

export type ChangeWriterOptions = {
  readonly accounts: Pick<Accounts, 'charge'>;
  readonly writes: Pick<LocalWrites, 'write'>;
  readonly writer: ObjectWriter;
  readonly local: LocalObjects;
  readonly gaps: Gaps;
};

/** A change of a key's objects, and since when it is due. `source`: as in `Accounts`. */
export type ChangeContext = Pick<ReconcileContext, 'since'> & {
  readonly key: string;
  readonly source: SourceSlice | undefined;
};

/** Writes changes to the mirror namespace, within the budgets of the remotes that cause them. */
export class ChangeWriter {
  readonly #options: ChangeWriterOptions;

  constructor(writer: ChangeWriterOptions) {
    this.#options = writer;
  }

  /** Makes one change when it is its turn. @returns a Service that was written */
  write(change: Change, { key, since, source }: ChangeContext): Promise<Service | undefined> {
    const { accounts, writes, writer, local, gaps } = this.#options;
    const parsed = parseServiceKey(key);
    const remote = parsed?.kind === 'mirror' ? parsed.cluster : undefined;
    const isDeletion = change.kind.startsWith('delete');
    const event = () => this.#eventOf(change);
    const cluster = remote ?? ('to' in change ? change.to : change.from).labels[mirrorClusterLabel];
    const write = { key, isDeletion, since, remote, repairs: remote ?? GLOBAL, event };
    return accounts.charge({ key, cluster, source }, (account) =>
      writes.write({ ...write, account }, async (options) => {
        // Before the request, as the watch may report the deletion before the answer comes.
        if (change.kind === 'replace-service') gaps.expect(change.to.name);
        return writeChange(change, { writer, local }, options).catch((error: unknown) => {
          // The Service was created just now, or a list missed it. `writeChange` checks slices itself.
          if (isStatus(error, 409) && change.kind === 'create-service') local.recheck();
          throw error;
        });
      }),
    );
  }

  #eventOf(change: Change): ReturnType<typeof changeEvent> {
    const { event, facts } = changeEvent(change);
    const gapMs = change.kind === 'create-service' ? this.#options.gaps.over(change.to.name) : undefined;
    return { event, facts: gapMs === undefined ? facts : { ...facts, gapMs } };
  }
}
