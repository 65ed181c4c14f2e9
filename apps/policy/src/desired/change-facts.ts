import type { Change } from './change.ts';

/** What the log says of a change that was written. */
export function changeEvent(change: Change): {
  readonly event: string;
  readonly facts: Readonly<Record<string, unknown>>;
} {
  switch (change.kind) {
    case 'create':
      return { event: 'set created', facts: { set: change.to.name, nets: change.to.nets.length } };
    case 'update': {
      const before = new Set(change.from.nets);
      const added = change.to.nets.filter((net) => !before.delete(net)).length;
      return {
        event: 'set updated',
        facts: { set: change.to.name, nets: change.to.nets.length, added, removed: before.size },
      };
    }
    case 'delete':
      return { event: 'set deleted', facts: { set: change.from.name, removed: change.from.nets.length } };
  }
}
