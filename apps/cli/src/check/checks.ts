import { quotedWords } from '@kube-semaphore/text';
import { some } from '../output/some.ts';
import { agreements } from './agreement.ts';
import { type RemoteStatus, sourcesOf } from '../clusters/app-status.ts';
import { type Check, checkOfEach, placeOf, podsOf, readPods, seenRemotes } from './check.ts';
import { ofClusters, ofSurroundings, podsComplete } from './clusters.ts';
import { rangesDistinct } from './ranges.ts';
import { sourcesKept } from './sources.ts';

const reached = checkOfEach('clusters-reached', {
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
  checkOfEach('status-served', {
    hint: 'you need the right to get pods/proxy, and the API server must reach the Pod',
    subjects: podsOf,
    detailOf: (found) =>
      'failure' in found.pod.status
        ? `${placeOf(found)} doesn't tell its status: ${found.pod.status.failure}`
        : undefined,
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
  checkOfEach('local-reached', {
    hint: 'look at the log of the Pod, and at its rights in its own cluster',
    subjects: readPods,
    detailOf: (found) => {
      const { up, synced, lastError } = found.status.local;
      if (up && synced) return undefined;
      return `${placeOf(found)} ${up ? 'has not listed' : 'does not reach'} its own cluster${wordsOf(lastError)}`;
    },
  }),
];

const ofRemotes: readonly Check[] = [
  checkOfEach('remotes-reached', {
    hint: "check the remote's API server, the network to it, and the token",
    subjects: seenRemotes,
    detailOf: (found) => {
      const { name, up, since, lastError } = found.remote;
      return up ? undefined : `${placeOf(found)} does not reach ${name} since ${since}${wordsOf(lastError)}`;
    },
  }),
  checkOfEach('remotes-synced', {
    hint: 'wait a minute; then look at the log of the Pod',
    subjects: seenRemotes,
    detailOf: (found) =>
      found.remote.up && !found.remote.synced ? `${placeOf(found)} has not listed ${found.remote.name} yet` : undefined,
  }),
  checkOfEach('not-stale', {
    hint: 'its endpoints in global Services are not used until it is reached',
    subjects: (reports) => seenRemotes(reports).filter(({ remote }) => remote.stale !== undefined),
    detailOf: (found) =>
      found.remote.stale === true ? `${placeOf(found)}: ${found.remote.name} is stale in global Services` : undefined,
  }),
  checkOfEach('nothing-held', {
    severity: 'warning',
    hint: 'find out whether the remote really lost so many objects: the deletions follow after five minutes',
    subjects: seenRemotes,
    detailOf: (found) => {
      const { name, heldDeletions } = found.remote;
      return heldDeletions === 0 ? undefined : `${placeOf(found)} holds ${heldDeletions} deletions of ${name}`;
    },
  }),
  checkOfEach('nothing-skipped', {
    severity: 'warning',
    hint: 'the log of the Pod and plan name each object',
    subjects: (reports) =>
      readPods(reports).flatMap((found) => sourcesOf(found.status).map((source) => ({ found, source }))),
    detailOf: ({ found, source: { name, skipped } }) => {
      const problems = skipped.filter(({ kind }) => kind === 'problem');
      const reasons = problems.map(skippedText).join(', ');
      return problems.length === 0 ? undefined : `${placeOf(found)} skips objects of ${name}: ${reasons}`;
    },
  }),
  checkOfEach('addresses-restricted', {
    severity: 'warning',
    hint: 'set allowedPodCIDRs of the remote',
    subjects: (reports) => seenRemotes(reports).filter(({ remote }) => remote.config.allowedPodCIDRs !== undefined),
    detailOf: (found) =>
      found.remote.config.allowedPodCIDRs === null
        ? `${placeOf(found)}: ${found.remote.name} may announce any address`
        : undefined,
  }),
  rangesDistinct,
];

const ofTunnels: readonly Check[] = [
  checkOfEach('devices-set-up', {
    hint: 'look at the log of the Pod; a device without our mark belongs to another program',
    subjects: (reports) => seenRemotes(reports).filter(({ pod }) => pod.app === 'semaphore-wireguard'),
    detailOf: (found) => {
      const { name, deviceName = '', device, deviceError } = found.remote;
      const at = `${placeOf(found)}: the device of ${name}`;
      if (deviceError !== undefined) return `${at} is unknown: ${deviceError}`;
      if (!device) return `${at}, ${deviceName}, doesn't exist`;
      return device.marked ? undefined : `${at}, ${deviceName}, is not ours`;
    },
  }),
  checkOfEach('routes-set', {
    hint: 'wait a minute; then look at the log of the Pod, and at ip route on the node',
    subjects: (reports) => seenRemotes(reports).filter(({ remote }) => remote.unrouted !== undefined),
    detailOf: (found) => {
      const { name, deviceName = '', unrouted = [] } = found.remote;
      return unrouted.length === 0
        ? undefined
        : `${placeOf(found)} has no route to ${some(unrouted)} of ${name} through ${deviceName}`;
    },
  }),
  checkOfEach('peers-complete', {
    hint: 'wait a minute; then look at the log of the Pod',
    subjects: (reports) => seenRemotes(reports).filter(({ remote }) => remote.missing !== undefined),
    detailOf: (found) => {
      const { name, missing = [] } = found.remote;
      return missing.length === 0 ? undefined : `${placeOf(found)} lacks peers of ${name}: ${some(missing)}`;
    },
  }),
  checkOfEach('handshakes', {
    hint: 'check that UDP is open between the nodes, and the endpoint annotations',
    subjects: (reports) => seenRemotes(reports).filter(({ remote }) => remote.peers !== undefined),
    detailOf: (found) => {
      const { name, peers = [] } = found.remote;
      const silent = peers.filter(({ state }) => state !== 'up').map(({ node, publicKey }) => node ?? publicKey);
      return silent.length === 0 ? undefined : `${placeOf(found)}: no recent handshake with ${name}: ${some(silent)}`;
    },
  }),
  ...agreements,
];

/** All checks, in the order in which they are printed. */
export const checks: readonly Check[] = [
  reached,
  ...ofClusters,
  sourcesKept,
  ...ofApps,
  ...ofSurroundings,
  ...ofRemotes,
  ...ofTunnels,
];

/** Those that hold before the installation. */
export const checksBefore: readonly Check[] = [reached, ...ofClusters, sourcesKept];

const wordsOf = (error: { readonly message: string } | null): string => (error === null ? '' : `: ${error.message}`);

const skippedText = ({ reason, count, example }: RemoteStatus['skipped'][number]): string =>
  `${count} ${reason}${example === undefined ? '' : ` (such as ${quotedWords(example)})`}`;
