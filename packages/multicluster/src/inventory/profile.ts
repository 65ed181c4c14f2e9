import { ClusterAuthError, type ContextReference, providedContext } from '@kube-semaphore/cluster-auth';
import type { ClusterProfile } from '@kube-semaphore/kube-objects';
import { isLabelValue } from '@kube-semaphore/naming';
import { bad, good, type Parsed } from '@kube-semaphore/net';
import { printable, quoted } from '@kube-semaphore/text';
import * as z from 'zod/mini';
import type { Provider, Providers } from './providers.ts';

/** Of a ClusterProfile: the ranges of the cluster's Pods, with commas between them. */
export const podCidrsAnnotation = 'semaphore.uw.io/allowed-pod-cidrs';

/** Of a ClusterProfile: the port of our device for the cluster. */
const listenPortAnnotation = 'semaphore.uw.io/wg-listen-port';

/** The property with the cluster's id in its ClusterSet (KEP-2149). */
const NAME = 'cluster.clusterset.k8s.io';

/** Of a cluster's Pods: each address of it is looked for in all. */
const MOST_RANGES = 100;

/**
 * Variables that let their writer choose the program, or run code in it: of the search path, the loader of libraries, shells and
 * interpreters. Others may do as much to one plugin or another.
 */
const OF_PROGRAMS = new RegExp(
  `^(?:${[
    'PATH|GCONV_PATH|(?:LD|DYLD)_.*|OPENSSL_(?:CONF|ENGINES|MODULES)',
    'IFS|ENV|PS4|SHELLOPTS|BASHOPTS|BASH_.*',
    'NODE_(?:OPTIONS|PATH)|PYTHON.*|PERL5?(?:LIB|OPT|DB)|RUBY(?:LIB|OPT)|CLASSPATH|(?:JAVA_TOOL|JDK_JAVA|_JAVA)_OPTIONS',
  ].join('|')})$`,
  'i',
);

/** Extensions of a cluster for its plugin (KEP-5339). */
const ARGS = 'clusterprofiles.multicluster.x-k8s.io/exec/additional-args';
const ENVS = 'clusterprofiles.multicluster.x-k8s.io/exec/additional-envs';

/** A cluster of an inventory that can be a remote, as a config file would describe it. */
export type ProfileRemote = {
  /** `namespace/name` of the ClusterProfile. */
  readonly profile: string;
  readonly name: string;
  readonly reference: ContextReference;
  /** Not checked yet. */
  readonly allowedPodCIDRs: readonly string[];
  readonly wgListenPort: number | undefined;
};

/** What is kept of a ClusterProfile, whose texts are half trusted. */
export type StoredProfile = {
  readonly uid: string;
  readonly createdMs: number;
  /** `namespace/name`. */
  readonly profile: string;
  /** The name of its cluster. */
  readonly cluster: string;
  /** The status of the condition, for people only: `False` is no reason to drop a cluster. */
  readonly controlPlaneHealthy: string | undefined;
  readonly podCidrs: string | undefined;
  readonly listenPort: string | undefined;
  /** The preferred one first, if two have one name. */
  readonly access: ClusterProfile['status']['accessProviders'];
};

/** What is kept of a ClusterProfile: all that a remote can be made of. */
export function storedProfile({ metadata, status }: ClusterProfile): StoredProfile {
  const { uid, creationTimestamp, namespace, name, annotations } = metadata;
  return {
    uid,
    createdMs: creationTimestamp,
    profile: `${namespace}/${name}`,
    cluster: status.properties.find((property) => property.name === NAME)?.value ?? name,
    controlPlaneHealthy: status.conditions.find(({ type }) => type === 'ControlPlaneHealthy')?.status,
    podCidrs: annotations[podCidrsAnnotation],
    listenPort: annotations[listenPortAnnotation],
    access: [...status.accessProviders, ...status.credentialProviders],
  };
}

/** The remote that a ClusterProfile describes, or why it describes none. */
export function readProfile(
  stored: StoredProfile,
  { all, path }: Pick<Providers, 'all' | 'path'>,
): Parsed<ProfileRemote> {
  const { profile, cluster: name, access, podCidrs = '', listenPort } = stored;
  if (name === '' || !isLabelValue(name)) return bad(`${quoted(name)} is not a valid name of a cluster`);
  if (podCidrs.trim() === '') return bad(`it has no annotation ${podCidrsAnnotation}, so nothing is mirrored from it`);
  const allowedPodCIDRs = podCidrs.split(',', MOST_RANGES + 1).map((cidr) => cidr.trim());
  if (allowedPodCIDRs.length > MOST_RANGES)
    return bad(`its annotation ${podCidrsAnnotation} has more than ${MOST_RANGES} ranges`);
  if (listenPort !== undefined && !/^\d{1,5}$/.test(listenPort))
    return bad(`${listenPortAnnotation}: ${quoted(listenPort)} is not a port`);
  // The file's order is ours: which plugin runs isn't the object's choice.
  const provider = all.find((each) => access.some((other) => other.name === each.name));
  if (provider === undefined) return bad(`it has no access provider that ${path} names${namesOf(access)}`);
  const { cluster } = access.find((each) => each.name === provider.name)!;
  const exec = execOf(provider, cluster);
  if (!exec.ok) return exec;
  const from = {
    cluster: { name, path: profile, what: 'ClusterProfile' },
    user: { name: provider.name, path, what: 'providers file' },
  };
  try {
    const context = providedContext({ cluster, exec: exec.value, from });
    return good({
      profile,
      name,
      reference: { kind: 'context', context },
      allowedPodCIDRs,
      wgListenPort: listenPort === undefined ? undefined : Number(listenPort),
    });
  } catch (error) {
    if (error instanceof ClusterAuthError) return bad(printable(error.message));
    throw error;
  }
}

function namesOf(access: StoredProfile['access']): string {
  const names = [...new Set(access.map(({ name }) => name))];
  return names.length === 0 ? '' : `, but ${names.slice(0, 3).map(quoted).join(', ')}`;
}

const extensions = z.object({
  extensions: z.optional(z.array(z.object({ name: z.string(), extension: z.optional(z.unknown()) }))),
});
const texts = z.array(z.string());
const environment = z.record(z.string(), z.string());
const execConfig = z.looseObject({
  args: z.nullish(texts),
  env: z.nullish(z.array(z.object({ name: z.string(), value: z.optional(z.string()) }))),
});

/** The plugin, with the arguments and variables of the object as far as the file lets the object have any. */
function execOf(
  { execConfig: raw, profileSourcedCLIArgsPolicy: args, profileSourcedEnvVarsPolicy: envs }: Provider,
  cluster: unknown,
): Parsed<object> {
  const exec = z.parse(execConfig, raw);
  const all = extensions.safeParse(cluster).data?.extensions ?? [];
  const extension = (name: string) => all.find((each) => each.name === name)?.extension;
  const [ownArgs, ownEnv] = [exec.args ?? [], exec.env ?? []];
  const moreArgs = texts.safeParse(args === 'Append' ? (extension(ARGS) ?? []) : []);
  if (!moreArgs.success) return bad(`its extension ${ARGS} is not a list of texts`);
  const moreEnv = environment.safeParse(envs === 'Ignore' ? {} : (extension(ENVS) ?? {}));
  if (!moreEnv.success) return bad(`its extension ${ENVS} is not a map of texts`);
  const refused = Object.keys(moreEnv.data).find((name) => OF_PROGRAMS.test(name));
  if (refused !== undefined) return bad(`its extension ${ENVS} has ${quoted(refused)}, which could choose a program`);
  const added = Object.entries(moreEnv.data).map(([name, value]) => ({ name, value }));
  const lacks = (env: readonly { readonly name: string }[]) => (each: { readonly name: string }) =>
    !env.some(({ name }) => name === each.name);
  return good({
    ...exec,
    args: [...ownArgs, ...moreArgs.data],
    env: envs === 'Replace' ? [...ownEnv.filter(lacks(added)), ...added] : [...ownEnv, ...added.filter(lacks(ownEnv))],
  });
}
