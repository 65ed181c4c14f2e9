import { variableOf, type OptionTable } from './table.ts';
import { integer } from './types.ts';

/** Of apps that write objects for remotes. */
export type RemoteWritesOptions = {
  /** Local writes that a remote may cause per second in the long run. */
  readonly maxRemoteWrites: number;
};

/** The row of `RemoteWritesOptions`. @param prefix of the app's variables: `SP` */
export function remoteWritesOptions({ prefix }: { prefix: string }): OptionTable<RemoteWritesOptions> {
  return {
    maxRemoteWrites: {
      flag: 'max-remote-writes',
      env: variableOf(prefix, 'max-remote-writes'),
      group: 'Limits',
      type: integer({ min: 1, max: 1_000_000 }),
      fallback: 20,
      help: 'Average local writes per second for one remote; the start and bursts may exceed it.',
    },
  };
}
