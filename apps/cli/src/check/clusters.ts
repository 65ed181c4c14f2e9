import { type Cidr, containsCidr, overlaps, parseCidr } from '@kube-semaphore/net';
import { mapRead, type Read } from '../clusters/objects.ts';
import { pluginZones } from '../corefile/zones.ts';
import { COREDNS, hasImports, importsFault } from '../corefile/faults.ts';
import { serversOf } from '../dns/config.ts';
import { some } from '../output/some.ts';
import type { Check, Finding } from './check.ts';
import { isUsedBetween, readPods, seenRemotes } from '../clusters/report.ts';
import { dnsRules } from './dns-rules.ts';
import { deadEnds } from './facts/exported.ts';
import { namesResolved } from './names-resolved.ts';
import type { Reading } from './facts/facts.ts';

/** A check of a fact of each cluster that is reached. That a fact is unknown is a warning. */
function checkOfFact<T>(
  name: string,
  {
    severity = 'problem',
    hint,
    fact,
    detailsOf,
  }: Pick<Check, 'hint'> & {
    readonly severity?: Finding['severity'];
    readonly fact: (reading: Reading) => Read<T>;
    /** @returns undefined: there is nothing of the kind */
    readonly detailsOf: (
      value: T,
      reading: Reading,
      others: readonly Reading[],
    ) => readonly (string | Finding)[] | undefined;
  },
): Check {
  return {
    name,
    hint,
    find: (readings) => {
      const reached = readings.filter(({ failure }) => failure === undefined);
      const found = reached.flatMap((reading, i): readonly (readonly Finding[])[] => {
        const read = fact(reading);
        if (!read.known) return [[{ severity: 'warning', detail: `unknown: ${read.why}` }]];
        const details = detailsOf(read.value, reading, reached.slice(i + 1));
        const findingOf = (detail: string | Finding): Finding =>
          typeof detail === 'string' ? { severity, detail } : detail;
        return details === undefined ? [] : [details.map(findingOf)];
      });
      return found.length === 0 ? undefined : found.flat();
    },
  };
}

/** The oldest minor release of Kubernetes 1 that the apps are tested with. */
const OLDEST_MINOR = 27;

const MAX_SKEW_MS = 30_000;

const SOON_DAYS = 14;
const DAY_MS = 86_400_000;

/** Kubelets renew a token with a fifth of its life left, and others earlier. */
const LAST_PART = 1 / 8;

/** Checks that need no app: they also hold before the installation. */
export const ofClusters: readonly Check[] = [
  checkOfFact('kubernetes-supported', {
    hint: 'upgrade the cluster',
    fact: ({ facts }) => facts.server,
    detailsOf: ({ major, minor }, { cluster }) =>
      major === 1 && minor < OLDEST_MINOR ? [`${cluster} has Kubernetes ${major}.${minor}`] : [],
  }),
  checkOfFact('clocks-agree', {
    severity: 'warning',
    hint: 'synchronize the clocks of the machines, this one included',
    fact: ({ facts }) => facts.server,
    detailsOf: ({ aheadMs }, { cluster }) =>
      Math.abs(aheadMs) > MAX_SKEW_MS
        ? [`${cluster}: the clock of the API server is ${Math.round(aheadMs / 1_000)} s ahead of ours`]
        : [],
  }),
  checkOfFact('credentials-valid', {
    severity: 'warning',
    hint: 'renew it before',
    fact: ({ facts }) => facts.server,
    detailsOf: ({ expiries, readAtMs }, { cluster }) =>
      expiries.flatMap(({ what, untilMs }) => {
        const days = Math.floor((untilMs - readAtMs) / DAY_MS);
        return days < SOON_DAYS ? [`${cluster}: ${what} expires in ${days} days`] : [];
      }),
  }),
  checkOfFact('ranges-apart', {
    hint: 'give each cluster pod addresses that no other cluster has, or use one family: docs/link.md#one-family',
    fact: podRangesOf,
    detailsOf: (ranges, reading, others) =>
      others.flatMap((other) => {
        const theirs = podRangesOf(other);
        if (!theirs.known) return [];
        const clash = ranges.find(
          (range) => isUsedBetween(range.family, reading, other) && theirs.value.some((each) => overlaps(range, each)),
        );
        return clash === undefined
          ? []
          : [`${reading.cluster} and ${other.cluster} share pod addresses of ${clash.text}`];
      }),
  }),
];

/** An app may also lack all Pods, as one that is scaled to 0. */
export const podsComplete: Check = checkOfFact('pods-complete', {
  hint: 'ask kubectl describe for its events',
  fact: ({ facts }) => facts.workloads,
  detailsOf: (workloads, { cluster }) =>
    workloads.length === 0
      ? undefined
      : workloads.flatMap(({ what, wanted, there }) =>
          there < wanted || there === 0 ? [`${cluster}: ${what} has ${there} of ${wanted} Pods`] : [],
        ),
});

/** Checks of what the apps need of their cluster. */
export const ofAppNeeds: readonly Check[] = [
  checkOfFact('reads-allowed', {
    severity: 'warning',
    hint: 'ask an administrator for these rights',
    fact: ({ facts }) => facts.unreadable,
    detailsOf: (unreadable, { cluster }) => {
      const rights = unique(unreadable.map(({ what }) => what)).join(', ');
      const unknown = unique(unreadable.flatMap(({ checks }) => checks)).join(', ');
      return rights === '' ? [] : [`${cluster}: you may not ${rights}, so these are incomplete: ${unknown}`];
    },
  }),
  checkOfFact('rights-granted', {
    hint: 'apply the manifests of the app again',
    fact: ({ facts }) => facts.lacking,
    detailsOf: (lacking, { cluster, pods }) =>
      pods.length === 0 ? undefined : lacking.map((sentence) => `${cluster}: ${sentence}`),
  }),
  checkOfFact('app-credentials-valid', {
    severity: 'warning',
    hint: 'renew them, as semaphore link --renew does with tokens',
    fact: ({ facts }) => facts.server,
    detailsOf: ({ readAtMs }, reading) => {
      const ending = seenRemotes([reading]).flatMap(({ pod, remote: { name, credentials } }) =>
        credentials ? [{ who: `${reading.cluster}: the credentials of ${pod.app} for ${name}`, ...credentials }] : [],
      );
      const ended = ending.filter(({ until }) => Date.parse(until) <= readAtMs);
      const soon = ending.filter(({ from, until }) => {
        const [leftMs, lifeMs] = [Date.parse(until) - readAtMs, Date.parse(until) - Date.parse(from)];
        return leftMs > 0 && leftMs < Math.min(lifeMs * LAST_PART, SOON_DAYS * DAY_MS);
      });
      if (ending.length === 0) return undefined;
      return [
        ...unique(ended.map(({ who, until }) => `${who} ended at ${until}`)).map(
          (detail) => ({ severity: 'problem', detail }) as const,
        ),
        ...unique(soon.map(({ who, until }) => `${who} end at ${until}`)),
      ];
    },
  }),
  checkOfFact('pools-disabled', {
    hint: 'create a disabled IPPool for it, or peers see the address of a node',
    fact: ({ facts }) => facts.pools,
    detailsOf: (pools, reading) => {
      if (pools.length === 0) return undefined;
      const disabled = cidrsOf(pools.flatMap(({ cidr, disabled: isDisabled }) => (isDisabled === true ? [cidr] : [])));
      const wanted = seenRemotes([reading]).flatMap(({ remote: { name, config } }) =>
        cidrsOf([...(config.podSubnets ?? []), ...(config.allowedPodCIDRs ?? [])]).map((range) => ({ name, range })),
      );
      const missing = wanted.filter(({ range }) => !disabled.some((pool) => containsCidr(pool, range)));
      return unique(
        missing.map(({ name, range }) => `${reading.cluster}: no disabled IPPool has ${range.text} of ${name}`),
      );
    },
  }),
  checkOfFact('sets-filled', {
    severity: 'warning',
    hint: 'compare the labels with those of the Pods in the remote, and look at what is skipped',
    fact: ({ facts }) => facts.emptyRules,
    detailsOf: (rules, { cluster, pods }) =>
      pods.some(({ app }) => app === 'semaphore-policy') ? rules?.map((rule) => `${cluster}: ${rule}`) : undefined,
  }),
  checkOfFact('sets-unselected', {
    hint: 'name a label that has to be there: a set has no label of a Pod',
    fact: ({ facts }) => facts.accidentalRules,
    detailsOf: (rules, { cluster }) => rules?.map((rule) => `${cluster}: ${rule}`),
  }),
  checkOfFact('policies-extended', {
    severity: 'warning',
    hint: 'repeat your semaphore link with --network-policies --apply',
    fact: ({ facts }) => facts.unextended,
    detailsOf: (found, { cluster }) =>
      found?.names.length === 0
        ? []
        : found && [`${cluster}: NetworkPolicies name other clusters, but ${found.why}: ${some(found.names)}`],
  }),
  checkOfFact('dns-rules', {
    hint: 'run semaphore link --apply again, or mend the named line of the Corefile',
    fact: ({ facts }) => facts.dnsConfig,
    detailsOf: dnsRules,
  }),
  checkOfFact('dns-answers', {
    hint: 'wait two minutes; then look at the log of CoreDNS',
    fact: ({ facts }) => facts.dns,
    detailsOf: (pods, { cluster }) => {
      if (pods.length === 0) return undefined;
      const old = pods.flatMap(({ name, isCurrent }) => (isCurrent.known && isCurrent.value === false ? [name] : []));
      const [unknown] = pods.flatMap(({ isCurrent }) => (isCurrent.known ? [] : [isCurrent.why]));
      return [
        ...(pods.some(({ ready }) => ready) ? [] : [`${cluster}: no Pod of the DNS server is ready`]),
        ...(old.length === 0 ? [] : [`${cluster}: the Corefile of kube-system/coredns isn't loaded in ${some(old)}`]),
        ...(unknown === undefined ? [] : [{ severity: 'warning', detail: `unknown: ${unknown}` } as const]),
      ];
    },
  }),
  namesResolved,
  checkOfFact('imports-resolved', {
    hint: 'apply deploy/service-mirror/mcs, then add the server block of docs/mcs.md',
    fact: ({ facts }) => facts.multicluster,
    detailsOf: ({ kinds, isReadable }, reading) => {
      const { cluster, facts } = reading;
      const servers = facts.dnsConfig.known ? serversOf(facts.dnsConfig.value) : undefined;
      const known = servers?.ok === true ? servers.value : [];
      const corefile = known.find((server) => server.name === COREDNS)?.corefile;
      const [zone] =
        corefile?.blocks.flatMap((block) => {
          const plugin = block.directives.find(hasImports);
          return plugin === undefined ? [] : [{ block, plugin }];
        }) ?? [];
      const hasZone = zone !== undefined;
      const isUsed = readPods([reading]).some(({ status }) => status.config.mcs != null);
      if (!hasZone && !isUsed) return undefined;
      const missing = ['serviceexports', 'serviceimports'].filter((kind) => !kinds.v1beta1.includes(kind));
      const isShared = zone !== undefined && pluginZones(zone.plugin.args, zone.block).includes('cluster.local.');
      const found = [
        isUsed && missing.length > 0 && `no ${missing.join(', ')} in multicluster.x-k8s.io/v1beta1`,
        hasZone &&
          !kinds.v1alpha1.includes('serviceimports') &&
          'no serviceimports in multicluster.x-k8s.io/v1alpha1, which CoreDNS reads',
        hasZone && kinds.v1alpha1.length > 0 && !isReadable && 'CoreDNS may not list and watch serviceimports',
        isShared && 'the Corefile has clusterset.local in the server block of cluster.local',
        isUsed && known.length > 0 && importsFault(known),
      ];
      return found.flatMap((detail) => (typeof detail === 'string' ? [`${cluster}: ${detail}`] : []));
    },
  }),
  checkOfFact('other-meshes', {
    severity: 'warning',
    hint: 'export each Service by one of them',
    fact: ({ facts }) => facts.otherMeshes,
    detailsOf: (names, { cluster }) =>
      names.map((name) => `${cluster} also has ${name}, which may export the same Services`),
  }),
  checkOfFact('exports-answered', {
    severity: 'warning',
    hint: 'correct selector or targetPort of the Service, or ask it with semaphore test --service',
    fact: ({ facts }) => facts.exported,
    detailsOf: (exported, { cluster }) => {
      if (exported === undefined || exported.services.length === 0) return undefined;
      const { podless, portless } = deadEnds(exported);
      return [
        podless.length > 0 && `${cluster}: Services whose selector matches no Pod: ${some(podless)}`,
        portless.length > 0 &&
          `${cluster}: Services with a targetPort that no container declares: ${some(portless, '; ')}`,
        !exported.isComplete && `unknown: ${cluster} has too many Pods to compare all Services with them`,
      ].filter((detail) => detail !== false);
    },
  }),
  checkOfFact('mirrors-ready', {
    severity: 'warning',
    hint: 'look at the Pods of the source, and at what is skipped',
    fact: ({ facts }) => facts.mirrors,
    detailsOf: (mirrors, { cluster }) => {
      const empty = mirrors.flatMap(({ namespace, name, hasReadyEndpoint }) =>
        hasReadyEndpoint ? [] : [`${namespace}/${name}`],
      );
      if (mirrors.length === 0) return undefined;
      return empty.length === 0 ? [] : [`${cluster}: mirrors without a ready endpoint: ${some(empty)}`];
    },
  }),
];

/** The addresses that Pods of a cluster get: from Calico's pools, or else from the Nodes. */
export function podRangesOf({ facts: { pools, nodes } }: Reading): Read<readonly Cidr[]> {
  if (!pools.known) return pools;
  const enabled = pools.value.filter(({ disabled }) => disabled !== true).map(({ cidr }) => cidr);
  if (enabled.length > 0) return { known: true, value: cidrsOf(enabled) };
  return mapRead(nodes, (all) => cidrsOf(all.flatMap(({ podCidrs }) => podCidrs)));
}

/** Without those of all addresses: they aren't a range, but no restriction. */
export const cidrsOf = (texts: readonly string[]): readonly Cidr[] =>
  texts.map(parseCidr).flatMap((cidr) => (cidr.ok && cidr.value.prefixLength > 0 ? [cidr.value] : []));

const unique = (sentences: readonly string[]): readonly string[] => [...new Set(sentences)];
