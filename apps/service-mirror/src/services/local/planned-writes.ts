import type { PlannedWrite } from '@kube-semaphore/multicluster';
import type { WriteOptions } from '@kube-semaphore/kube-client';
import { type Change, objectOf } from '../../endpoints/desired/diff/change.ts';
import { objectOf as objectOfImport, type PlacedChange } from '../../imports/desired/changes.ts';
import { needsPlanned } from '../../imports/desired/planned.ts';
import type { ImportWriter } from '../../imports/local/import-writer.ts';
import type { ObjectWriter } from './object-writer.ts';

type Send = (options: WriteOptions) => Promise<unknown>;

/**
 * What a plan asks the API server about mirrors and global Services: nothing about deletions, nor about what needs an object that
 * the plan creates.
 */
export const plannedWrites = (changes: readonly Change[], writer: ObjectWriter): readonly PlannedWrite[] =>
  changes.flatMap((change) => {
    const send = sendOf(change, writer);
    return send === undefined || needsPlanned(change) ? [] : [{ object: objectOf(change), send }];
  });

function sendOf(change: Change, writer: ObjectWriter): Send | undefined {
  switch (change.kind) {
    case 'create-service':
      return (options) => writer.createService(change.to, options);
    case 'update-service':
      return (options) => writer.updateService(change.from, change.to, options);
    case 'create-slice':
      return (options) => writer.createSlice(change.to, change.owner, options);
    case 'update-slice':
      return (options) => writer.updateSlice(change.from, change.to, change.owner, options);
    default:
      return undefined;
  }
}

/** The same about imports. */
export const plannedImportWrites = (changes: readonly PlacedChange[], writer: ImportWriter): readonly PlannedWrite[] =>
  changes
    .filter(({ change }) => !change.kind.startsWith('delete') && !needsPlanned(change))
    .map(({ change, namespace }) => {
      const { name } = 'from' in change ? change.from : change.to;
      const place = { namespace, derivedNamespace: namespace, name };
      const send: Send = (options) =>
        change.kind === 'update-export-status'
          ? writer.writeConditions(change.from, change.conditions, { ...options, namespace })
          : writer.write(change, place, options);
      return { object: objectOfImport(change, place), send };
    });
