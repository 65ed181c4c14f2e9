import { createHash } from 'node:crypto';
import { accessSync, constants, readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { KubeObject } from '@kube-semaphore/embedded-apiserver';
import { parseAllDocuments } from 'yaml';
import { cacheFolder, type Environment } from '../cache-folder.ts';

/** The Go package of a program, the module that gives it its version, and our folder that pins that. */
type Source = {
  readonly folder: string;
  readonly module: string;
  /** A package; `.` is that of `main`. */
  readonly target: string;
  /** Our own program, in our folder. */
  readonly main?: string;
  readonly tags?: string;
  /** A file of the module that goes beside the program. */
  readonly data?: string;
  /** Instead of a program, these files of the module, one after the other. */
  readonly files?: readonly string[];
};

/** Name of a program, which is also its file name. */
export type Tool =
  | 'etcd'
  | 'kube-apiserver'
  | 'kube-controller-manager'
  | 'kube-scheduler'
  | 'kubectl'
  | 'kubelet'
  | 'kube-proxy'
  | 'coredns'
  | 'corefile-migration'
  | 'calico'
  | 'calico-felix'
  | 'kube-network-policies'
  | 'cyclonus'
  | 'cilium-crds.yaml'
  | 'wireguard-go'
  | 'gator'
  | 'promtool'
  | 'prometheus-operator-crds.yaml'
  | 'cluster-inventory-crds.yaml'
  | 'helm'
  | 'crane'
  | 'krew'
  | 'validate-krew-manifest'
  | 'actionlint';

const whole = (folder: string, module: string): Source => ({ folder, module, target: module });
const kubernetes = (command: string): Source => ({
  folder: 'kubernetes',
  module: 'k8s.io/kubernetes',
  target: `k8s.io/kubernetes/cmd/${command}`,
});

const krew = (command: string): Source => ({
  folder: 'krew',
  module: 'sigs.k8s.io/krew',
  target: `sigs.k8s.io/krew/cmd/${command}`,
});

const CALICO = 'github.com/projectcalico/calico';
const calico = (program: string): Source => ({
  folder: 'calico',
  module: CALICO,
  target: `${CALICO}/${program}`,
  data: 'manifests/crds.yaml',
});

/**
 * The programs of a real cluster, its client, what packets and names go through, what enforces NetworkPolicies, and what
 * checks admission policies, alert rules, charts, releases and workflows.
 */
const sources: Readonly<Record<Tool, Source>> = {
  // First: the tests of `npm test` need no other, so CI runs them while the others are built.
  kubectl: kubernetes('kubectl'),
  etcd: whole('etcd', 'go.etcd.io/etcd/server/v3'),
  'kube-apiserver': kubernetes('kube-apiserver'),
  'kube-controller-manager': kubernetes('kube-controller-manager'),
  'kube-scheduler': kubernetes('kube-scheduler'),
  kubelet: kubernetes('kubelet'),
  'kube-proxy': kubernetes('kube-proxy'),
  calico: calico('cni-plugin/cmd/calico'),
  'calico-felix': calico('felix/cmd/calico-felix'),
  'kube-network-policies': {
    folder: 'kube-network-policies',
    module: 'sigs.k8s.io/kube-network-policies',
    target: 'sigs.k8s.io/kube-network-policies/cmd/kube-network-policies/standard',
  },
  cyclonus: {
    folder: 'cyclonus',
    module: 'github.com/mattfenwick/cyclonus',
    target: 'github.com/mattfenwick/cyclonus/cmd/cyclonus',
  },
  'cilium-crds.yaml': {
    ...whole('cilium', 'github.com/cilium/cilium'),
    files: ['networkpolicies', 'cidrgroups'].map((kind) => `pkg/k8s/apis/cilium.io/client/crds/v2/cilium${kind}.yaml`),
  },
  coredns: { folder: 'coredns', module: 'github.com/coredns/coredns', target: '.', main: 'main.go' },
  'corefile-migration': {
    folder: 'corefile-migration',
    module: 'github.com/coredns/corefile-migration',
    target: '.',
    main: 'main.go',
  },
  'wireguard-go': whole('wireguard-go', 'golang.zx2c4.com/wireguard'),
  gator: {
    folder: 'gator',
    module: 'github.com/open-policy-agent/gatekeeper/v3',
    target: 'github.com/open-policy-agent/gatekeeper/v3/cmd/gator',
  },
  promtool: {
    folder: 'promtool',
    module: 'github.com/prometheus/prometheus',
    target: 'github.com/prometheus/prometheus/cmd/promtool',
    // Rules need no discovery of targets in clouds, which is most of what there is to compile.
    tags: 'remove_all_sd',
  },
  'prometheus-operator-crds.yaml': {
    ...whole('prometheus-operator', 'github.com/prometheus-operator/prometheus-operator'),
    files: ['podmonitors', 'prometheusrules'].map(
      (kind) => `example/prometheus-operator-crd/monitoring.coreos.com_${kind}.yaml`,
    ),
  },
  'cluster-inventory-crds.yaml': {
    ...whole('cluster-inventory', 'sigs.k8s.io/cluster-inventory-api'),
    files: ['config/crd/bases/multicluster.x-k8s.io_clusterprofiles.yaml'],
  },
  helm: { folder: 'helm', module: 'helm.sh/helm/v4', target: 'helm.sh/helm/v4/cmd/helm' },
  crane: {
    folder: 'crane',
    module: 'github.com/google/go-containerregistry',
    target: 'github.com/google/go-containerregistry/cmd/crane',
  },
  krew: krew('krew'),
  'validate-krew-manifest': krew('validate-krew-manifest'),
  actionlint: {
    folder: 'actionlint',
    module: 'github.com/rhysd/actionlint',
    target: 'github.com/rhysd/actionlint/cmd/actionlint',
  },
};

/** All of them, in the order in which they are built. */
export const tools = Object.keys(sources) as readonly Tool[];

/** The folder of a version of Kubernetes: that of all clusters, or one that only `npm run nightly` uses. */
export type Kubernetes = 'kubernetes' | OtherKubernetes;

/** The one with which clusters may be newer than others, and the oldest one that we promise to work with. */
type OtherKubernetes = 'kubernetes-newer' | 'kubernetes-oldest';

/** The programs that a cluster of another version has of its own. People use one kubectl for all their clusters. */
export const otherTools: Readonly<Record<OtherKubernetes, readonly Tool[]>> = {
  'kubernetes-newer': tools.filter((tool) => sources[tool].folder === 'kubernetes' && tool !== 'kubectl'),
  // It has no nodes.
  'kubernetes-oldest': ['kube-apiserver', 'kube-controller-manager', 'kube-proxy'],
};

const folderOf = (tool: Tool, kubernetes: Kubernetes): string =>
  kubernetes !== 'kubernetes' && otherTools[kubernetes].includes(tool) ? kubernetes : sources[tool].folder;

/** The version that `KUBERNETES` names: `newer`, `oldest`, or that of all clusters. @throws for another word */
function kubernetesIn({ KUBERNETES: word }: Environment): Kubernetes {
  if (word === undefined) return 'kubernetes';
  const found = `kubernetes-${word}`;
  if (found !== 'kubernetes-newer' && found !== 'kubernetes-oldest')
    throw new Error(`KUBERNETES=${word} is not known: it is newer or oldest`);
  return found;
}

/** What enforces NetworkPolicies, or computes their verdicts. They take as long to build as all others. */
export const engines: readonly Tool[] = [
  'calico',
  'calico-felix',
  'kube-network-policies',
  'cyclonus',
  'cilium-crds.yaml',
];

/** How a tool is built from a Go module that pins it, and where the result goes. */
export type Recipe = {
  readonly tool: Tool;
  /** As in the module's go.mod: `v1.34.2`. */
  readonly version: string;
  /** The folder with go.mod and go.sum. */
  readonly moduleDir: string;
  /** Arguments of `go build`, but for `-o`. */
  readonly args: readonly string[];
  /** The program, in a folder of the cache whose name changes with anything that goes into it. */
  readonly file: string;
  /** A file of a Go module that is copied beside the program. */
  readonly data?: { readonly module: string; readonly path: string };
  /** Files of a Go module that make up the file, which is then no program. */
  readonly files?: { readonly module: string; readonly paths: readonly string[] };
};

/** Where the wanted tools are, or which of them are missing and what to do about it. */
export type Binaries =
  | { readonly ok: true; readonly paths: Readonly<Record<Tool, string>> }
  | { readonly ok: false; readonly missing: readonly Tool[]; readonly reason: string };

const modules = fileURLToPath(new URL('../../../../tools/binaries/', import.meta.url));

/** The packages in which Kubernetes' programs look up what version they are. */
const versionPackages = ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'];

/**
 * The programs in the folder `KUBEBUILDER_ASSETS`, or else those that `npm run binaries` built into the cache. Looks
 * for files only: it neither builds nor runs anything.
 *
 * @param wanted the tools without which the lookup fails; `paths` names all of them, present or not
 * @param kubernetes the version of its programs, by default what `KUBERNETES` says; of another one, KUBEBUILDER_ASSETS has a
 *   folder
 */
export function findBinaries(
  wanted: readonly Tool[],
  env: Environment = process.env,
  kubernetes: Kubernetes = kubernetesIn(env),
): Binaries {
  const assets = env['KUBEBUILDER_ASSETS'];
  const isOther = (tool: Tool) => kubernetes !== 'kubernetes' && folderOf(tool, kubernetes) === kubernetes;
  const path = (tool: Tool) =>
    assets ? join(assets, isOther(tool) ? kubernetes : '', tool) : recipe(tool, env, kubernetes).file;
  const paths = Object.fromEntries(tools.map((tool) => [tool, path(tool)])) as Record<Tool, string>;
  const missing = wanted.filter((tool) => !isExecutable(paths[tool]));
  if (missing.length === 0) return { ok: true, paths };
  const names = missing.join(', ');
  const flags = [
    ...(missing.some((tool) => engines.includes(tool)) ? ['--engines'] : []),
    ...(missing.some(isOther) ? [kubernetes.replace('kubernetes-', '--')] : []),
  ];
  const command = ['npm run binaries', ...(flags.length > 0 ? ['--', ...flags] : [])].join(' ');
  const reason = assets
    ? `KUBEBUILDER_ASSETS=${assets} has no ${names}`
    : `not built yet: ${names}. Run "${command}" (it needs Go), or point KUBEBUILDER_ASSETS to their folder`;
  return { ok: false, missing, reason };
}

/** Whether tests with engines are skipped: a developer's machine may lack them. CI fails without them. */
export const goesWithoutEngines = !findBinaries(engines).ok && process.env['CI'] === undefined;

/** The CustomResourceDefinitions of Cilium's policies and groups of addresses. @throws if they are not built */
export const ciliumCrds = (): readonly KubeObject[] => crdsIn('cilium-crds.yaml');

/** The path of one of them. @throws {Error} that says what to do if it was never built */
export function builtBinary(tool: Tool): string {
  const found = findBinaries([tool]);
  if (!found.ok) throw new Error(found.reason);
  return found.paths[tool];
}

/** The CustomResourceDefinitions PodMonitor and PrometheusRule. @throws if they are not built */
export const prometheusOperatorCrds = (): readonly KubeObject[] => crdsIn('prometheus-operator-crds.yaml');

/** The CustomResourceDefinition ClusterProfile. @throws if it is not built */
export const clusterInventoryCrds = (): readonly KubeObject[] => crdsIn('cluster-inventory-crds.yaml');

function crdsIn(tool: Tool): readonly KubeObject[] {
  return objectsIn(builtBinary(tool));
}

/**
 * Calico's CustomResourceDefinitions, as Felix reads them.
 *
 * @param plural of the only resource that is wanted
 * @throws if they are not built
 */
export function calicoCrds(plural?: string): readonly KubeObject[] {
  const crds = objectsIn(join(dirname(builtBinary('calico')), 'crds.yaml'));
  return crds.filter(({ metadata }) => plural === undefined || metadata.name === `${plural}.crd.projectcalico.org`);
}

const objectsIn = (file: string): readonly KubeObject[] =>
  parseAllDocuments(readFileSync(file, 'utf8')).flatMap((document) => (document.toJS() as KubeObject | null) ?? []);

/** How `tool` is built, and the file in the cache (`XDG_CACHE_HOME`, by default ~/.cache) that it is built into. */
export function recipe(tool: Tool, env: Environment = process.env, kubernetes: Kubernetes = 'kubernetes'): Recipe {
  const { folder, module, target, main, tags, data, files } = sources[tool];
  const name = folderOf(tool, kubernetes);
  const moduleDir = join(modules, name);
  const goMod = readFileSync(join(moduleDir, 'go.mod'), 'utf8');
  const version = requiredVersion(goMod, module);
  const flags = [
    '-mod=readonly',
    '-trimpath',
    '-buildvcs=false',
    // A fifth less to compile. The linker would drop it anyway.
    '-gcflags=all=-dwarf=false',
    `-ldflags=${linkerFlags(folder, version)}`,
    ...(tags === undefined ? [] : [`-tags=${tags}`]),
  ];
  const inputs = [
    ...(files ?? []),
    ...(main === undefined ? [] : [readFileSync(join(moduleDir, main), 'utf8')]),
    goMod,
    readFileSync(join(moduleDir, 'go.sum'), 'utf8'),
    ...flags,
    process.platform,
    process.arch,
  ];
  const file = join(cacheFolder(env), 'binaries', `${name}-${version}-${digest(inputs)}`, tool);
  const args = [...flags, target];
  return {
    tool,
    version,
    moduleDir,
    args,
    file,
    ...(data !== undefined && { data: { module, path: data } }),
    ...(files !== undefined && { files: { module, paths: files } }),
  };
}

/**
 * The version that a go.mod requires of the module `path`.
 *
 * @throws {Error} if the file doesn't require it
 */
export function requiredVersion(goMod: string, path: string): string {
  const version = goMod
    .split('\n')
    .find((line) => line.startsWith(`require ${path} `))
    ?.split(' ')[2];
  if (version === undefined) throw new Error(`go.mod has no line "require ${path} VERSION"`);
  return version;
}

/** Twelve hex digits that differ when the list of strings does. */
export function digest(inputs: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(inputs)).digest('hex').slice(0, 12);
}

function linkerFlags(folder: string, version: string): string {
  const strip = '-s -w';
  if (folder !== 'kubernetes') return strip;
  const [major = '', minor = ''] = version.slice(1).split('.');
  const values = { gitVersion: version, gitMajor: major, gitMinor: minor };
  const settings = versionPackages.flatMap((path) =>
    Object.entries(values).map(([name, value]) => `-X ${path}.${name}=${value}`),
  );
  return [strip, ...settings].join(' ');
}

/** Whether the PATH has a program. */
export const isProgram = (name: string, path = process.env['PATH'] ?? ''): boolean =>
  path.split(delimiter).some((folder) => isExecutable(join(folder, name)));

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false; // absent, or not ours to run: both mean that there is no such program
  }
}
