import { quotedWords } from '@kube-semaphore/text';
import { some } from '../output/some.ts';
import { agreements } from './agreement.ts';
import { peersOf, type RemoteStatus, sourcesOf } from '../clusters/app-status.ts';
import { notFresh, notListed, notReached, notReported } from '../clusters/causes.ts';
import { type Check, checkOfCauses, checkOfEach, placeOf } from './check.ts';
import { type ClusterReport, podsOf, readPods, seenRemotes } from '../clusters/report.ts';
import { ofAppNeeds, ofClusters, podsComplete } from './clusters.ts';
import { rangesDistinct } from './ranges.ts';
import { inventoryIn } from '../status/inventory.ts';
import { type PairRotation, rotationsIn } from '../status/pairs.ts';
import { drainedIn, movedIn } from '../status/routing.ts';
import { rotationText } from '../status/words.ts';
import { sourcesKept } from './sources.ts';

export const reached = checkOfEach<ClusterReport, ClusterReport>('clusters-reached', {
  hint: 'do what the sentence says',
  subjects: (reports) => reports,
  detailOf: ({ failure }) => failure,
});

const ofApps: readonly Check[] = [
  checkOfEach('apps-found', {
    hint: 'check the context, or install the apps',
    subjects: (reports) => reports.filter(({ failure }) => failure === undefined),
    detailOf: ({ cluster, pods }) => (pods.length === 0 ? `${cluster}: no Pod of an app was found` : undefined),
  }),
  checkOfEach('pods-ours', {
    severity: 'warning',
    hint: 'ask who runs them; for an app of yours, label the ClusterRoleBinding of its account',
    subjects: (reports) => reports.filter(({ failure }) => failure === undefined),
    detailOf: ({ leftOut }) => leftOut,
  }),
  podsComplete,
  checkOfEach('pods-ready', {
    hint: 'ask kubectl describe and logs of the Pod',
    subjects: podsOf,
    detailOf: (found) => (found.pod.ready ? undefined : `${placeOf(found)} is not ready`),
  }),
  checkOfCauses('status-served', {
    hint: 'you need the right to get pods/proxy, and the API server must reach the Pod',
    subjects: podsOf,
    troubleOf: ({ pod }) => notReported(pod),
  }),
  {
    name: 'same-version',
    hint: 'complete the upgrade',
    find: (reports) => {
      const pods = readPods(reports);
      if (pods.length === 0) return undefined;
      const byVersion = Map.groupBy(pods, ({ status }) => status.version);
      if (byVersion.size === 1) return [];
      const detail = Array.from(byVersion, ([version, some]) => {
        const places = new Set(some.map(({ cluster, pod }) => `${cluster} ${pod.app}`));
        return `${version}: ${[...places].join(', ')}`;
      });
      return [{ severity: 'warning', detail: detail.toSorted().join('; ') }];
    },
  },
  checkOfEach('one-leader', {
    hint: 'wait 20 s; then look at the Lease, and at -leader-elect',
    subjects: (reports) => {
      const replicas = readPods(reports).filter(({ status }) => status.leader !== undefined);
      return [...Map.groupBy(replicas, ({ cluster, pod }) => `${cluster}: ${pod.app}`)];
    },
    detailOf: ([app, replicas]) => {
      const leaders = replicas.filter(({ status }) => status.leader === true).length;
      return leaders === 1 ? undefined : `${app} has ${leaders} leaders`;
    },
  }),
  checkOfCauses('local-reached', {
    hint: 'look at the log of the Pod, and at its rights in its own cluster',
    subjects: readPods,
    troubleOf: ({ cluster, status: { local } }) => {
      const { up, synced, lastError } = local;
      if (up && synced) return undefined;
      const lead = `${cluster} is not ${up ? 'listed yet' : 'reached'} by its own apps: in`;
      return { lead, why: lastError?.message };
    },
  }),
];

const ofRemotes: readonly Check[] = [
  checkOfCauses('remotes-reached', {
    hint: "check the remote's API server, the network to it, and the token",
    subjects: seenRemotes,
    troubleOf: ({ remote }) => notReached(remote),
  }),
  checkOfCauses('remotes-synced', {
    hint: 'wait a minute; then look at the log of the Pod',
    subjects: seenRemotes,
    troubleOf: ({ remote }) => notListed(remote),
  }),
  checkOfCauses('not-stale', {
    hint: 'its endpoints in global Services are not used until it is reached',
    subjects: (reports) => seenRemotes(reports).filter(({ remote }) => remote.stale !== undefined),
    troubleOf: ({ remote }) => notFresh(remote),
  }),
  checkOfCauses('nothing-held', {
    severity: 'warning',
    hint: 'find out whether the remote really lost so many objects: the deletions follow after five minutes',
    subjects: seenRemotes,
    troubleOf: ({ remote: { name, heldDeletions } }) =>
      heldDeletions === 0 ? undefined : { lead: `deletions of ${name} are held: in`, why: `${heldDeletions}` },
  }),
  checkOfCauses('nothing-skipped', {
    severity: 'warning',
    hint: 'the log of the Pod and plan name each object',
    subjects: (reports) =>
      readPods(reports).flatMap((found) => sourcesOf(found.status).map((source) => ({ ...found, source }))),
    troubleOf: ({ source: { name, skipped } }) => {
      const problems = skipped.filter(({ kind }) => kind === 'problem');
      const why = problems.map(skippedText).join(', ');
      return why === '' ? undefined : { lead: `objects of ${name} are skipped: in`, why, isByWhy: true };
    },
  }),
  {
    name: 'inventory-complete',
    hint: 'correct the ClusterProfile, or what reads it; a held remote leaves unless its ClusterProfile comes back',
    find: (reports) => inventoryIn(reports)?.map((detail) => ({ severity: 'warning', detail })),
  },
  {
    name: 'nothing-drained',
    hint: 'end it with semaphore undrain',
    find: (reports) =>
      readPods(reports).some(({ status }) => status.drains != null)
        ? drainedIn(reports).map((detail) => ({ severity: 'note', detail }))
        : undefined,
  },
  {
    name: 'best-level-answers',
    hint: 'look at the Pods of the better levels, and at /status of semaphore-service-mirror',
    find: (reports) =>
      readPods(reports).some(({ status }) => status.orders !== undefined)
        ? movedIn(reports).map((detail) => ({ severity: 'warning', detail }))
        : undefined,
  },
  checkOfCauses('addresses-restricted', {
    severity: 'warning',
    hint: 'set allowedPodCIDRs of the remote',
    subjects: (reports) => seenRemotes(reports).filter(({ remote }) => remote.config.allowedPodCIDRs !== undefined),
    troubleOf: ({ remote: { name, config } }) =>
      config.allowedPodCIDRs === null ? { lead: `${name} may announce any address: in` } : undefined,
  }),
  rangesDistinct,
];

const ofTunnels: readonly Check[] = [
  checkOfCauses('devices-set-up', {
    hint: 'look at the log of the Pod; a device without our mark belongs to another program',
    subjects: (reports) => seenRemotes(reports).filter(({ pod }) => pod.app === 'semaphore-wireguard'),
    troubleOf: ({ remote: { name, deviceName = '', device, deviceError } }) => {
      const subject = `the device of ${name}, ${deviceName},`;
      if (device === undefined) return { lead: `the device of ${name} is unknown: in`, why: deviceError };
      if (device === null) return { lead: `${subject} doesn't exist: in`, why: deviceError };
      if (!device.marked) return { lead: `${subject} is not ours: in`, why: deviceError };
      return deviceError === undefined ? undefined : { lead: `${subject} is not as it must be: in`, why: deviceError };
    },
  }),
  checkOfCauses('routes-set', {
    hint: 'wait a minute; then look at the log of the Pod, and at ip route on the node',
    subjects: (reports) => seenRemotes(reports).filter(({ remote }) => remote.unrouted !== undefined),
    troubleOf: ({ remote: { name, deviceName = '', unrouted = [] } }) =>
      unrouted.length === 0
        ? undefined
        : { lead: `no route to ${some(unrouted)} of ${name} through ${deviceName}: in` },
  }),
  checkOfCauses('peers-complete', {
    hint: 'wait a minute; then look at the log of the Pod',
    subjects: (reports) => seenRemotes(reports).filter(({ remote }) => remote.missing !== undefined),
    troubleOf: ({ remote: { name, missing = [] } }) =>
      missing.length === 0 ? undefined : { lead: `peers of ${name} are missing: in`, why: some(missing) },
  }),
  checkOfCauses('handshakes', {
    hint: 'check that UDP is open between the nodes, and the endpoint annotations',
    subjects: (reports) => seenRemotes(reports).filter(({ remote }) => remote.peers !== undefined),
    troubleOf: ({ remote }) => {
      const silent = (peersOf(remote) ?? [])
        .filter(({ state }) => state !== 'up')
        .map(({ node, publicKey }) => node ?? publicKey);
      return silent.length === 0
        ? undefined
        : { lead: `no recent handshake with ${remote.name}: from`, why: some(silent) };
    },
  }),
  {
    name: 'keys-rotated',
    hint: 'look at the log of the agents on these nodes, and whether UDP to the second port passes',
    find: (reports) =>
      seenRemotes(reports).some(({ remote }) => remote.peers !== undefined)
        ? rotationsIn(reports).map(rotationFinding)
        : undefined,
  },
  ...agreements,
];

/** What runs is a note. Laggards have ten minutes. */
const rotationFinding = (pair: PairRotation) => ({
  severity: pair.rotation.late ? ('warning' as const) : ('note' as const),
  detail: rotationText(pair),
});

/** All checks, in the order in which they are printed. */
export const checks: readonly Check[] = [
  reached,
  ...ofClusters,
  sourcesKept,
  ...ofApps,
  ...ofAppNeeds,
  ...ofRemotes,
  ...ofTunnels,
];

/** Those that hold before the installation. */
export const checksBefore: readonly Check[] = [reached, ...ofClusters, sourcesKept];

const skippedText = ({ reason, count, example }: RemoteStatus['skipped'][number]): string =>
  `${count} ${reason}${example === undefined ? '' : ` (such as ${quotedWords(example)})`}`;
