import {
  type CalicoApi,
  type CalicoPolicy as StoredPolicy,
  calicoPolicyKind,
  type GlobalNetworkSet,
  globalNetworkSetKind,
} from '@kube-semaphore/kube-objects';
import { effectiveLabels } from '@kube-semaphore/network-policies';
import * as z from 'zod/mini';
import type { Context } from './contexts.ts';
import { allOf, listObjects, mapRead, type Read, readAs, type Run } from './objects.ts';

/** Where Calico's resources are: in its own API server, if it has one. */
export function calicoApi(groups: ReadonlySet<string>): CalicoApi | undefined {
  if (groups.has('projectcalico.org')) return 'projectcalico.org/v3';
  return groups.has('crd.projectcalico.org') ? 'crd.projectcalico.org/v1' : undefined;
}

const pool = z.object({
  cidr: z.string(),
  disabled: z.nullish(z.boolean()),
  natOutgoing: z.nullish(z.boolean()),
  allowedUses: z.nullish(z.array(z.string())),
});
const poolList = z.object({ items: z.array(z.object({ spec: pool })) });

/** The spec of an IPPool. */
export type Pool = z.infer<typeof pool>;

/** Empty without Calico. @param groups that the cluster serves */
export async function readPools(
  context: Context,
  groups: ReadonlySet<string>,
  run: Run,
): Promise<Read<readonly Pool[]>> {
  const api = calicoApi(groups);
  if (api === undefined) return { known: true, value: [] };
  return mapRead(
    await readAs(context, `/apis/${api}/ippools`, poolList, run),
    (pools) => pools?.items.map(({ spec }) => spec) ?? [],
  );
}

/** Calico's policies and GlobalNetworkSets. */
export type CalicoRules = { readonly policies: readonly StoredPolicy[]; readonly sets: readonly GlobalNetworkSet[] };

/** Undefined without Calico. @param groups that the cluster serves */
export async function readCalicoRules(
  context: Context,
  groups: ReadonlySet<string>,
  run: Run,
): Promise<Read<CalicoRules | undefined>> {
  const api = calicoApi(groups);
  if (api === undefined) return { known: true, value: undefined };
  const [sets, global, local] = await Promise.all([
    listObjects(context, globalNetworkSetKind(api), {}, run),
    listObjects(context, calicoPolicyKind(api, 'GlobalNetworkPolicy'), {}, run),
    listObjects(context, calicoPolicyKind(api, 'NetworkPolicy'), {}, run),
  ]);
  return mapRead(allOf({ sets, global, local }), (all) => ({
    policies: [...all.global, ...all.local],
    sets: all.sets,
  }));
}

const text = z.nullish(z.string());
const texts = z.nullish(z.array(z.string()));
const numberOrText = z.union([z.number(), z.string()]);
const ports = z.nullish(z.array(numberOrText));
const selectors = { selector: text, namespaceSelector: text };

// Other fields stay, so that what isn't evaluated can be named.
const entity = z.looseObject({ ...selectors, nets: texts, notNets: texts, ports, notPorts: ports });
const rule = z.looseObject({
  action: z.enum(['Allow', 'Deny', 'Log', 'Pass']),
  ipVersion: z.nullish(z.number()),
  protocol: z.nullish(numberOrText),
  notProtocol: z.nullish(numberOrText),
  source: z.nullish(entity),
  destination: z.nullish(entity),
});
const rules = z.nullish(z.array(rule));
const order = z.nullish(z.number());
const policySpec = z.looseObject({ ...selectors, tier: text, order, types: texts, ingress: rules, egress: rules });

const maps = z.nullish(z.record(z.string(), z.string()));
const metadata = z.object({ name: z.string(), namespace: text, labels: maps, annotations: maps });
const listOf = <T extends z.core.$ZodType>(spec: T) => z.object({ items: z.array(z.object({ metadata, spec })) });
const policyList = listOf(policySpec);
const setList = listOf(z.nullish(z.object({ nets: texts })));
const tierList = listOf(z.object({ order, defaultAction: text }));

export type CalicoEntity = z.infer<typeof entity>;
export type CalicoRule = z.infer<typeof rule>;

/** Calico's own NetworkPolicy or GlobalNetworkPolicy. */
export type CalicoPolicy = {
  /** Plural and API group, for kubectl. */
  readonly resource: string;
  /** Undefined: a GlobalNetworkPolicy. */
  readonly namespace: string | undefined;
  readonly name: string;
  readonly spec: z.infer<typeof policySpec>;
};

/** A NetworkSet, or without a namespace a GlobalNetworkSet. */
type CalicoSet = {
  readonly namespace: string | undefined;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly nets: readonly string[];
};

/** What decides about a Pod of one namespace beside the NetworkPolicies of Kubernetes. */
export type CalicoObjects = {
  readonly policies: readonly CalicoPolicy[];
  readonly sets: readonly CalicoSet[];
  readonly tiers: readonly {
    readonly name: string;
    readonly order?: number | null | undefined;
    readonly defaultAction?: string | null | undefined;
  }[];
};

/** Empty without Calico. @param groups that the cluster serves */
export async function readCalicoObjects(
  context: Context,
  { namespace, groups }: { readonly namespace: string; readonly groups: ReadonlySet<string> },
  run: Run,
): Promise<Read<CalicoObjects>> {
  // What is stored comes first: Calico's API server shows only the tiers that the user may read.
  for (const api of ['crd.projectcalico.org/v1', 'projectcalico.org/v3']) {
    const [group = ''] = api.split('/');
    if (!groups.has(group)) continue;
    const list = <T>(path: string, schema: z.ZodMiniType<T>) => readAs(context, `/apis/${api}/${path}`, schema, run);
    const [globals, own, globalSets, ownSets, tiers] = await Promise.all([
      list('globalnetworkpolicies', policyList),
      list(`namespaces/${namespace}/networkpolicies`, policyList),
      list('globalnetworksets', setList),
      list('networksets', setList),
      list('tiers', tierList),
    ]);
    const read = allOf({ globals, own, globalSets, ownSets, tiers });
    if (!read.known) return read;
    const { value } = read;
    if (value.globals === undefined) continue;
    const policies = [...value.globals.items, ...(value.own?.items ?? [])].map((each) => ({
      resource: `${each.metadata.namespace ? 'networkpolicies' : 'globalnetworkpolicies'}.${group}`,
      namespace: each.metadata.namespace ?? undefined,
      name: each.metadata.name,
      spec: each.spec,
    }));
    return {
      known: true,
      value: {
        // Those of Kubernetes are decided on by themselves.
        policies: policies.filter(({ name }) => !name.startsWith('knp.default.')),
        sets: [...(value.globalSets?.items ?? []), ...(value.ownSets?.items ?? [])].map((each) => ({
          namespace: each.metadata.namespace ?? undefined,
          name: each.metadata.name,
          labels: effectiveLabels(each.metadata.labels ?? {}, each.metadata.annotations ?? {}),
          nets: each.spec?.nets ?? [],
        })),
        tiers: (value.tiers?.items ?? []).map((each) => ({ name: each.metadata.name, ...each.spec })),
      },
    };
  }
  return { known: true, value: { policies: [], sets: [], tiers: [] } };
}
