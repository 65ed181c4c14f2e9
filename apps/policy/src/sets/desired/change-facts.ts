import type { Change, Update } from './change.ts';

/** The nets that an update adds and removes. */
export function netChanges({ from, to }: Update) {
  const [before, after] = [new Set(from.nets), new Set(to.nets)];
  return {
    added: [...after].filter((net) => !before.has(net)),
    removed: [...before].filter((net) => !after.has(net)),
  };
}

/** The kind and the name of what a change writes. */
export const objectOf = (change: Change): string =>
  `GlobalNetworkSet ${('to' in change ? change.to : change.from).name}`;

/** The log's message and fields for a change that was written. */
export function changeEvent(change: Change): {
  readonly event: string;
  readonly facts: Readonly<Record<string, unknown>>;
} {
  switch (change.kind) {
    case 'create':
      return { event: 'set created', facts: { set: change.to.name, nets: change.to.nets.length } };
    case 'update': {
      const { added, removed } = netChanges(change);
      const nets = { nets: change.to.nets.length, added: added.length, removed: removed.length };
      return { event: 'set updated', facts: { set: change.to.name, ...nets } };
    }
    case 'delete':
      return { event: 'set deleted', facts: { set: change.from.name, removed: change.from.nets.length } };
  }
}
