import type { Cidr } from '@kube-semaphore/net';
import { type Masquerader, masqueradeText, replaces } from '../masquerade/masquerader.ts';
import { some } from '../output/some.ts';
import { type Check, type Finding } from './check.ts';
import { seenRemotes } from '../clusters/report.ts';
import { podRangesOf } from './clusters.ts';
import type { Reading } from './facts/facts.ts';
import { rangesOf } from './ranges.ts';

/** Where Pods of a cluster send packets to. */
type Destination = {
  readonly name: string;
  /** By their texts. */
  readonly ranges: ReadonlyMap<string, Cidr>;
  /** Of the tunnel that leads there. */
  readonly device: string | undefined;
};

/** Peers refuse packets from other addresses than those of Pods, and policies don't know them. */
export const sourcesKept: Check = {
  name: 'sources-kept',
  hint: 'make it skip these addresses: docs/wireguard.md#what-replaces-the-address-of-a-pod',
  find: (readings) => {
    const reached = readings.filter(({ failure }) => failure === undefined);
    const found = reached.flatMap((reading) => {
      const { found: masqueraders, unknown } = reading.facts.masqueraders;
      const own = masqueraders.filter(({ check }) => check === 'sources-kept');
      const whys = unknown.filter(({ check }) => check === 'sources-kept').map(({ why }) => why);
      const destinations = destinationsOf(reading, reached);
      if (destinations.length === 0 || own.length + whys.length === 0) return [];
      return [
        [
          ...own.flatMap((each) =>
            destinations.flatMap((destination) => findingsOf(reading.cluster, each, destination)),
          ),
          ...whys.map((why) => ({ severity: 'warning', detail: `unknown: ${why}` }) as const),
        ],
      ];
    });
    return found.length === 0 ? undefined : found.flat();
  },
};

/** The remotes of its apps; before their installation, the other clusters. */
function destinationsOf(reading: Reading, all: readonly Reading[]): readonly Destination[] {
  const remotes = Map.groupBy(seenRemotes([reading]), ({ remote }) => remote.name);
  const others = all.filter((each) => each !== reading);
  const destinations =
    remotes.size > 0
      ? Array.from(remotes, ([name, seen]) => ({
          name,
          ranges: seen.flatMap(({ remote }) => rangesOf(remote)),
          device: seen.find(({ remote }) => remote.deviceName !== undefined)?.remote.deviceName,
        }))
      : others.map((other) => {
          const ranges = podRangesOf(other);
          return { name: other.cluster, ranges: ranges.known ? ranges.value : [], device: undefined };
        });
  return destinations
    .filter(({ ranges }) => ranges.length > 0)
    .map(({ ranges, ...rest }) => ({ ...rest, ranges: new Map(ranges.map((range) => [range.text, range])) }));
}

function findingsOf(
  cluster: string,
  masquerader: Masquerader,
  { name, ranges, device }: Destination,
): readonly Finding[] {
  const fates = Map.groupBy(ranges.values(), (to) => replaces(masquerader, { to, device, byService: true }));
  const finding = (severity: Finding['severity'], found: readonly Cidr[] = []): readonly Finding[] => {
    const to = `${some(found.map(({ text }) => text))} of ${name}`;
    return found.length === 0 ? [] : [{ severity, detail: `${cluster}: ${masqueradeText(masquerader, to)}` }];
  };
  return [...finding('problem', fates.get('yes')), ...finding('warning', fates.get('perhaps'))];
}
