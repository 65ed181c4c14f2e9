import { compareText } from '@kube-semaphore/naming';
import { type MergedPort, mergePorts, placePorts, type PortNames, portShare } from './merge-ports.ts';
import type { ClusterDiagnostic } from '../diagnostic.ts';
import type { Definition } from '../source.ts';

/** One cluster's definition of a global Service. */
export type Participant = {
  readonly cluster: string;
  /** Of its Service, in ms of Unix time; maybe `YOUNGEST`. */
  readonly createdAt: number;
  readonly definition: Definition;
};

/** One Service for all clusters. */
export type Merged = {
  readonly definition: Definition;
  /** Its names for the ports of each cluster. */
  readonly portNames: ReadonlyMap<string, PortNames>;
  /** Where it differs from a cluster's definition. By age of the clusters' Services, then by port. */
  readonly conflicts: readonly ClusterDiagnostic[];
};

/**
 * Merges Services of one namespace and name, by the rule of KEP-1645. The oldest one decides, by creation and then by the
 * cluster's name. Ports (`mergePorts`) and families of the others are added. The participants' order doesn't matter.
 *
 * @throws {RangeError} without participants
 */
export function mergeDefinitions(participants: readonly Participant[]): Merged {
  const byAge = oldestFirst(participants);
  const [oldest] = byAge;
  if (oldest === undefined) throw new RangeError('no participants to merge');
  const ports = mergePorts(byAge.map(portsOf));
  const families = [...new Set(byAge.flatMap(({ definition }) => definition.families))];
  const definition = { ...oldest.definition, families, ports: ports.map(({ port }) => port) };
  return fitted(byAge, { definition, ports, holder: oldest.cluster, share: portShare(byAge.length) });
}

/** A Service that stays as it is, with its names for the ports of the known clusters. */
export function retainDefinition(definition: Definition, participants: readonly Participant[]): Merged {
  const holder = 'the existing Service';
  return fitted(oldestFirst(participants), {
    definition,
    holder,
    ports: definition.ports.map((port) => ({ port, holder })),
  });
}

type Age = Pick<Participant, 'cluster' | 'createdAt'>;

/** The order in which clusters decide, for `toSorted`. */
export const compareAge = (a: Age, b: Age): number =>
  a.createdAt === b.createdAt ? compareText(a.cluster, b.cluster) : a.createdAt - b.createdAt;

/** The clusters in that order. */
export const oldestFirst = <P extends Age>(participants: readonly P[]): readonly P[] =>
  participants.toSorted(compareAge);

type Decided = {
  readonly definition: Definition;
  /** Whose definition it is, for messages; its ports may be of others. */
  readonly holder: string;
  readonly ports: readonly MergedPort[];
  /** How many ports a cluster may add; undefined if the ports stay as they are. */
  readonly share?: number;
};

function fitted(participants: readonly Participant[], { definition, holder, ports, share }: Decided): Merged {
  const placed = participants.map((participant) => ({
    participant,
    ...placePorts(portsOf(participant), ports, share),
  }));
  return {
    definition,
    portNames: new Map(placed.map(({ participant, names }) => [participant.cluster, names])),
    conflicts: placed.flatMap(({ participant, diagnostics }) => [
      ...overruled(participant, definition, holder),
      ...diagnostics,
    ]),
  };
}

/** Where a cluster's definition is overruled, except for its ports. */
function overruled(
  { cluster, definition: own }: Participant,
  definition: Definition,
  holder: string,
): readonly ClusterDiagnostic[] {
  const { headless, affinitySeconds, publishNotReadyAddresses } = definition;
  const losses: Pick<ClusterDiagnostic, 'reason' | 'detail'>[] = [];
  if (own.headless !== headless) {
    losses.push({
      reason: 'headless-conflict',
      detail: `its Service is ${own.headless ? '' : 'not '}headless, unlike ${holder}`,
    });
  }
  if (own.affinitySeconds !== affinitySeconds) {
    losses.push({
      reason: 'affinity-conflict',
      detail: `the session affinity of its Service differs from ${holder}`,
    });
  }
  if (own.publishNotReadyAddresses !== publishNotReadyAddresses) {
    losses.push({
      reason: 'unready-conflict',
      detail: `publishNotReadyAddresses of its Service differs from ${holder}`,
    });
  }
  return losses.map((loss) => ({ cluster, kind: 'problem', ...loss }));
}

const portsOf = ({ cluster, definition }: Participant) => ({ cluster, ports: definition.ports });
