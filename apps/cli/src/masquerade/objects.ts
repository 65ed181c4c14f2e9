import * as z from 'zod/mini';
import type { Pool } from '../clusters/calico.ts';
import type { NodeFacts, Read } from '../clusters/objects.ts';

const configMap = z.object({
  name: z.optional(z.string()),
  items: z.nullish(z.array(z.object({ key: z.string(), path: z.string() }))),
});
const words = z._default(z.array(z.string()), []);
const container = z.object({
  image: z._default(z.string(), ''),
  command: words,
  args: words,
  env: z._default(z.array(z.object({ name: z.string(), value: z._default(z.string(), '') })), []),
});
const volume = z.object({
  configMap: z.nullish(configMap),
  projected: z.nullish(z.object({ sources: z.nullish(z.array(z.object({ configMap: z.nullish(configMap) }))) })),
});
const daemonSet = z.object({
  metadata: z.object({ namespace: z.string(), name: z.string() }),
  spec: z.object({
    template: z.object({
      spec: z.object({ containers: z.array(container), volumes: z._default(z.array(volume), []) }),
    }),
  }),
});

export const daemonSetList = z.object({ items: z.array(daemonSet) });

export type DaemonSet = z.infer<typeof daemonSet>;
export type Container = z.infer<typeof container>;

/** What decides about masquerading in a cluster. */
export type MasqueradeObjects = {
  /** The context. */
  readonly cluster: string;
  /** Of the namespaces where the network has its own, and tenants have none. */
  readonly daemonSets: Read<readonly DaemonSet[]>;
  /** The data of ConfigMaps, by `namespace/name`; undefined: there is no such object. */
  readonly configMaps: ReadonlyMap<string, Read<Data | undefined>>;
  readonly nodes: Read<readonly NodeFacts[]>;
  /** Of Calico; empty without it. */
  readonly pools: Read<readonly Pool[]>;
};

export type Data = Readonly<Record<string, string>>;

/** A file that a DaemonSet makes of a key of a ConfigMap. */
export type MountedMap = {
  readonly namespace: string;
  readonly name: string;
  readonly items: z.infer<typeof configMap>['items'];
};

export const containersOf = ({ spec }: DaemonSet): readonly Container[] => spec.template.spec.containers;

/** The ConfigMaps that a DaemonSet has as volumes. */
export const mountedMaps = ({ metadata: { namespace }, spec }: DaemonSet): readonly MountedMap[] =>
  spec.template.spec.volumes
    .flatMap((each) => [each.configMap, ...(each.projected?.sources ?? []).map((source) => source.configMap)])
    .flatMap((map) => (map?.name === undefined ? [] : [{ namespace, name: map.name, items: map.items }]));

export const mapKey = ({ namespace, name }: Pick<MountedMap, 'namespace' | 'name'>): string => `${namespace}/${name}`;

/** Whether a Go program has a boolean flag: `--ip-masq`, `-ip-masq=true`. */
export const hasFlag = ({ command, args }: Container, flag: string): boolean =>
  [...command, ...args]
    .join(' ')
    .split(/\s+/)
    .some((word) => new RegExp(`^--?${flag}(=(true|t|1))?$`, 'i').test(word));

/** As Go's strconv.ParseBool, for a variable or a setting that is false by default. */
export const isTrue = (text: string | undefined): boolean => /^(1|t|true)$/i.test(text ?? '');
