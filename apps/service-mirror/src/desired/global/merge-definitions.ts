import { type MergedPort, mergePorts, placePorts, type PortNames, portShare } from './merge-ports.ts';
import type { ClusterDiagnostic } from '../diagnostic.ts';
import type { Definition } from '../source.ts';

/** What one cluster says of a global Service. */
export type Participant = {
  readonly cluster: string;
  /** Of its Service, in ms of Unix time; Infinity for the youngest there can be. */
  readonly createdAt: number;
  readonly definition: Definition;
};

/** One Service for all clusters. */
export type Merged = {
  readonly definition: Definition;
  /** What it calls the ports of each cluster. */
  readonly portNames: ReadonlyMap<string, PortNames>;
  /** Where it isn't what a cluster says. By age of the clusters' Services, then by port. */
  readonly conflicts: readonly ClusterDiagnostic[];
};

/**
 * Merges Services of one namespace and name. The oldest decides, by creation and then by the cluster's name. Ports of the
 * others are added where they can be (`mergePorts`), as KEP-1645 has it, and so are their families. A function of the set
 * of participants; one alone is merged to itself.
 *
 * @throws {RangeError} if there are none
 */
export function mergeDefinitions(participants: readonly Participant[]): Merged {
  const byAge = oldestFirst(participants);
  const [oldest] = byAge;
  if (oldest === undefined) throw new RangeError('there is nothing to merge');
  const ports = mergePorts(byAge.map(portsOf));
  const families = [...new Set(byAge.flatMap(({ definition }) => definition.families))];
  const definition = { ...oldest.definition, families, ports: ports.map(({ port }) => port) };
  return fitted(byAge, { definition, ports, holder: oldest.cluster, share: portShare(byAge.length) });
}

/** A Service that stays as it is, and what it calls the ports of those clusters that are known. */
export function retainDefinition(definition: Definition, participants: readonly Participant[]): Merged {
  const holder = 'the Service that is there';
  return fitted(oldestFirst(participants), {
    definition,
    holder,
    ports: definition.ports.map((port) => ({ port, holder })),
  });
}

/** The order in which clusters decide. */
export function oldestFirst<P extends Pick<Participant, 'cluster' | 'createdAt'>>(
  participants: readonly P[],
): readonly P[] {
  return participants.toSorted((a, b) => {
    // Infinity is no number to subtract from itself.
    if (a.createdAt !== b.createdAt) return a.createdAt - b.createdAt;
    return a.cluster < b.cluster ? -1 : Number(a.cluster > b.cluster);
  });
}

type Decided = {
  readonly definition: Definition;
  /** Whose it is, for sentences, but for its ports. */
  readonly holder: string;
  readonly ports: readonly MergedPort[];
  /** How many a cluster may bring, if the ports were merged just now. */
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

/** What a cluster says in vain, but for its ports. */
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
      detail: `its Service is ${own.headless ? '' : 'not '}headless, unlike in ${holder}`,
    });
  }
  if (own.affinitySeconds !== affinitySeconds) {
    losses.push({
      reason: 'affinity-conflict',
      detail: `the session affinity of its Service is another than in ${holder}`,
    });
  }
  if (own.publishNotReadyAddresses !== publishNotReadyAddresses) {
    losses.push({
      reason: 'unready-conflict',
      detail: `publishNotReadyAddresses of its Service is another than in ${holder}`,
    });
  }
  return losses.map((loss) => ({ cluster, kind: 'problem', ...loss }));
}

const portsOf = ({ cluster, definition }: Participant) => ({ cluster, ports: definition.ports });
