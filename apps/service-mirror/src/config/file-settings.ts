import { localReference, type ProfileRemote } from '@kube-semaphore/multicluster';
import type { ClusterReference } from '@kube-semaphore/cluster-auth';
import { oneOf, spellingOf } from '@kube-semaphore/options';
import { clusterOrdersOf, propertiesOf } from './cluster-order.ts';
import type { ConfigFile, GlobalSection, LocalEntry, RemoteEntry } from './file.ts';
import { mcsOf } from './mcs.ts';
import { Findings, type Place } from './problems.ts';
import { clusterName, namespace, selector } from './option-types.ts';
import { options as table, type MirrorOptions } from './options.ts';
import { remotesOf } from './remote-entries.ts';
import { type AllSettings, type GlobalSettings, UNNAMED } from './settings.ts';
import { zonesOf } from './zones.ts';

/** What the settings depend on besides the file. */
export type BesideFile = {
  readonly options: Pick<MirrorOptions, TextKey | 'kubeConfig' | 'localCidrs'>;
  /** Whether we run in a pod, which has a service account. */
  readonly isPod: boolean;
  readonly canRead: (path: string) => boolean;
};

/** Settings with warnings for the log, or every problem, each with its field. */
export type FileSettings =
  | { readonly ok: true; readonly value: AllSettings; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly problems: readonly string[] };

type TextKey =
  | 'mirrorNs'
  | 'labelSelector'
  | 'mirrorSvcLabelSelector'
  | 'globalSvcLabelSelector'
  | 'globalSvcRoutingStrategyLabel';

type Input = {
  readonly section: GlobalSection;
  readonly options: BesideFile['options'];
  readonly findings: Findings;
};

const hints = oneOf(['labelled', 'always']);

/**
 * Settings of a config file. A flag or variable overrides the file.
 *
 * @param inventory what its inventory has; each name is also a prefix
 */
export function settingsOfFile(
  { global: section = {}, localCluster = {}, mcs, remoteClusters: entries }: ConfigFile,
  beside: BesideFile,
  inventory: readonly ProfileRemote[] = [],
): FileSettings {
  const remoteClusters: readonly RemoteEntry[] = [
    ...entries,
    ...inventory.map(({ name, reference: context, allowedPodCIDRs }) => {
      return { name, servicePrefix: name, context, allowedPodCIDRs: [...allowedPodCIDRs] };
    }),
  ];
  const findings = new Findings();
  const input = { section, options: beside.options, findings };
  const mirrorNamespace = findings.required([flag('mirrorNs', input), field('mirrorNamespace', input)], namespace);
  const mirrorSelector = mirrorSelectorOf(input);
  const global = globalOf(input);
  const name = localName(localCluster, { isRequired: global !== undefined || mcs !== undefined, findings });
  const fileCidrs = findings.cidrs('localCluster.cidrs', localCluster.cidrs ?? []);
  const settings: AllSettings = {
    local: {
      name: name ?? UNNAMED,
      reference: referenceOfLocal(localCluster, beside, findings),
      zones: zonesOf(localCluster.zones ?? [], findings),
      cidrs: beside.options.localCidrs ?? fileCidrs,
      properties: propertiesOf(localCluster.properties, 'localCluster.properties', findings),
    },
    mirrorNamespace,
    mirrorSelector,
    global,
    mcs:
      mcs &&
      mcsOf(mcs, {
        clusters: [name, ...remoteClusters.map((remote) => remote.name)],
        prefixes: remoteClusters.map(({ servicePrefix = '' }) => servicePrefix),
        findings,
      }),
    serviceSync: section.serviceSync ?? false,
    remotes: remotesOf(remoteClusters, { localName: name, findings }),
  };
  const { problems, warnings } = findings;
  return problems.length > 0 ? { ok: false, problems } : { ok: true, value: settings, warnings };
}

/**
 * The newer field overrides the older flag: the Go programs that read the field don't read the flag's variable, which
 * may be left over in a manifest.
 */
function mirrorSelectorOf(input: Input): string {
  const places: [Place, ...Place[]] = [
    flag('mirrorSvcLabelSelector', input),
    field('mirrorSvcLabelSelector', input),
    { ...flag('labelSelector', input), newer: spellingOf(table.mirrorSvcLabelSelector) },
    field('labelSelector', input, 'mirrorSvcLabelSelector'),
  ];
  return input.findings.required(places, selector);
}

/** Undefined if neither file nor flag selects global Services, as in the files of the first Go programs. */
function globalOf(input: Input): GlobalSettings | undefined {
  const { section, findings } = input;
  const routing = [
    flag('globalSvcRoutingStrategyLabel', input),
    field('globalSvcRoutingStrategyLabel', input),
    field('globalSvcRoutingStrategy', input, 'globalSvcRoutingStrategyLabel'),
    field('globalSvcTopologyLabel', input, 'globalSvcRoutingStrategyLabel'),
  ];
  const routingStrategyLabel = findings.first(routing, selector);
  const places: [Place, ...Place[]] = [flag('globalSvcLabelSelector', input), field('globalSvcLabelSelector', input)];
  // A file that routes global Services must also select them.
  const chosen =
    routingStrategyLabel === undefined ? findings.first(places, selector) : findings.required(places, selector);
  // The default is what the Go program does, for its files.
  const hinted = findings.check('global.globalSvcHints', hints.parse(section.globalSvcHints || 'always'), 'always');
  const clusterOrder = clusterOrdersOf(section.clusterOrder, 'global.clusterOrder', findings);
  if (chosen === undefined) return undefined;
  const slicesSync = section.endpointSliceSync ?? false;
  return { selector: chosen, routingStrategyLabel, hints: hinted, clusterOrder, slicesSync };
}

/** Global Services and imports have the name of the local cluster; without them it needs no name. */
function localName(
  { name }: LocalEntry,
  { isRequired, findings }: { isRequired: boolean; findings: Findings },
): string | undefined {
  const places: [Place] = [{ at: 'localCluster.name', value: name }];
  return isRequired ? findings.required(places, clusterName) : findings.first(places, clusterName);
}

/** The Go program ignored the kubeconfig of the file, so a pod may name one that is missing. */
function referenceOfLocal(
  { kubeConfigPath: path = '' }: LocalEntry,
  { options, isPod, canRead }: BesideFile,
  findings: Findings,
): ClusterReference {
  if (options.kubeConfig !== undefined) return localReference(options.kubeConfig);
  if (path === '' || !isPod || canRead(path)) return localReference(path);
  findings.warnings.push(`localCluster.kubeConfigPath: ${path} can't be read; the service account of the pod is used`);
  return localReference(undefined);
}

/** A flag, or its variable. */
const flag = (key: TextKey, { options }: Input): Place => ({ at: spellingOf(table[key]), value: options[key] });

/** A field of the global section. */
function field(key: GlobalText, { section }: Input, newer?: string): Place {
  return { at: `global.${key}`, value: section[key], newer };
}

type GlobalText = Exclude<keyof GlobalSection, 'serviceSync' | 'endpointSliceSync' | 'clusterOrder'>;
